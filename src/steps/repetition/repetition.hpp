// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"
#include "core/workspace.hpp"

/// Pixels of patterns that repeat along the row, such as windows of a facade, match equally well at several
/// disparities. A method then picks one of them for whole areas, with large margins and in both views alike.
///
/// Blocks of 8 x 8 px are examined at their centers. First, the left image is compared with itself: the
/// period is the first shift at which a window is alike again, after shifts at which it differs. Then the
/// disparities in a larger window are compared with those that are a period or two smaller or larger. If
/// these match nearly as well, the block is repeated.
namespace parafield {

constexpr int repeated_block = 8;  // px
PF_HD Size repeated_blocks(Size size) {
  return {(size.width + repeated_block - 1) / repeated_block,
          (size.height + repeated_block - 1) / repeated_block};
}

/// What repetition is found in. All planes have the size of the images.
struct RepetitionInput {
  View<const std::uint32_t> left_colors, right_colors;  // see mix.hpp
  View<const float> d;
  int least = 0, most = 0;  // range of disparities
};

/// Planes with one value per block.
struct RepeatedBlocks {
  View<std::int32_t> before, after;  // period to the left and to the right, px; 0 = none
  View<std::uint8_t> repeated;
};

/// Finds the periods, and the blocks that are repeated.
template <class Backend>
void find_repetition(Backend& backend, const RepetitionInput& input, const RepeatedBlocks& blocks);

/// Clears `valid` and the confidence of the pixels of repeated blocks, and of blocks among many of these.
template <class Backend>
void withhold_repeated(Backend& backend, View<const std::uint8_t> repeated, View<std::uint8_t> valid,
                       View<float> confidence);

/// Bytes of scratch memory for each CPU thread: sums of luma differences, the differences, and rows of luma.
inline std::size_t repetition_scratch(int width) {
  return sizeof(int) * std::size_t(width + 1) + sizeof(std::int16_t) * std::size_t(10 * width);
}

// Shared by both backends. Luma is a whole number, 4 times the gray value.

PF_HD int luma_code(std::uint32_t color) {
  return int((color & 255) + 2 * (color >> 8 & 255) + (color >> 16 & 255));
}
PF_HD int magnitude_of_code(int value) { return value < 0 ? -value : value; }

/// Center of block i along an axis of `count` pixels.
PF_HD int block_center(int i, int count) {
  return smaller(i * repeated_block + repeated_block / 2, count - 1);
}

constexpr int period_radius = 8;  // px, of the window whose period is found; every other row counts
constexpr int pair_radius_x = 16, pair_radius_y = 8;  // px, of the window that compares disparities

/// Search for a period: shifts 1, 2, 3 ... px, with the mean difference at each.
struct PeriodSearch {
  float last = 1e30f, most = 0, most_before = 0;
  int period = 0;

  /// `mean`: mean difference at this shift, in luma codes.
  PF_HD void add(int shift, float mean) {
    constexpr float least_texture = 4 * 4, alike = 0.25f;
    const bool is_least = (mean >= last) & (last <= alike * most_before) & (most_before > least_texture);
    period = bool(is_least & (period == 0) & (shift > 2)) ? shift - 1 : period;
    most_before = most;
    most = larger(most, mean);
    last = mean;
  }
};
/// Mean of a sum over `rows` rows and the `columns` columns of the window that are inside the image. With
/// less than half of the window, it is so large that nothing is alike.
PF_HD float period_mean(int sum, int rows, int columns) {
  return columns > period_radius ? float(sum) / float(rows * columns) : 1e6f;
}

/// Difference of a pixel from its match, in halved luma codes: 0 if the left pixel's luma is within half a
/// pixel around the match (Birchfield and Tomasi 1998).
PF_HD int unsampled_difference(int luma, const std::uint32_t* right, int width, int x) {
  const int here = 2 * luma_code(right[x]), before = luma_code(right[x > 0 ? x - 1 : 0]) + here / 2,
            after = luma_code(right[x + 1 < width ? x + 1 : x]) + here / 2;
  const int low = smaller(here, smaller(before, after)), high = larger(here, larger(before, after));
  const int off = larger(larger(2 * luma - high, low - 2 * luma), 0);
  return smaller(off, 240);
}

/// Differences of the costs of two disparities over a window.
struct CostPair {
  int count = 0, sum = 0, squares = 0;

  /// Adds a pixel of row y whose disparity is whole after rounding. `shift`: of the other disparity.
  PF_HD void add(const RepetitionInput& input, int x, int y, int shift) {
    const int width = input.d.width;
    const int match = x - int(floor_of(input.d(x, y) + 0.5f)), other = match - shift;
    if (match < 0 || match >= width || other < 0 || other >= width) return;
    const int luma = luma_code(input.left_colors(x, y));
    const std::uint32_t* const right = input.right_colors.row(y);
    const int difference = unsampled_difference(luma, right, width, other) -
                           unsampled_difference(luma, right, width, match);
    ++count, sum += difference, squares += difference * difference;
  }
  /// Whether the other disparity does not cost clearly more: less than 4 standard errors of the mean. At
  /// least half of the window must be there.
  PF_HD bool is_tie() const {
    constexpr int window = (2 * pair_radius_x + 1) * (pair_radius_y + 1);
    if (2 * count < window) return false;
    const float mean = float(sum) / float(count);
    const float variance = larger(float(squares) / float(count) - mean * mean, 0.64f);
    return (mean <= 0) | (mean * mean * float(count) < 16 * variance);
  }
  PF_HD static float floor_of(float value) {
    const float whole = float(int(value));
    return whole > value ? whole - 1 : whole;
  }
};

/// Candidate `index`, 0 to 11, of the disparities that a block is compared with: by how much it is larger. It
/// is a period or two larger (6 to 11) or smaller, or a pixel next to that, because a period need not be a
/// whole number. 0 = there is none.
constexpr int repeated_candidates = 12;
PF_HD int repeated_shift(int index, int before, int after) {
  const int period = index < 6 ? after : before;
  const int shift = period == 0 ? 0 : (index / 3 % 2 + 1) * period + index % 3 - 1;
  return index < 6 ? -shift : shift;
}
PF_HD bool is_in_range(const RepetitionInput& input, int x, int y, int shift) {
  const float d = input.d(x, y) + float(shift);
  return (shift != 0) & (d >= float(input.least)) & (d <= float(input.most));
}

/// Whether a block is withheld: itself repeated, or at least 9 of the 5 x 5 blocks around it.
PF_HD bool is_among_repeated(const View<const std::uint8_t>& repeated, int i, int j) {
  if (repeated(i, j)) return true;
  int count = 0;
  for (int y = larger(j - 2, 0); y <= smaller(j + 2, repeated.height - 1); ++y)
    for (int x = larger(i - 2, 0); x <= smaller(i + 2, repeated.width - 1); ++x) count += repeated(x, y) != 0;
  return count >= 9;
}

}  // namespace parafield
