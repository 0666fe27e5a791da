// SPDX-License-Identifier: MIT
// Boxes of masks on every device, against regions that a flood fill finds.
#include "parafield/boxes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "parafield/detection.hpp"
#include "targets.hpp"
#include "tasks/random_masks.hpp"

namespace parafield {
namespace {

constexpr Size box_sizes[] = {{1, 1},   {1, 9},   {9, 1},    {2, 3},    {8, 8},    {31, 15},  {32, 16},
                              {33, 17}, {65, 33}, {101, 67}, {1, 1100}, {1100, 1}, {320, 200}};

class Boxes : public OnTarget {};
INSTANTIATE_TEST_SUITE_P(Targets, Boxes, every_target(), target_name);

TEST_P(Boxes, AreThoseOfAFloodFill) {
  const Forced forced(GetParam());
  for (const Size size : box_sizes)
    for (const int min_area : {1, 2, 7, 100}) {
      BoxFinder finder(size, {.min_area = min_area, .device = GetParam().device()});
      for (const auto& [name, mask] : masks_of(size)) {
        const std::span<const Box> found = finder(mask);
        ASSERT_EQ(std::vector<Box>(found.begin(), found.end()), boxes_by_flood_fill(mask, min_area))
            << name << ", at least " << min_area << " px";
      }
    }
}

TEST_P(Boxes, AreFoundWhereTheMaskIs) {
  const Forced forced(GetParam());
  const Device device = GetParam().device();
  const Memory memory = device.kind == Device::Kind::cuda ? Memory::cuda(device.index) : Memory::host();
  for (const auto& [name, mask] : masks_of({101, 67})) {
    const Image<std::uint8_t> there = mask.to(memory);
    EXPECT_EQ(find_boxes(there, {.min_area = 3}), boxes_by_flood_fill(mask, 3)) << name;
    EXPECT_EQ(find_boxes(mask, {.min_area = 3, .device = device}), boxes_by_flood_fill(mask, 3)) << name;
  }
}

TEST_P(Boxes, FollowADetectorOnItsStream) {
  const Forced forced(GetParam());
  const Device device = GetParam().device();
  const Size size{120, 80};
  MotionDetector detector(DetectionMethod{}, size, {.device = device});
  BoxFinder finder(size, {.min_area = 20, .device = device, .stream = detector.stream()});
  const Memory memory = device.kind == Device::Kind::cuda ? Memory::cuda(device.index) : Memory::host();
  std::vector<FrameBuffer> frames;
  for (int i = 0; i < 4; ++i) {
    FrameBuffer frame(size, PixelFormat::gray_u8);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        static_cast<std::uint8_t*>(frame.row(y))[x] = x >= 20 + 25 * i && x < 40 + 25 * i && y >= 30 && y < 50
                                                          ? 220
                                                          : std::uint8_t(90 + (7 * x + 5 * y) % 11);
    frames.push_back(frame.to(memory));
  }
  for (const FrameBuffer& frame : frames) {
    const MotionMask* const mask = detector.push(frame);
    if (!mask) continue;
    const std::span<const Box> boxes = finder(mask->moving);
    EXPECT_EQ(std::vector<Box>(boxes.begin(), boxes.end()),
              boxes_by_flood_fill(mask->moving.to(Memory::host()), 20));
    EXPECT_FALSE(boxes.empty());
  }
}

TEST_P(Boxes, SeveralFindersWorkAtOnce) {
  const Forced forced(GetParam());
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      const Size size{90 + i, 70};
      BoxFinder finder(size, {.min_area = 2, .device = GetParam().device()});
      for (int repeat = 0; repeat < 5; ++repeat)
        for (const auto& [name, mask] : masks_of(size)) {
          const std::span<const Box> found = finder(mask);
          EXPECT_EQ(std::vector<Box>(found.begin(), found.end()), boxes_by_flood_fill(mask, 2)) << name;
        }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Boxes, AMaskMayLieInSomebodysMemory) {
  const Forced forced(GetParam());
  Image<std::uint8_t> all = mask_where({50, 40}, [](int x, int y) { return x % 7 < 3 && y % 5 < 2; });
  View<std::uint8_t> part = all.view();
  part = {&part(3, 1), 40, 30, part.pitch};
  const Image<std::uint8_t> mask(part, Memory::host());
  EXPECT_EQ(find_boxes(mask, {.min_area = 4, .device = GetParam().device()}), boxes_by_flood_fill(mask, 4));
}

TEST(Boxes, BadInputIsAnError) {
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
      return "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
  };
  const Image<std::uint8_t> mask(Size{4, 3});
  EXPECT_EQ(message([&] { find_boxes(mask, {.min_area = 0}); }), "min_area cannot be 0; it is at least 1 px");
  EXPECT_EQ(message([&] { find_boxes({}); }), "frames cannot have 0x0 pixels");
  EXPECT_EQ(message([&] {
              BoxFinder({5, 3}, {.device = Device::cpu()})(mask);
            }),
            "the mask is 4x3, expected 5x3");
  EXPECT_TRUE(find_boxes(mask, {.min_area = 1000000}).empty());
}

}  // namespace
}  // namespace parafield
