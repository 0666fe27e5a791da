// SPDX-License-Identifier: MIT
#include "markov/launch.cuh"
#include "markov/mix/words.hpp"

// Tiles of the frame, with the pixels around them, are computed in shared memory. blockIdx.z: the frame.
namespace parafield {
namespace {

struct FlatnessPlanes {
  View<float> luma[2], flatness[2];
};

constexpr int words_width = 64, words_height = 16, words_threads = 256;
constexpr int radius = 8, columns = words_width + 2 * radius, rows = words_height + 2 * radius;
constexpr int each = 4;  // outputs of a thread, down a column or along a row

/// Weighted sum of the values at(-Radius) to at(Radius).
template <int Radius, class At>
__device__ float weighted_sum(const Taps& taps, At at) {
  float sum = taps.weight[0] * at(0);
  PF_UNROLL
  for (int k = 1; k <= Radius; ++k) sum = fma(taps.weight[k], at(-k) + at(k), sum);
  return sum;
}

/// Four sums of a line of values: at(i) is value i, 0..each + 2 radius - 1.
template <class At>
__device__ void sum_line(const Taps& taps, At at, float (&sums)[each]) {
  float value[each + 2 * radius];
  PF_UNROLL
  for (int i = 0; i < each + 2 * radius; ++i) value[i] = at(i);
  PF_UNROLL
  for (int i = 0; i < each; ++i)
    sums[i] = weighted_sum<radius>(taps, [&](int k) { return value[radius + i + k]; });
}

__global__ void __launch_bounds__(words_threads)
    flatness_kernel(const __grid_constant__ FlatnessPlanes planes, const __grid_constant__ Taps taps) {
  begin_kernel();
  __shared__ float strength[rows][columns];
  alignas(16) __shared__ float sums[words_height][columns];
  const View<float> luma = planes.luma[blockIdx.z];
  const int x0 = int(blockIdx.x) * words_width, y0 = int(blockIdx.y) * words_height,
            thread = int(threadIdx.x);
  const int last = luma.width - 1, bottom = luma.height - 1;
  for (int i = thread; i < rows * columns; i += words_threads) {
    const int row = i / columns, column = i - row * columns;
    const int x = clamp(x0 + column - radius, 0, last), y = clamp(y0 + row - radius, 0, bottom);
    strength[row][column] =
        texture_strength(luma(x, y), luma(smaller(x + 1, last), y), luma(x, smaller(y + 1, bottom)));
  }
  __syncthreads();
  for (int i = thread; i < columns * (words_height / each); i += words_threads) {
    const int row = i / columns * each, column = i % columns;
    float found[each];
    sum_line(
        taps, [&](int k) { return strength[row + k][column]; }, found);
    PF_UNROLL
    for (int k = 0; k < each; ++k) sums[row + k][column] = found[k];
  }
  __syncthreads();
  static_assert(words_width / each * words_height == words_threads);
  const int row = thread / (words_width / each), column = thread % (words_width / each) * each;
  float line[each + 2 * radius], found[each];
  PF_UNROLL
  for (int k = 0; k < each + 2 * radius; k += 4) {
    const float4 four = *reinterpret_cast<const float4*>(&sums[row][column + k]);
    line[k] = four.x, line[k + 1] = four.y, line[k + 2] = four.z, line[k + 3] = four.w;
  }
  sum_line(
      taps, [&](int k) { return line[k]; }, found);
  const int x = x0 + column, y = y0 + row;
  if (y > bottom) return;
  PF_UNROLL
  for (int k = 0; k < each; ++k)
    if (x + k <= last) planes.flatness[blockIdx.z](x + k, y) = flatness_of(found[k]);
}

struct WordPlanes {
  MixSource source[2];
  View<float> flatness[2];
  WordViews words[2];
};

constexpr int part_width = 32, part_height = 8, part_threads = part_width * part_height;
constexpr int reach = 2, flat_radius = 3;  // radii of the census and of the taps
constexpr int whole_width = part_width + 2 * (reach + flat_radius),
              whole_height = part_height + 2 * (reach + flat_radius);
constexpr int smoothed_width = part_width + 2 * reach, smoothed_height = part_height + 2 * reach;

/// Shared memory of a part of the frame: a plane, sums down its columns, and the smoothed plane.
struct Part {
  float plane[whole_height][whole_width], sums[smoothed_height][whole_width],
      smoothed[smoothed_height][smoothed_width];
};

/// Smooths a part of a plane where it is flat, with `Beside` more columns and `Above` more rows on each side.
/// Outside the image the nearest pixels are used. Constant widths spare the divisions that find a thread's
/// pixels. All threads must call this.
template <bool Flat, int Beside, int Above>
__device__ void smooth_part(Part& part, const View<float>& plane, const View<float>& flatness,
                            const Taps& taps) {
  const int x0 = int(blockIdx.x) * part_width - Beside, y0 = int(blockIdx.y) * part_height - Above;
  constexpr int width = part_width + 2 * Beside, height = part_height + 2 * Above;
  constexpr int margin = Flat ? flat_radius : 0, in_width = width + 2 * margin,
                in_height = height + 2 * margin;
  const int last = plane.width - 1, bottom = plane.height - 1, thread = int(threadIdx.x);
  __syncthreads();  // until the last plane has been read
  for (int i = thread; i < in_width * in_height; i += part_threads) {
    const int row = i / in_width, column = i - row * in_width;
    const float value = plane(clamp(x0 + column - margin, 0, last), clamp(y0 + row - margin, 0, bottom));
    (Flat ? part.plane[row][column] : part.smoothed[row][column]) = value;
  }
  __syncthreads();
  if constexpr (Flat) {
    for (int i = thread; i < in_width * height; i += part_threads) {
      const int row = i / in_width, column = i - row * in_width, middle = row + flat_radius;
      part.sums[row][column] =
          weighted_sum<flat_radius>(taps, [&](int k) { return part.plane[middle + k][column]; });
    }
    __syncthreads();
    for (int i = thread; i < width * height; i += part_threads) {
      const int row = i / width, column = i - row * width;
      const int x = clamp(x0 + column, 0, last), y = clamp(y0 + row, 0, bottom);
      const int at_row = y - y0, at = x - x0 + flat_radius;
      const float sum = weighted_sum<flat_radius>(taps, [&](int k) { return part.sums[at_row][at + k]; });
      part.smoothed[row][column] = interpolate(part.plane[at_row + flat_radius][at], sum, flatness(x, y));
    }
    __syncthreads();
  }
}

/// Words of a pixel from the planes, smoothed where they are flat. `flatness`: may be empty unless `Flat`.
/// All threads must call this.
template <bool Flat>
__device__ MixWords words_of_part(Part& part, const MixSource& source, const View<float>& flatness,
                                  const Taps& taps, bool color, int i, int j) {
  smooth_part<Flat, reach, reach>(part, source.plane[0], flatness, taps);
  MixWords words{0, 0,
                 census_of([&](int dx, int dy) { return part.smoothed[j + reach + dy][i + reach + dx]; })};
  PF_UNROLL
  for (int k = 0; k < 3; ++k) {
    if (color) smooth_part<Flat, 1, 0>(part, source.plane[1 + k], flatness, taps);
    const float* const at = color ? &part.smoothed[j][i + 1] : &part.smoothed[j + reach][i + reach];
    words.color |= intensity_code(*at) << 8 * k;
    words.gradient |= gradient_code(central_difference(at[-1], at[1])) << 8 * k;
  }
  return words;
}

__global__ void __launch_bounds__(part_threads) mix_words_kernel(WordPlanes planes, Taps taps, bool color) {
  begin_kernel();
  __shared__ Part part;
  const MixSource& source = planes.source[blockIdx.z];
  const View<float> flatness = planes.flatness[blockIdx.z];
  const WordViews& words = planes.words[blockIdx.z];
  const int thread = int(threadIdx.x), i = thread % part_width, j = thread / part_width;
  const int x = int(blockIdx.x) * part_width + i, y = int(blockIdx.y) * part_height + j;
  const int last = words.census.width - 1, bottom = words.census.height - 1;
  bool any = false;  // whether this part is flat anywhere
  for (int k = thread; k < smoothed_width * smoothed_height && flatness; k += part_threads) {
    const int row = k / smoothed_width, column = k - row * smoothed_width;
    any |= flatness(clamp(x - i + column - reach, 0, last), clamp(y - j + row - reach, 0, bottom)) > 0;
  }
  const bool flat = __syncthreads_or(any) != 0, inside = x <= last && y <= bottom;
  const MixWords found = flat ? words_of_part<true>(part, source, flatness, taps, color, i, j)
                              : words_of_part<false>(part, source, flatness, taps, color, i, j);
  if (!inside) return;
  words.color(x, y) = found.color;
  words.gradient(x, y) = found.gradient;
  words.census(x, y) = found.census | mix_weight(flatness ? flatness(x, y) : 0.0f);
}

}  // namespace

template <class Backend>
void find_flatness(Backend& cuda, const View<float>* luma, const Taps& taps, const View<float>* flatness,
                   int count) {
  const int last = count - 1;
  const Size size = luma[0].size();
  cuda.launch(
      flatness_kernel,
      dim3(blocks_for(size.width, words_width), blocks_for(size.height, words_height), unsigned(count)),
      dim3(words_threads), 0, FlatnessPlanes{{luma[0], luma[last]}, {flatness[0], flatness[last]}}, taps);
}

template <class Backend>
void mix_words(Backend& cuda, const MixSource* sources, const View<float>* flatness, const Taps& taps,
               const WordViews* words, int count) {
  const int last = count - 1;
  const Size size = words[0].census.size();
  cuda.launch(mix_words_kernel,
              dim3(blocks_for(size.width, part_width), blocks_for(size.height, part_height), unsigned(count)),
              dim3(part_threads), 0,
              WordPlanes{{sources[0], sources[last]}, {flatness[0], flatness[last]}, {words[0], words[last]}},
              taps, sources[0].count() > 1);
}

PF_STEP(find_flatness<Cuda>);
PF_STEP(mix_words<Cuda>);

}  // namespace parafield
