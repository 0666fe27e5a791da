// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstdlib>

#include "parafield/image.hpp"

namespace parafield {

/// A scene with all that the steps of a background are for: things that pass, stop and leave, light that
/// changes in the whole scene and in a part of it, leaves, a shadow, frames that differ in nearly all pixels,
/// and a camera that shakes.
class EventfulScene {
 public:
  EventfulScene(Size size, bool color, bool shakes) : size_(size), color_(color), shakes_(shakes) {}

  FrameBuffer operator()(int t) const {
    FrameBuffer image(size_, color_ ? PixelFormat::rgb_u8 : PixelFormat::gray_u8);
    const int dx = shakes_ && t > 20 ? t % 4 : 0, dy = shakes_ && t > 30 ? t % 3 : 0;
    for (int y = 0; y < size_.height; ++y)
      for (int x = 0; x < size_.width; ++x) {
        const auto [gray, tint] = pixel(x - dx, y - dy, x, y, t);
        auto* const to = static_cast<std::uint8_t*>(image.row(y));
        const auto byte = [](double value) { return std::uint8_t(std::clamp(value, 0.0, 255.0)); };
        if (!color_) {
          to[x] = byte(gray);
          continue;
        }
        to[3 * x] = byte(gray * (1 + tint));
        to[3 * x + 1] = byte(gray);
        to[3 * x + 2] = byte(gray * (1 - tint));
      }
    return image;
  }

 private:
  struct Shown {
    double gray, tint;
  };
  /// `x`, `y`: place in the scene; `frame_x`, `frame_y`: in the frame.
  Shown pixel(int x, int y, int frame_x, int frame_y, int t) const {
    const double light = t < 40 ? 1 : t < 55 || x < size_.width / 3 ? 1.25 : 0.9;
    if (std::abs(x - 2 * std::min(t, 12)) < 4 && y < 12) return {light * 200, -0.3};  // it stops
    if (t < 70 && x > 25 && x < 31 && y > 3 && y < 9) return {light * 30, 0.4};       // it leaves
    if (t == 50 || t == 51) return {20.0 + x % 3, 0};                                 // all changes
    if (y > 16 && x < 12 && (t * 7 + x * 3) % 5 < 2) return {light * 150, 0.1};       // leaves
    const int block = (x / 5 * 7 + y / 4 * 13) % 5;
    const double shadow = t > 60 && t < 75 && x > 14 && x < 24 && y > 12 ? 0.7 : 1;
    return {light * shadow * (70 + 18 * block + (frame_x * 31 + frame_y * 17 + t * 29) % 5), 0.2};
  }

  Size size_;
  bool color_, shakes_;
};

}  // namespace parafield
