// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/colors/keep.cuh"
#include "steps/convert/convert.hpp"
#include "steps/pyramid/pyramid.hpp"

// Launches take most of the time on small levels, so one launch makes up to three levels of both frames, and
// their luma, too. A block makes a tile of each level. The finer pixels under it go to shared memory.
//
// Floor: two gray frames of 1920x1080 with four levels are 4 MB to read and 22 MB to write, which takes an
// H100 (3.0 TB/s) 9 us. Measured: 19 us, so 47 %; 7 us at 640x480, where an empty launch takes 0.7 us. A
// launch does 97 instructions a pixel, as it converts 2.3 times a tile's pixels for three levels; the
// schedulers issue one in 64 % of the cycles. With one level in a launch the two sizes take 18 us and 9 us.
// These are times of pyramids alone. In a solve (640x480, commit 06dd96d) a block of the first launch took
// 10.3 us, and of the second 6.8 us. The kernel's code has 200 KB, most of it for other formats and borders.

namespace parafield {
namespace {

constexpr int most_levels = 3, vector_pixels = 4;
constexpr int tile_width = 64, tile_height = 32, tile_threads = 256;  // pixels of the finest level
static_assert(tile_threads == copy_threads);

/// What a launch makes.
struct Levels {
  View<float> level[1 + most_levels];  // level[0] is written if it is luma of a frame
};

/// Pixels of each level that a block holds: its own, and some around them that the tiles of coarser levels
/// need. Depth: levels that the launch makes from level 0.
template <int Depth>
struct Tile {
  /// Pixels to the left of the tile, and above; to the right, and below.
  static constexpr int before(int level) { return level == Depth ? 0 : 2 * before(level + 1) + 2; }
  static constexpr int after(int level) { return level == Depth ? 0 : 2 * after(level + 1) + 1; }
  static constexpr int width(int level) { return tile_width >> level; }
  static constexpr int height(int level) { return tile_height >> level; }
  static constexpr int rows(int level) { return before(level) + height(level) + after(level); }
  /// The same with what lets a row be read as vectors.
  static constexpr int left(int level) {
    return (before(level) + vector_pixels - 1) / vector_pixels * vector_pixels;
  }
  static constexpr int pitch(int level) {
    return left(level) + width(level) + (after(level) + vector_pixels - 1) / vector_pixels * vector_pixels;
  }

