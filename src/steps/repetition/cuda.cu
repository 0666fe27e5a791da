// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "core/cuda/warp_reductions.cuh"
#include "steps/repetition/repetition.hpp"

// Periods: a warp examines a block; its lanes share the shifts. The warps of a CUDA block examine adjacent
// blocks. Gray values of their windows, and of what these are compared with, are in shared memory, four rows
// in a word, because the hardware adds four differences at once. Lower bound: with 64 disparities, 450x375
// px take 50 million differences, 1 us on an H100.
namespace parafield {
namespace {

constexpr int each_shifts = 2, shifts_at_once = 32 * each_shifts;  // of a lane, and of the warp
constexpr int period_columns = 2 * period_radius + 1, period_words = (period_radius + 1 + 3) / 4;
constexpr int period_warps = 8, period_threads = 32 * period_warps;
constexpr int windows_columns = period_columns + (period_warps - 1) * repeated_block;

/// Gray values of adjacent blocks' windows, which are moved by shifts from `first` on.
struct PeriodWindows {
  std::uint32_t own[period_words][windows_columns],
      moved[2][period_words][windows_columns + shifts_at_once];  // to the right and to the left

  /// Loads `count` columns from x on, of every other row from y - period_radius on. Rows outside the image
  /// are 0; columns outside it repeat the nearest column, and the sums leave them out.
  template <int Columns>
  __device__ static void load(View<const std::uint32_t> colors, int x, int y, int count,
                              std::uint32_t (&to)[period_words][Columns]) {
    const int thread = int(threadIdx.y) * 32 + int(threadIdx.x);
    for (int k = thread; k < count; k += period_threads) {
      const int column = clamp(x + k, 0, colors.width - 1);
      std::uint32_t color[period_radius + 1], word[period_words] = {};
      PF_UNROLL
      for (int row = 0; row <= period_radius; ++row)
        color[row] = colors(column, clamp(y - period_radius + 2 * row, 0, colors.height - 1));
      PF_UNROLL
      for (int row = 0; row <= period_radius; ++row) {
        const int at = y - period_radius + 2 * row;
        const bool is_inside = (at >= 0) & (at < colors.height);
        word[row / 4] |= (is_inside ? gray_value(color[row]) : 0) << 8 * (row % 4);
      }
      PF_UNROLL
      for (int i = 0; i < period_words; ++i) to[i][k] = word[i];
    }
  }
};

/// Means at `shifts_at_once` shifts: lane l has the means at the shifts l and l + 32.
struct Means {
  float value[each_shifts];

  /// The means `back` shifts before. `earlier`: of the shifts before the first one, the nearest first.
  __device__ Means before(int back, const float* earlier) const {
    const int lane = int(threadIdx.x), from = (lane - back) & 31;
    const float a = __shfl_sync(all_lanes, value[0], from), b = __shfl_sync(all_lanes, value[1], from);
    return {{lane >= back ? a : earlier[back - 1 - lane], lane >= back ? b : a}};
  }
  /// The most of each mean, of all before it, and of `earlier`.
  __device__ Means most(float earlier) const {
    Means result = *this;
    const int lane = int(threadIdx.x);
    PF_UNROLL
    for (int e = 0; e < each_shifts; ++e) {
      float& most = result.value[e];
      for (int step = 1; step < 32; step *= 2) {
        const float other = __shfl_up_sync(all_lanes, most, step);
        if (lane >= step) most = larger(most, other);
      }
      most = larger(most, earlier);
      earlier = __shfl_sync(all_lanes, most, 31);
    }
    return result;
  }
};

/// Search for a period to one side.
struct PeriodSearch {
  float last[2] = {}, most[2] = {};  // at the last shift before, and at the second last
  int period = 0;

