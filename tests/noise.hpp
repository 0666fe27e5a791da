// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "parafield/image.hpp"

/// Random test images, the same on every machine.
namespace parafield {

/// A range of values that is not the usual one, but near it.
inline ValueRange some_range(PixelFormat format) {
  const float unit = bytes_per_value(format) == 2 ? 257 : 1;
  return {16 * unit, 235 * unit};
}

/// A frame with random texture, moved by `shift` px to the right, with `padding` bytes of `guard` after each
/// row and a row of guard above and below.
class GuardedFrame {
 public:
  GuardedFrame(Size size, PixelFormat format, unsigned seed, float shift, int padding, unsigned char guard)
      : size_(size),
        format_(format),
        pixel_bytes_(bytes_per_pixel(format)),
        sample_bytes_(pixel_bytes_ / channels(format)) {
    pitch_ = std::ptrdiff_t(size.width) * pixel_bytes_ + padding / sample_bytes_ * sample_bytes_;
    bytes_.assign(std::size_t(pitch_) * std::size_t(size.height + 2), guard);
    std::mt19937 random(seed);
    float phase[4];
    for (float& p : phase) p = float(random() % 1000) * 0.00628f;
    std::mt19937 grain(seed * 2654435761u + unsigned(shift * 64));
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const float px = float(x) - shift, py = float(y) + 0.3f * shift;
        const float texture = 128 + 40 * std::sin(0.31f * px + phase[0]) * std::cos(0.27f * py + phase[1]) +
                              50 * std::sin(0.05f * px + 0.07f * py + phase[2]) +
                              20 * std::cos(0.9f * py - 0.7f * px + phase[3]);
        for (int c = 0; c < pixel_bytes_ / sample_bytes_; ++c) {
          const float value = texture + 5 * float(c) + (float(grain() % 9) - 4);
          put(x, y, c, value < 0 ? 0 : value > 255 ? 255 : value);
        }
      }
  }

  /// Only f32 frames: a pixel that is not a number.
  void set_nan(int x, int y) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(pixel(x, y), &nan, sizeof nan);
  }

  Frame frame() const {
    return {bytes_.data() + pitch_, size_.width, size_.height, pitch_, format_, Memory::host()};
  }
  operator Frame() const { return frame(); }

 private:
  unsigned char* pixel(int x, int y) {
    return bytes_.data() + std::size_t(pitch_) * std::size_t(y + 1) +
           std::size_t(x) * std::size_t(pixel_bytes_);
  }
  void put(int x, int y, int channel, float value) {
    unsigned char* to = pixel(x, y) + channel * sample_bytes_;
    if (sample_bytes_ == 1) {
      *to = static_cast<unsigned char>(value);
    } else if (sample_bytes_ == 2) {
      const auto sample = static_cast<std::uint16_t>(value * 257);
      std::memcpy(to, &sample, sizeof sample);
    } else {
      std::memcpy(to, &value, sizeof value);
    }
  }

  Size size_;
  PixelFormat format_;
  int pixel_bytes_, sample_bytes_;
  std::ptrdiff_t pitch_;
  std::vector<unsigned char> bytes_;
};

/// Frame of the texture that tests of tasks share, moved by `shift` px.
inline GuardedFrame noise(Size size, float shift, PixelFormat format = PixelFormat::gray_u8) {
  return {size, format, 1, shift, 0, 0};
}

}  // namespace parafield
