// SPDX-License-Identifier: MIT
#pragma once
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/convert/convert.hpp"
#include "steps/pyramid/pyramid.hpp"

/// Tiles of a pyramid's levels in a block's shared memory.
namespace parafield {
namespace {

/// A tile of the finest level.
struct TileSize {
  static constexpr int width = 64, height = 40;  // pixels
  static constexpr int threads = 352;            // 16 rows of vectors if a launch computes three levels
/// Blocks that must fit on one SM. Devices of compute capability 7.5 allow 1024 threads per SM.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  static constexpr int blocks = 2;
#else
  static constexpr int blocks = 4;
#endif
};

constexpr int vector_pixels = 4;

/// The pixels of each level that a block holds: its own, and those around them that the tiles of coarser
/// levels need. Pixels beyond the border repeat the nearest pixel. Depth: number of levels above level 0 that
/// the launch computes.
template <int Depth>
struct Tile {
  static constexpr int depth = Depth;
  /// Number of extra pixels to the left and above (before), and to the right and below (after).
  static constexpr int before(int level) { return level == Depth ? 0 : 2 * before(level + 1) + 2; }
  static constexpr int after(int level) { return level == Depth ? 0 : 2 * after(level + 1) + 1; }
  static constexpr int width(int level) { return TileSize::width >> level; }
  static constexpr int height(int level) { return TileSize::height >> level; }
  static constexpr int rows(int level) { return before(level) + height(level) + after(level); }
  /// The same, rounded up so that rows can be read as vectors.
  static constexpr int left(int level) {
    return (before(level) + vector_pixels - 1) / vector_pixels * vector_pixels;
  }
  static constexpr int pitch(int level) {
    return left(level) + width(level) + (after(level) + vector_pixels - 1) / vector_pixels * vector_pixels;
  }
  /// Offset of a level's first pixel; for level Depth, the end of all levels.
  static constexpr int place(int level) {
    return level == 0 ? 0 : place(level - 1) + rows(level - 1) * pitch(level - 1);
  }

  alignas(16) float pixels[place(Depth) + vector_pixels];  // a level's last vector may extend past its end
};

/// Size of the largest vector that divides `Bytes`: the lowest set bit.
template <int Bytes>
constexpr std::size_t vector_bytes = (Bytes & -Bytes) < 16 ? Bytes & -Bytes : 16;

/// Samples of vector_pixels pixels.
template <class Sample, int Channels>
struct alignas(vector_bytes<vector_pixels * Channels* int(sizeof(Sample))>) Samples {
  Sample of[vector_pixels * Channels];
};

/// Whether rows can be read and written as vectors.
template <class Vector>
__device__ bool is_aligned(const void* data, std::ptrdiff_t pitch) {
  return (reinterpret_cast<std::size_t>(data) | std::size_t(pitch)) % alignof(Vector) == 0;
}

/// Loads luma into shared memory. Each thread loads one vector in each of several rows.
template <class Tile>
struct Fill {
  static constexpr int groups = Tile::pitch(0) / vector_pixels, rows_a_turn = TileSize::threads / groups;
  static constexpr int turns = (Tile::rows(0) + rows_a_turn - 1) / rows_a_turn;

  const Frame& frame;
  View<float> luma;
  bool stores;  // whether to store luma too
  int x0, y0;   // the tile's first pixel
  Tile& tile;
  const int group = int(threadIdx.x) % groups, first_row = int(threadIdx.x) / groups;
  const int x = x0 - Tile::left(0) + vector_pixels * group;
  const int last = luma.width - 1, bottom = luma.height - 1;
  const int last_whole =
      luma.width / vector_pixels * vector_pixels - vector_pixels;  // the last vector inside
  const bool owns = stores && x >= x0 && x < x0 + Tile::width(0) && x <= last;
  const bool stores_vectors = x <= last_whole && is_aligned<float4>(luma.data, luma.pitch);

  __device__ __forceinline__ int y_of(int row) const { return y0 - Tile::before(0) + row; }
  __device__ __forceinline__ bool has(int row) const {
    return row < Tile::rows(0) && first_row < rows_a_turn;
  }

  /// Stores the thread's vector of a row.
  __device__ __forceinline__ void put(int row, const float (&four)[vector_pixels]) const {
    const float4 vector = make_float4(four[0], four[1], four[2], four[3]);
    *reinterpret_cast<float4*>(tile.pixels + row * Tile::pitch(0) + vector_pixels * group) = vector;
    const int y = y_of(row);
    if (!owns || y < y0 || y >= y0 + Tile::height(0) || y > bottom) return;
    float* const to = luma.row(y) + x;
    if (stores_vectors) {
      *reinterpret_cast<float4*>(to) = vector;
    } else {
      PF_UNROLL
      for (int k = 0; k < vector_pixels; ++k)
        if (x + k <= last) to[k] = four[k];
    }
  }

  /// Reads pixels one by one.
  template <class Sample, int Channels, int Red>
  __device__ __forceinline__ void by_pixels(Scale scale) const {
#pragma unroll 1
    for (int row = first_row; has(row); row += rows_a_turn) {
      const Sample* const from = row_of<Sample>(frame, clamp(y_of(row), 0, bottom));
      float four[vector_pixels];
      PF_UNROLL
      for (int k = 0; k < vector_pixels; ++k)
        four[k] = luma_of(from, clamp(x + k, 0, last), Channels, Red, scale);
      put(row, four);
    }
  }

