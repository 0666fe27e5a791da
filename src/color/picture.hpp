// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "parafield/image.hpp"

namespace parafield {

using Color = std::array<std::uint8_t, 3>;

/// 256 colors from blue through cyan, green and yellow to red, in steps that look equally large.
const std::array<Color, 256>& color_map();

/// Converts a frame of any format to rgb_u8. Throws Error(invalid_argument) for a frame without pixels or
/// outside host memory; `what` names the frame.
FrameBuffer to_rgb(const Frame& frame, const char* what);

/// Width of a text, px, including the gap after each letter.
int text_width(std::string_view text, int size);

/// Writes text on a light background, with its upper left corner at (left, top). Letters have 5x7 squares of
/// `size` px; characters must be ASCII from the space to z.
void write_text(FrameBuffer& picture, std::string_view text, int left, int top, int size);

/// Blends a color into a pixel. `coverage` is clamped to 0..1.
inline void blend(std::uint8_t* pixel, const std::array<double, 3>& color, double coverage) {
  const double part = std::clamp(coverage, 0.0, 1.0);
  for (int i = 0; i < 3; ++i) pixel[i] = std::uint8_t(pixel[i] + part * (color[i] - pixel[i]) + 0.5);
}

}  // namespace parafield
