// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "parafield/image.hpp"

namespace parafield {

/// A frame of any format as rgb_u8. Throws Error(invalid_argument) for a frame without pixels or outside host
/// memory; `what` names it.
FrameBuffer to_rgb(const Frame& frame, const char* what);

/// Width of a text, px, with the gap behind each letter.
int text_width(std::string_view text, int size);

/// Writes text of 5x7 px letters, each px `size` wide, from (left, top) on, over a light ground. Letters are those
/// of ASCII up to z.
void write_text(FrameBuffer& picture, std::string_view text, int left, int top, int size);

/// Blends a color into a pixel. `coverage` is clamped to 0..1.
inline void blend(std::uint8_t* pixel, const std::array<double, 3>& color, double coverage) {
  const double part = std::clamp(coverage, 0.0, 1.0);
  for (int i = 0; i < 3; ++i) pixel[i] = std::uint8_t(pixel[i] + part * (color[i] - pixel[i]) + 0.5);
}

}  // namespace parafield
