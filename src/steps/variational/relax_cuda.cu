// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/variational/variational.hpp"

namespace parafield {
namespace {

constexpr int weigh_width = 32, weigh_height = 8;  // pixels of a block of weigh_kernel

/// The slope at a position between the middles of cells.
__device__ float slope_at(View<const float> slope, const BetweenCells& at_x, const BetweenCells& at_y) {
  const int right = smaller(at_x.cell + 1, slope.width - 1), below = smaller(at_y.cell + 1, slope.height - 1);
  return interpolate(interpolate(slope(at_x.cell, at_y.cell), slope(at_x.cell, below), at_y.share),
                     interpolate(slope(right, at_y.cell), slope(right, below), at_y.share), at_x.share);
}

/// Weights of the edges of a block of pixels and of the pixels to its left and above, and their products with
/// the slopes.
struct Edges {
  float weight[weigh_height + 1][weigh_width + 1], u[weigh_height + 1][weigh_width + 1],
      v[weigh_height + 1][weigh_width + 1];

  __device__ void set(int column, int row, float weighs, float slope_u, float slope_v) {
    weight[row][column] = weighs, u[row][column] = weighs * slope_u, v[row][column] = weighs * slope_v;
  }
};

__device__ float squares(float a, float b) { return fma(a, a, b * b); }

__global__ void __launch_bounds__(weigh_width* weigh_height)
    weigh_kernel(const __grid_constant__ RefinementPlanes planes, FlowPlanes flow, float smoothness) {
  begin_kernel();
  __shared__ Edges along, down;
  const int right_most = flow.u.width - 1, bottom = flow.u.height - 1;
  const int x0 = int(blockIdx.x) * weigh_width - 1, y0 = int(blockIdx.y) * weigh_height - 1;
  const SlopePlanes& slopes = planes.slopes;
  for (int k = int(threadIdx.x); k < (weigh_width + 1) * (weigh_height + 1);
       k += weigh_width * weigh_height) {
    const int column = k % (weigh_width + 1), row = k / (weigh_width + 1), x = x0 + column, y = y0 + row;
    if (x < 0 || y < 0 || x > right_most || y > bottom) {
      along.set(column, row, 0, 0, 0);
      down.set(column, row, 0, 0, 0);
      continue;
    }
    const BetweenCells at_x = between_cells(2 * x, slopes.slope[0].width),
                       at_y = between_cells(2 * y, slopes.slope[0].height),
                       past_x = between_cells(2 * x + 1, slopes.slope[0].width),
                       past_y = between_cells(2 * y + 1, slopes.slope[0].height);
    const float along_u = slope_at(slopes.slope[0], past_x, at_y),
                along_v = slope_at(slopes.slope[1], past_x, at_y),
                down_u = slope_at(slopes.slope[2], at_x, past_y),
                down_v = slope_at(slopes.slope[3], at_x, past_y);
    const float u = flow.u(x, y), v = flow.v(x, y);
    float apart = 0;
    if (x < right_most) apart = squares(flow.u(x + 1, y) - u - along_u, flow.v(x + 1, y) - v - along_v);
    if (y < bottom) apart += squares(flow.u(x, y + 1) - u - down_u, flow.v(x, y + 1) - v - down_v);
    const float weight = smoothness_weight(smoothness, apart);
    along.set(column, row, planes.edge_x(x, y) * weight, along_u, along_v);
    down.set(column, row, planes.edge_y(x, y) * weight, down_u, down_v);
  }
  __syncthreads();
  const int column = int(threadIdx.x) % weigh_width + 1, row = int(threadIdx.x) / weigh_width + 1,
            x = x0 + column, y = y0 + row;
  if (x > right_most || y > bottom) return;
  const float around = (along.weight[row][column - 1] + along.weight[row][column]) +
                       (down.weight[row - 1][column] + down.weight[row][column]);
  const DataPlanes& data = planes.data;
  const PixelEquations pixel = pixel_equations(
      data.xx(x, y), data.xy(x, y), data.yy(x, y), data.xt(x, y), data.yt(x, y), around,
      (along.u[row][column - 1] - along.u[row][column]) + (down.u[row - 1][column] - down.u[row][column]),
      (along.v[row][column - 1] - along.v[row][column]) + (down.v[row - 1][column] - down.v[row][column]),
      flow.u(x, y), flow.v(x, y));
  data.xx(x, y) = pixel.xx, data.xy(x, y) = pixel.xy, data.yy(x, y) = pixel.yy;
  data.xt(x, y) = pixel.u, data.yt(x, y) = pixel.v;
  planes.weight_x(x, y) = along.weight[row][column];
  planes.weight_y(x, y) = down.weight[row][column];
}

/// A tile of the relaxation, with the pixels around it that its sweeps depend on. A warp has a few rows, and
/// a lane two columns of them, in registers. Lanes exchange columns, and warps exchange their first and last
/// rows. Pixels at the tile's border lack a neighbor and get wrong values, which spread by one pixel in each
/// half of a sweep and do not reach the pixels that are stored.
struct RelaxTile {
  static constexpr int columns = 64, rows_each = 4, warps = 18, rows = rows_each * warps, most_sweeps = 4;

