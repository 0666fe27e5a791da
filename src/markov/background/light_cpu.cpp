// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/background/light.hpp"

namespace parafield {
namespace {

/// The pixels of the grid.
constexpr int grid_points = grid_side * grid_side;
struct Grid {
  int lumas[grid_points], means[grid_points];
  int bins[grid_points];  // gain_bin
};
Grid grid_of(const View<const std::uint8_t>& luma, const Background& background) {
  const Shift shift = shift_of(background);
  Grid grid;
  for (int i = 0; i < grid_points; ++i) {
    const int x = grid_place(i % grid_side, luma.width), y = grid_place(i / grid_side, luma.height);
    grid.lumas[i] = luma_at(luma, x, y, shift);
    grid.means[i] = background.row(y).mean()[x];
    grid.bins[i] = gain_bin(grid.lumas[i], grid.means[i]);
  }
  return grid;
}

/// Stores the gains of a frame, see store_numbers.
void store_gains(const Grid& grid, const Background& background) {
  const int *const bins = grid.bins, *const means = grid.means;
  int upto[gain_bins] = {};
  for (int i = 0; i < grid_points; ++i)
    if (bins[i] >= 0) ++upto[bins[i]];
  for (int bin = 1; bin < gain_bins; ++bin) upto[bin] += upto[bin - 1];
  const int all = upto[gain_bins - 1];
  if (all < least_grid) return store_numbers(background, -1, -1);
  /// Number of pixels in bins first to last.
  const auto between = [&](int first, int last) {
    return first > last ? 0 : upto[last] - (first > 0 ? upto[first - 1] : 0);
  };
  const auto median_of = [&](int first, int last) {
    int bin = first;
    while (2 * between(first, bin) <= between(first, last)) ++bin;
    return bin;
  };
  const auto near = [&](int bin) { return between(first_near(bin), last_near(bin)); };
  const int median = median_of(0, gain_bins - 1);
  int first = median;
  for (int bin = 0; bin < gain_bins && 2 * near(median) < all; ++bin)
    if (near(bin) > near(first) || (near(bin) == near(first) && bin < first)) first = bin;
  // The second cluster is apart from the first.
  int second = -1, second_count = 0;
  for (int bin = 0; bin < gain_bins; ++bin) {
    const bool apart = last_near(bin) < first_near(first, 8) || first_near(bin) > last_near(first, 8);
    if (apart && near(bin) > second_count) second = bin, second_count = near(bin);
  }
  int lumas[luma_bins] = {}, in_band = 0;
  for (int i = 0; i < grid_points && second >= 0; ++i)
    if (bins[i] >= first_near(second) && bins[i] <= last_near(second)) ++lumas[means[i] >> 10];
  for (int i = 0; i + band_bins <= luma_bins; ++i) {
    int count = 0;
    for (int k = 0; k < band_bins; ++k) count += lumas[i + k];
    in_band = larger(in_band, count);
  }
  if (are_two_gains(near(first), second_count, all, in_band))
    store_numbers(background, median_of(first_near(first), last_near(first)),
                  median_of(first_near(second), last_near(second)));
  else
    store_numbers(background,
                  is_main_gain(near(median), near(first), all)
                      ? median_of(first_near(first), last_near(first))
                      : median,
                  -1);
}

/// Stores a frame's noise, given its gains.
void store_noise(const Grid& grid, const Background& background) {
  const Gains gains = gains_of(background);
  int counts[noise_bins] = {}, all = 0;
  for (int i = 0; i < grid_points; ++i) {
    if (grid.bins[i] < 0) continue;
    ++counts[noise_bin(gains, grid.lumas[i], grid.means[i])];
    ++all;
  }
  int quartile = 0;
  for (int bin = 0, upto = 0; bin < noise_bins && all >= least_grid; ++bin) {
    if (is_quartile(upto + counts[bin], upto, all)) quartile = bin;
    upto += counts[bin];
  }
  background.numbers.data[frame_noise] = smaller(quartile, most_noise);
}

}  // namespace

template <class Backend>
void find_gain(Backend&, View<const std::uint8_t> luma, const Background& background) {
  const Grid grid = grid_of(luma, background);
  store_gains(grid, background);
  store_noise(grid, background);
}

template <class Backend>
void choose_gains(Backend& cpu, View<const std::uint8_t> luma, const Background& background) {
  const Gains gains = gains_of(background);
  if (gains.second <= 0) return;
  const Shift shift = shift_of(background);
  const Size size = background.size;
  cpu.rows(background.tiles.height, [=](int row) {
    int* const votes = background.tile_votes.row(row);
    for (int column = 0; column < background.tiles.width; ++column) votes[column] = 0;
    for (int y = row * tile_side; y < smaller(row * tile_side + tile_side, size.height); ++y) {
      const std::uint16_t* const mean = background.row(y).mean();
      for (int x = 0; x < size.width; ++x)
        votes[x / tile_side] += gain_vote(gains, luma_at(luma, x, y, shift), mean[x]);
    }
  });
  cpu.rows(background.tiles.height, [=](int row) {
    for (int column = 0; column < background.tiles.width; ++column)
      background.tiles(column, row) = tile_gain(background.tile_votes, size, column, row);
  });
}

PF_STEP(find_gain<Cpu>);
PF_STEP(choose_gains<Cpu>);

}  // namespace parafield
