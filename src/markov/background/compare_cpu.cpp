// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "core/cpu/lanes.hpp"
#include "markov/background/chunks.hpp"
#include "markov/background/compare.hpp"

namespace parafield {
namespace {

/// Lumas of a chunk's pixels, corrected for light, and chromas.
struct Colors {
  std::uint8_t luma[background_chunk], blue[background_chunk], red[background_chunk];
};

/// A distance of chromas as one of lumas: chroma_distance, for the weights that chroma_weight returns.
template <int Weight>
PF_INLINE ByteLanes weighted(ByteLanes chroma) {
  if constexpr (Weight == 10) {
    const ByteLanes twice = add_saturated(chroma, chroma);
    return add_saturated(add_saturated(twice, twice), chroma);
  } else {
    const ByteLanes half = chroma >> 1;
    return Weight == 3 ? add_saturated(chroma, half) : half;
  }
}

/// Writes the third smallest distance of up to byte_lanes pixels, from pixel i of a chunk on, from the samples
/// of a row that begin at column x0. Count: number of the pixels, or 0 for `some`.
template <int Weight, int Count>
PF_INLINE void store_third(const BackgroundRow& row, int x0, int i, int some, const Colors& seen,
                           std::uint8_t* third_smallest) {
  const std::size_t count = std::size_t(Count ? Count : some);
  const auto loaded = [=](const std::uint8_t* from) {
    ByteLanes bytes = {};
    __builtin_memcpy(&bytes, from, count);
    return bytes;
  };
  const ByteLanes luma = loaded(seen.luma + i);
  ByteLanes blue = {}, red = {};
  if constexpr (Weight > 0) blue = loaded(seen.blue + i), red = loaded(seen.red + i);
  ByteLanes first = ~ByteLanes{}, second = first, third = first;
  PF_UNROLL
  for (int k = 0; k < sample_count; ++k) {
    const auto next = [&](const std::uint8_t* samples) {
      // The processor cannot prefetch as many streams as there are samples.
      __builtin_prefetch(samples + x0 + i + background_chunk);
      return loaded(samples + x0 + i);
    };
    ByteLanes apart = distance(luma, next(row.sample(k)));
    if constexpr (Weight > 0) {
      ByteLanes chroma = distance(blue, next(row.blue_sample(k)));
      raise_to(chroma, distance(red, next(row.red_sample(k))));
      raise_to(apart, weighted<Weight>(chroma));
    }
    ByteLanes after_first = apart, after_second = second;
    raise_to(after_first, first);
    lower_to(first, apart);
    raise_to(after_second, after_first);
    lower_to(second, after_first);
    lower_to(third, after_second);
  }
  __builtin_memcpy(third_smallest + i, &third, count);
}
/// The same for pixels `from` to `to` of a chunk. Weight: of chromas, or 0 without colors.
template <int Weight>
inline void find_third(const BackgroundRow& row, int x0, int from, int to, const Colors& seen,
                       std::uint8_t* third) {
  for (int at = from; at < to; at += byte_lanes) {
    const int i = larger(smaller(at, to - byte_lanes), from);  // the last vectors may overlap
    with_constant<byte_lanes>(smaller(to - i, byte_lanes), [&]<int Count>() {
      store_third<Weight, Count>(row, x0, i, to - i, seen, third);
    });
  }
}

/// The smallest of the distances from the samples of 3x3 pixels, for the vectors of a chunk that have a pixel
/// for which `wanted` is not 0, and 255 for others.
template <int Weight>
inline void find_leaf_distances(const Background& background, int x0, int y, int count, const Colors& seen,
                                const std::uint8_t* wanted, std::uint8_t* distance) {
  for (int i = 0; i < count; ++i) distance[i] = 255;
  for (int at = 0; at < count; at += byte_lanes) {
    const int end = smaller(at + byte_lanes, count);
    if (!any_from(wanted + at, end - at, 1)) continue;
    for (int dy = -leaf_step; dy <= leaf_step; dy += leaf_step)
      for (int dx = -leaf_step; dx <= leaf_step; dx += leaf_step) {
        if (y + dy < 0 || y + dy >= background.size.height) continue;
        const int from = larger(-(x0 + dx), at), to = smaller(background.size.width - (x0 + dx), end);
        std::uint8_t third[background_chunk];
        find_third<Weight>(background.row(y + dy), x0 + dx, from, to, seen, third);
        for (int i = from; i < to; ++i) distance[i] = third[i] < distance[i] ? third[i] : distance[i];
      }
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
  const auto least = std::uint8_t(least_spread_of(background)),
             departure = std::uint8_t(least_departure(background));
  const bool same_light = gains.second <= 0 && gains.first == 1;
  static_assert(has_left == had_left << 2 && is_leaf == was_leaf << 1);
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
        for (int i = 0; i < count && !same_light; ++i) inverses[i] = inverse;
      const auto light = [&](std::uint8_t* to, const std::uint8_t* from) {
        if (same_light) return store_chunk(to, from, count);
        for (int i = 0; i < count; ++i) to[i] = std::uint8_t(lit_byte(from[i], inverses[i]));
      };
      light(lit.luma, seen);
      store_chunk(row.luma() + x0, lit.luma, count);
      if (colors) {
        std::uint8_t blue[background_chunk], red[background_chunk];
        read_chunk(frame.blue, x0, y, shift, count, seen);
        light(blue, seen);
        read_chunk(frame.red, x0, y, shift, count, seen);
        light(red, seen);
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
      std::uint8_t spread[background_chunk], difference[background_chunk];
      store_chunk(spread, row.spread() + x0, count);
      for (int i = 0; i < count; ++i) spread[i] = spread[i] > least ? spread[i] : least;
      const auto find_differences = [&](const std::uint8_t* distances) {
        for (int i = 0; i < count; ++i)
          difference[i] = std::uint8_t(difference_byte(distances[i], factor_of(own, spread[i])));
        for (int i = 0; i < count; ++i) difference[i] = lit.luma[i] == no_luma ? 0 : difference[i];
      };
      find_differences(distance);
      for (int i = 0; i < count; ++i) {
        const std::uint8_t bits = distance[i] >= departure ? is_apart | has_left : is_apart;
        apart[i] = difference[i] >= least_apart ? bits : std::uint8_t(0);
      }
      const std::uint8_t* const before = row.before() + x0;
      std::uint8_t wanted[background_chunk];
      for (int i = 0; i < count; ++i) {
        const std::uint8_t left = apart[i] & has_left, had = std::uint8_t(before[i] << 2),
                           leaf = std::uint8_t(before[i] << 1);  // of the frame before
        wanted[i] = flicker[i] >= dynamic_flicker ? std::uint8_t(1) : std::uint8_t(left & ~had);
        apart[i] |= left ? std::uint8_t(leaf & is_leaf) : std::uint8_t(0);
      }
      if (any_from(wanted, count, 1)) {
        std::uint8_t leaves[background_chunk], own_difference[background_chunk];
        with_one_of<0, 3, 10>(colors ? chroma_weight(true, other_light) : 0, [&]<int Weight>() {
          find_leaf_distances<Weight>(background, x0, y, count, lit, wanted, leaves);
        });
        store_chunk(own_difference, difference, count);
        find_differences(leaves);
        for (int i = 0; i < count; ++i) {
          const bool dynamic = flicker[i] >= dynamic_flicker, far = difference[i] >= least_apart;
          const std::uint8_t left = apart[i] & has_left, starts = left && !(before[i] & had_left),
                             leaf = starts ? (far ? 0 : is_leaf) : apart[i] & is_leaf,
                             still_apart = dynamic ? far : apart[i] & is_apart;
          apart[i] = std::uint8_t(left | leaf | still_apart);
          distance[i] = dynamic ? leaves[i] : distance[i];
          difference[i] = dynamic ? difference[i] : own_difference[i];
        }
      }
      store_chunk(row.distance() + x0, distance, count);
      store_chunk(row.difference() + x0, difference, count);
      store_chunk(row.apart() + x0, apart, count);
    });
  });
}

PF_STEP(compare_background<Cpu>);

}  // namespace parafield
