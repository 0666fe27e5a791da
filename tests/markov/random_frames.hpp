// SPDX-License-Identifier: MIT
#pragma once
#include <random>
#include <vector>

#include "parafield/image.hpp"

namespace parafield {

/// Host frame of floats.
class FloatFrame {
 public:
  FloatFrame(Size size, PixelFormat format)
      : size_(size), format_(format), samples_(std::size_t(size.width) * size.height * channels(format)) {}

  float& operator()(int x, int y, int channel = 0) {
    return samples_[(std::size_t(y) * size_.width + x) * channels(format_) + channel];
  }
  operator Frame() const {
    return {
        samples_.data(), size_.width,    size_.height, std::ptrdiff_t(size_.width) * bytes_per_pixel(format_),
        format_,         Memory::host(), {0, 255}};
  }

 private:
  Size size_;
  PixelFormat format_;
  std::vector<float> samples_;
};

/// Two random frames: the second is the first, moved left by 1 px (upper half) or 2 px, plus noise. Pixels
/// are hardly ever equal, so that rounding does not decide the comparisons of a census.
struct RandomPair {
  FloatFrame frame0, frame1;

  RandomPair(Size size, unsigned seed, bool color = false, float noise = 20)
      : frame0(size, color ? PixelFormat::rgb_f32 : PixelFormat::gray_f32),
        frame1(size, color ? PixelFormat::rgb_f32 : PixelFormat::gray_f32) {
    std::mt19937 random(seed);
    const auto uniform = [&] { return float(random() % 1000003) / 1000003; };
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        for (int c = 0; c < (color ? 3 : 1); ++c) frame0(x, y, c) = 20 + 200 * uniform();
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        for (int c = 0; c < (color ? 3 : 1); ++c) {
          const int from = std::min(x + (y < size.height / 2 ? 1 : 2), size.width - 1);
          frame1(x, y, c) = frame0(from, y, c) + noise * (uniform() - 0.5f);
        }
  }
};

}  // namespace parafield
