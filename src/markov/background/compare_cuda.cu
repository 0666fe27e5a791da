// SPDX-License-Identifier: MIT
#include "markov/background/compare.hpp"
#include "markov/launch.cuh"

// Minimum memory traffic per pixel, in bytes: 16 samples, spread and mean 19, the frame 1, and stores of luma,
// distance, apart and difference 4; in color 32 samples and 2 of the frame more, and stores of 4. At 1920x1080
// this is 50 MB (gray) and 129 MB (color), or 17 and 43 us at 3.0 TB/s.
namespace parafield {
namespace {

/// Luma of a pixel, corrected for light, and chromas.
struct PixelColor {
  int luma, blue, red;
};

__device__ int apart_of(int a, int b) { return a > b ? a - b : b - a; }

/// The third smallest distance from the samples of column x of a row. `weight`: of chromas, or 0 without
/// colors.
__device__ int third_distance(const BackgroundRow& row, int x, const PixelColor& seen, int weight) {
  int first = 255, second = 255, third = 255;
  PF_UNROLL
  for (int k = 0; k < sample_count; ++k) {
    int apart = apart_of(seen.luma, row.sample(k)[x]);
    if (weight > 0) {
      const int chroma =
          larger(apart_of(seen.blue, row.blue_sample(k)[x]), apart_of(seen.red, row.red_sample(k)[x]));
      apart = larger(apart, chroma_distance(chroma, weight));
    }
    const int after_first = larger(apart, first), after_second = larger(after_first, second);
    first = smaller(apart, first);
    second = smaller(after_first, second);
    third = smaller(after_second, third);
  }
  return third;
}

/// The smallest of the distances from the samples of 3x3 pixels.
__device__ int leaf_distance(const Background& background, int x, int y, const PixelColor& seen, int weight) {
  int distance = 255;
  for (int dy = -leaf_step; dy <= leaf_step; dy += leaf_step)
    for (int dx = -leaf_step; dx <= leaf_step; dx += leaf_step)
      if (x + dx >= 0 && x + dx < background.size.width && y + dy >= 0 && y + dy < background.size.height)
        distance = smaller(distance, third_distance(background.row(y + dy), x + dx, seen, weight));
  return distance;
}

__global__ void compare_background_kernel(SeenFrame frame, Background background, BackgroundModel model) {
  begin_kernel();
  const int x = own_x(), y = own_y();
  if (x >= background.size.width || y >= background.size.height) return;
  const Shift shift = shift_of(background);
  const Gains gains = gains_of(background);
  const BackgroundRow row = background.row(y);
  const int seen = luma_at(frame.luma, x, y, shift);
  const float inverse =
      gains.second > 0 ? inverse_of_two(background, gains, seen, row.mean()[x], x, y) : 1 / gains.first;
  PixelColor lit{lit_byte(seen, inverse), 0, 0};
  const bool colors = background.colors && background.number(is_colored), other_light = is_other_light(gains);
  if (colors) {
    const int blue = lit_byte(luma_at(frame.blue, x, y, shift), inverse),
              red = lit_byte(luma_at(frame.red, x, y, shift), inverse);
    lit.blue = chroma_byte(blue, lit.luma) & 255;
    lit.red = chroma_byte(red, lit.luma) & 255;
    row.blue()[x] = std::uint8_t(blue);
    row.red()[x] = std::uint8_t(red);
    row.blue_chroma()[x] = std::uint8_t(lit.blue);
    row.red_chroma()[x] = std::uint8_t(lit.red);
  }
  const bool dynamic = row.flicker()[x] >= dynamic_flicker;
  const int weight = colors ? chroma_weight(dynamic, other_light) : 0;
  const int distance =
      dynamic ? leaf_distance(background, x, y, lit, weight) : third_distance(row, x, lit, weight);
  const int difference =
      lit.luma == no_luma ? 0 : difference_byte(float(distance), factor_of(model, row.spread()[x]));
  row.luma()[x] = std::uint8_t(lit.luma);
  row.distance()[x] = std::uint8_t(distance);
  row.difference()[x] = std::uint8_t(difference);
  row.apart()[x] = byte_seems_moving(model, difference);
}

}  // namespace

template <class Backend>
void compare_background(Backend& cuda, const SeenFrame& frame, const Background& background,
                        const BackgroundModel& model) {
  cuda.launch(compare_background_kernel, pixel_grid(background.size), pixel_block, 0, frame, background,
              model);
}

PF_STEP(compare_background<Cuda>);

}  // namespace parafield
