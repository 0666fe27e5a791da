// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "steps/variational/color_edges.cuh"
#include "steps/variational/data_tile.cuh"

// One launch, with one tile per block. Lower bound for luma: for each pixel, 16 bytes are read (two frames, u, v)
// and 28 written, which takes an H100 (3.0 TB/s) 4.5 us at 640x480. The 810 instructions per pixel, including
// the halo, take 7.4 us if each scheduler issues one per cycle (1.98 GHz). Measured with ncu at commit 413f7ab4:
// 15.7 us. The rest of the time, tiles wait for the flow and then for the second frame.
namespace parafield {
namespace {

/// Slopes at the rows of a tile's edges, at the middles of the cells that the tile touches.
struct TileSlopes {
  static constexpr int columns = data_width / slope_cell + 2, rows = data_height + 1;
  float slope[SlopePlanes::count][rows][columns];

  /// First cell, perhaps outside the image.
  __device__ static int first() { return int(blockIdx.x) * (data_width / slope_cell) - 1; }

  __device__ void interpolate_rows(const SlopePlanes& slopes) {
    const int width = slopes.slope[0].width, height = slopes.slope[0].height;
    PF_UNROLL
    for (int i = 0; i < (columns * rows + data_threads - 1) / data_threads; ++i) {
      const int k = int(threadIdx.x) + i * data_threads, column = k % columns, row = k / columns;
      if (row >= rows) break;
      const int cell = clamp(first() + column, 0, width - 1), y = int(blockIdx.y) * data_height - 1 + row;
      PF_UNROLL
      for (int which = 0; which < SlopePlanes::count; ++which) {
        const BetweenCells at = between_cells(2 * larger(y, 0) + which / 2, height);
        const View<const float> plane = slopes.slope[which];
        slope[which][row][column] =
            interpolate(plane(cell, at.cell), plane(cell, smaller(at.cell + 1, height - 1)), at.share);
      }
    }
  }

  __device__ float at(int which, int row, const BetweenCells& x) const {
    const float* const cells = slope[which][row] + (x.cell - first());
    return interpolate(cells[0], cells[1], x.share);
  }
};

__device__ float squares(float a, float b) { return fma(a, a, b * b); }

/// Edges along one axis from the pixels of a tile and from those to its left and above: weights, and their
/// products with the slopes.
struct Edges {
  static constexpr int columns = data_width + 1, rows = data_height + 1;
  float weight[rows][columns], u[rows][columns], v[rows][columns];

