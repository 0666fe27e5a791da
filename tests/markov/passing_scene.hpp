// SPDX-License-Identifier: MIT
#pragma once
#include <cstdlib>

#include "parafield/image.hpp"

namespace parafield {

/// Texture of the ground, with weak noise that changes from frame to frame.
inline int ground(int x, int y, int t) { return 90 + (x + 2 * y) % 31 + (x * 31 + y * 17 + t * 29) % 5; }

/// A thing that passes over the ground.
inline FrameBuffer passing(Size size, int t) {
  FrameBuffer image(size, PixelFormat::gray_u8);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      static_cast<std::uint8_t*>(image.row(y))[x] =
          std::uint8_t(std::abs(x - t % 90) < 8 && y > 8 && y < 30 ? 210 : ground(x, y, t));
  return image;
}

}  // namespace parafield
