// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/colors/keep.cuh"
#include "steps/convert/convert.hpp"
#include "steps/pyramid/pyramid.hpp"
#include "steps/pyramid/tile.cuh"

// On small levels, launches take most of the time. Therefore one launch computes up to three levels of both
// frames, and also their luma. Each block computes a tile of each level, with the finer pixels under it in
// shared memory.
//
// Lower bound: two gray frames of 1920x1080 with four levels are 4 MB to read and 22 MB to write, which takes
// an H100 (3.0 TB/s) 9 us. Measured at commit 1a56dc5: 19.9 us, or 45 %, and 6.2 us at 640x480. There, a
// block of a solve takes 4.5 us: 2.5 to read and convert 1.9 times a tile's pixels, and 1.0, 0.4 and 0.7 for
// the levels. Larger blocks and flatter tiles are slower.
//
// The next launch begins early, so that its blocks fit next to these blocks and spread evenly over the SMs.

namespace parafield {
namespace {

constexpr int most_levels = 3;
static_assert(TileSize::threads >= copy_threads);

/// The levels that a launch computes.
struct Levels {
  View<float> level[1 + most_levels];  // level[0] is written if it is luma of a frame
};

/// Copies of the frames that a launch makes along with the levels.
struct Keeping {
  FrameCopy copy[2];
  Frame* frames = nullptr;  // null: no copies
};

/// frame0, frame1: level 0, which is stored if `stores`. blockIdx.z: index of the frame; from `count` on,
/// `count` plus the index of the frame to keep.
template <int Depth>
__global__ void __launch_bounds__(TileSize::threads, TileSize::blocks)
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
  const int x0 = int(blockIdx.x) * TileSize::width, y0 = int(blockIdx.y) * TileSize::height;
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

/// Computes the levels above level 0, and level 0 too if there are frames. `keeping`: see pyramid_kernel.
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
        return dim3(blocks_for(size.width, TileSize::width), blocks_for(size.height, TileSize::height),
                    unsigned(layers));
      };
      const auto kernel = pyramid_kernel<Depth>;
      if (frames && first == 0)
        cuda.launch_input(kernel, grid(keeping.frames ? 2 * count : count), dim3(TileSize::threads),
                          frames[0], frames[count - 1], levels0, levels1, true, count, keeping);
      else
        cuda.launch(kernel, grid(count), dim3(TileSize::threads), 0, frame_of(levels0.level[0]),
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