  /// `means`: of `count` shifts from `first` on; 0 beyond.
  __device__ void add(int first, int count, const Means& means) {
    const Means mosts = means.most(most[0]), before = means.before(1, last),
                most_before = mosts.before(2, most);
    PF_UNROLL
    for (int e = 0; e < each_shifts; ++e) {
      const int at = int(threadIdx.x) + 32 * e;
      const bool ends =
          at < count && ends_period(first + at, means.value[e], before.value[e], most_before.value[e]);
      const unsigned lanes = __ballot_sync(all_lanes, ends);
      if (period == 0 && lanes != 0) period = first + 32 * e + __ffs(int(lanes)) - 2;
    }
    last[0] = __shfl_sync(all_lanes, means.value[each_shifts - 1], 31);
    most[1] = __shfl_sync(all_lanes, mosts.value[each_shifts - 1], 30);
    most[0] = __shfl_sync(all_lanes, mosts.value[each_shifts - 1], 31);
  }
};

__global__ void __launch_bounds__(period_threads)
    periods_kernel(View<const std::uint32_t> left, int disparities,
                   const __grid_constant__ RepeatedBlocks blocks) {
  begin_kernel();
  __shared__ PeriodWindows windows;
  const int first_i = int(blockIdx.x) * period_warps, i = first_i + int(threadIdx.y), j = int(blockIdx.y);
  const int lane = int(threadIdx.x), width = left.width, height = left.height;
  // A warp without a block does what the last one does, and stores nothing.
  const int x0 = block_center(first_i, width), x = block_center(smaller(i, blocks.before.width - 1), width),
            y = block_center(j, height);
  const int from_x = x - period_radius, place = x - x0, columns = windows_columns;
  const int rows = smaller(period_radius + 1, (height - 1 - y + period_radius) / 2 + 1) -
                   larger(0, (period_radius - y + 1) / 2);
  PeriodWindows::load(left, x0 - period_radius, y, columns, windows.own);
  PeriodSearch search[2];  // to the right and to the left
  for (int first = 1; first <= disparities; first += shifts_at_once) {
    const int count = smaller(shifts_at_once, disparities + 1 - first);
    PeriodWindows::load(left, x0 - period_radius + first, y, columns + count - 1, windows.moved[0]);
    PeriodWindows::load(left, x0 - period_radius - first - count + 1, y, columns + count - 1,
                        windows.moved[1]);
    __syncthreads();
    unsigned sum[2][each_shifts] = {};
    for (int k = larger(-from_x, 0); k < smaller(period_columns, width - from_x); ++k) {
      std::uint32_t own[period_words];
      PF_UNROLL
      for (int word = 0; word < period_words; ++word) own[word] = windows.own[word][place + k];
      PF_UNROLL
      for (int e = 0; e < each_shifts; ++e) {
        const int at = lane + 32 * e, column = from_x + k, shift = first + at;
        const auto add = [&](int side, bool is_inside, int there) {
          unsigned apart = 0;
          PF_UNROLL
          for (int word = 0; word < period_words; ++word)
            apart += __vsadu4(own[word], windows.moved[side][word][place + there]);
          sum[side][e] += is_inside ? apart : 0;
        };
        add(0, column + shift < width, k + at);
        add(1, column - shift >= 0, k + larger(count - 1 - at, 0));
      }
    }
    PF_UNROLL
    for (int side = 0; side < 2; ++side) {
      Means means;
      PF_UNROLL
      for (int e = 0; e < each_shifts; ++e) {
        const int at = lane + 32 * e, shift = first + at, from = from_x - side * shift;
        const int there = smaller(from + period_columns, width - shift) - larger(from, 0);
        means.value[e] = at < count ? period_mean(int(sum[side][e]), rows, there) : 0;
      }
      search[side].add(first, count, means);
    }
    __syncthreads();
  }
  if (lane > 0 || i >= blocks.before.width) return;
  blocks.before(i, j) = search[1].period;
  blocks.after(i, j) = search[0].period;
}

constexpr int candidate_warps = 4;

/// A CUDA block examines a block: each warp takes some of the candidates, and its lanes the pixels.
__global__ void __launch_bounds__(32 * candidate_warps)
    repetition_kernel(const __grid_constant__ RepetitionInput input,
                      const __grid_constant__ RepeatedBlocks blocks) {
  begin_kernel();
  const int i = int(blockIdx.x), j = int(blockIdx.y), lane = int(threadIdx.x), warp = int(threadIdx.y);
  const int width = input.d.width, height = input.d.height;
  const int x = block_center(i, width), y = block_center(j, height);
  const int before = blocks.before(i, j), after = blocks.after(i, j);
  constexpr int columns = 2 * pair_radius_x + 1, pixels = columns * (pair_radius_y + 1),
                of_lane = (pixels + 31) / 32;
  MatchedPixel pixel[of_lane];
  bool is_loaded = false, repeated = false;
  for (int k = warp; k < repeated_candidates && !repeated; k += candidate_warps) {
    const int shift = repeated_shift(k, before, after);
    if (!is_in_range(input, x, y, shift)) continue;
    CostPair pair;
    PF_UNROLL
    for (int n = 0; n < of_lane; ++n) {
      const int at = lane + 32 * n;
      const int to_x = x + at % columns - pair_radius_x, to_y = y + at / columns * 2 - pair_radius_y;
      const std::uint32_t* const right = input.right_colors.row(clamp(to_y, 0, height - 1));
      if (!is_loaded && at < pixels && to_x >= 0 && to_x < width && to_y >= 0 && to_y < height)
        pixel[n] = MatchedPixel::make(input, right, to_x, to_y);
      pair.add(pixel[n], right, width, shift);
    }
    is_loaded = true;
    pair.count = sum_of_warp(pair.count), pair.sum = sum_of_warp(pair.sum);
    pair.squares = sum_of_warp(pair.squares);
    repeated = pair.is_tie();
  }
  const bool any = (before > 0 || after > 0) && __syncthreads_or(repeated) != 0;
  if (lane == 0 && warp == 0) blocks.repeated(i, j) = any ? 1 : 0;
}

constexpr int withhold_warps = 8;

/// A warp takes a block of pixels.
__global__ void __launch_bounds__(32 * withhold_warps)
    withhold_kernel(View<const std::uint8_t> repeated, float least, View<std::uint8_t> valid,
                    View<float> confidence) {
  begin_kernel();
  const int i = int(blockIdx.x) * withhold_warps + int(threadIdx.y), j = int(blockIdx.y),
            lane = int(threadIdx.x);
  if (i >= repeated.width) return;               // the same for all lanes
  constexpr int side = 2 * repeated_around + 1;  // side * side < 32
  const int at_x = i + lane % side - repeated_around, at_y = j + lane / side - repeated_around;
  const bool is_around =
      lane < side * side && at_x >= 0 && at_y >= 0 && at_x < repeated.width && at_y < repeated.height;
  const int count = __popc(__ballot_sync(all_lanes, is_around && repeated(at_x, at_y) != 0));
  const bool is_withheld = count >= least_repeated || repeated(i, j) != 0;
  if (!is_withheld && !(least > 0)) return;
  for (int k = lane; k < repeated_block * repeated_block; k += 32) {
    const int x = i * repeated_block + k % repeated_block, y = j * repeated_block + k / repeated_block;
    if (x >= valid.width || y >= valid.height) continue;
    if (is_withheld) confidence(x, y) = 0;
    if (is_withheld || !(confidence(x, y) >= least)) valid(x, y) = 0;
  }
}

}  // namespace

template <class Backend>
void find_periods(Backend& cuda, View<const std::uint32_t> left_colors, int disparities,
                  const RepeatedBlocks& blocks) {
  const Size size = blocks.before.size();
  cuda.launch(periods_kernel, dim3(blocks_for(size.width, period_warps), unsigned(size.height)),
              dim3(32, period_warps), 0, left_colors, disparities, blocks);
}

template <class Backend>
void find_repetition(Backend& cuda, const RepetitionInput& input, const RepeatedBlocks& blocks) {
  const Size size = blocks.repeated.size();
  cuda.launch(repetition_kernel, dim3(unsigned(size.width), unsigned(size.height)), dim3(32, candidate_warps),
              0, input, blocks);
}

template <class Backend>
void withhold_repeated(Backend& cuda, View<const std::uint8_t> repeated, float least,
                       View<std::uint8_t> valid, View<float> confidence) {
  cuda.launch(withhold_kernel, dim3(blocks_for(repeated.width, withhold_warps), unsigned(repeated.height)),
              dim3(32, withhold_warps), 0, repeated, least, valid, confidence);
}

PF_STEP(find_periods<Cuda>);
PF_STEP(find_repetition<Cuda>);
PF_STEP(withhold_repeated<Cuda>);

}  // namespace parafield
