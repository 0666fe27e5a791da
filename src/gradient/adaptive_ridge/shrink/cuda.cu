// SPDX-License-Identifier: MIT
#include "core/cuda/kernel.cuh"
#include "gradient/adaptive_ridge/shrink/shrink.cuh"
#include "gradient/adaptive_ridge/tiles.cuh"

// A block makes a tile; the shrunk flow stays in its shared memory until the median has been taken. With
// statistics alone a thread has a column of a cell and adds up what it shrinks.
//
// Floor: 28 bytes a pixel are read and 8 written, 3.7 us at 640x480 and 25 us at 1920x1080 on an H100 (3.0
// TB/s). 435 and 393 instructions a pixel, halo and median included, take 4.0 and 24 us if each scheduler
// issues one in each cycle (1.98 GHz); minima and maxima issue in every second cycle. Statistics alone read
// 28 bytes, 2.9 and 19 us, and have 210 and 200 instructions. Measured at commit c1bad4b: 8.1 and 46 us, of
// eight launches at once 6.4 and 40 us each; statistics 6.2 and 27 us, of eight 3.4 and 21 us.
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
