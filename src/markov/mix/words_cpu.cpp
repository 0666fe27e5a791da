// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/mix/words.hpp"
#include "steps/census/census.hpp"
#include "steps/smooth/rows.hpp"

namespace parafield {
namespace {

int padded(int width) { return (width + 15) / 16 * 16; }

/// Smooths row y of a plane where it is flat.
void smooth_flat_row(const View<float>& plane, const Taps& taps, const float* flatness, int y, float* out) {
  constexpr int part = 64;
  const int width = plane.width;
  const RowsAround rows = rows_around(y, plane.height, taps.radius, [&](int row) { return plane.row(row); });
  const float* const in = plane.row(y);
  for (int x0 = 0; x0 < width; x0 += part) {
    const int end = smaller(x0 + part, width);
    float most = 0;
    for (int x = x0; x < end; ++x) most = larger(most, flatness[x]);
    if (most == 0) {
      for (int x = x0; x < end; ++x) out[x] = in[x];
      continue;
    }
    with_constant<2, 3>(taps.radius,
                        [&]<int Radius>() { smooth_part<Radius>(rows, width, taps, x0, end - x0, out); });
#pragma GCC ivdep  // scratch memory does not overlap with planes
    for (int x = x0; x < end; ++x) out[x] = interpolate(in[x], out[x], flatness[x]);
  }
}

/// Packs the bytes of three rows into words.
template <class Code>
void pack_bytes(const float* const (&rows)[3], int begin, int end, std::uint32_t* out, Code code) {
  const float *const red = rows[0], *const green = rows[1], *const blue = rows[2];
  for (int x = begin; x < end; ++x) out[x] = code(red, x) | code(green, x) << 8 | code(blue, x) << 16;
}

/// Packs the words of row y. `luma`: the five rows around it; `colors`: rows that intensities come from.
void pack_words(const float* const (&luma)[5], const float* const (&colors)[3], const float* flatness,
                const WordViews& words, int y) {
  const int width = words.census.width, last = width - 1;
  pack_bytes(colors, 0, width, words.color.row(y),
             [](const float* row, int x) { return intensity_code(row[x]); });
  std::uint32_t* const gradient = words.gradient.row(y);
  const auto near_border = [=](const float* row, int x) {
    return gradient_code(central_difference(row[larger(x - 1, 0)], row[smaller(x + 1, last)]));
  };
  pack_bytes(colors, 0, 1, gradient, near_border);
  pack_bytes(colors, 1, last, gradient, [](const float* row, int x) {
    return gradient_code(central_difference(row[x - 1], row[x + 1]));
  });
  pack_bytes(colors, last, width, gradient, near_border);
  std::uint32_t* const census = words.census.row(y);
  census_row(luma, width, census);
  const std::uint32_t textured = mix_weight(0);
  if (flatness)
    for (int x = 0; x < width; ++x) census[x] |= mix_weight(flatness[x]);
  else
    for (int x = 0; x < width; ++x) census[x] |= textured;
}

/// Packs the words of some rows of a frame with flat areas. `memory`: a ring of five rows of smoothed luma,
/// then three rows of colors.
void smooth_and_pack(const MixSource& source, const View<float>& flatness, const Taps& taps,
                     const WordViews& words, RowRange part, float* memory) {
  const int pitch = padded(flatness.width), height = flatness.height;
  const auto luma_row = [=](int y) { return memory + y % 5 * pitch; };
  int smoothed = part.first_new(2, height);
  for (int y = part.begin; y < part.end; ++y) {
    for (; smoothed <= smaller(y + 2, height - 1); ++smoothed)
      smooth_flat_row(source.plane[0], taps, flatness.row(smoothed), smoothed, luma_row(smoothed));
    const float *luma[5], *colors[3];
    for (int i = 0; i < 5; ++i) luma[i] = luma_row(clamp(y + i - 2, 0, height - 1));
    for (int i = 0; i < 3; ++i) {
      colors[i] = luma[2];
      if (source.count() == 1) continue;
      float* const color = memory + (5 + i) * pitch;
      smooth_flat_row(source.plane[1 + i], taps, flatness.row(y), y, color);
      colors[i] = color;
    }
    pack_words(luma, colors, flatness.row(y), words, y);
  }
}

}  // namespace

template <class Backend>
void find_flatness(Backend& cpu, const View<float>* luma, const Taps& taps, const View<float>* flatness,
                   int count) {
  for (int frame = 0; frame < count; ++frame)
    cpu.few_rows(
        luma[frame].height, [&, in = luma[frame], to = flatness[frame]](RowRange part, void* memory) {
          const int width = in.width, height = in.height, pitch = padded(width), ring = 2 * taps.radius + 1;
          const auto strength_row = [=](int y) { return static_cast<float*>(memory) + y % ring * pitch; };
          int found = part.first_new(taps.radius, height);
          for (int y = part.begin; y < part.end; ++y) {
            for (; found <= smaller(y + taps.radius, height - 1); ++found) {
              const float *const here = in.row(found), *const below = in.row(smaller(found + 1, height - 1));
              float* const strength = strength_row(found);
              for (int x = 0; x + 1 < width; ++x)
                strength[x] = texture_strength(here[x], here[x + 1], below[x]);
              strength[width - 1] = texture_strength(here[width - 1], here[width - 1], below[width - 1]);
            }
            float* const out = to.row(y);
            smooth_row(rows_around(y, height, taps.radius, strength_row), width, taps, out);
            for (int x = 0; x < width; ++x) out[x] = flatness_of(out[x]);
          }
        });
}

template <class Backend>
void mix_words(Backend& cpu, const MixSource* sources, const View<float>* flatness, const Taps& taps,
               const WordViews* words, int count) {
  for (int frame = 0; frame < count; ++frame) {
    const MixSource source = sources[frame];
    const WordViews to = words[frame];
    const int height = to.census.height;
    if (const View<float> flat = flatness[frame]) {
      cpu.few_rows(height, [&](RowRange part, void* memory) {
        smooth_and_pack(source, flat, taps, to, part, static_cast<float*>(memory));
      });
      continue;
    }
    cpu.rows(height, [=](int y) {
      const float *luma[5], *colors[3];
      for (int i = 0; i < 5; ++i) luma[i] = source.plane[0].row(clamp(y + i - 2, 0, height - 1));
      for (int i = 0; i < 3; ++i) colors[i] = source.plane[source.count() > 1 ? 1 + i : 0].row(y);
      pack_words(luma, colors, nullptr, to, y);
    });
  }
}

PF_STEP(find_flatness<Cpu>);
PF_STEP(mix_words<Cpu>);

}  // namespace parafield
