// SPDX-License-Identifier: MIT
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "parafield/parafield.hpp"
#include "textures.hpp"

namespace parafield {

/// A pair of a wall at disparity `far` and, before its middle, a board at disparity `near`.
struct WallPair {
  FrameBuffer left, right;

  WallPair(Size size, int far, int near, PixelFormat format = PixelFormat::gray_u8)
      : left(size, format), right(size, format) {
    const Texture wall(6), board(7);
    const auto on_board = [&](int x, int y) {
      return x >= size.width * 2 / 5 && x < size.width * 3 / 5 && y >= size.height / 4 &&
             y < size.height * 3 / 4;
    };
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        set(left, x, y, on_board(x, y) ? board(x, y) : wall(x, y));
        set(right, x, y, on_board(x + near, y) ? board(x + near, y) : wall(x + far, y));
      }
  }

  static void set(FrameBuffer& frame, int x, int y, double value) {
    const int samples = channels(frame.format());
    const int bytes = bytes_per_pixel(frame.format()) / samples;
    void* const row = frame.row(y);
    for (int i = samples * x; i < samples * (x + 1); ++i)
      if (bytes == 1)
        static_cast<std::uint8_t*>(row)[i] = std::uint8_t(std::clamp(value, 0.0, 255.0));
      else if (bytes == 2)
        static_cast<std::uint16_t*>(row)[i] = std::uint16_t(std::clamp(257 * value, 0.0, 65535.0));
      else
        static_cast<float*>(row)[i] = float(value);
  }
};

/// Expects a number that covers disparities up to `most`, with a margin of at most a third and 32.
inline void expect_covers(int disparities, int most, const std::string& what) {
  EXPECT_GE(disparities, most + 1) << what;
  EXPECT_LE(disparities, most * 4 / 3 + 33) << what;
}

}  // namespace parafield
