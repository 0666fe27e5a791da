// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/background/chunks.hpp"
#include "markov/background/compare.hpp"

namespace parafield {
namespace {

inline std::uint8_t bytes_apart(std::uint8_t a, std::uint8_t b) { return a > b ? a - b : b - a; }

/// Lumas of a chunk's pixels, corrected for light, and chromas.
struct Colors {
  std::uint8_t luma[background_chunk], blue[background_chunk], red[background_chunk];
};

/// Writes the third smallest distance of pixels `from` to `to` of a chunk from the samples of a row that begin
/// at column x0. Weight: of chromas, or 0 without colors.
template <int Weight>
inline void find_third(const BackgroundRow& row, int x0, int from, int to, const Colors& seen,
                       std::uint8_t* third) {
  std::uint8_t first[background_chunk], second[background_chunk];
  for (int i = from; i < to; ++i) first[i] = second[i] = third[i] = 255;
  for (int k = 0; k < sample_count; ++k) {
    const std::uint8_t *const sample = row.sample(k) + x0,
                              *const blues = Weight ? row.blue_sample(k) + x0 : nullptr,
                              *const reds = Weight ? row.red_sample(k) + x0 : nullptr;
    for (int i = from; i < to; ++i) {
      std::uint8_t apart = bytes_apart(seen.luma[i], sample[i]);
      if constexpr (Weight > 0) {
        const std::uint8_t a = bytes_apart(seen.blue[i], blues[i]), b = bytes_apart(seen.red[i], reds[i]),
                           chroma = a > b ? a : b;
        const std::uint8_t whole = std::uint8_t(chroma * (Weight >> 1) + (chroma * (Weight & 1) >> 1)),
                           weighted = chroma > 510 / Weight ? 255 : whole;
        apart = apart > weighted ? apart : weighted;
      }
      const std::uint8_t after_first = apart > first[i] ? apart : first[i];
      first[i] = apart < first[i] ? apart : first[i];
      const std::uint8_t after_second = after_first > second[i] ? after_first : second[i];
      second[i] = after_first < second[i] ? after_first : second[i];
      third[i] = after_second < third[i] ? after_second : third[i];
    }
  }
}

/// The smallest of the distances from the samples of 3x3 pixels.
template <int Weight>
inline void find_leaf_distances(const Background& background, int x0, int y, int count, const Colors& seen,
                                std::uint8_t* distance) {
  for (int i = 0; i < count; ++i) distance[i] = 255;
  for (int dy = -leaf_step; dy <= leaf_step; dy += leaf_step)
    for (int dx = -leaf_step; dx <= leaf_step; dx += leaf_step) {
      if (y + dy < 0 || y + dy >= background.size.height) continue;
      const int from = larger(-(x0 + dx), 0), to = smaller(background.size.width - (x0 + dx), count);
      std::uint8_t third[background_chunk];
      find_third<Weight>(background.row(y + dy), x0 + dx, from, to, seen, third);
      for (int i = from; i < to; ++i) distance[i] = third[i] < distance[i] ? third[i] : distance[i];
    }
}

/// A chunk of a frame's plane, moved by the camera's shift.
inline void read_chunk(const View<const std::uint8_t>& plane, int x0, int y, Shift shift, int count,
                       std::uint8_t* bytes) {
  if (shift.is_none()) return store_chunk(bytes, plane.row(y) + x0, count);
  for (int i = 0; i < count; ++i) bytes[i] = std::uint8_t(moved_byte(plane, x0 + i, y, shift));
}

}  // namespace

template <class Backend>
void compare_background(Backend& cpu, const SeenFrame& frame, const Background& background,
                        const BackgroundModel& model) {
  const Shift shift = shift_of(background);
  const Gains gains = gains_of(background);
  const bool colors = background.colors && background.number(is_colored), other_light = is_other_light(gains);
  int least_apart = 0;  // least difference that seems to be motion
  while (least_apart <= top_difference && !byte_seems_moving(model, least_apart)) ++least_apart;
  cpu.rows(background.size.height, [=](int y) {
    const BackgroundModel own = model;
    const BackgroundRow row = background.row(y);
    const float inverse = 1 / gains.first;
    for_chunks(background.size.width, [&]<int Count>(int x0, int some) {
      const int count = Count ? Count : some;
      std::uint8_t seen[background_chunk], apart[background_chunk], distance[background_chunk];
      Colors lit;
      float inverses[background_chunk];
      read_chunk(frame.luma, x0, y, shift, count, seen);
      if (gains.second > 0)
        for (int i = 0; i < count; ++i)
          inverses[i] = inverse_of_two(background, gains, seen[i], row.mean()[x0 + i], x0 + i, y);
      else
        for (int i = 0; i < count; ++i) inverses[i] = inverse;
      for (int i = 0; i < count; ++i) lit.luma[i] = std::uint8_t(lit_byte(seen[i], inverses[i]));
      store_chunk(row.luma() + x0, lit.luma, count);
      if (colors) {
        std::uint8_t blue[background_chunk], red[background_chunk];
        read_chunk(frame.blue, x0, y, shift, count, blue);
        read_chunk(frame.red, x0, y, shift, count, red);
        for (int i = 0; i < count; ++i) blue[i] = std::uint8_t(lit_byte(blue[i], inverses[i]));
        for (int i = 0; i < count; ++i) red[i] = std::uint8_t(lit_byte(red[i], inverses[i]));
        for (int i = 0; i < count; ++i) lit.blue[i] = std::uint8_t(chroma_byte(blue[i], lit.luma[i]));
        for (int i = 0; i < count; ++i) lit.red[i] = std::uint8_t(chroma_byte(red[i], lit.luma[i]));
        store_chunk(row.blue() + x0, blue, count);
        store_chunk(row.red() + x0, red, count);
        store_chunk(row.blue_chroma() + x0, lit.blue, count);
        store_chunk(row.red_chroma() + x0, lit.red, count);
      }
      with_one_of<0, 1, 3>(colors ? chroma_weight(false, other_light) : 0,
                           [&]<int Weight>() { find_third<Weight>(row, x0, 0, count, lit, distance); });
      const std::uint8_t* const flicker = row.flicker() + x0;
      if (any_from(flicker, count, dynamic_flicker)) {
        std::uint8_t leaves[background_chunk];
        with_one_of<0, 3, 10>(colors ? chroma_weight(true, other_light) : 0, [&]<int Weight>() {
          find_leaf_distances<Weight>(background, x0, y, count, lit, leaves);
        });
        for (int i = 0; i < count; ++i) distance[i] = flicker[i] >= dynamic_flicker ? leaves[i] : distance[i];
      }
      const std::uint8_t* const spread = row.spread() + x0;
      std::uint8_t difference[background_chunk];
      for (int i = 0; i < count; ++i)
        difference[i] = std::uint8_t(difference_byte(distance[i], factor_of(own, spread[i])));
      for (int i = 0; i < count; ++i) difference[i] = lit.luma[i] == no_luma ? 0 : difference[i];
      for (int i = 0; i < count; ++i) apart[i] = difference[i] >= least_apart;
      store_chunk(row.distance() + x0, distance, count);
      store_chunk(row.difference() + x0, difference, count);
      store_chunk(row.apart() + x0, apart, count);
    });
  });
}

PF_STEP(compare_background<Cpu>);

}  // namespace parafield
