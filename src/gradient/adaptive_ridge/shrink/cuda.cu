// SPDX-License-Identifier: MIT
#include "core/cuda/kernel.cuh"
#include "gradient/adaptive_ridge/shrink/shrink.cuh"
#include "gradient/adaptive_ridge/tiles.cuh"

// Each block computes a tile and keeps the shrunk flow in shared memory until the median is taken. If only
// the statistics are needed, each thread has one column of a cell and adds up the flow it shrinks.
//
// Lower bound: 28 bytes per pixel are read and 8 written, which takes 3.7 us at 640x480 and 25 us at
// 1920x1080 on an H100 (3.0 TB/s). The 435 and 393 instructions per pixel, including halo and median, take
// 4.0 and 24 us if each scheduler issues one per cycle (1.98 GHz); minima and maxima issue every second
// cycle. Statistics alone read 28 bytes, 2.9 and 19 us, and take 210 and 200 instructions. Measured at commit
// c1bad4b: 8.1 and 46 us, or 6.4 and 40 us per launch with eight at once; statistics 6.2 and 27 us, or 3.4
// and 21 us with eight at once.
namespace parafield {
namespace {

template <class Tile>
__global__ void __launch_bounds__(Tile::threads, 1024 / Tile::threads)
    shrink_kernel(const __grid_constant__ NormalPlanes normal, View<const float> luma,
                  const __grid_constant__ Cells cells, Shrinkage p, FlowPlanes out) {
  begin_kernel();
  __shared__ Tile tile;
  tile.make(normal, luma, cells, p, int(blockIdx.x) * Tile::width, int(blockIdx.y) * Tile::height, out);
}

template <class Tile>
__global__ void __launch_bounds__(Tile::threads, 512 / Tile::threads)
    shrink_cells_kernel(const __grid_constant__ NormalPlanes normal, View<const float> luma,
                        const __grid_constant__ Cells cells, Shrinkage p, const __grid_constant__ Cells out) {
  begin_kernel();
  __shared__ Tile tile;
  tile.make(normal, luma, cells, p, int(blockIdx.x) * Tile::width, int(blockIdx.y) * Tile::height, out);
}

template <int Side>
void launch_shrink(Cuda& cuda, const NormalPlanes& normal, View<const float> luma, const Cells& cells,
                   const Shrinkage& p, FlowPlanes out) {
  const auto launch = [&]<class Tile>(Tile*) {
    cuda.launch(shrink_kernel<Tile>, tiles_over<Tile>(luma.size()), dim3(Tile::columns, Tile::threads_y), 0,
                normal, luma, cells, p, out);
  };
  with_fastest_tile<SmoothedTile<Side, 64, 8, 1>, SmoothedTile<Side, 32, 16, 1>, SmoothedTile<Side, 64, 8, 2>,
                    SmoothedTile<Side, 64, 8, 3>, SmoothedTile<Side, 64, 8, 4>>(cuda, luma.size(), launch);
}

}  // namespace

template <class Backend>
void shrink_flow(Backend& cuda, const NormalPlanes& normal, View<const float> luma, const Cells& cells,
                 const Shrinkage& p, int side, FlowPlanes, FlowPlanes out) {
  switch (side) {
    case 5:
      return launch_shrink<5>(cuda, normal, luma, cells, p, out);
    case 3:
      return launch_shrink<3>(cuda, normal, luma, cells, p, out);
    default:
      return launch_shrink<1>(cuda, normal, luma, cells, p, out);
  }
}

template <class Backend>
void shrink_cells(Backend& cuda, const NormalPlanes& normal, View<const float> luma, const Cells& cells,
                  const Shrinkage& p, const Cells& out) {
  const auto launch = [&]<class Tile>(Tile*) {
    cuda.launch(shrink_cells_kernel<Tile>, tiles_over<Tile>(luma.size()),
                dim3(Tile::columns, Tile::threads_y), 0, normal, luma, cells, p, out);
  };
  with_fastest_tile<ShrunkCellsTile<64, 2>, ShrunkCellsTile<128, 2>>(cuda, luma.size(), launch);
}

PF_STEP(shrink_flow<Cuda>);
PF_STEP(shrink_cells<Cuda>);

}  // namespace parafield