  alignas(16) float pixels[rows(0) * pitch(0) + vector_pixels];  // of a level
  /// Pixels smoothed down the columns, for each row of the next level.
  alignas(16) float columns[rows(1) * pitch(0) + vector_pixels];
};

/// Largest vector that divides so many bytes: the lowest bit that is set.
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

/// Brings luma to shared memory; beyond the border the nearest pixel stands in.
template <class Tile>
__device__ void fill(const Frame& frame, View<float> luma, bool stores, int x0, int y0, Tile& tile) {
  constexpr int groups = Tile::pitch(0) / vector_pixels, count = Tile::rows(0) * groups;
  const int last = luma.width - 1, bottom = luma.height - 1, thread = int(threadIdx.x);
  const bool stores_vectors = is_aligned<float4>(luma.data, luma.pitch);
  with_format(frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
    using Vector = Samples<Sample, Channels>;
    const bool aligned = is_aligned<Vector>(frame.data, frame.pitch);
#pragma unroll 4
    for (int i = thread; i < count; i += tile_threads) {
      const int row = i / groups, group = i - row * groups;
      const int x = x0 - Tile::left(0) + vector_pixels * group, y = y0 - Tile::before(0) + row;
      const Sample* const from = row_of<Sample>(frame, clamp(y, 0, bottom));
      const bool inside = x >= 0 && x + vector_pixels - 1 <= last;
      float four[vector_pixels];
      if (inside && aligned) {
        const Vector samples = *reinterpret_cast<const Vector*>(from + x * Channels);
        PF_UNROLL
        for (int k = 0; k < vector_pixels; ++k) four[k] = luma_of(samples.of, k, Channels, Red, scale);
      } else {
        PF_UNROLL
        for (int k = 0; k < vector_pixels; ++k)
          four[k] = luma_of(from, clamp(x + k, 0, last), Channels, Red, scale);
      }
      const float4 vector = make_float4(four[0], four[1], four[2], four[3]);
      reinterpret_cast<float4*>(tile.pixels)[i] = vector;
      const bool own =
          stores && y >= y0 && y < y0 + Tile::height(0) && y <= bottom && x >= x0 && x < x0 + Tile::width(0);
      if (!own) continue;
      float* const to = luma.row(y) + x;
      if (inside && stores_vectors) {
        *reinterpret_cast<float4*>(to) = vector;
      } else {
        PF_UNROLL
        for (int k = 0; k < vector_pixels; ++k)
          if (x + k <= last) to[k] = four[k];
      }
    }
  });
}

/// Makes level Level + 1 of the tile from level Level, in shared memory, and stores the block's own part.
/// x0, y0: the tile's first pixel in level Level + 1.
template <int Level, class Tile>
__device__ void make_level(View<float> fine, View<float> coarse, int x0, int y0, bool inner, Tile& tile) {
  constexpr int fine_pitch = Tile::pitch(Level), groups = fine_pitch / vector_pixels,
                rows = Tile::rows(Level + 1);
  constexpr int pitch = Tile::pitch(Level + 1), before = Tile::before(Level + 1),
                left = Tile::left(Level + 1);
  const int thread = int(threadIdx.x), last = fine.width - 1, bottom = fine.height - 1;
  const int fine_x0 = 2 * x0 - Tile::left(Level), fine_y0 = 2 * y0 - Tile::before(Level);
  for (int i = thread; i < rows * groups; i += tile_threads) {
    const int row = i / groups, group = i - row * groups;
    float4 in[5];
    if (inner) {
      PF_UNROLL
      for (int k = 0; k < 5; ++k)
        in[k] = *reinterpret_cast<const float4*>(tile.pixels + (2 * row + k) * fine_pitch +
                                                 vector_pixels * group);
    } else {
      const int y = 2 * clamp(y0 - before + row, 0, coarse.height - 1) - 2;
      PF_UNROLL
      for (int k = 0; k < 5; ++k)
        in[k] = *reinterpret_cast<const float4*>(
            tile.pixels + (clamp(y + k, 0, bottom) - fine_y0) * fine_pitch + vector_pixels * group);
    }
    reinterpret_cast<float4*>(tile.columns)[i] =
        make_float4(binomial(in[0].x, in[1].x, in[2].x, in[3].x, in[4].x),
                    binomial(in[0].y, in[1].y, in[2].y, in[3].y, in[4].y),
                    binomial(in[0].z, in[1].z, in[2].z, in[3].z, in[4].z),
                    binomial(in[0].w, in[1].w, in[2].w, in[3].w, in[4].w));
  }
  __syncthreads();
  const bool stores_pairs = is_aligned<float2>(coarse.data, coarse.pitch);
  constexpr int pairs = (before + Tile::width(Level + 1) + Tile::after(Level + 1) + 1) / 2;
  for (int i = thread; i < rows * pairs; i += tile_threads) {
    const int row = i / pairs, column = 2 * (i - row * pairs) - before;  // from the tile's first pixel
    const int x = x0 + column, y = y0 - before + row;
    const float* const line = tile.columns + row * fine_pitch;
    float2 pair;
    if (inner) {
      const float* const at = line + Tile::left(Level) + 2 * column;
      const float2 a = *reinterpret_cast<const float2*>(at - 2);
      const float4 b = *reinterpret_cast<const float4*>(at);
      pair = make_float2(binomial(a.x, a.y, b.x, b.y, b.z), binomial(b.x, b.y, b.z, b.w, at[4]));
    } else {
      const auto value = [=](int x) {
        const int c = 2 * clamp(x, 0, coarse.width - 1);
        const auto column_at = [=](int i) { return line[clamp(i, 0, last) - fine_x0]; };
        return binomial(column_at(c - 2), column_at(c - 1), column_at(c), column_at(c + 1), column_at(c + 2));
      };
      pair = make_float2(value(x), value(x + 1));
    }
    if constexpr (Tile::after(Level + 1) > 0)  // not the last level
      *reinterpret_cast<float2*>(tile.pixels + row * pitch + left + column) = pair;
    const bool own = row >= before && row < before + Tile::height(Level + 1) && column >= 0 &&
                     column < Tile::width(Level + 1) && y < coarse.height;
    if (!own) continue;
    float* const to = coarse.row(y) + x;
    if (x + 1 < coarse.width && stores_pairs) {
      *reinterpret_cast<float2*>(to) = pair;
    } else {
      if (x < coarse.width) to[0] = pair.x;
      if (x + 1 < coarse.width) to[1] = pair.y;
    }
  }
  __syncthreads();
}

/// Copies of the frames that a launch makes beside the levels.
struct Keeping {
  FrameCopy copy[2];
  Frame* frames = nullptr;  // null: no copies
};

/// frame0, frame1: level 0, which is stored if `stores`. blockIdx.z: index of the frame; from `count` on,
/// that of the frame that is kept.
template <int Depth>
__global__ void __launch_bounds__(tile_threads)
    pyramid_kernel(Frame frame0, Frame frame1, Levels levels0, Levels levels1, bool stores, int count,
                   const __grid_constant__ Keeping keeping) {
  begin_kernel();
  using BlockTile = Tile<Depth>;
  __shared__ BlockTile tile;
  if (int(blockIdx.z) >= count) {
    const int i = int(blockIdx.z) - count;
    return keep_frame(keeping.copy[i], keeping.frames + i, int(blockIdx.y * gridDim.x + blockIdx.x),
                      int(gridDim.x * gridDim.y));
  }
  const Frame frame = blockIdx.z == 0 ? frame0 : frame1;
  const Levels levels = blockIdx.z == 0 ? levels0 : levels1;
  const int x0 = int(blockIdx.x) * tile_width, y0 = int(blockIdx.y) * tile_height;
  fill(frame, levels.level[0], stores, x0, y0, tile);
  __syncthreads();
  const bool inner = x0 >= BlockTile::before(0) && y0 >= BlockTile::before(0) &&
                     x0 + tile_width + BlockTile::after(0) + 2 * vector_pixels <= levels.level[0].width &&
                     y0 + tile_height + BlockTile::after(0) + 2 * vector_pixels <= levels.level[0].height;
  make_level<0>(levels.level[0], levels.level[1], x0 / 2, y0 / 2, inner, tile);
  if constexpr (Depth > 1) make_level<1>(levels.level[1], levels.level[2], x0 / 4, y0 / 4, inner, tile);
  if constexpr (Depth > 2) make_level<2>(levels.level[2], levels.level[3], x0 / 8, y0 / 8, inner, tile);
}

/// Makes the levels above level 0, and that one, too, if there are frames. `keeping`: see pyramid_kernel.
void make_levels(Cuda& cuda, const Frame* frames, const Pyramid* pyramids, int count,
                 const Keeping& keeping) {
  const Pyramid &pyramid0 = pyramids[0], &pyramid1 = pyramids[count - 1];
  for (int first = 0; first + 1 < pyramid0.levels;) {
    const int depth = smaller(pyramid0.levels - 1 - first, most_levels);
    Levels levels0, levels1;
    for (int i = 0; i <= depth; ++i) {
      levels0.level[i] = pyramid0.level[first + i];
      levels1.level[i] = pyramid1.level[first + i];
    }
    with_one_of<1, 2, 3>(depth, [&]<int Depth>() {
      const Size size = levels0.level[0].size();
      const auto grid = [&](int layers) {
        return dim3(blocks_for(size.width, tile_width), blocks_for(size.height, tile_height),
                    unsigned(layers));
      };
      const auto kernel = pyramid_kernel<Depth>;
      if (frames && first == 0)
        cuda.launch_input(kernel, grid(keeping.frames ? 2 * count : count), dim3(tile_threads), frames[0],
                          frames[count - 1], levels0, levels1, true, count, keeping);
      else
        cuda.launch(kernel, grid(count), dim3(tile_threads), 0, frame_of(levels0.level[0]),
                    frame_of(levels1.level[0]), levels0, levels1, false, count, Keeping{});
    });
    first += depth;
  }
}

}  // namespace

