// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "steps/repetition/repetition.hpp"

// A warp examines a block: its lanes share the shifts, and then the pixels of a window. The luma of the window
// and of what it is compared with is in shared memory. Lower bound: with 64 disparities, 450x375 px take 50
// million differences of luma, 5 us on an H100.
namespace parafield {
namespace {

constexpr unsigned repetition_warp = 0xffffffffu;
constexpr int each_shifts = 2, shifts_at_once = 32 * each_shifts;  // of a lane, and of the warp
constexpr int period_rows = period_radius + 1, period_columns = 2 * period_radius + 1;

__global__ void __launch_bounds__(32) repetition_kernel(const __grid_constant__ RepetitionInput input,
                                                        const __grid_constant__ RepeatedBlocks blocks) {
  begin_kernel();
  // Luma from `shifts_at_once` columns before the window, which has been moved by the first shift, up to as
  // many after it.
  __shared__ std::int16_t window[period_rows][period_columns],
      moved[2][period_rows][period_columns + shifts_at_once];  // to the right and to the left
  __shared__ float means[2][shifts_at_once];                   // to the right and to the left
  __shared__ int periods[2];
  const int i = int(blockIdx.x), j = int(blockIdx.y), lane = int(threadIdx.x);
  const int width = input.d.width, height = input.d.height;
  const int x = block_center(i, width), y = block_center(j, height), most = input.most - input.least;
  const int from_x = x - period_radius, first_row = larger(0, (period_radius - y + 1) / 2),
            end_row = smaller(period_rows, (height - 1 - y + period_radius) / 2 + 1);
  // Fills `count` columns of a row of `to` from column x0 on; what is outside the image is not read later.
  const auto load = [&](std::int16_t* to, int row, int x0, int count) {
    const std::uint32_t* const colors = input.left_colors.row(y - period_radius + 2 * row);
    for (int k = lane; k < count; k += 32)
      if (x0 + k >= 0 && x0 + k < width) to[k] = std::int16_t(luma_code(colors[x0 + k]));
  };
  for (int row = first_row; row < end_row; ++row) load(window[row], row, from_x, period_columns);
  PeriodSearch search;  // of lane 0 to the right, of lane 1 to the left
  for (int first = 1; first <= most + 1; first += shifts_at_once) {
    const int count = smaller(shifts_at_once, most + 2 - first);
    for (int row = first_row; row < end_row; ++row) {
      load(moved[0][row], row, from_x + first, period_columns + count - 1);
      load(moved[1][row], row, from_x - first - count + 1, period_columns + count - 1);
    }
    __syncwarp();
    int sum[2][each_shifts] = {};
    for (int row = first_row; row < end_row; ++row)
      for (int k = larger(-from_x, 0); k < smaller(period_columns, width - from_x); ++k) {
        const int own = window[row][k];
        PF_UNROLL
        for (int e = 0; e < each_shifts; ++e) {
          const int at = lane + 32 * e, shift = first + at;
          if (at < count && from_x + k + shift < width)
            sum[0][e] += magnitude_of_code(own - moved[0][row][k + at]);
          if (at < count && from_x + k - shift >= 0)
            sum[1][e] += magnitude_of_code(own - moved[1][row][k + count - 1 - at]);
        }
      }
    for (int e = 0; e < each_shifts; ++e) {
      const int at = lane + 32 * e, shift = first + at;
      if (at >= count) continue;
      for (int side = 0; side < 2; ++side) {
        const int from = from_x - side * shift;
        const int columns = smaller(from + period_columns, width - shift) - larger(from, 0);
        means[side][at] = period_mean(sum[side][e], end_row - first_row, columns);
      }
    }
    __syncwarp();
    if (lane < 2)
      for (int k = 0; k < count; ++k) search.add(first + k, means[lane][k]);
    __syncwarp();
  }
  if (lane < 2) periods[lane] = search.period;
  __syncwarp();
  const int after = periods[0], before = periods[1];
  bool repeated = false;
  for (int k = 0; k < repeated_candidates && !repeated; ++k) {
    const int shift = repeated_shift(k, before, after);
    if (!is_in_range(input, x, y, shift)) continue;
    CostPair pair;
    constexpr int columns = 2 * pair_radius_x + 1;
    for (int at = lane; at < columns * (pair_radius_y + 1); at += 32) {
      const int to_x = x + at % columns - pair_radius_x, to_y = y + at / columns * 2 - pair_radius_y;
      if (to_x >= 0 && to_x < width && to_y >= 0 && to_y < height) pair.add(input, to_x, to_y, shift);
    }
    for (int step = 16; step > 0; step /= 2) {
      pair.count += __shfl_xor_sync(repetition_warp, pair.count, step);
      pair.sum += __shfl_xor_sync(repetition_warp, pair.sum, step);
      pair.squares += __shfl_xor_sync(repetition_warp, pair.squares, step);
    }
    repeated = pair.is_tie();
  }
  if (lane > 0) return;
  blocks.before(i, j) = before;
  blocks.after(i, j) = after;
  blocks.repeated(i, j) = repeated ? 1 : 0;
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
  for_pixels(cuda, valid.size(), [=] __device__(int x, int y) {
    if (is_among_repeated(repeated, x / repeated_block, y / repeated_block))
      valid(x, y) = 0, confidence(x, y) = 0;
  });
}

PF_STEP(find_repetition<Cuda>);
PF_STEP(withhold_repeated<Cuda>);

}  // namespace parafield
