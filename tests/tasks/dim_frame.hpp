// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "parafield/image.hpp"

namespace parafield {

/// A gray_u8 scene in little light: its values divided by `divisor`, plus `black`, with noise of the standard
/// deviation `sigma`. A scene of zeros gives what a covered camera sees.
inline FrameBuffer dim(const FrameBuffer& scene, double divisor, double black, double sigma, unsigned seed) {
  FrameBuffer frame(scene.size(), PixelFormat::gray_u8);
  std::mt19937 random(seed);
  for (int y = 0; y < scene.size().height; ++y) {
    const auto* const from = static_cast<const std::uint8_t*>(scene.row(y));
    auto* const to = static_cast<std::uint8_t*>(frame.row(y));
    for (int x = 0; x < scene.size().width; ++x) {
      double noise = -6;  // the sum of 12 uniform numbers, less their mean, has a variance of 1
      for (int i = 0; i < 12; ++i) noise += random() / 4294967296.0;
      to[x] = std::uint8_t(std::clamp(std::lround(from[x] / divisor + black + sigma * noise), 0L, 255L));
    }
  }
  return frame;
}

}  // namespace parafield
