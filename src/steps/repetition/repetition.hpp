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

/// Input of the search for repetition. All planes have the size of the images.
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

/// Finds the periods of the left image, up to the number of disparities. They are searched for apart from the
/// rest, because they need no disparities.
template <class Backend>
void find_periods(Backend& backend, View<const std::uint32_t> left_colors, int disparities,
                  const RepeatedBlocks& blocks);

/// Finds the blocks that are repeated, given their periods.
template <class Backend>
void find_repetition(Backend& backend, const RepetitionInput& input, const RepeatedBlocks& blocks);

/// Clears `valid` and the confidence of the pixels of repeated blocks, and of blocks among many of these. Of
/// the other pixels, clears `valid` where the confidence is below `least` or NaN; 0 = nowhere.
template <class Backend>
void withhold_repeated(Backend& backend, View<const std::uint8_t> repeated, float least,
                       View<std::uint8_t> valid, View<float> confidence);

/// Columns that the CPU keeps of a shift: those of the image, and as many as it is moved by.
inline int repetition_columns(int width) { return 2 * width + 64; }
/// Bytes of scratch memory for each CPU thread: the columns' differences, their sums, and rows of gray
/// values.
inline std::size_t repetition_scratch(int width) {
  return 2 * sizeof(std::uint16_t) * std::size_t(repetition_columns(width)) + 9 * std::size_t(width);
}

// Shared by both backends. Periods are found in whole gray values. The luma of matches is 4 times as fine.

PF_HD int luma_code(std::uint32_t color) {
#ifdef __CUDA_ARCH__
  return int(__dp4a(color, 0x00010201u, 0u));  // the same in one instruction
#else
  return int((color & 255) + 2 * (color >> 8 & 255) + (color >> 16 & 255));
#endif
}
PF_HD std::uint32_t gray_value(std::uint32_t color) { return std::uint32_t(luma_code(color)) / 4; }

/// Center of block i along an axis of `count` pixels.
PF_HD int block_center(int i, int count) {
  return smaller(i * repeated_block + repeated_block / 2, count - 1);
}

constexpr int period_radius = 8;  // px, of the window whose period is found; every other row counts
constexpr int pair_radius_x = 16, pair_radius_y = 8;  // px, of the window that compares disparities

/// Whether the shift before `shift` is a period: the mean difference there, `last`, is a minimum and much
/// less than the most at the shifts before it, `most_before`. `mean`: at `shift`. All are gray values.
PF_HD bool ends_period(int shift, float mean, float last, float most_before) {
  constexpr float least_texture = 4, alike = 0.25f;
  return (shift > 2) & (mean >= last) & (last <= alike * most_before) & (most_before > least_texture);
}
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

/// A pixel of the left image and its match, at a whole disparity.
struct MatchedPixel {
  int match = -1;  // column of the right image; negative: none
  int luma = 0, difference = 0;

  /// `right`: the pixel's row of the right image.
  PF_HD static MatchedPixel make(const RepetitionInput& input, const std::uint32_t* right, int x, int y) {
    const int width = input.d.width, match = x - int(floor_of(input.d(x, y) + 0.5f));
    const int luma = luma_code(input.left_colors(x, y));
    return {bool((match >= 0) & (match < width)) ? match : -1, luma,
            unsampled_difference(luma, right, width, clamp(match, 0, width - 1))};
  }
  PF_HD static float floor_of(float value) {
    const float whole = float(int(value));
    return whole > value ? whole - 1 : whole;
  }
};

/// Differences of the costs of two disparities over a window.
struct CostPair {
  int count = 0, sum = 0, squares = 0;

  /// Adds a pixel. `right`: its row of the right image. `shift`: how much larger the other disparity is.
  PF_HD void add(const MatchedPixel& pixel, const std::uint32_t* right, int width, int shift) {
    const int other = pixel.match - shift;
    const bool counts = (pixel.match >= 0) & (other >= 0) & (other < width);
    const int more = unsampled_difference(pixel.luma, right, width, clamp(other, 0, width - 1)) -
                     pixel.difference,
              difference = counts ? more : 0;
    count += counts, sum += difference, squares += difference * difference;
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

/// A block is withheld if it is repeated, or at least 9 of the 5 x 5 blocks around it.
constexpr int repeated_around = 2, least_repeated = 9;

}  // namespace parafield