template <class Backend>
void build_pyramids(Backend& cuda, const Pyramid* pyramids, int count) {
  make_levels(cuda, nullptr, pyramids, count, {});
}

template <class Backend>
void convert_pyramids(Backend& cuda, const Frame* frames, const Pyramid* pyramids, int count) {
  if (pyramids[0].levels > 1) return make_levels(cuda, frames, pyramids, count, {});
  const View<float> luma[] = {pyramids[0].level[0], pyramids[count - 1].level[0]};
  convert(cuda, frames, luma, count);
}

template <class Backend>
void convert_and_keep(Backend& cuda, const Frame* frames, const Pyramid* pyramids, int count, int slot,
                      const KeptFrames& kept) {
  if (pyramids[0].levels > 1)
    return make_levels(cuda, frames, pyramids, count,
                       {{frame_copy(frames[0], kept.bytes[slot]),
                         frame_copy(frames[count - 1], kept.bytes[slot + count - 1])},
                        kept.frames + slot});
  convert_pyramids(cuda, frames, pyramids, count);
  keep_frames(cuda, frames, slot, count, kept);
}

PF_STEP(build_pyramids<Cuda>);
PF_STEP(convert_pyramids<Cuda>);
PF_STEP(convert_and_keep<Cuda>);

}  // namespace parafield
