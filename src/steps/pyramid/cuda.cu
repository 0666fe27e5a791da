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
constexpr int tile_width = 64, tile_height = 40;  // pixels of the finest level
constexpr int tile_threads = 352;                 // 16 rows of a tile's vectors
static_assert(tile_threads >= copy_threads);
/// Blocks that have room on a multiprocessor. Cards of capability 7.5 have room for 1024 threads.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int tile_blocks = 2;
#else
constexpr int tile_blocks = 4;
#endif

/// What a launch makes.
struct Levels {
  View<float> level[1 + most_levels];  // level[0] is written if it is luma of a frame
};

/// Pixels of each level that a block holds: its own, and some around them that the tiles of coarser levels
/// need; beyond the border the nearest pixel stands in. Depth: levels that the launch makes from level 0.
template <int Depth>
struct Tile {
  static constexpr int depth = Depth;
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
  /// Place of a level's first pixel; that of level Depth is where all of them end.
  static constexpr int place(int level) {
    return level == 0 ? 0 : place(level - 1) + rows(level - 1) * pitch(level - 1);
  }

  alignas(16) float pixels[place(Depth) + vector_pixels];  // the last vector of a level may end behind it
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

/// Brings luma to shared memory. Each thread takes one vector of several rows.
template <class Tile>
struct Fill {
  static constexpr int groups = Tile::pitch(0) / vector_pixels, rows_a_turn = tile_threads / groups;
  static constexpr int turns = (Tile::rows(0) + rows_a_turn - 1) / rows_a_turn;

  const Frame& frame;
  View<float> luma;
  bool stores;  // luma, too
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

  /// The thread's vector of a row.
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

  /// Reads pixel after pixel.
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

  /// Reads vectors, all of a thread's before it uses the first.
  template <class Sample, int Channels, int Red>
  __device__ __forceinline__ void by_vectors(Scale scale) const {
    using Vector = Samples<Sample, Channels>;
    const bool whole = last_whole + vector_pixels > last;  // no vector lies across the border
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

/// Makes level Level + 1 of the tile from level Level, in shared memory, and stores the block's own part. A
/// lane smooths a vector of the finer level down its columns. With what its neighbors have it makes two pixels;
/// so the first and the last lane of a warp make none. x0, y0: the tile's first pixel in level Level + 1.
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
  for (int first = int(threadIdx.x) / lanes * makers; first < count; first += tile_threads / lanes * makers) {
    const int i = clamp(first + lane - 1, 0, count - 1);
    const int row = i / groups, column = 2 * (i - row * groups) - Tile::left(Level) / 2;
    const int x = x0 + column, y = y0 - before + row;
    // A row beyond the border is the nearest one inside, which lies in the tile.
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

/// Copies of the frames that a launch makes beside the levels.
struct Keeping {
  FrameCopy copy[2];
  Frame* frames = nullptr;  // null: no copies
};

/// frame0, frame1: level 0, which is stored if `stores`. blockIdx.z: index of the frame; from `count` on,
/// that of the frame that is kept.
template <int Depth>
__global__ void __launch_bounds__(tile_threads, tile_blocks)
    pyramid_kernel(Frame frame0, Frame frame1, Levels levels0, Levels levels1, bool stores, int count,
                   const __grid_constant__ Keeping keeping) {
  begin_kernel();
  using BlockTile = Tile<Depth>;
  __shared__ BlockTile tile;
  if (int(blockIdx.z) >= count) {
    const int i = int(blockIdx.z) - count;
    if (int(threadIdx.x) < copy_threads)
      keep_frame(keeping.copy[i], keeping.frames + i, int(blockIdx.y * gridDim.x + blockIdx.x),
                 int(gridDim.x * gridDim.y));
    return;
  }
  const Frame frame = blockIdx.z == 0 ? frame0 : frame1;
  const Levels levels = blockIdx.z == 0 ? levels0 : levels1;
  const int x0 = int(blockIdx.x) * tile_width, y0 = int(blockIdx.y) * tile_height;
  Fill<BlockTile>{frame, levels.level[0], stores, x0, y0, tile}.run();
  __syncthreads();
  make_level<0>(levels.level[1], x0 / 2, y0 / 2, tile);
  if constexpr (Depth > 1) {
    __syncthreads();
    make_level<1>(levels.level[2], x0 / 4, y0 / 4, tile);
  }
  if constexpr (Depth > 2) {
    __syncthreads();
    make_level<2>(levels.level[3], x0 / 8, y0 / 8, tile);
  }
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
