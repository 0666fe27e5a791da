// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "markov/background/background.hpp"
#include "parafield/background.hpp"

/// A learned background in host memory, and the bytes of LearnedBackground::state: for each row of the image,
/// the first kept_planes planes of a BackgroundRow; then the runs, row by row, as 16-bit numbers; then the
/// numbers as 32-bit numbers. Both are little-endian.
namespace parafield {

constexpr int kept_planes = sample_count + 3;  // the others belong to the newest frame

struct BackgroundState {
  Image<std::uint8_t> rows;
  Image<std::uint16_t> run;
  Image<int> numbers;

  explicit BackgroundState(Size size)
      : rows({size.width, row_planes * size.height}), run(size), numbers({number_count, 1}) {}
};

std::size_t background_bytes(Size size);
std::vector<std::uint8_t> packed_background(const BackgroundState& state);
BackgroundState unpacked_background(const LearnedBackground& background);

/// Throws Error(invalid_argument) unless a background is for that method and size, and its state is possible.
void check_background(const LearnedBackground& background, std::string_view method, Size size);

/// The range of a frame; {0, 0} if it is the usual one of its format.
ValueRange special_range(const Frame& frame);
/// The range as messages show it.
std::string range_text(ValueRange range);

}  // namespace parafield