  /// Shared by the warps: u and v of their first and last rows, in even and odd columns.
  struct Ends {
    float first[warps][2][2][32], last[warps][2][2][32];
  };
};

/// Values of two neighboring pixels; 0 outside the plane.
struct Pair {
  float value[2];
};
__device__ Pair load_pair(View<const float> plane, int x, int y) {
  if (y < 0 || y >= plane.height) return {{0, 0}};
  const float* const row = plane.row(y);
  return {{x >= 0 && x < plane.width ? row[x] : 0.0f, x + 1 >= 0 && x + 1 < plane.width ? row[x + 1] : 0.0f}};
}
/// The same, at once, in a plane of the workspace, where rows begin at multiples of 8 bytes. x is even.
__device__ Pair load_even_pair(View<const float> plane, int x, int y) {
  if (x < 0 || x >= plane.width || y < 0 || y >= plane.height) return {{0, 0}};
  const float2 both = *reinterpret_cast<const float2*>(plane.row(y) + x);
  return {{both.x, x + 1 < plane.width ? both.y : 0.0f}};
}

/// Sweeps `first` to `first` + count - 1. `start`: flow to stay close to, or empty.
__global__ void __launch_bounds__(32 * RelaxTile::warps, 1)
    relax_kernel(const __grid_constant__ RefinementPlanes planes, FlowPlanes from, FlowPlanes start,
                 int first, int count, FlowPlanes to) {
  begin_kernel();
  constexpr int rows = RelaxTile::rows_each, warps = RelaxTile::warps;
  __shared__ RelaxTile::Ends ends;
  const int halo = 2 * count, lane = int(threadIdx.x), warp = int(threadIdx.y);
  const int x = int(blockIdx.x) * (RelaxTile::columns - 2 * halo) - halo + 2 * lane,
            y = int(blockIdx.y) * (RelaxTile::rows - 2 * halo) - halo + rows * warp;
  PixelEquations pixel[rows][2];
  Pair u[rows], v[rows];
  float along[rows][3],
      down[rows + 1][2];  // weights from the edge before the lane's pixels to the edge after them
  PF_UNROLL
  for (int r = 0; r < rows; ++r) {
    u[r] = load_pair(from.u, x, y + r), v[r] = load_pair(from.v, x, y + r);
    const auto load = [=](View<const float> plane) { return load_even_pair(plane, x, y + r); };
    const Pair xx = load(planes.data.xx), xy = load(planes.data.xy), yy = load(planes.data.yy),
               side_u = load(planes.data.xt), side_v = load(planes.data.yt), weight_x = load(planes.weight_x),
               weight_y = load(planes.weight_y);
    PF_UNROLL
    for (int c = 0; c < 2; ++c) {
      pixel[r][c] = {xx.value[c], xy.value[c], yy.value[c], side_u.value[c], side_v.value[c]};
      along[r][c + 1] = weight_x.value[c];
      down[r + 1][c] = weight_y.value[c];
    }
    along[r][0] = __shfl_up_sync(~0u, weight_x.value[1], 1);
  }
  const Pair above = load_even_pair(planes.weight_y, x, y - 1);
  down[0][0] = above.value[0], down[0][1] = above.value[1];
  const auto share = [&](int c, bool is_first) {
    auto& shared = is_first ? ends.first : ends.last;
    const int r = is_first ? 0 : rows - 1;
    shared[warp][c][0][lane] = u[r].value[c], shared[warp][c][1][lane] = v[r].value[c];
  };
  for (int c = 0; c < 2; ++c) share(c, true), share(c, false);
  __syncthreads();
  const int warp_above = larger(warp - 1, 0), warp_below = smaller(warp + 1, warps - 1);
  for (int sweep = first; sweep < first + count; ++sweep) {
    const float factor = relaxation(sweep);
    PF_UNROLL
    for (int odd = 0; odd < 2; ++odd) {
      PF_UNROLL
      for (int r = 0; r < rows; ++r) {
        const int c = (r + odd) & 1;
        const auto sum = [&](float side, const Pair(&flow)[rows], int which) {
          const float left = c == 0 ? __shfl_up_sync(~0u, flow[r].value[1], 1) : flow[r].value[0],
                      right = c == 0 ? flow[r].value[1] : __shfl_down_sync(~0u, flow[r].value[0], 1),
                      up = r > 0 ? flow[larger(r - 1, 0)].value[c] : ends.last[warp_above][c][which][lane],
                      below = r + 1 < rows ? flow[smaller(r + 1, rows - 1)].value[c]
                                           : ends.first[warp_below][c][which][lane];
          return sum_of_neighbors(side, along[r][c], left, along[r][c + 1], right, down[r][c], up,
                                  down[r + 1][c], below);
        };
        const PixelEquations& own = pixel[r][c];
        const Motion flow = relaxed(own.xx, own.xy, own.yy, {sum(own.u, u, 0), sum(own.v, v, 1)},
                                    {u[r].value[c], v[r].value[c]}, factor);
        u[r].value[c] = flow.u, v[r].value[c] = flow.v;
      }
      share(odd, true);  // the column of the first row that has changed
      share((rows - 1 + odd) & 1, false);
      __syncthreads();
    }
  }
  PF_UNROLL
  for (int r = 0; r < rows; ++r) {
    PF_UNROLL
    for (int c = 0; c < 2; ++c) {
      const int column = 2 * lane + c, row = rows * warp + r;
      const bool is_own =
          column >= halo && column < RelaxTile::columns - halo && row >= halo && row < RelaxTile::rows - halo;
      if (!is_own || x + c >= to.u.width || y + r >= to.u.height) continue;
      const float own_u = u[r].value[c], own_v = v[r].value[c];
      to.u(x + c, y + r) = start.u ? limited(own_u, start.u(x + c, y + r)) : own_u;
      to.v(x + c, y + r) = start.u ? limited(own_v, start.v(x + c, y + r)) : own_v;
    }
  }
}

}  // namespace

template <class Backend>
void weigh_smoothness(Backend& cuda, const RefinementPlanes& planes, FlowPlanes flow, float smoothness) {
  cuda.launch(weigh_kernel,
              dim3(blocks_for(flow.u.width, weigh_width), blocks_for(flow.u.height, weigh_height)),
              dim3(weigh_width * weigh_height), 0, planes, flow, smoothness);
}

template <class Backend>
void relax(Backend& cuda, const RefinementPlanes& planes, FlowPlanes flow, int sweeps, FlowPlanes result) {
  each_pass(planes, flow, sweeps, RelaxTile::most_sweeps, result,
            [&](FlowPlanes from, FlowPlanes start, int first, int count, FlowPlanes to) {
              const dim3 tiles(blocks_for(to.u.width, RelaxTile::columns - 4 * count),
                               blocks_for(to.u.height, RelaxTile::rows - 4 * count));
              cuda.launch(relax_kernel, tiles, dim3(32, RelaxTile::warps), 0, planes, from, start, first,
                          count, to);
            });
}

PF_STEP(weigh_smoothness<Cuda>);
PF_STEP(relax<Cuda>);

}  // namespace parafield
