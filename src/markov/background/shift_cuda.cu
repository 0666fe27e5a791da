// SPDX-License-Identifier: MIT
#include "markov/background/shift.hpp"
#include "markov/launch.cuh"

// A grid has at most 76800 points, so each launch takes little more than its latency. The steps of the search
// cannot be in one kernel without a barrier for the whole grid; instead, each of them repeats the solution of
// the steps before from their sums, which is a few operations. Steps after the last needed one return at once.
namespace parafield {
namespace {

/// Adds the threads' values, summed over the block, to `to`. All threads of the block must call it.
template <int Count>
__device__ void add_sums(long long* to, const long long (&values)[Count]) {
  constexpr int warps = 8;
  __shared__ long long of_warp[warps][Count];
  PF_UNROLL
  for (int i = 0; i < Count; ++i) {
    long long sum = values[i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x == 0) of_warp[threadIdx.y][i] = sum;
  }
  __syncthreads();
  const int i = int(threadIdx.y) * 32 + int(threadIdx.x);
  if (i >= Count) return;
  long long sum = 0;
  for (int warp = 0; warp < warps; ++warp) sum += of_warp[warp][i];
  if (sum != 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(to + i), static_cast<unsigned long long>(sum));
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
  add_sums(background.sums.data + step * shift_sums, sums);
}

__global__ void shift_errors_kernel(View<const std::uint8_t> luma, Background background) {
  begin_kernel();
  const ProposedShift proposed = proposed_shift(background);
  if (proposed.shift.is_none()) return;
  long long sums[2] = {};
  add_errors(own_point(luma, background, proposed.shift), proposed, sums);
  add_sums(background.sums.data + sums_of_errors, sums);
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
