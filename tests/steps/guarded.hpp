// SPDX-License-Identifier: MIT
#pragma once
// Images with guards around them, and steps run on a target, for the tests of steps.
#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "core/backend.hpp"
#include "parafield/image.hpp"
#include "targets.hpp"

namespace parafield {

// Sizes at which steps could fail: one pixel, one row or column, and sizes just below or above the width of
// tiles and vectors.
constexpr Size sizes[] = {{1, 1}, {1, 9},   {9, 1},   {2, 3},    {4, 4},    {5, 6},
                          {7, 5}, {33, 17}, {40, 64}, {101, 67}, {1100, 9}, {641, 479}};

inline std::string text_of(Size size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

/// Something that can be moved to another memory.
struct Movable {
  virtual ~Movable() = default;
  virtual void move(Memory memory) = 0;
};

/// An image within a larger one that holds guard values. It lies in any memory.
template <class T>
class GuardedImage : public Movable {
 public:
  explicit GuardedImage(Size size) : size_(size), storage_({size.width + 5, size.height + 2}) {
    const View<T> all = storage_.view();
    std::fill_n(all.row(0), all.width, guard());
    for (int y = 1; y < all.height; ++y)
      std::memcpy(all.row(y), all.row(0), std::size_t(all.width) * sizeof(T));
  }
  View<T> view() {
    const View<T> all = storage_.view();
    return {all.row(1), size_.width, size_.height, all.pitch};
  }
  void move(Memory memory) override { storage_ = storage_.to(memory); }

  void expect_intact_guard(const std::string& what) const {
    for (int y = 0; y < size_.height + 2; ++y) {
      const bool inside = y > 0 && y <= size_.height;
      for (int x = inside ? size_.width : 0; x < size_.width + 5; ++x)
        ASSERT_EQ(storage_(x, y), guard())
            << what << ": written beside the image at (" << x << ", " << y - 1 << ")";
    }
  }

 private:
  static constexpr T guard() {
    if constexpr (std::is_floating_point_v<T>)
      return T(-12345.5);
    else
      return T(0x35a5a5a5);
  }

  Size size_;
  Image<T> storage_;
};

/// A guarded image of floats, which may hold random values.
class Guarded : public GuardedImage<float> {
 public:
  explicit Guarded(Size size) : GuardedImage(size) {}
  Guarded(Size size, unsigned seed) : GuardedImage(size) {
    std::mt19937 random(seed);
    const View<float> image = view();
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) image(x, y) = float(random() % 65536) / 256 - 20;
  }
};

/// Runs steps on a target: moves the images there, calls steps(backend) `runs` times, moves the images back.
/// Runs steps on a target: moves the images there, calls steps(backend) `runs` times, moves the images back.
/// Steps that change their own input must run once; others run twice, on CUDA first recorded and then
/// replayed.
template <class Steps>
void run_on(const Target& target, const std::vector<Movable*>& images, Steps steps, int runs = 2) {
  const Forced forced(target);
  const Device device = target.device(2);
  with_backend(device, [&]<class Backend>() {
    Backend backend(device, {});
    for (Movable* image : images) image->move(backend.memory());
    for (int i = 0; i < runs; ++i) backend.replay({}, [&] { steps(backend); });
    backend.synchronize();
    for (Movable* image : images) image->move(Memory::host());
  });
}

}  // namespace parafield