  /// Reads vectors. A thread issues all its reads before it uses the first.
  template <class Sample, int Channels, int Red>
  __device__ __forceinline__ void by_vectors(Scale scale) const {
    using Vector = Samples<Sample, Channels>;
    const bool whole = last_whole + vector_pixels > last;  // no vector crosses the border
    Vector read[turns];
    PF_UNROLL
    for (int n = 0; n < turns; ++n) {
      const int y = clamp(y_of(first_row + n * rows_a_turn), 0, bottom);
      read[n] =
          *reinterpret_cast<const Vector*>(row_of<Sample>(frame, y) + clamp(x, 0, last_whole) * Channels);
    }
    PF_UNROLL
    for (int n = 0; n < turns; ++n) {
      const int row = first_row + n * rows_a_turn;
      if (!has(row)) break;
      float four[vector_pixels];
      PF_UNROLL
      for (int k = 0; k < vector_pixels; ++k) four[k] = luma_of(read[n].of, k, Channels, Red, scale);
      if (x < 0 || (whole && x > last)) {
        const float nearest = x < 0 ? four[0] : four[vector_pixels - 1];
        PF_UNROLL
        for (float& value : four) value = nearest;
      } else if (x > last_whole) {
        const Sample* const from = row_of<Sample>(frame, clamp(y_of(row), 0, bottom));
        PF_UNROLL
        for (int k = 0; k < vector_pixels; ++k)
          four[k] = luma_of(from, smaller(x + k, last), Channels, Red, scale);
      }
      put(row, four);
    }
  }

  __device__ __forceinline__ void run() const {
    with_format(frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
      if (last_whole >= 0 && is_aligned<Samples<Sample, Channels>>(frame.data, frame.pitch))
        by_vectors<Sample, Channels, Red>(scale);
      else
        by_pixels<Sample, Channels, Red>(scale);
    });
  }
};

/// Computes level Level + 1 of the tile from level Level, in shared memory, and stores the block's own part.
/// Each lane filters a vector of the finer level vertically, and computes two pixels from it and its
/// neighbors' vectors; therefore the first and the last lane of a warp compute none. x0, y0: the tile's first
/// pixel at level Level + 1.
template <int Level, class Tile>
__device__ __forceinline__ void make_level(View<float> coarse, int x0, int y0, Tile& tile) {
  constexpr int fine_pitch = Tile::pitch(Level), groups = fine_pitch / vector_pixels;
  constexpr int before = Tile::before(Level + 1), width = Tile::width(Level + 1);
  constexpr int pitch = Tile::pitch(Level + 1), left = Tile::left(Level + 1);
  constexpr int count = Tile::rows(Level + 1) * groups, lanes = 32, makers = lanes - 2;
  constexpr unsigned all = 0xffffffff;
  const bool stores_pairs = is_aligned<float2>(coarse.data, coarse.pitch);
  const int last = coarse.width - 1, lane = int(threadIdx.x) % lanes;
  const int lane_before = larger(lane - 1, 0), lane_after = smaller(lane + 1, lanes - 1);
  for (int first = int(threadIdx.x) / lanes * makers; first < count;
       first += TileSize::threads / lanes * makers) {
    const int i = clamp(first + lane - 1, 0, count - 1);
    const int row = i / groups, column = 2 * (i - row * groups) - Tile::left(Level) / 2;
    const int x = x0 + column, y = y0 - before + row;
    // A row beyond the border repeats the nearest row inside, which is in the tile.
    const int fine_row = 2 * (clamp(y, 0, coarse.height - 1) - y0) + Tile::before(Level) - 2;
    const float* const from =
        tile.pixels + Tile::place(Level) + fine_row * fine_pitch + Tile::left(Level) + 2 * column;
    float4 in[5];
    PF_UNROLL
    for (int k = 0; k < 5; ++k) in[k] = *reinterpret_cast<const float4*>(from + k * fine_pitch);
    const float4 four = make_float4(binomial(in[0].x, in[1].x, in[2].x, in[3].x, in[4].x),
                                    binomial(in[0].y, in[1].y, in[2].y, in[3].y, in[4].y),
                                    binomial(in[0].z, in[1].z, in[2].z, in[3].z, in[4].z),
                                    binomial(in[0].w, in[1].w, in[2].w, in[3].w, in[4].w));
    const float left2 = __shfl_sync(all, four.z, lane_before), left1 = __shfl_sync(all, four.w, lane_before),
                right1 = __shfl_sync(all, four.x, lane_after);
    float2 pair = make_float2(binomial(left2, left1, four.x, four.y, four.z),
                              binomial(four.x, four.y, four.z, four.w, right1));
    if (lane == 0 || lane == lanes - 1 || first + lane > count || x < 0 || x > last) continue;
    if (x == last) pair.y = pair.x;
    if constexpr (Level + 1 < Tile::depth) {
      float* const to = tile.pixels + Tile::place(Level + 1) + row * pitch + left + column;
      *reinterpret_cast<float2*>(to) = pair;
      // The two pixels beyond the border that the next level needs.
      if (x == 0) *reinterpret_cast<float2*>(to - 2) = make_float2(pair.x, pair.x);
      if (x + 1 >= last && left + column + 4 <= pitch)
        *reinterpret_cast<float2*>(to + 2) = make_float2(pair.y, pair.y);
    }
    const bool own = row >= before && row < before + Tile::height(Level + 1) && column >= 0 &&
                     column < width && y < coarse.height;
    if (!own) continue;
    float* const to = coarse.row(y) + x;
    if (x < last && stores_pairs) {
      *reinterpret_cast<float2*>(to) = pair;
    } else {
      to[0] = pair.x;
      if (x < last) to[1] = pair.y;
    }
  }
}

}  // namespace
}  // namespace parafield
