// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/variational/variational.hpp"

namespace parafield {
namespace {

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
  const EquationPlanes& equations = planes.equations;
  // All loads come before the first use, because each of them takes long.
  const Pair above = even_pair_at(planes.weight_y, near_x, clamp(y - 1, 0, bottom));
  PF_UNROLL
  for (int r = 0; r < rows; ++r) {
    const int near_y = clamp(y + r, 0, bottom);
    u[r] = pair_at(from.u, near_x, near_y, has_next), v[r] = pair_at(from.v, near_x, near_y, has_next);
    const auto load = [=](View<const float> plane) { return even_pair_at(plane, near_x, near_y); };
    const Pair xx = load(equations.xx), xy = load(equations.xy), yy = load(equations.yy),
               side_u = load(equations.side_u), side_v = load(equations.side_v),
               weight_x = load(planes.weight_x), weight_y = load(planes.weight_y);
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

PF_STEP(relax<Cuda>);

}  // namespace parafield
