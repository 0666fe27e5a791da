// SPDX-License-Identifier: MIT
#include "markov/background/shift.hpp"
#include "markov/launch.cuh"

// A grid has at most 76800 points, so each launch takes little more than its latency. The steps of the search
// cannot be in one kernel without a barrier for the whole grid; instead, each of them repeats the solution of
// the steps before from their sums, which is a few operations. Steps after the last needed one return at once.
namespace parafield {
namespace {

/// The sum of a value over a warp, in lane 0.
__device__ long long warp_sum(long long value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  return value;
}
__device__ void add_sum(long long* sum, long long value) {
  const long long all = warp_sum(value);
  if (threadIdx.x == 0 && all != 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(all));
}

/// The point of a thread; one that is not usable beyond the grid.
__device__ ShiftPoint own_point(const View<const std::uint8_t>& luma, const Background& background,
                                Shift shift) {
  const ShiftPoints points = shift_points(background.size);
  const int i = own_x(), row = own_y();
  if (i >= points.columns || row >= points.rows) return {};
  return shift_point(luma, background, shift_margin + i * points.spacing, shift_margin + row * points.spacing,
                     shift);
}

__global__ void shift_step_kernel(View<const std::uint8_t> luma, Background background, int step) {
  begin_kernel();
  const ShiftGuess guess = guess_before(background, step);
  if (guess.final) return;
  long long sums[shift_sums] = {};
  add_to_step(own_point(luma, background, guess.rounded()), sums);
  for (int i = 0; i < shift_sums; ++i) add_sum(background.sums.data + step * shift_sums + i, sums[i]);
}

__global__ void shift_errors_kernel(View<const std::uint8_t> luma, Background background) {
  begin_kernel();
  const ProposedShift proposed = proposed_shift(background);
  if (proposed.shift.is_none()) return;
  long long sums[2] = {};
  add_errors(own_point(luma, background, proposed.shift), proposed, sums);
  for (int i = 0; i < 2; ++i) add_sum(background.sums.data + sums_of_errors + i, sums[i]);
}

__global__ void store_shift_kernel(Background background) {
  begin_kernel();
  store_shift(background);
}

}  // namespace

template <class Backend>
void find_shift(Backend& cuda, View<const std::uint8_t> luma, const Background& background) {
  const ShiftPoints points = shift_points(background.size);
  if (points.columns > 0) {
    const dim3 grid = pixel_grid({points.columns, points.rows});
    for (int step = 0; step < shift_steps; ++step)
      cuda.launch(shift_step_kernel, grid, pixel_block, 0, luma, background, step);
    cuda.launch(shift_errors_kernel, grid, pixel_block, 0, luma, background);
  }
  cuda.launch(store_shift_kernel, dim3(1), dim3(1), 0, background);
}

PF_STEP(find_shift<Cuda>);

}  // namespace parafield