  __device__ void set(int column, int row, float weighs, float slope_u, float slope_v) {
    weight[row][column] = weighs, u[row][column] = weighs * slope_u, v[row][column] = weighs * slope_v;
  }
};

/// Weighs the edges to the right of a tile's pixels and below them.
template <int Channels>
__device__ void weigh_tile(const ComparedFrames& frames, const TileSlopes& slopes, int cells, FlowPlanes flow,
                           float smoothness, Edges& along, Edges& down) {
  constexpr int columns = Edges::columns, rows = Edges::rows;
  const int right_most = flow.u.width - 1, bottom = flow.u.height - 1;
  PF_UNROLL
  for (int i = 0; i < (columns * rows + data_threads - 1) / data_threads; ++i) {
    const int k = int(threadIdx.x) + i * data_threads, column = k % columns, row = k / columns;
    const int own_x = int(blockIdx.x) * data_width - 1 + column,
              own_y = int(blockIdx.y) * data_height - 1 + row;
    if (row >= rows) break;
    const bool is_inside = own_x >= 0 && own_y >= 0 && own_x <= right_most && own_y <= bottom;
    // Threads outside the image load values of the nearest pixel. Without branches, all loads come at once.
    const int x = clamp(own_x, 0, right_most), y = clamp(own_y, 0, bottom),
              right = smaller(x + 1, right_most), below = smaller(y + 1, bottom);
    const float u = flow.u(x, y), v = flow.v(x, y), u_right = flow.u(right, y), v_right = flow.v(right, y),
                u_below = flow.u(x, below), v_below = flow.v(x, below);
    ColorEdges edges[1];
    color_edges<Channels>(frames, x, y, edges);
    const BetweenCells at = between_cells(2 * x, cells), past = between_cells(2 * x + 1, cells);
    const float along_u = slopes.at(0, row, past), along_v = slopes.at(1, row, past),
                down_u = slopes.at(2, row, at), down_v = slopes.at(3, row, at);
    float apart = x < right_most ? squares(u_right - u - along_u, v_right - v - along_v) : 0.0f;
    if (y < bottom) apart += squares(u_below - u - down_u, v_below - v - down_v);
    const float weight = smoothness_weight(smoothness, apart);
    along.set(column, row, is_inside ? edges[0].along * weight : 0.0f, along_u, along_v);
    down.set(column, row, is_inside ? edges[0].down * weight : 0.0f, down_u, down_v);
  }
}

/// The equations of a pixel, whose edges have this column and row.
__device__ PixelEquations equations_of(const GradientSums& data, const Edges& along, const Edges& down,
                                       int column, int row, float u, float v) {
  const float around = (along.weight[row][column - 1] + along.weight[row][column]) +
                       (down.weight[row - 1][column] + down.weight[row][column]);
  return pixel_equations(
      data.xx, data.xy, data.yy, data.xt, data.yt, around,
      (along.u[row][column - 1] - along.u[row][column]) + (down.u[row - 1][column] - down.u[row][column]),
      (along.v[row][column - 1] - along.v[row][column]) + (down.v[row - 1][column] - down.v[row][column]), u,
      v);
}

template <int Channels>
__global__ void __launch_bounds__(data_threads, Channels == 1 ? 5 : 2)
    equations_kernel(const __grid_constant__ ComparedFrames frames,
                     const __grid_constant__ RefinementPlanes planes, FlowPlanes flow, FlowPlanes back,
                     float smoothness) {
  begin_kernel();
  __shared__ DataTile<Channels> tile;
  __shared__ TileSlopes slopes;
  __shared__ Edges along, down;
  if (threadIdx.x == 0) tile.right = flow.u.width - 1, tile.bottom = flow.u.height - 1;
  slopes.interpolate_rows(planes.slopes);
  __syncthreads();
  weigh_tile<Channels>(frames, slopes, planes.slopes.slope[0].width, flow, smoothness, along, down);
  GradientSums sums[DataTile<Channels>::of_thread], data[DataTile<Channels>::own_of_thread];
  PF_UNROLL
  for (int c = 0; c < Channels; ++c) {
    tile.compare(frames.from[c], frames.to[c], flow);
    tile.derive();
    tile.add(sums);
  }
  tile.weigh(sums, flow, back, data);
  tile.template each<0>([&](int i, int x, int y) {
    const int column = x - int(blockIdx.x) * data_width + 1, row = y - int(blockIdx.y) * data_height + 1;
    const PixelEquations pixel = equations_of(data[i], along, down, column, row, flow.u(x, y), flow.v(x, y));
    const EquationPlanes& to = planes.equations;
    to.xx(x, y) = pixel.xx, to.xy(x, y) = pixel.xy, to.yy(x, y) = pixel.yy;
    to.side_u(x, y) = pixel.u, to.side_v(x, y) = pixel.v;
    planes.weight_x(x, y) = along.weight[row][column];
    planes.weight_y(x, y) = down.weight[row][column];
  });
}

}  // namespace

template <class Backend>
void build_equations(Backend& cuda, const ComparedFrames& frames, const RefinementPlanes& planes,
                     FlowPlanes flow, FlowPlanes back, float smoothness) {
  cuda.launch(frames.channels == 1 ? equations_kernel<1> : equations_kernel<3>,
              dim3(blocks_for(flow.u.width, data_width), blocks_for(flow.u.height, data_height)),
              dim3(data_threads), 0, frames, planes, flow, back, smoothness);
}

PF_STEP(build_equations<Cuda>);

}  // namespace parafield
