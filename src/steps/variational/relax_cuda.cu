// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/variational/variational.hpp"

namespace parafield {
namespace {

constexpr int weigh_width = 32, weigh_height = 8;  // pixels of a block of weigh_kernel
constexpr int weigh_columns = weigh_width + 1,
              weigh_rows = weigh_height + 1;  // with those to the left and above
constexpr int weigh_threads = (weigh_columns * weigh_rows + 31) / 32 * 32;

/// The slope at a position between the middles of cells.
__device__ float slope_at(View<const float> slope, const BetweenCells& at_x, const BetweenCells& at_y) {
  const int right = smaller(at_x.cell + 1, slope.width - 1), below = smaller(at_y.cell + 1, slope.height - 1);
  return interpolate(interpolate(slope(at_x.cell, at_y.cell), slope(at_x.cell, below), at_y.share),
                     interpolate(slope(right, at_y.cell), slope(right, below), at_y.share), at_x.share);
}

/// Weights of the edges of a block of pixels and of the pixels to its left and above, and their products with
/// the slopes.
struct Edges {
  float weight[weigh_rows][weigh_columns], u[weigh_rows][weigh_columns], v[weigh_rows][weigh_columns];

  __device__ void set(int column, int row, float weighs, float slope_u, float slope_v) {
    weight[row][column] = weighs, u[row][column] = weighs * slope_u, v[row][column] = weighs * slope_v;
  }
};

__device__ float squares(float a, float b) { return fma(a, a, b * b); }

/// A thread weighs the edges to the right of a pixel and below it. Threads of the first column and row only do
/// this for the other pixels, whose equations follow.
__global__ void __launch_bounds__(weigh_threads)
    weigh_kernel(const __grid_constant__ RefinementPlanes planes, FlowPlanes flow, float smoothness) {
  begin_kernel();
  __shared__ Edges along, down;
  const int right_most = flow.u.width - 1, bottom = flow.u.height - 1, thread = int(threadIdx.x);
  const int column = thread % weigh_columns, row = thread / weigh_columns;
  const int own_x = int(blockIdx.x) * weigh_width - 1 + column,
            own_y = int(blockIdx.y) * weigh_height - 1 + row;
  const bool is_inside = own_x >= 0 && own_y >= 0 && own_x <= right_most && own_y <= bottom;
  // Threads outside the image load values of the nearest pixel. Without branches, all loads come at once.
  const int x = clamp(own_x, 0, right_most), y = clamp(own_y, 0, bottom), right = smaller(x + 1, right_most),
            below = smaller(y + 1, bottom);
  const SlopePlanes& slopes = planes.slopes;
  const DataPlanes& data = planes.data;
  const BetweenCells at_x = between_cells(2 * x, slopes.slope[0].width),
                     at_y = between_cells(2 * y, slopes.slope[0].height),
                     past_x = between_cells(2 * x + 1, slopes.slope[0].width),
                     past_y = between_cells(2 * y + 1, slopes.slope[0].height);
  const float along_u = slope_at(slopes.slope[0], past_x, at_y),
              along_v = slope_at(slopes.slope[1], past_x, at_y),
              down_u = slope_at(slopes.slope[2], at_x, past_y),
              down_v = slope_at(slopes.slope[3], at_x, past_y);
  const float u = flow.u(x, y), v = flow.v(x, y), u_right = flow.u(right, y), v_right = flow.v(right, y),
              u_below = flow.u(x, below), v_below = flow.v(x, below);
  const float edge_x = planes.edge_x(x, y), edge_y = planes.edge_y(x, y);
  const float xx = data.xx(x, y), xy = data.xy(x, y), yy = data.yy(x, y), xt = data.xt(x, y),
              yt = data.yt(x, y);
  float apart = x < right_most ? squares(u_right - u - along_u, v_right - v - along_v) : 0.0f;
  if (y < bottom) apart += squares(u_below - u - down_u, v_below - v - down_v);
  const float weight = smoothness_weight(smoothness, apart);
  if (row < weigh_rows) {
    along.set(column, row, is_inside ? edge_x * weight : 0.0f, along_u, along_v);
    down.set(column, row, is_inside ? edge_y * weight : 0.0f, down_u, down_v);
  }
  __syncthreads();
  if (!is_inside || column == 0 || row == 0 || row >= weigh_rows) return;
  const float around = (along.weight[row][column - 1] + along.weight[row][column]) +
                       (down.weight[row - 1][column] + down.weight[row][column]);
  const PixelEquations pixel = pixel_equations(
      xx, xy, yy, xt, yt, around,
      (along.u[row][column - 1] - along.u[row][column]) + (down.u[row - 1][column] - down.u[row][column]),
      (along.v[row][column - 1] - along.v[row][column]) + (down.v[row - 1][column] - down.v[row][column]), u,
      v);
  data.xx(x, y) = pixel.xx, data.xy(x, y) = pixel.xy, data.yy(x, y) = pixel.yy;
  data.xt(x, y) = pixel.u, data.yt(x, y) = pixel.v;
  planes.weight_x(x, y) = along.weight[row][column];
  planes.weight_y(x, y) = down.weight[row][column];
}

/// A tile of the relaxation, with the pixels around it that its sweeps depend on. A warp has a few rows, and
/// a lane two columns of them, in registers. Lanes exchange columns, and warps exchange their first and last
/// rows. Pixels at the tile's border lack a neighbor and get wrong values, which spread by one pixel in each
/// half of a sweep and do not reach the pixels that are stored.
template <int Warps>
struct RelaxTile {
  static constexpr int columns = 64, rows_each = 4, rows = rows_each * Warps;

