// SPDX-License-Identifier: MIT
#include "markov/background/light.hpp"
#include "markov/launch.cuh"

namespace parafield {
namespace {

/// The bin of the median of the pixels in bins `first` to `last`. `upto`: number of pixels in all bins up to
/// each. All threads of the block must call it; thread i is bin i.
__device__ int median_bin(const int* upto, int first, int last, int& shared_result) {
  const int bin = int(threadIdx.x), below = first > 0 ? upto[first - 1] : 0, all = upto[last] - below;
  const bool is_inside = bin >= first && bin <= last;
  if (is_inside && 2 * (upto[bin] - below) > all && 2 * ((bin > 0 ? upto[bin - 1] : 0) - below) <= all)
    shared_result = bin;
  __syncthreads();
  const int result = shared_result;
  __syncthreads();
  return result;
}

/// Replaces counts[i] by the sum of the counts up to i. All threads of a block of gain_bins threads must call
/// it. `sums`: a number for each warp.
__device__ void sum_up(int* counts, int* sums) {
  const int thread = int(threadIdx.x), lane = thread % 32, warp = thread / 32;
  int sum = counts[thread];
  for (int step = 1; step < 32; step *= 2) {
    const int before = __shfl_up_sync(~0u, sum, step);
    if (lane >= step) sum += before;
  }
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  for (int i = 0; i < warp; ++i) sum += sums[i];
  counts[thread] = sum;
  __syncthreads();
}

/// One block of gain_bins threads, each for a pixel of the grid and for a bin.
__global__ void gain_kernel(View<const std::uint8_t> luma, Background background) {
  begin_kernel();
  static_assert(gain_bins == grid_side * grid_side);
  __shared__ int upto[gain_bins], sums[gain_bins / 32], lumas[luma_bins], best[2], in_band, result;
  const int thread = int(threadIdx.x);
  upto[thread] = 0;
  if (thread < luma_bins) lumas[thread] = 0;
  if (thread == 0) best[0] = best[1] = in_band = result = 0;
  __syncthreads();
  const int x = grid_place(thread % grid_side, luma.width), y = grid_place(thread / grid_side, luma.height);
  const int mean = background.row(y).mean()[x];
  const int seen = luma_at(luma, x, y, shift_of(background));
  const int own_bin = gain_bin(seen, mean);
  if (own_bin >= 0) atomicAdd(upto + own_bin, 1);
  __syncthreads();
  sum_up(upto, sums);
  const int all = upto[gain_bins - 1];
  if (all < least_grid) {
    if (thread == 0) {
      store_numbers(background, -1, -1);
      background.numbers.data[frame_noise] = 0;
    }
    return;
  }
  /// Number of pixels in the cluster around a bin.
  const auto near = [&](int bin) {
    const int first = first_near(bin);
    return upto[last_near(bin)] - (first > 0 ? upto[first - 1] : 0);
  };
  // The largest cluster, and of equal ones the first.
  constexpr int after = gain_bins - 1;
  const int median = median_bin(upto, 0, after, result);
  atomicMax(best, near(thread) << 10 | (after - thread));
  __syncthreads();
  const int first = 2 * near(median) < all ? after - (best[0] & after) : median;
  // The second cluster is apart from the first.
  if (last_near(thread) < first_near(first, 8) || first_near(thread) > last_near(first, 8))
    atomicMax(best + 1, near(thread) << 10 | (after - thread));
  __syncthreads();
  const int second_count = best[1] >> 10, second = after - (best[1] & after);
  if (second_count > 0 && own_bin >= first_near(second) && own_bin <= last_near(second))
    atomicAdd(lumas + (mean >> 10), 1);
  __syncthreads();
  if (thread + band_bins <= luma_bins) {
    int count = 0;
    for (int k = 0; k < band_bins; ++k) count += lumas[thread + k];
    atomicMax(&in_band, count);
  }
  __syncthreads();
  const bool two = are_two_gains(near(first), second_count, all, in_band);
  const bool clustered = two || is_main_gain(near(median), near(first), all);
  const int gain = clustered ? median_bin(upto, first_near(first), last_near(first), result) : median;
  const int second_gain = two ? median_bin(upto, first_near(second), last_near(second), result) : -1;
  if (thread == 0) store_numbers(background, gain, second_gain);
  __syncthreads();
  upto[thread] = 0;
  __syncthreads();
  if (own_bin >= 0) atomicAdd(upto + noise_bin(gains_of(background), seen, mean), 1);
  __syncthreads();
  sum_up(upto, sums);
  if (thread < noise_bins && is_quartile(upto[thread], thread > 0 ? upto[thread - 1] : 0, all))
    background.numbers.data[frame_noise] = smaller(thread, most_noise);
}

constexpr int tiles_of_block = 8;

/// A block takes a few tiles of a row, one after the other, and each of its threads takes a pixel of a tile.
/// With one gain all blocks return at once, and fewer blocks do so sooner.
__global__ void tile_votes_kernel(View<const std::uint8_t> luma, Background background) {
  begin_kernel();
  const Gains gains = gains_of(background);
  if (gains.second <= 0) return;
  __shared__ int sum;
  const int row = int(blockIdx.y), y = row * tile_side + int(threadIdx.y);
  const bool is_first = threadIdx.x == 0 && threadIdx.y == 0;
  for (int i = 0; i < tiles_of_block; ++i) {
    const int column = int(blockIdx.x) * tiles_of_block + i, x = column * tile_side + int(threadIdx.x);
    if (column >= background.tiles.width) return;
    if (is_first) sum = 0;
    __syncthreads();
    if (x < background.size.width && y < background.size.height)
      atomicAdd(&sum,
                gain_vote(gains, luma_at(luma, x, y, shift_of(background)), background.row(y).mean()[x]));
    __syncthreads();
    if (is_first) background.tile_votes(column, row) = sum;
  }
}

__global__ void choose_gains_kernel(Background background) {
  begin_kernel();
  if (gains_of(background).second <= 0) return;
  const int column = own_x(), row = own_y();
  if (column < background.tiles.width && row < background.tiles.height)
    background.tiles(column, row) = tile_gain(background.tile_votes, background.size, column, row);
}

}  // namespace

template <class Backend>
void find_gain(Backend& cuda, View<const std::uint8_t> luma, const Background& background) {
  cuda.launch(gain_kernel, dim3(1), dim3(gain_bins), 0, luma, background);
}

template <class Backend>
void choose_gains(Backend& cuda, View<const std::uint8_t> luma, const Background& background) {
  const Size tiles = background.tiles.size();
  cuda.launch(tile_votes_kernel, dim3(blocks_for(tiles.width, tiles_of_block), unsigned(tiles.height)),
              dim3(tile_side, tile_side), 0, luma, background);
  cuda.launch(choose_gains_kernel, pixel_grid(tiles), pixel_block, 0, background);
}

PF_STEP(find_gain<Cuda>);
PF_STEP(choose_gains<Cuda>);

}  // namespace parafield
