// SPDX-License-Identifier: MIT
#include "markov/background/learn.cuh"
#include "markov/launch.cuh"
#include "steps/convert/convert.hpp"

// Minimum memory traffic per pixel of 8-bit gray, in bytes: lumas 2; comparing 14 (8 samples, spread, luma,
// last mask, stores of luma and distance, 5 bits); learning 15 (the state of a pixel, a sample of every
// fourth pixel, 6 for the result). At 1920x1080 that is 64 MB, or 21 us at 3.0 TB/s. Measured on an H100:
// lumas 6 us, gain 7 us (one block, bound by latency), comparing 18 us and learning 23 us (60 % of the issue
// slots, because of divisions and work on single bytes), sweeps 8 us (binary/cuda.cu). The whole takes 87 to
// 97 us, including what runs between them.
namespace parafield {
namespace {

/// A thread computes four pixels. blockIdx.z: index of the frame.
__global__ void luma_bytes_kernel(Frame frame0, Frame frame1, View<std::uint8_t> luma0,
                                  View<std::uint8_t> luma1) {
  begin_kernel();
  const Frame frame = blockIdx.z == 0 ? frame0 : frame1;
  const View<std::uint8_t> luma = blockIdx.z == 0 ? luma0 : luma1;
  const int x0 = own_x() * together, y = own_y();
  if (x0 >= luma.width || y >= luma.height) return;
  Four<std::uint8_t> bytes{};
  with_format(frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
    const Sample* const row = row_of<Sample>(frame, y);
    PF_UNROLL
    for (int i = 0; i < together; ++i)
      if (x0 + i < luma.width)
        bytes.of[i] = std::uint8_t(luma_byte(luma_of(row, x0 + i, Channels, Red, scale)));
  });
  four_at(luma.row(y) + x0) = bytes;
}

__global__ void begin_background_kernel(View<const std::uint8_t> luma, Background background) {
  begin_kernel();
  const int x = own_x(), y = own_y();
  if (x == 0 && y == 0)
    for (int i = 0; i < number_count; ++i) background.numbers.data[i] = 0;
  if (x < luma.width && y < luma.height) begin_pixel(background, luma, x, y);
}

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

/// One block of gain_bins threads, each for a pixel of the grid and for a bin. It allows the next kernel's
/// launch only after all kernels before it have completed, so that the next one can read everything but the
/// numbers right away.
__global__ void gain_kernel(View<const std::uint8_t> luma, Background background) {
  await_last();
  launch_next();
  static_assert(gain_bins == grid_side * grid_side);
  __shared__ int upto[gain_bins], sums[gain_bins / 32], lumas[luma_bins], best[2], in_band, result;
  const int thread = int(threadIdx.x), lane = thread % 32, warp = thread / 32;
  upto[thread] = 0;
  if (thread < luma_bins) lumas[thread] = 0;
  if (thread == 0) best[0] = best[1] = in_band = result = 0;
  __syncthreads();
  const int x = grid_place(thread % grid_side, luma.width), y = grid_place(thread / grid_side, luma.height);
  const int sample = median_sample([&](int k) { return int(background.row(y).sample(k)[x]); });
  const int own_bin = gain_bin(luma(x, y), sample);
  if (own_bin >= 0) atomicAdd(upto + own_bin, 1);
  __syncthreads();
  int sum = upto[thread];
  for (int step = 1; step < 32; step *= 2) {
    const int before = __shfl_up_sync(~0u, sum, step);
    if (lane >= step) sum += before;
  }
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  for (int i = 0; i < warp; ++i) sum += sums[i];
  upto[thread] = sum;
  __syncthreads();
  const int all = upto[gain_bins - 1];
  if (all < least_grid) {
    if (thread == 0) store_numbers(background, -1, -1);
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
    atomicAdd(lumas + sample / 4, 1);
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
}

/// Second smallest distance of each of four lumas from its samples, two lumas at a time in 16 bits each.
__device__ Four<std::uint8_t> sample_distances(std::uint32_t luma, const std::uint32_t* samples) {
  constexpr std::uint32_t every_second = 0x00ff00ff;
  std::uint32_t distance[2];
  PF_UNROLL
  for (int odd = 0; odd < 2; ++odd) {
    const std::uint32_t own = luma >> 8 * odd & every_second;
    std::uint32_t least = every_second, second = every_second;
    PF_UNROLL
    for (int k = 0; k < sample_count; ++k) {
      const std::uint32_t sample = samples[k] >> 8 * odd & every_second;
      const std::uint32_t apart = __vmaxu2(own, sample) - __vminu2(own, sample);
      second = __vminu2(second, __vmaxu2(apart, least));
      least = __vminu2(least, apart);
    }
    distance[odd] = second;
  }
  const std::uint32_t four = distance[0] | distance[1] << 8;
  return reinterpret_cast<const Four<std::uint8_t>&>(four);
}

/// Transposes an 8x8 matrix of 4-bit elements over eight threads: thread i passes row i and gets column i.
__device__ std::uint32_t transposed(std::uint32_t row) {
  PF_UNROLL
  for (int step = 4; step > 0; step /= 2) {
    const std::uint32_t low = step == 4 ? 0x0000ffffu : step == 2 ? 0x00ff00ffu : 0x0f0f0f0fu;
    const std::uint32_t other = __shfl_xor_sync(~0u, row, step);
    row = threadIdx.x & step ? (row & ~low) | (other >> 4 * step & low)
                             : (row & low) | (other << 4 * step & ~low);
  }
  return row;
}
/// Bit `bit` of each of four bytes, as the lowest four bits.
__device__ std::uint32_t bits_of(std::uint32_t four, int bit) {
  return (four >> bit & 0x01010101u) * 0x10204080u >> 28;
}

__global__ void compare_background_kernel(View<const std::uint8_t> luma, Background background,
                                          BackgroundModel model, View<const std::uint8_t> last,
                                          BinaryRoom room) {
  launch_next();
  const int x0 = own_x() * together, y = own_y(), width = luma.width;
  if (y >= luma.height) return;  // the same for all threads of a warp
  std::uint32_t decisions =
      0x09090909;  // a byte for each pixel: its threshold, at first `never`, and its label as bit 4
  if (x0 < width) {
    const BackgroundRow row = background.row(y);
    const Four<std::uint8_t> frame = four_at(luma.row(y) + x0), spread = four_at(row.spread() + x0);
    std::uint32_t samples[sample_count];
    PF_UNROLL
    for (int k = 0; k < sample_count; ++k) samples[k] = word_at(row.sample(k) + x0);
    const std::uint32_t moved = last.data ? any_word_at(last, x0, y) : 0;
    await_last();  // for what gain_kernel stores
    const float inverse = gain_of(background.numbers.data, inverse_gain_bits),
                second_inverse = gain_of(background.numbers.data, second_inverse_gain_bits);
    int lit[together];
    PF_UNROLL
    for (int i = 0; i < together; ++i) lit[i] = lit_luma(frame.of[i], inverse);
    std::uint32_t lumas = lit[0] | lit[1] << 8 | lit[2] << 16 | lit[3] << 24;
    Four<std::uint8_t> distance = sample_distances(lumas, samples);
    if (second_inverse > 0) {
      int other[together];
      PF_UNROLL
      for (int i = 0; i < together; ++i) other[i] = lit_luma(frame.of[i], second_inverse);
      const Four<std::uint8_t> apart =
          sample_distances(other[0] | other[1] << 8 | other[2] << 16 | other[3] << 24, samples);
      PF_UNROLL
      for (int i = 0; i < together; ++i)
        if (apart.of[i] < distance.of[i]) lit[i] = other[i], distance.of[i] = apart.of[i];
      lumas = lit[0] | lit[1] << 8 | lit[2] << 16 | lit[3] << 24;
    }
    store_word(row.luma() + x0, lumas);
    four_at(row.distance() + x0) = distance;
    std::uint32_t found = 0;
    PF_UNROLL
    for (int i = 0; i < together; ++i) {
      const int x = x0 + i;
      const bool known = lit[i] != no_luma;
      const int difference = difference_byte(distance.of[i], factor_of(model, spread.of[i]));
      const ChangeCosts cost =
          background_cost(model, known, difference, last.data != nullptr, moved >> 8 * i & 255);
      const int threshold =
          threshold_of(cost.still, cost.moving, neighbor_count(x, y, width, luma.height), model.pair);
      const bool moves = known && seems_moving(model, float(difference) * model.step);
      found |= std::uint32_t(x < width ? threshold | moves << 4 : never) << 8 * i;
    }
    decisions = found;
  }
  // Eight threads hold the bits of five words: one word of labels and four of thresholds.
  std::uint32_t row = bits_of(decisions, 4);
  PF_UNROLL
  for (int bit = 0; bit < 4; ++bit) row |= bits_of(decisions, bit) << 4 * (bit + 1);
  const std::uint32_t word = transposed(row);
  const int plane = int(threadIdx.x) % 8, column = x0 / 32;
  if (plane < 5 && column < room.words.width) room.word_row(y, plane == 0 ? 0 : plane + 1)[column] = word;
}

__global__ void background_costs_kernel(Background background, BackgroundModel model,
                                        View<const std::uint8_t> last, Volume costs, View<Label> labels) {
  begin_kernel();
  const int x = own_x(), y = own_y();
  if (x < labels.width && y < labels.height)
    store_background_costs(background, model, last, costs, labels, x, y);
}

}  // namespace

template <class Backend>
void luma_bytes(Backend& cuda, const Frame* frames, const View<std::uint8_t>* luma, int count) {
  const int last = count - 1;
  cuda.launch_input(luma_bytes_kernel, pixel_grid(luma[0].size(), together, count), pixel_block, frames[0],
                    frames[last], luma[0], luma[last]);
}

template <class Backend>
void begin_background(Backend& cuda, View<const std::uint8_t> luma, const Background& background) {
  cuda.launch(begin_background_kernel, pixel_grid(luma.size()), pixel_block, 0, luma, background);
}

template <class Backend>
void find_gain(Backend& cuda, View<const std::uint8_t> luma, const Background& background) {
  cuda.launch(gain_kernel, dim3(1), dim3(gain_bins), 0, luma, background);
}

template <class Backend>
void compare_background(Backend& cuda, View<const std::uint8_t> luma, const Background& background,
                        const BackgroundModel& model, View<const std::uint8_t> last, const BinaryRoom& room) {
  cuda.launch_input(compare_background_kernel, pixel_grid(luma.size(), together), pixel_block, luma,
                    background, model, last, room);
}

template <class Backend>
void background_costs(Backend& cuda, const Background& background, const BackgroundModel& model,
                      View<const std::uint8_t> last, Volume costs, View<Label> labels) {
  cuda.launch_input(background_costs_kernel, pixel_grid(labels.size()), pixel_block, background, model, last,
                    costs, labels);
}

template <class Backend>
void learn_background(Backend& cuda, const Background& background, const BackgroundModel& model,
                      const BinaryLabels& labels, View<const std::uint8_t> last, View<std::uint8_t> moving,
                      Trust trust) {
  cuda.launch_input(learn_kernel, pixel_grid(moving.size(), together), pixel_block, background, model, labels,
                    last, moving, trust);
}

PF_STEP(luma_bytes<Cuda>);
PF_STEP(begin_background<Cuda>);
PF_STEP(find_gain<Cuda>);
PF_STEP(compare_background<Cuda>);
PF_STEP(background_costs<Cuda>);
PF_STEP(learn_background<Cuda>);

}  // namespace parafield
