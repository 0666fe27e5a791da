// SPDX-License-Identifier: MIT
#include "core/cuda/kernel.cuh"
#include "gradient/adaptive_ridge/shrink/shrink.cuh"

// Each block computes a tile and keeps the shrunk flow in shared memory until the median is taken. If only
// the statistics are needed, each thread has one column of a cell and adds up the flow it shrinks.
//
// Lower bound: 28 bytes per pixel are read and 8 written, which takes 3.7 us at 640x480 and 25 us at
// 1920x1080 on an H100 (3.0 TB/s). The 435 and 393 instructions per pixel, including halo and median, take
// 4.0 and 24 us if each scheduler issues one per cycle (1.98 GHz). Statistics alone read 28 bytes, 2.9 and 19
// us, and take 210 and 200 instructions. Measured at commit c1bad4b: 8.1 and 46 us, statistics 6.2 and 27 us.
namespace parafield {
namespace {

template <class Tile>
__global__ void __launch_bounds__(Tile::threads, 1024 / Tile::threads)
    shrink_kernel(const __grid_constant__ ShrinkInput in, FlowPlanes out) {
  begin_kernel();
  __shared__ Tile tile;
  tile.make(in, int(blockIdx.x) * Tile::width, int(blockIdx.y) * Tile::height, out);
}

template <class Tile>
__global__ void __launch_bounds__(Tile::threads, 512 / Tile::threads)
    shrink_cells_kernel(const __grid_constant__ ShrinkInput in, const __grid_constant__ Cells out) {
  begin_kernel();
  __shared__ Tile tile;
  tile.make(in, int(blockIdx.x) * Tile::width, int(blockIdx.y) * Tile::height, out);
}

template <int Side>
void launch_shrink(Cuda& cuda, const ShrinkInput& in, FlowPlanes out) {
  const auto launch = [&]<class Tile>(Tile*) {
    cuda.launch(shrink_kernel<Tile>, tiles_over<Tile>(in.size()), dim3(Tile::columns, Tile::threads_y), 0, in,
                out);
  };
  with_fastest_tile<SmoothedTile<Side, 64, 8, 1>, SmoothedTile<Side, 32, 16, 1>, SmoothedTile<Side, 64, 8, 2>,
                    SmoothedTile<Side, 64, 8, 3>, SmoothedTile<Side, 64, 8, 4>>(cuda, in.size(), launch);
}

}  // namespace

template <class Backend>
void shrink_flow(Backend& cuda, const ShrinkInput& in, int side, FlowPlanes, FlowPlanes out) {
  with_one_of<1, 3, 5>(larger(side, 1), [&]<int Side>() { launch_shrink<Side>(cuda, in, out); });
}

template <class Backend>
void shrink_cells(Backend& cuda, const ShrinkInput& in, const Cells& out) {
  const auto launch = [&]<class Tile>(Tile*) {
    cuda.launch(shrink_cells_kernel<Tile>, tiles_over<Tile>(in.size()), dim3(Tile::columns, Tile::threads_y),
                0, in, out);
  };
  with_fastest_tile<ShrunkCellsTile<64, 2>, ShrunkCellsTile<128, 2>>(cuda, in.size(), launch);
}

PF_STEP(shrink_flow<Cuda>);
PF_STEP(shrink_cells<Cuda>);

}  // namespace parafield
