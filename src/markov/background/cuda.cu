// SPDX-License-Identifier: MIT
#include "markov/background/background.hpp"
#include "markov/launch.cuh"

namespace parafield {
namespace {

// A thread works on four pixels, as in mask/cuda.cu. Rows have room for all four.
constexpr int together = 4;

__device__ int byte_of(uchar4 four, int i) { return (&four.x)[i]; }
__device__ uchar4 bytes_at(View<const std::uint8_t> image, int x0, int y) {
  return *reinterpret_cast<const uchar4*>(image.row(y) + x0);
}
__device__ void store_bytes(View<std::uint8_t> image, int x0, int y, uchar4 four) {
  *reinterpret_cast<uchar4*>(image.row(y) + x0) = four;
}

__global__ void begin_background_kernel(View<const float> luma, Background background) {
  begin_kernel();
  const int x = own_x(), y = own_y();
  if (x == 0 && y == 0)
    for (int i = 0; i < number_count; ++i) background.numbers.data[i] = 0;
  if (x >= luma.width || y >= luma.height) return;
  for (int k = 0; k < sample_count; ++k) {
    const Place2 from = first_place(x, y, k, {luma.width, luma.height});
    background.sample(y, k)[x] = std::uint8_t(luma_byte(luma(from.x, from.y), 1));
  }
  background.spread(x, y) = std::uint8_t(first_spread(background.least_spread));
  background.candidate(x, y) = 0;
  background.support(x, y) = 0;
  background.run(x, y) = 0;
}

/// One block of gain_bins threads.
__global__ void gain_kernel(View<const float> luma, Background background) {
  begin_kernel();
  __shared__ int counts[gain_bins], sums[gain_bins / 32];
  const int thread = int(threadIdx.x), lane = thread % 32, warp = thread / 32;
  counts[thread] = 0;
  __syncthreads();
  for (int i = thread; i < grid_side * grid_side; i += gain_bins) {
    const int x = grid_place(i % grid_side, luma.width), y = grid_place(i / grid_side, luma.height);
    const int sample = median_sample([&](int k) { return int(background.sample(y, k)[x]); });
    const int bin = gain_bin(luma(x, y), sample);
    if (bin >= 0) atomicAdd(counts + bin, 1);
  }
  __syncthreads();
  // The median's bin: twice the count up to it is above the count of all, twice that below it is not.
  int upto = counts[thread];
  for (int step = 1; step < 32; step *= 2) {
    const int before = __shfl_up_sync(~0u, upto, step);
    if (lane >= step) upto += before;
  }
  if (lane == 31) sums[warp] = upto;
  __syncthreads();
  int all = 0;
  for (int i = 0; i < gain_bins / 32; ++i) {
    if (i < warp) upto += sums[i];
    all += sums[i];
  }
  const bool is_median = 2 * upto > all && 2 * (upto - counts[thread]) <= all;
  if (all < least_grid ? thread == 0 : is_median)
    store_numbers(background.numbers.data, all < least_grid ? -1 : thread, {luma.width, luma.height});
}

__global__ void background_costs_kernel(View<const float> luma, Background background, Change change,
                                        View<const std::uint8_t> last, Volume costs, View<Label> winners,
                                        View<std::uint8_t> known) {
  begin_kernel();
  const int x0 = own_x() * together, y = own_y();
  if (x0 >= winners.width || y >= winners.height) return;
  const float inverse = gain_of(background.numbers.data, inverse_gain_bits);
  const float4 four = *reinterpret_cast<const float4*>(luma.row(y) + x0);
  const float frame[] = {four.x, four.y, four.z, four.w};
  int moved[together] = {};
  PF_UNROLL
  for (int i = 0; i < together; ++i)
    if (last.data && x0 + i < winners.width) moved[i] = last(x0 + i, y);
  const uchar4 spread = bytes_at(background.spread, x0, y);
  uchar4 samples[sample_count];
  PF_UNROLL
  for (int k = 0; k < sample_count; ++k) samples[k] = bytes_at(background.samples, x0, y * sample_count + k);
  float still[together], moving[together];
  unsigned char value[together], distance[together], finite[together];
  unsigned short winner[together];
  PF_UNROLL
  for (int i = 0; i < together; ++i) {
    finite[i] = is_finite(frame[i]);
    const int byte = luma_byte(frame[i], inverse);
    const int apart = sample_distance(byte, [&](int k) { return byte_of(samples[k], i); });
    const float difference = finite[i] ? in_spreads(apart, byte_of(spread, i), change.mean) : not_known;
    const float temporal = last.data ? temporal_cost(change, moved[i], difference) : 0.0f;
    const ChangeCosts cost = change_cost(change, difference, temporal);
    still[i] = cost.still;
    moving[i] = cost.moving;
    winner[i] = seems_moving(change, difference) ? 1 : 0;
    value[i] = (unsigned char)(byte);
    distance[i] = (unsigned char)(apart);
  }
  *reinterpret_cast<float4*>(costs.row(y, 0) + x0) = make_float4(still[0], still[1], still[2], still[3]);
  *reinterpret_cast<float4*>(costs.row(y, 1) + x0) = make_float4(moving[0], moving[1], moving[2], moving[3]);
  *reinterpret_cast<ushort4*>(winners.row(y) + x0) = make_ushort4(winner[0], winner[1], winner[2], winner[3]);
  store_bytes(background.luma, x0, y, make_uchar4(value[0], value[1], value[2], value[3]));
  store_bytes(background.distance, x0, y, make_uchar4(distance[0], distance[1], distance[2], distance[3]));
  store_bytes(known, x0, y, make_uchar4(finite[0], finite[1], finite[2], finite[3]));
}

/// Stores those of four lumas in a row of samples for which renews(i) holds.
template <class Renews>
__device__ void renew_samples(View<std::uint8_t> samples, int x0, int row, uchar4 luma, Renews renews) {
  uchar4 four = bytes_at(samples, x0, row);
  PF_UNROLL
  for (int i = 0; i < together; ++i)
    if (renews(i)) (&four.x)[i] = (&luma.x)[i];
  store_bytes(samples, x0, row, four);
}

__global__ void learn_kernel(Background background, View<const Label> labels,
                             View<const std::uint8_t> known) {
  begin_kernel();
  const int x0 = own_x() * together, y = own_y();
  const bool inside = x0 < labels.width && y < labels.height;
  int count = 0;
  if (inside) {
    const Lesson lesson = lesson_of(background);
    const ushort4 label = *reinterpret_cast<const ushort4*>(labels.row(y) + x0),
                  run = *reinterpret_cast<const ushort4*>(background.run.row(y) + x0);
    const unsigned short moving[] = {label.x, label.y, label.z, label.w},
                         runs[] = {run.x, run.y, run.z, run.w};
    const uchar4 luma = bytes_at(background.luma, x0, y), distance = bytes_at(background.distance, x0, y),
                 spread = bytes_at(background.spread, x0, y),
                 candidate = bytes_at(background.candidate, x0, y),
                 support = bytes_at(background.support, x0, y);
    const RowLesson row = row_lesson(lesson, y);
    PixelMemory memory[together];
    Renewal renewal[together];
    int any_replaced = 0;
    PF_UNROLL
    for (int i = 0; i < together; ++i) {
      memory[i] = {byte_of(spread, i), byte_of(candidate, i), byte_of(support, i), runs[i]};
      renewal[i] =
          learn(lesson, x0 + i, y, moving[i] != 0, byte_of(luma, i), byte_of(distance, i), memory[i]);
      const bool in_row = x0 + i < labels.width;
      count += in_row && moving[i];
      if (in_row && known(x0 + i, y)) {
        any_replaced |= renewal[i].replaced;
      } else {
        renewal[i].own = 0;
        renewal[i].replaced = 0;
      }
    }
    for (int k = 0; k < sample_count && any_replaced; ++k)
      renew_samples(background.samples, x0, y * sample_count + k, luma,
                    [&](int i) { return (renewal[i].replaced >> k & 1) != 0; });
    renew_samples(background.samples, x0, y * sample_count + row.own, luma,
                  [&](int i) { return renewal[i].own != 0; });
    const Offset to = neighbor_offset(row.from);
    const int ny = y + to.y;
    if (ny >= 0 && ny < labels.height) {
      unsigned char near[together] = {};
      PF_UNROLL
      for (int i = 0; i < together; ++i) {
        const int x = x0 + i, nx = x + to.x;
        renewal[i].other = renewal[i].other && x < labels.width && nx >= 0 && nx < labels.width &&
                           labels(nx, ny) == 0 && known(nx, ny);
        if (renewal[i].other) near[i] = background.luma(nx, ny);
      }
      renew_samples(background.samples, x0, y * sample_count + row.other,
                    make_uchar4(near[0], near[1], near[2], near[3]), [&](int i) { return renewal[i].other != 0; });
    }
    const auto bytes = [&](int PixelMemory::*part) {
      using Byte = unsigned char;
      return make_uchar4(Byte(memory[0].*part), Byte(memory[1].*part), Byte(memory[2].*part),
                         Byte(memory[3].*part));
    };
    store_bytes(background.spread, x0, y, bytes(&PixelMemory::spread));
    store_bytes(background.candidate, x0, y, bytes(&PixelMemory::candidate));
    store_bytes(background.support, x0, y, bytes(&PixelMemory::support));
    using Short = unsigned short;
    *reinterpret_cast<ushort4*>(background.run.row(y) + x0) =
        make_ushort4(Short(memory[0].run), Short(memory[1].run), Short(memory[2].run), Short(memory[3].run));
  }
  for (int step = 16; step > 0; step /= 2) count += __shfl_down_sync(~0u, count, step);
  if (threadIdx.x == 0 && count > 0) atomicAdd(background.numbers.data + moving_count, count);
}

}  // namespace

template <class Backend>
void begin_background(Backend& cuda, View<const float> luma, const Background& background) {
  cuda.launch(begin_background_kernel, pixel_grid(luma.size()), pixel_block, 0, luma, background);
}

template <class Backend>
void find_gain(Backend& cuda, View<const float> luma, const Background& background) {
  cuda.launch(gain_kernel, dim3(1), dim3(gain_bins), 0, luma, background);
}

template <class Backend>
void background_costs(Backend& cuda, View<const float> luma, const Background& background,
                      const Change& change, View<const std::uint8_t> last, Volume costs, View<Label> winners,
                      View<std::uint8_t> known) {
  cuda.launch_input(background_costs_kernel, pixel_grid(winners.size(), together), pixel_block, luma,
                    background, change, last, costs, winners, known);
}

template <class Backend>
void learn_background(Backend& cuda, const Background& background, View<const Label> labels,
                      View<const std::uint8_t> known) {
  cuda.launch(learn_kernel, pixel_grid(labels.size(), together), pixel_block, 0, background, labels, known);
}

PF_STEP(begin_background<Cuda>);
PF_STEP(find_gain<Cuda>);
PF_STEP(background_costs<Cuda>);
PF_STEP(learn_background<Cuda>);

}  // namespace parafield
