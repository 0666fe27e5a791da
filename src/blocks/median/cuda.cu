#include "blocks/median/median.hpp"
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"

namespace parafield {
namespace {

// A block makes a tile of one component, a thread two pixels beside each other, which share four of their columns.
constexpr int tile_width = 64, tile_height = 8, threads_x = tile_width / 2;

/// blockIdx.z: the component.
template <int Side>
__global__ void __launch_bounds__(threads_x* tile_height) median_kernel(FlowPlanes in, FlowPlanes out) {
  begin_kernel();
  constexpr int radius = Side / 2, columns = tile_width + Side - 1;
  __shared__ float2 sorted[Side][tile_height][columns / 2];  // the columns around each row of the tile
  const View<float> from = blockIdx.z == 0 ? in.u : in.v, to = blockIdx.z == 0 ? out.u : out.v;
  const int x0 = int(blockIdx.x) * tile_width, y = int(blockIdx.y) * tile_height + int(threadIdx.y);
  for (int i = int(threadIdx.x); i < columns; i += threads_x) {
    const int x = clamp(x0 + i - radius, 0, from.width - 1);
    float values[Side];
    PF_UNROLL
    for (int j = 0; j < Side; ++j)
      values[j] = unsigned_zero(from(x, clamp(y + j - radius, 0, from.height - 1)));
    sort(values);
    PF_UNROLL
    for (int j = 0; j < Side; ++j) reinterpret_cast<float*>(sorted[j][threadIdx.y])[i] = values[j];
  }
  __syncwarp();  // a warp reads only its own row
  const int x = x0 + 2 * int(threadIdx.x);
  if (x >= to.width || y >= to.height) return;
  float column[Side + 1][Side];
  PF_UNROLL
  for (int j = 0; j < Side; ++j) PF_UNROLL
  for (int i = 0; i < (Side + 1) / 2; ++i) {
    const float2 two = sorted[j][threadIdx.y][threadIdx.x + i];
    column[2 * i][j] = two.x;
    column[2 * i + 1][j] = two.y;
  }
  float first, second;
  if constexpr (Side == 3) {
    first = median_of_columns(column[0], column[1], column[2]);
    second = median_of_columns(column[1], column[2], column[3]);
  } else {
    float a[10], b[10], middle[6];
    merge(column[1], column[2], a);
    merge(column[3], column[4], b);
    middle_of_pairs(a, b, middle);
    first = median_with_column(middle, column[0]);
    second = median_with_column(middle, column[5]);
  }
  to(x, y) = first;
  if (x + 1 < to.width) to(x + 1, y) = second;
}

}  // namespace

template <>
void median(Cuda& cuda, FlowPlanes in, int side, FlowPlanes out) {
  const dim3 block(threads_x, tile_height);
  const dim3 grid(blocks_for(in.u.width, tile_width), blocks_for(in.u.height, tile_height), 2);
  cuda.launch(side == 3 ? median_kernel<3> : median_kernel<5>, grid, block, 0, in, out);
}

}  // namespace parafield
