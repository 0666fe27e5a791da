// SPDX-License-Identifier: MIT
#include "markov/background/compare.hpp"
#include "markov/background/words.cuh"

// Minimum memory traffic per pixel, in bytes: 16 samples, spread and mean 19, the frame 1, and stores of luma,
// distance, apart and difference 4; in color 32 samples and 2 of the frame more, and stores of 4. At 1920x1080
// this is 50 MB (gray) and 129 MB (color), or 17 and 43 us at 3.0 TB/s.
namespace parafield {
namespace {

/// Lumas of four pixels, corrected for light, and chromas.
struct FourColors {
  std::uint32_t luma = 0, blue = 0, red = 0;
};

/// The three smallest of some distances, for two pixels, in the halves of words.
struct ThreeSmallest {
  std::uint32_t first = in_each_half(255), second = first, third = first;

  __device__ void add(std::uint32_t apart) {
    const std::uint32_t after_first = __vmaxu2(apart, first), after_second = __vmaxu2(after_first, second);
    first = __vminu2(apart, first);
    second = __vminu2(after_first, second);
    third = __vminu2(after_second, third);
  }
};
/// The even bytes of a word, or the odd ones, as halves.
__device__ std::uint32_t halves_of(std::uint32_t word, int odd) {
  return word >> 8 * odd & in_each_half(255);
}

/// The third smallest distances of four pixels from their samples. `weight`: of chromas.
template <bool Colors>
__device__ std::uint32_t third_distances(const BackgroundRow& row, int x, const FourColors& seen,
                                         int weight) {
  ThreeSmallest smallest[2];
  PF_UNROLL
  for (int k = 0; k < sample_count; ++k) {
    const std::uint32_t luma = __vabsdiffu4(seen.luma, word_at(row.sample(k) + x));
    std::uint32_t blue = 0, red = 0;
    if (Colors) {
      blue = __vabsdiffu4(seen.blue, word_at(row.blue_sample(k) + x));
      red = __vabsdiffu4(seen.red, word_at(row.red_sample(k) + x));
    }
    PF_UNROLL
    for (int odd = 0; odd < 2; ++odd) {
      std::uint32_t distance = halves_of(luma, odd);
      if (Colors) {
        const std::uint32_t chroma = __vmaxu2(halves_of(blue, odd), halves_of(red, odd)),
                            weighted = chroma * std::uint32_t(weight) >> 1 & in_each_half(0x7fff);
        distance = __vmaxu2(distance, __vminu2(weighted, in_each_half(255)));
      }
      smallest[odd].add(distance);
    }
  }
  return smallest[0].third | smallest[1].third << 8;
}

/// The third smallest distance of a pixel's color from the samples of column x of a row.
template <bool Colors>
__device__ int third_distance(const BackgroundRow& row, int x, int luma, int blue, int red, int weight) {
  const auto apart_of = [=](int seen, const std::uint8_t* samples) {
    const int apart = seen - samples[x];
    return apart < 0 ? -apart : apart;
  };
  int first = 255, second = 255, third = 255;
  PF_UNROLL
  for (int k = 0; k < sample_count; ++k) {
    int apart = apart_of(luma, row.sample(k));
    if (Colors) {
      const int chroma = larger(apart_of(blue, row.blue_sample(k)), apart_of(red, row.red_sample(k)));
      apart = larger(apart, chroma_distance(chroma, weight));
    }
    const int after_first = larger(apart, first), after_second = larger(after_first, second);
    first = smaller(apart, first);
    second = smaller(after_first, second);
    third = smaller(after_second, third);
  }
  return third;
}

/// The smallest of the distances of a pixel from the samples of 3x3 pixels.
template <bool Colors>
__device__ int leaf_distance(const Background& background, int x, int y, int weight) {
  const BackgroundRow own = background.row(y);
  const int luma = own.luma()[x], blue = Colors ? own.blue_chroma()[x] : 0,
            red = Colors ? own.red_chroma()[x] : 0;
  int distance = 255;
  for (int dy = -leaf_step; dy <= leaf_step; dy += leaf_step)
    for (int dx = -leaf_step; dx <= leaf_step; dx += leaf_step)
      if (x + dx >= 0 && x + dx < background.size.width && y + dy >= 0 && y + dy < background.size.height)
        distance = smaller(distance,
                           third_distance<Colors>(background.row(y + dy), x + dx, luma, blue, red, weight));
  return distance;
}

/// Bytes of the frame at four pixels of the background.
__device__ std::uint32_t bytes_at(const View<const std::uint8_t>& plane, int x, int y, Shift shift) {
  if (shift.is_none()) return word_at(plane.row(y) + x);
  std::uint32_t word = 0;
  each_pixel([&](int i) { put_byte(word, i, moved_byte(plane, smaller(x + i, plane.width - 1), y, shift)); });
  return word;
}

__device__ int difference_at(const BackgroundModel& model, int luma, int distance, int spread) {
  return luma == no_luma ? 0 : difference_byte(float(distance), factor_of(model, spread));
}

/// Compares four pixels with their own samples, and lists those that leaves may explain.
template <bool Colors>
__device__ void compare(const SeenFrame& frame, const Background& background, const BackgroundModel& model,
                        int x, int y, PixelList& leaves) {
  const Shift shift = shift_of(background);
  const Gains gains = gains_of(background);
  const BackgroundRow row = background.row(y);
  const std::uint32_t seen = bytes_at(frame.luma, x, y, shift);
  float inverse[pixels_of_thread];
  each_pixel([&](int i) { inverse[i] = 1 / gains.first; });
  if (gains.second > 0)
    each_pixel([&](int i) {
      inverse[i] = inverse_of_two(background, gains, byte_of(seen, i), row.mean()[x + i],
                                  smaller(x + i, background.size.width - 1), y);
    });
  FourColors lit;
  each_pixel([&](int i) { put_byte(lit.luma, i, lit_byte(byte_of(seen, i), inverse[i])); });
  if (Colors) {
    const std::uint32_t blue = bytes_at(frame.blue, x, y, shift), red = bytes_at(frame.red, x, y, shift);
    std::uint32_t lit_blue = 0, lit_red = 0;
    each_pixel([&](int i) {
      const int own_blue = lit_byte(byte_of(blue, i), inverse[i]),
                own_red = lit_byte(byte_of(red, i), inverse[i]), luma = byte_of(lit.luma, i);
      put_byte(lit_blue, i, own_blue);
      put_byte(lit_red, i, own_red);
      put_byte(lit.blue, i, chroma_byte(own_blue, luma) & 255);
      put_byte(lit.red, i, chroma_byte(own_red, luma) & 255);
    });
    word_at(row.blue() + x) = lit_blue;
    word_at(row.red() + x) = lit_red;
    word_at(row.blue_chroma() + x) = lit.blue;
    word_at(row.red_chroma() + x) = lit.red;
  }
  const std::uint32_t flicker = word_at(row.flicker() + x), spread = word_at(row.spread() + x),
                      before = word_at(row.before() + x),
                      distance =
                          third_distances<Colors>(row, x, lit, chroma_weight(false, is_other_light(gains)));
  const int least = least_spread_of(background), departure = least_departure(background);
  std::uint32_t differences = 0, apart = 0;
  each_pixel([&](int i) {
    const int difference =
        difference_at(model, byte_of(lit.luma, i), byte_of(distance, i), larger(byte_of(spread, i), least));
    const int last = byte_of(before, i);
    const bool far = byte_seems_moving(model, difference), left = far && byte_of(distance, i) >= departure,
               starts = left && !(last & had_left);
    put_byte(differences, i, difference);
    const int leaf = last & had_left && last & was_leaf ? is_leaf : 0;
    put_byte(apart, i, (far ? is_apart : 0) | (left ? has_left | leaf : 0));
    if ((starts || byte_of(flicker, i) >= dynamic_flicker) && x + i < background.size.width) leaves.add(i);
  });
  word_at(row.luma() + x) = lit.luma;
  word_at(row.distance() + x) = distance;
  word_at(row.difference() + x) = differences;
  word_at(row.apart() + x) = apart;
}

/// Compares a pixel that is dynamic or has just left its samples with the samples of 3x3 pixels.
template <bool Colors>
__device__ void compare_leaf(const Background& background, const BackgroundModel& model, int x, int y) {
  const BackgroundRow row = background.row(y);
  const int distance =
      leaf_distance<Colors>(background, x, y, chroma_weight(true, is_other_light(gains_of(background))));
  const int spread = larger(int(row.spread()[x]), least_spread_of(background)),
            difference = difference_at(model, row.luma()[x], distance, spread);
  const bool far = byte_seems_moving(model, difference);
  int apart = row.apart()[x];
  if ((apart & has_left) && !(row.before()[x] & had_left) && !far) apart |= is_leaf;
  if (row.flicker()[x] >= dynamic_flicker) {
    apart = (apart & ~is_apart) | (far ? is_apart : 0);
    row.distance()[x] = std::uint8_t(distance);
    row.difference()[x] = std::uint8_t(difference);
  }
  row.apart()[x] = std::uint8_t(apart);
}

template <bool Colors>
__device__ void compare_block(const SeenFrame& frame, const Background& background,
                              const BackgroundModel& model) {
  __shared__ PixelList leaves;
  leaves.clear();
  __syncthreads();
  const int x = pixels_of_thread * own_x(), y = own_y();
  if (x < background.size.width && y < background.size.height)
    compare<Colors>(frame, background, model, x, y, leaves);
  leaves.each([&](int x, int y) { compare_leaf<Colors>(background, model, x, y); });
}

__global__ void __launch_bounds__(256, 4)
    compare_background_kernel(SeenFrame frame, const __grid_constant__ Background background,
                              BackgroundModel model) {
  begin_kernel();
  if (background.colors && background.number(is_colored))
    compare_block<true>(frame, background, model);
  else
    compare_block<false>(frame, background, model);
}

}  // namespace

template <class Backend>
void compare_background(Backend& cuda, const SeenFrame& frame, const Background& background,
                        const BackgroundModel& model) {
  cuda.launch(compare_background_kernel, pixel_grid(background.size, pixels_of_thread), pixel_block, 0, frame,
              background, model);
}

PF_STEP(compare_background<Cuda>);

}  // namespace parafield
