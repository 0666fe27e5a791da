// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "markov/background/background.hpp"
#include "parafield/background.hpp"

/// A learned background in host memory, and the bytes of LearnedBackground::state: for each row of the image,
/// the first kept_planes planes of a BackgroundRow and, if colors are compared, the first kept_color_planes
/// planes of its colors; then likewise the rows of 16-bit numbers; then Background::numbers as 32-bit
/// numbers. All are little-endian.
namespace parafield {

struct BackgroundState {
  bool colors;  // has the planes of colors
  Image<std::uint8_t> rows;
  Image<std::uint16_t> words;
  Image<int> numbers;

  BackgroundState(Size size, bool has_colors)
      : colors(has_colors),
        rows({size.width, (colors ? color_planes : gray_planes) * size.height}),
        words({size.width, (colors ? color_words : gray_words) * size.height}),
        numbers({number_count, 1}) {}
};

/// Size of a state. `colored`: colors are compared.
std::size_t background_bytes(Size size, bool colored);
std::vector<std::uint8_t> packed_background(const BackgroundState& state);
/// `colors`: whether the result has planes for colors, which it must have if the background compares them.
BackgroundState unpacked_background(const LearnedBackground& background, bool colors);

/// Throws Error(invalid_argument) unless a background is for that method and size, and its state is possible.
/// `colors`: whether the method compares colors.
void check_background(const LearnedBackground& background, std::string_view method, Size size, bool colors);

/// The range of a frame; {0, 0} if it is the usual one of its format.
ValueRange special_range(const Frame& frame);
/// The range as messages show it.
std::string range_text(ValueRange range);

}  // namespace parafield
