// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "core/cuda/warp_reductions.cuh"
#include "steps/repetition/repetition.hpp"

// A warp examines a block: its lanes share the shifts, and then the pixels of a window. Gray values of the
// window, and of what it is compared with, are in shared memory, four rows in a word, because the hardware adds
// four differences at once. Lower bound: with 64 disparities, 450x375 px take 50 million differences, 1 us on
// an H100.
namespace parafield {
namespace {

constexpr int each_shifts = 2, shifts_at_once = 32 * each_shifts;  // of a lane, and of the warp
constexpr int period_columns = 2 * period_radius + 1, period_words = (period_radius + 1 + 3) / 4;

/// Gray values of a block's window, which is moved by shifts from `first` on.
struct PeriodWindow {
  std::uint32_t own[period_words][period_columns],
      moved[2][period_words][period_columns + shifts_at_once];  // to the right and to the left

  /// Loads `count` columns from x on, of every other row from y - period_radius on. Rows outside the image are
  /// 0; columns outside it repeat the nearest column, and the sums leave them out.
  template <int Columns>
  __device__ static void load(View<const std::uint32_t> colors, int x, int y, int count,
                              std::uint32_t (&to)[period_words][Columns]) {
    for (int k = int(threadIdx.x); k < count; k += 32) {
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

__global__ void __launch_bounds__(32, 20) repetition_kernel(const __grid_constant__ RepetitionInput input,
                                                            const __grid_constant__ RepeatedBlocks blocks) {
  begin_kernel();
  __shared__ PeriodWindow window;
  const int i = int(blockIdx.x), j = int(blockIdx.y), lane = int(threadIdx.x);
  const int width = input.d.width, height = input.d.height;
  const int x = block_center(i, width), y = block_center(j, height), most = input.most - input.least;
  const int from_x = x - period_radius,
            rows = smaller(period_radius + 1, (height - 1 - y + period_radius) / 2 + 1) -
                   larger(0, (period_radius - y + 1) / 2);
  PeriodWindow::load(input.left_colors, from_x, y, period_columns, window.own);
  PeriodSearch search[2];  // to the right and to the left
  for (int first = 1; first <= most + 1; first += shifts_at_once) {
    const int count = smaller(shifts_at_once, most + 2 - first);
    PeriodWindow::load(input.left_colors, from_x + first, y, period_columns + count - 1, window.moved[0]);
    PeriodWindow::load(input.left_colors, from_x - first - count + 1, y, period_columns + count - 1,
                       window.moved[1]);
    __syncwarp();
    unsigned sum[2][each_shifts] = {};
    for (int k = larger(-from_x, 0); k < smaller(period_columns, width - from_x); ++k) {
      std::uint32_t own[period_words];
      PF_UNROLL
      for (int word = 0; word < period_words; ++word) own[word] = window.own[word][k];
      PF_UNROLL
      for (int e = 0; e < each_shifts; ++e) {
        const int at = lane + 32 * e, column = from_x + k, shift = first + at;
        const auto add = [&](int side, bool is_inside, int there) {
          unsigned apart = 0;
          PF_UNROLL
          for (int word = 0; word < period_words; ++word)
            apart += __vsadu4(own[word], window.moved[side][word][there]);
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
        const int columns = smaller(from + period_columns, width - shift) - larger(from, 0);
        means.value[e] = at < count ? period_mean(int(sum[side][e]), rows, columns) : 0;
      }
      search[side].add(first, count, means);
    }
    __syncwarp();
  }
  const int after = search[0].period, before = search[1].period;
  constexpr int columns = 2 * pair_radius_x + 1, pixels = columns * (pair_radius_y + 1),
                of_lane = (pixels + 31) / 32;
  MatchedPixel pixel[of_lane];
  bool is_loaded = false, repeated = false;
  for (int k = 0; k < repeated_candidates && !repeated; ++k) {
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
  if (lane > 0) return;
  blocks.before(i, j) = before;
  blocks.after(i, j) = after;
  blocks.repeated(i, j) = repeated ? 1 : 0;
}

constexpr int withhold_warps = 8;

/// A warp takes a block of pixels.
__global__ void __launch_bounds__(32 * withhold_warps)
    withhold_kernel(View<const std::uint8_t> repeated, View<std::uint8_t> valid, View<float> confidence) {
  begin_kernel();
  const int i = int(blockIdx.x) * withhold_warps + int(threadIdx.y), j = int(blockIdx.y),
            lane = int(threadIdx.x);
  if (i >= repeated.width) return;               // the same for all lanes
  constexpr int side = 2 * repeated_around + 1;  // side * side < 32
  const int at_x = i + lane % side - repeated_around, at_y = j + lane / side - repeated_around;
  const bool is_around =
      lane < side * side && at_x >= 0 && at_y >= 0 && at_x < repeated.width && at_y < repeated.height;
  const int count = __popc(__ballot_sync(all_lanes, is_around && repeated(at_x, at_y) != 0));
  if (count < least_repeated && !repeated(i, j)) return;
  for (int k = lane; k < repeated_block * repeated_block; k += 32) {
    const int x = i * repeated_block + k % repeated_block, y = j * repeated_block + k / repeated_block;
    if (x < valid.width && y < valid.height) valid(x, y) = 0, confidence(x, y) = 0;
  }
}

}  // namespace

template <class Backend>
void find_repetition(Backend& cuda, const RepetitionInput& input, const RepeatedBlocks& blocks) {
  const Size size = blocks.repeated.size();
  cuda.launch(repetition_kernel, dim3(unsigned(size.width), unsigned(size.height)), dim3(32), 0, input,
              blocks);
}

template <class Backend>
void withhold_repeated(Backend& cuda, View<const std::uint8_t> repeated, View<std::uint8_t> valid,
                       View<float> confidence) {
  cuda.launch(withhold_kernel, dim3(blocks_for(repeated.width, withhold_warps), unsigned(repeated.height)),
              dim3(32, withhold_warps), 0, repeated, valid, confidence);
}

PF_STEP(find_repetition<Cuda>);
PF_STEP(withhold_repeated<Cuda>);

}  // namespace parafield
