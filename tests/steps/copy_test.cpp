// SPDX-License-Identifier: MIT
// Planes of results copied to where the user wants them.
#include "steps/copy/copy.hpp"

#include "steps/guarded.hpp"

namespace parafield {
namespace {

/// An image without a gap between its rows, some bytes behind the beginning of its memory.
class Packed : public Movable {
 public:
  Packed(Size size, int begin)
      : size_(size), begin_(begin), storage_({begin + size.width * size.height + 16, 1}) {
    const View<std::uint8_t> all = storage_.view();
    std::fill_n(all.data, all.width, std::uint8_t(0x5a));
  }
  View<std::uint8_t> view() {
    return {storage_.view().data + begin_, size_.width, size_.height, size_.width};
  }
  void move(Memory memory) override { storage_ = storage_.to(memory); }
  void expect_intact_guard() const {
    for (int i = 0; i < storage_.size().width; ++i) {
      if (i >= begin_ && i < begin_ + size_.width * size_.height) continue;
      ASSERT_EQ(storage_(i, 0), 0x5a) << "written at byte " << i - begin_;
    }
  }

 private:
  Size size_;
  int begin_;
  Image<std::uint8_t> storage_;
};

class CopyPlanes : public OnTarget {};

TEST_P(CopyPlanes, OfEveryTypeAndPitchAtOnce) {
  for (const Size size : sizes) {
    Guarded from(size, 7), to(size);
    Packed bytes_from(size, 0), bytes_to(size, 0), odd_to(size, 3);
    std::mt19937 random(5);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) bytes_from.view()(x, y) = std::uint8_t(random());
    Image<float> before(size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) before(x, y) = from.view()(x, y);
    run_on(GetParam(), {&from, &to, &bytes_from, &bytes_to, &odd_to}, [&]<class Backend>(Backend& backend) {
      PlaneCopies copies;
      copies.add<float>(from.view(), to.view());
      copies.add<std::uint8_t>(bytes_from.view(), bytes_to.view());
      copies.add<std::uint8_t>(bytes_from.view(), odd_to.view());
      copy_planes(backend, copies);
    });
    to.expect_intact_guard(text_of(size));
    bytes_to.expect_intact_guard();
    odd_to.expect_intact_guard();
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        ASSERT_EQ(to.view()(x, y), before(x, y)) << text_of(size);
        ASSERT_EQ(bytes_to.view()(x, y), bytes_from.view()(x, y)) << text_of(size);
        ASSERT_EQ(odd_to.view()(x, y), bytes_from.view()(x, y)) << text_of(size);
      }
  }
}

TEST_P(CopyPlanes, AReplayTakesOtherPlanes) {
  const Size size{37, 5};
  std::vector<Packed> planes;
  for (int i = 0; i < 4; ++i) planes.emplace_back(size, i);
  std::vector<Movable*> images;
  for (int i = 0; i < 4; ++i) {
    const View<std::uint8_t> plane = planes[std::size_t(i)].view();
    std::fill_n(plane.data, size.width * size.height, std::uint8_t(i));
    images.push_back(&planes[std::size_t(i)]);
  }
  int run = 0;
  run_on(GetParam(), images, [&]<class Backend>(Backend& backend) {
    PlaneCopies copies;  // plane 0 to 1, then 2 to 3
    copies.add<std::uint8_t>(planes[std::size_t(2 * run)].view(), planes[std::size_t(2 * run + 1)].view());
    ++run;
    copy_planes(backend, copies);
  });
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      ASSERT_EQ(planes[1].view()(x, y), 0);
      ASSERT_EQ(planes[3].view()(x, y), 2);
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, CopyPlanes, every_target(), target_name);

}  // namespace
}  // namespace parafield
