// SPDX-License-Identifier: MIT
#pragma once
#include "markov/background/shift.hpp"

/// Changes of light. One gain compensates for the brightness of a frame: the median of luma / background over
/// a grid of 32x32 pixels. If the light has changed in a part of the scene, as when a lamp is switched on,
/// the ratios cluster around two values. Then there are two gains, and tiles of the image vote for one of
/// them. Where the votes are mixed, as at the border of the lit part or if the light has become brighter by a
/// constant, a pixel takes its own ratio, limited by both gains.
///
/// The same grid measures how noisy the frame is: the noise is the lower quartile of the differences that the
/// gains leave. It is a quartile because noise is everywhere, but leaves and objects rarely cover three quarters
/// of a frame. Spreads are at least twice the noise. A pixel has left its samples only if its distance is twelve
/// times the noise or 12 lumas: otherwise rare large values of noise would count as flicker, which hides small
/// objects.
namespace parafield {

/// Counts a frame, and finds its gain or two gains, and its noise.
template <class Backend>
void find_gain(Backend& backend, View<const std::uint8_t> luma, const Background& background);

/// Chooses between two gains for each tile. Does nothing if there is one gain.
template <class Backend>
void choose_gains(Backend& backend, View<const std::uint8_t> luma, const Background& background);

// Shared by both backends.

/// Luma of the background's pixel (x, y) in the frame.
PF_HD int luma_at(const View<const std::uint8_t>& luma, int x, int y, Shift shift) {
  return shift.is_none() ? luma(x, y) : moved_byte(luma, x, y, shift);
}

/// Bin of the ratio of a luma to the background, 256 for a ratio of 1; -1 if one is too dark or too bright to
/// use. `mean`: the background's luma, in units of 1/256.
constexpr int gain_bins = 1024, grid_side = 32;
PF_HD int gain_bin(int luma, int mean) {
  const bool clear = mean >= 20 * 256 && mean < 250 * 256 && luma >= 8 && luma < 250;
  const int bin = clear ? int(smaller(float(luma) * 65536 / float(mean), 1023.0f) + 0.5f) : -1;
  return bin < gain_bins ? bin : gain_bins - 1;
}
PF_HD int grid_place(int i, int side) { return int((std::int64_t(2 * i + 1) * side) / (2 * grid_side)); }

constexpr int least_grid = 64;  // fewest usable pixels

// A cluster is the ratios within a sixteenth of its bin. Two clusters count as two gains if they contain
// three quarters of the usable pixels, the second a fifth, and if its pixels have different lumas. An object
// of one color in front of a wall does not have them.

/// First and last bin of a cluster around a bin, or of its `share` (16 for a sixteenth).
PF_HD int first_near(int bin, int share = 16) { return bin - bin / share; }
PF_HD int last_near(int bin, int share = 16) { return smaller(bin + bin / share, gain_bins - 1); }

/// Bins of lumas: four values each. A band of four bins holds the lumas of an object of one color.
constexpr int luma_bins = 64, band_bins = 4;

/// Whether two clusters of `first` and `second` pixels out of `all` are two gains. `in_band`: the most pixels
/// of the second cluster whose backgrounds are in one band.
PF_HD bool are_two_gains(int first, int second, int all, int in_band) {
  return 4 * (first + second) >= 3 * all && 5 * second >= all && 4 * in_band <= 3 * second;
}

/// Whether the largest cluster is the gain instead of the median of all ratios, because the median is apart
/// from it. `median`, `largest`: pixels in the clusters around both.
PF_HD bool is_main_gain(int median, int largest, int all) {
  return 5 * largest >= 2 * all && 2 * median < largest;
}

constexpr int young_frames = 32;  // a background with fewer frames is young

/// Chance that a sample is renewed, in units of 1/65536. A young background changes faster.
PF_HD int renewal_chance(int frame, int renewal) {
  const int young = larger(frame / 2, 2);
  return 65536 / (frame < young_frames ? smaller(young, renewal) : renewal);
}

/// Updates Background::numbers for a new frame. `bin`: bin of the gain, or -1 if too few pixels are usable.
/// `second`: bin of the second gain, or -1.
PF_HD void store_numbers(const Background& background, int bin, int second) {
  int* const numbers = background.numbers.data;
  const float all = float(background.size.width) * float(background.size.height);
  numbers[gain_bits] = __builtin_bit_cast(int, bin > 0 ? float(bin) / 256 : 1.0f);
  numbers[second_gain_bits] = second > 0 ? __builtin_bit_cast(int, float(second) / 256) : 0;
  numbers[has_mask] = numbers[had_frame];
  numbers[had_frame] = 1;
  if (numbers[frame_number] == 0) numbers[is_colored] = 50.0f * float(numbers[colored_count]) > all;
  if (!background.frozen) {
    numbers[is_crowded] = float(numbers[moving_count]) > 0.7f * all;
    if (numbers[frame_number] < (1 << 30)) ++numbers[frame_number];
    numbers[chance_of_renewal] = renewal_chance(numbers[frame_number], background.renewal);
  }
  numbers[moving_count] = 0;
}

/// The gains of a frame. `second` is 0 if there is only one.
struct Gains {
  float first, second;
};
PF_HD Gains gains_of(const Background& background) {
  return {__builtin_bit_cast(float, background.number(gain_bits)),
          __builtin_bit_cast(float, background.number(second_gain_bits))};
}

/// Bin of the difference that the gains leave between a luma and the background, in units of 1/16 luma.
constexpr int noise_bins = 256;
PF_HD int noise_bin(Gains gains, int luma, int mean) {
  const float expected = float(mean) * (1.0f / 256);
  const float off_first = magnitude(float(luma) - gains.first * expected),
              off_second = magnitude(float(luma) - gains.second * expected);
  const float off = gains.second > 0 && off_second < off_first ? off_second : off_first;
  return int(smaller(off * 16, float(noise_bins - 1)));
}
/// Whether a bin is the lower quartile of `all` pixels, given the number of pixels up to the bin and below it.
PF_HD bool is_quartile(int upto, int below, int all) { return 4 * upto >= all && 4 * below < all; }
constexpr int most_noise = 48;  // 3 lumas: larger differences are a change of the scene

/// A pixel's vote for the second gain: 1, or -1 for the first; 0 without a luma.
PF_HD int gain_vote(Gains gains, int luma, int mean) {
  const float expected = float(mean) * (1.0f / 256);
  const float off_first = magnitude(float(luma) - gains.first * expected),
              off_second = magnitude(float(luma) - gains.second * expected);
  return luma == no_luma ? 0 : off_second < off_first ? 1 : -1;
}
/// What a tile takes.
enum TileGain : std::uint8_t { first_gain, second_gain, own_ratios };

/// What a tile takes, by the votes of 5x5 tiles: the gain of three quarters of the pixels.
PF_HD TileGain tile_gain(const View<int>& votes, Size size, int column, int row) {
  const int left = larger(column - 2, 0), right = smaller(column + 3, votes.width), top = larger(row - 2, 0),
            bottom = smaller(row + 3, votes.height);
  int sum = 0;
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x) sum += votes(x, y);
  const int all = (smaller(right * tile_side, size.width) - left * tile_side) *
                  (smaller(bottom * tile_side, size.height) - top * tile_side);
  return 2 * sum > all ? second_gain : -2 * sum > all ? first_gain : own_ratios;
}

/// The inverse of a pixel's gain if there are two.
PF_HD float inverse_of_two(const Background& background, Gains gains, int luma, int mean, int x, int y) {
  const int tile = background.tiles(x / tile_side, y / tile_side);
  if (tile != own_ratios) return 1 / (tile == second_gain ? gains.second : gains.first);
  const float ratio = mean > 256 ? float(luma) * 256 / float(mean) : gains.first;
  return 1 / clamp(ratio, smaller(gains.first, gains.second), larger(gains.first, gains.second));
}

}  // namespace parafield