  /// Shared by the warps: u and v of their first and last rows, in even and odd columns.
  struct Ends {
    float first[Warps][2][2][32], last[Warps][2][2][32];
  };
  static dim3 tiles(Size size, int sweeps) {
    return dim3(blocks_for(size.width, columns - 4 * sweeps), blocks_for(size.height, rows - 4 * sweeps));
  }
};
constexpr int most_sweeps = 4;                 // of a launch
constexpr int few_warps = 18, all_warps = 20;  // of a tile: see `relax`

/// Values of two neighboring pixels.
struct Pair {
  float value[2];
};
/// Values of pixel (x, y) and of the next, if there is one; otherwise the same value twice.
__device__ Pair pair_at(View<const float> plane, int x, int y, bool has_next) {
  const float* const row = plane.row(y) + x;
  return {{row[0], row[has_next ? 1 : 0]}};
}
/// The same in a plane of the workspace, where rows begin at multiples of 8 bytes, and x is even. The second
/// value is undefined if there is no next pixel.
__device__ Pair even_pair_at(View<const float> plane, int x, int y) {
  const float2 both = *reinterpret_cast<const float2*>(plane.row(y) + x);
  return {{both.x, both.y}};
}

/// Sweeps `first` to `first` + count - 1. `start`: flow to stay close to, or empty. Pixels outside the image
/// have the values of the nearest pixels inside, and edges of weight 0.
template <int Warps>
__global__ void __launch_bounds__(32 * Warps, 1)
    relax_kernel(const __grid_constant__ RefinementPlanes planes, FlowPlanes from, FlowPlanes start,
                 int first, int count, FlowPlanes to) {
  begin_kernel();
  using Tile = RelaxTile<Warps>;
  constexpr int rows = Tile::rows_each;
  __shared__ typename Tile::Ends ends;
  const int halo = 2 * count, lane = int(threadIdx.x), warp = int(threadIdx.y);
  const int x = int(blockIdx.x) * (Tile::columns - 2 * halo) - halo + 2 * lane,
            y = int(blockIdx.y) * (Tile::rows - 2 * halo) - halo + rows * warp;
  const int right = to.u.width - 1, bottom = to.u.height - 1, near_x = clamp(x, 0, right & ~1);
  const bool has_next = near_x < right;
  PixelEquations pixel[rows][2];
  Pair u[rows], v[rows];
  float along[rows][3],
      down[rows + 1][2];  // weights from the edge before the lane's pixels to the edge after them
  // All loads come before the first use, because each of them takes long.
  const Pair above = even_pair_at(planes.weight_y, near_x, clamp(y - 1, 0, bottom));
  PF_UNROLL
  for (int r = 0; r < rows; ++r) {
    const int near_y = clamp(y + r, 0, bottom);
    u[r] = pair_at(from.u, near_x, near_y, has_next), v[r] = pair_at(from.v, near_x, near_y, has_next);
    const auto load = [=](View<const float> plane) { return even_pair_at(plane, near_x, near_y); };
    const Pair xx = load(planes.data.xx), xy = load(planes.data.xy), yy = load(planes.data.yy),
               side_u = load(planes.data.xt), side_v = load(planes.data.yt), weight_x = load(planes.weight_x),
               weight_y = load(planes.weight_y);
    PF_UNROLL
    for (int c = 0; c < 2; ++c) {
      pixel[r][c] = {xx.value[c], xy.value[c], yy.value[c], side_u.value[c], side_v.value[c]};
      along[r][c + 1] = weight_x.value[c];
      down[r + 1][c] = weight_y.value[c];
    }
  }
  const auto set_down = [&](int r, bool is_inside, Pair weights) {
    down[r][0] = is_inside ? weights.value[0] : 0.0f,
    down[r][1] = is_inside & has_next ? weights.value[1] : 0.0f;
  };
  set_down(0, y > 0, above);
  PF_UNROLL
  for (int r = 0; r < rows; ++r) {
    set_down(r + 1, y + r >= 0, {{down[r + 1][0], down[r + 1][1]}});
    along[r][1] = x >= 0 ? along[r][1] : 0.0f;
    along[r][2] = (x >= 0) & has_next ? along[r][2] : 0.0f;
    along[r][0] = __shfl_up_sync(~0u, along[r][2], 1);
    if (!has_next) pixel[r][1] = {};
  }
  const auto share = [&](int c, bool is_first) {
    auto& shared = is_first ? ends.first : ends.last;
    const int r = is_first ? 0 : rows - 1;
    shared[warp][c][0][lane] = u[r].value[c], shared[warp][c][1][lane] = v[r].value[c];
  };
  for (int c = 0; c < 2; ++c) share(c, true), share(c, false);
  __syncthreads();
  const int warp_above = larger(warp - 1, 0), warp_below = smaller(warp + 1, Warps - 1);
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
  if (2 * lane < halo || 2 * lane >= Tile::columns - halo || x > right) return;
  if (start.u) {
    const auto limit = [=](Pair& flow, Pair before) {
      for (int c = 0; c < 2; ++c) flow.value[c] = limited(flow.value[c], before.value[c]);
    };
    PF_UNROLL
    for (int r = 0; r < rows; ++r) {
      const int near_y = clamp(y + r, 0, bottom);
      limit(u[r], pair_at(start.u, x, near_y, has_next));
      limit(v[r], pair_at(start.v, x, near_y, has_next));
    }
  }
  PF_UNROLL
  for (int r = 0; r < rows; ++r) {
    const int row = rows * warp + r;
    if (row < halo || row >= Tile::rows - halo || y + r > bottom) continue;
    to.u(x, y + r) = u[r].value[0], to.v(x, y + r) = v[r].value[0];
    if (has_next) to.u(x + 1, y + r) = u[r].value[1], to.v(x + 1, y + r) = v[r].value[1];
  }
}

}  // namespace

template <class Backend>
void weigh_smoothness(Backend& cuda, const RefinementPlanes& planes, FlowPlanes flow, float smoothness) {
  cuda.launch(weigh_kernel,
              dim3(blocks_for(flow.u.width, weigh_width), blocks_for(flow.u.height, weigh_height)),
              dim3(weigh_threads), 0, planes, flow, smoothness);
}

// With more warps, a tile's border is a smaller share of it. Where the device has an SM for each tile, smaller
// tiles end earlier.
template <class Backend>
void relax(Backend& cuda, const RefinementPlanes& planes, FlowPlanes flow, int sweeps, FlowPlanes result) {
  each_pass(planes, flow, sweeps, most_sweeps, result,
            [&](FlowPlanes from, FlowPlanes start, int first, int count, FlowPlanes to) {
              const dim3 small = RelaxTile<few_warps>::tiles(to.u.size(), count),
                         large = RelaxTile<all_warps>::tiles(to.u.size(), count);
              const bool one_each = int(small.x * small.y) <= cuda.multiprocessors();
              cuda.launch(one_each ? relax_kernel<few_warps> : relax_kernel<all_warps>,
                          one_each ? small : large, dim3(32, one_each ? few_warps : all_warps), 0, planes,
                          from, start, first, count, to);
            });
}

PF_STEP(weigh_smoothness<Cuda>);
PF_STEP(relax<Cuda>);

}  // namespace parafield
