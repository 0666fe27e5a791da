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

/// The word that begins `offset` bytes, -2, 0 or 2, from a multiple of a word. Bytes outside the row are
/// undefined.
__device__ std::uint32_t word_beside(const std::uint8_t* row, int x, int offset, int width) {
  const std::uint32_t here = word_at(row + x);
  if (offset == 0) return here;
  if (offset < 0) return __byte_perm(x > 0 ? word_at(row + x - 4) : here, here, 0x5432);
  return __byte_perm(here, x + 4 < width ? word_at(row + x + 4) : here, 0x5432);
}

/// The third smallest distances of four colors from the samples of the four pixels that begin `offset` px from
/// x. `weight`: of chromas.
template <bool Colors>
__device__ std::uint32_t third_distances(const BackgroundRow& row, int x, int offset, int width,
                                         const FourColors& seen, int weight) {
  ThreeSmallest smallest[2];
  PF_UNROLL
  for (int k = 0; k < sample_count; ++k) {
    const auto apart = [=](std::uint32_t seen, const std::uint8_t* samples) {
      return __vabsdiffu4(seen, word_beside(samples, x, offset, width));
    };
    const std::uint32_t luma = apart(seen.luma, row.sample(k));
    std::uint32_t blue = 0, red = 0;
    if (Colors) blue = apart(seen.blue, row.blue_sample(k)), red = apart(seen.red, row.red_sample(k));
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

/// The smallest of the distances from the samples of 3x3 pixels.
template <bool Colors>
__device__ std::uint32_t leaf_distances(const Background& background, int x, int y, const FourColors& seen,
                                        int weight) {
  const Size size = background.size;
  std::uint32_t distance = ~0u;
  for (int dy = -leaf_step; dy <= leaf_step; dy += leaf_step) {
    if (y + dy < 0 || y + dy >= size.height) continue;
    const BackgroundRow row = background.row(y + dy);
    PF_UNROLL
    for (int dx = -leaf_step; dx <= leaf_step; dx += leaf_step) {
      std::uint32_t outside = 0;
      each_pixel([&](int i) {
        if (x + i + dx < 0 || x + i + dx >= size.width) put_byte(outside, i, 255);
      });
      distance = __vminu4(distance, third_distances<Colors>(row, x, dx, size.width, seen, weight) | outside);
    }
  }
  return distance;
}

/// Bytes of the frame at four pixels of the background.
__device__ std::uint32_t bytes_at(const View<const std::uint8_t>& plane, int x, int y, Shift shift) {
  if (shift.is_none()) return word_at(plane.row(y) + x);
  std::uint32_t word = 0;
  each_pixel([&](int i) { put_byte(word, i, moved_byte(plane, smaller(x + i, plane.width - 1), y, shift)); });
  return word;
}

template <bool Colors>
__device__ void compare(const SeenFrame& frame, const Background& background, const BackgroundModel& model,
                        int x, int y) {
  const Shift shift = shift_of(background);
  const Gains gains = gains_of(background);
  const BackgroundRow row = background.row(y);
  const std::uint32_t seen = bytes_at(frame.luma, x, y, shift);
  float inverse[pixels_of_thread];
  each_pixel([&](int i) {
    inverse[i] = gains.second > 0 ? inverse_of_two(background, gains, byte_of(seen, i), row.mean()[x + i],
                                                   smaller(x + i, background.size.width - 1), y)
                                  : 1 / gains.first;
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
  static_assert(dynamic_flicker == 128);  // the highest bit
  const bool other_light = is_other_light(gains);
  const std::uint32_t flicker = word_at(row.flicker() + x), spread = word_at(row.spread() + x),
                      dynamic = __vcmpgeu4(flicker, in_each_byte(dynamic_flicker));
  std::uint32_t distance =
      third_distances<Colors>(row, x, 0, background.size.width, lit, chroma_weight(false, other_light));
  if (dynamic != 0) {
    const std::uint32_t of_leaves =
        leaf_distances<Colors>(background, x, y, lit, chroma_weight(true, other_light));
    distance = (of_leaves & dynamic) | (distance & ~dynamic);
  }
  std::uint32_t differences = 0, apart = 0;
  each_pixel([&](int i) {
    const int difference =
        byte_of(lit.luma, i) == no_luma
            ? 0
            : difference_byte(float(byte_of(distance, i)), factor_of(model, byte_of(spread, i)));
    put_byte(differences, i, difference);
    put_byte(apart, i, byte_seems_moving(model, difference));
  });
  word_at(row.luma() + x) = lit.luma;
  word_at(row.distance() + x) = distance;
  word_at(row.difference() + x) = differences;
  word_at(row.apart() + x) = apart;
}

__global__ void __launch_bounds__(256, 2)
    compare_background_kernel(SeenFrame frame, const __grid_constant__ Background background,
                              BackgroundModel model) {
  begin_kernel();
  const int x = pixels_of_thread * own_x(), y = own_y();
  if (x >= background.size.width || y >= background.size.height) return;
  if (background.colors && background.number(is_colored))
    compare<true>(frame, background, model, x, y);
  else
    compare<false>(frame, background, model, x, y);
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
