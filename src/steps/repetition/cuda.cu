// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "steps/repetition/repetition.hpp"

// A warp examines a block: its lanes share the shifts, and then the pixels of a window. Lower bound: with 64
// disparities, 450x375 px take 50 million differences of luma, 5 us on an H100.
namespace parafield {
namespace {

constexpr unsigned repetition_warp = 0xffffffffu;
constexpr int shifts_at_once = 256;

__global__ void __launch_bounds__(32)
    repetition_kernel(const __grid_constant__ RepetitionInput input,
                      const __grid_constant__ RepeatedBlocks blocks) {
  begin_kernel();
  __shared__ float means[2][shifts_at_once];  // to the right and to the left
  __shared__ int periods[2];
  const int i = int(blockIdx.x), j = int(blockIdx.y), lane = int(threadIdx.x);
  const int width = input.d.width, height = input.d.height;
  const int x = block_center(i, width), y = block_center(j, height), most = input.most - input.least;
  int rows = 0;
  for (int dy = -period_radius; dy <= period_radius; dy += 2) rows += y + dy >= 0 && y + dy < height;
  PeriodSearch search;  // of lane 0 to the right, of lane 1 to the left
  for (int first = 1; first <= most + 1; first += shifts_at_once) {
    const int count = smaller(shifts_at_once, most + 2 - first);
    for (int k = lane; k < 2 * count; k += 32) {
      const int side = k >= count ? 1 : 0, shift = first + k - side * count;
      const int from = x - period_radius - side * shift;
      const int begin = larger(from, 0), end = smaller(from + 2 * period_radius + 1, width - shift);
      int sum = 0;
      for (int dy = -period_radius; dy <= period_radius; dy += 2) {
        if (y + dy < 0 || y + dy >= height) continue;
        const std::uint32_t* const row = input.left_colors.row(y + dy);
        for (int at = begin; at < end; ++at)
          sum += magnitude_of_code(luma_code(row[at]) - luma_code(row[at + shift]));
      }
      means[side][k - side * count] = period_mean(sum, rows, end - begin);
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
