// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/adaptive_ridge/cells.cuh"
#include "gradient/adaptive_ridge/tensors/tensors.hpp"

namespace parafield {

/// What the normal equations are made from.
struct TensorInput {
  const WarpFrames& frames;
  StartingFlow start;
  const TensorWeights& p;
};

/// A block's work on a tile of Columns - 8 columns, which have `Columns` with those under the windows. The
/// flow and the instants' images go to shared memory; each thread goes down a column of them for a few rows
/// of products; these are summed along the rows in place, then down columns, a few rows a thread; the systems
/// are solved, and the solutions summed up in cells.
template <int Frames, int Columns, int ThreadsY, int Height>
struct TensorTile {
  static constexpr int columns = Columns, threads_y = ThreadsY, threads = columns * threads_y;
  static constexpr int reach = window_reach + 1, width = columns - 2 * reach, height = Height;
  static constexpr int rows = height + 2 * reach, product_rows = height + 2 * window_reach;
  static constexpr int rows_each = (height + threads_y - 1) / threads_y;  // that a thread solves
  static constexpr int instants = instants_of(Frames), planes = Products::count;
  static_assert(rows % threads_y == 0 && width % cell_side == 0 && height % cell_side == 0);

  alignas(16) float flow[2][rows][columns];
  float images[2 * instants][rows][columns];  // mean and difference of each instant
  float products[planes][product_rows][columns];

  __device__ static int thread() { return int(threadIdx.y) * columns + int(threadIdx.x); }

  /// Loads the flow and makes the instants' images of the tile at (x0, y0) and its halo.
  __device__ void fill_images(const TensorInput& in, int x0, int y0) {
    constexpr int middle = (Frames - 1) / 2, each = rows / threads_y;
    const View<const float> reference = in.frames.reference();
    const int level_width = reference.width, level_height = reference.height;
    const int pitch = int(reference.stride());
    const int column = int(threadIdx.x), x = clamp(x0 + column - reach, 0, level_width - 1);
    int y[each];
    float u[each], v[each], here[each];
    PF_UNROLL
    for (int k = 0; k < each; ++k) {
      y[k] = clamp(y0 + int(threadIdx.y) + k * threads_y - reach, 0, level_height - 1);
      here[k] = reference.data[y[k] * pitch + x];
    }
    if (in.start.coarser.u) {
      PF_UNROLL
      for (int k = 0; k < each; ++k) {
        const Motion start = enlarged_flow(in.start.coarser, x, y[k]);
        u[k] = start.u, v[k] = start.v;
      }
    } else {
      PF_UNROLL
      for (int k = 0; k < each; ++k) u[k] = in.start.flow.u(x, y[k]), v[k] = in.start.flow.v(x, y[k]);
    }
    PF_UNROLL
    for (int k = 0; k < each; ++k) {
      float values[Frames];
      PF_UNROLL
      for (int i = 0; i < Frames; ++i) {
        const float step = float(i - middle);
        values[i] = i == middle ? here[k]
                                : warped(in.frames.frame[i].data, pitch, level_width, level_height,
                                         fma(step, u[k], float(x)), fma(step, v[k], float(y[k])));
      }
      const int row = int(threadIdx.y) + k * threads_y;
      flow[0][row][column] = u[k], flow[1][row][column] = v[k];
      PF_UNROLL
      for (int i = 0; i < instants; ++i) {
        const Instant at =
            instant<Frames>(values[i], values[i + 1], values[Frames == 2 ? 1 : i + 2], in.p.prefilter);
        images[2 * i][row][column] = at.mean;
        images[2 * i + 1][row][column] = at.difference;
      }
    }
  }

  /// Makes the products of all pixels under the windows, from the images. Beyond the level they are those of
  /// the nearest pixel.
  __device__ void fill_products(const TensorInput& in, int x0, int y0) {
    const int level_width = in.frames.reference().width, level_height = in.frames.reference().height;
    constexpr int each = (product_rows + threads_y - 1) / threads_y;
    const int begin = int(threadIdx.y) * each, column = int(threadIdx.x);
    if (column < 1 || column >= columns - 1 || begin >= product_rows) return;
    const int from = clamp(x0 + column - reach, 0, level_width - 1) - x0 + reach;
    const float prefilter = in.p.prefilter;
    struct Filtered {
      float slope, smooth, change;
    };
    const auto filtered = [&](int i, int row) -> Filtered {
      const float* const mean = &images[2 * i][row][from];
      const float* const difference = &images[2 * i + 1][row][from];
      return {central(mean[-1], mean[1]), smoothed(mean[-1], mean[0], mean[1], prefilter),
              smoothed(difference[-1], difference[0], difference[1], prefilter)};
    };
    Filtered above[instants], here[instants];
    float values[planes];
    int done = -1;  // the row whose products `values` holds
    PF_UNROLL
    for (int k = 0; k < each; ++k) {
      const int row = begin + k;
      if (row >= product_rows) break;
      const int from_row = clamp(y0 + row - window_reach, 0, level_height - 1) - y0 + window_reach;
      if (k == 0) {
        PF_UNROLL
        for (int i = 0; i < instants; ++i)
          above[i] = filtered(i, from_row), here[i] = filtered(i, from_row + 1);
      }
      if (k == 0 || from_row != done) {  // it is the next one then
        const float u = flow[0][from_row + 1][from], v = flow[1][from_row + 1][from];
        Products sum;
        PF_UNROLL
        for (int i = 0; i < instants; ++i) {
          const Filtered below = filtered(i, from_row + 2);
          const Products part =
              parafield::products(smoothed(above[i].slope, here[i].slope, below.slope, prefilter),
                                  central(above[i].smooth, below.smooth),
                                  smoothed(above[i].change, here[i].change, below.change, prefilter), u, v,
                                  weight_of(i, instants), in.p);
          above[i] = here[i], here[i] = below;
          if (i == 0)
            sum = part;
          else
            sum = {sum.xx + part.xx, sum.xy + part.xy, sum.yy + part.yy,
                   sum.xt + part.xt, sum.yt + part.yt, sum.tt + part.tt};
        }
        values[0] = sum.xx, values[1] = sum.xy, values[2] = sum.yy;
        values[3] = sum.xt, values[4] = sum.yt, values[5] = sum.tt;
        done = from_row;
      }
      PF_UNROLL
      for (int plane = 0; plane < planes; ++plane) products[plane][row][column] = values[plane];
    }
  }

  /// Replaces products by their sums along the rows. A lane makes four columns of some planes; a warp makes as
  /// many rows as it covers.
  __device__ void sum_along(const TensorWeights& p) {
    constexpr int lanes = columns / 4, rows_at_once = 32 / lanes, warps = threads / 32;
    constexpr int groups = (product_rows + rows_at_once - 1) / rows_at_once;
    constexpr int parts = 2 * groups > warps ? 1 : 3 * groups > warps ? 2 : 3;  // of the planes, shared by warps
    const int lane = thread() % 32, quad = lane % lanes;
    for (int i = thread() / 32; i < parts * groups; i += warps) {
      const int part = i / groups, row = (i - part * groups) * rows_at_once + lane / lanes;
      const bool sums = row < product_rows && quad < width / 4;
      float* const first = &products[part * (planes / parts)][0][0] + row * columns + 4 * quad;
      PF_UNROLL
      for (int plane = 0; plane < planes / parts; ++plane) {
        float* const at = first + plane * product_rows * columns;
        float held[12], sum[4];
        if (sums) {
          PF_UNROLL
          for (int k = 0; k < 3; ++k) {
            const float4 four = *reinterpret_cast<const float4*>(at + 4 * k);
            held[4 * k] = four.x, held[4 * k + 1] = four.y, held[4 * k + 2] = four.z, held[4 * k + 3] = four.w;
          }
          PF_UNROLL
          for (int k = 0; k < 4; ++k)
            sum[k] = windowed(held[k + 1], held[k + 2], held[k + 3], held[k + 4], held[k + 5], held[k + 6],
                              held[k + 7], p.window);
        }
        __syncwarp();  // every lane has read the row that is now written over
        if (sums) *reinterpret_cast<float4*>(at + 4) = make_float4(sum[0], sum[1], sum[2], sum[3]);
      }
    }
  }

  /// Makes the normal equations and the cells of the tile whose first pixel is (x0, y0).
  __device__ void make(const TensorInput& in, int x0, int y0, const NormalPlanes& out, const Cells& cells,
                       bool with_luma) {
    const View<const float> luma = in.frames.reference();
    const int level_width = luma.width, level_height = luma.height, column = int(threadIdx.x);
    fill_images(in, x0, y0);
    __syncthreads();
    fill_products(in, x0, y0);
    __syncthreads();
    sum_along(in.p);
    __syncthreads();

    const int first = int(threadIdx.y) * rows_each, x = x0 + column;
    const bool in_tile = column < width && x < level_width && first < height;
    float sums[planes][rows_each];
    if (in_tile) {
      PF_UNROLL
      for (int plane = 0; plane < planes; ++plane) {
        float held[rows_each + 2 * window_reach];
        PF_UNROLL
        for (int i = 0; i < rows_each + 2 * window_reach; ++i)
          held[i] = products[plane][first + i][column + reach];
        PF_UNROLL
        for (int i = 0; i < rows_each; ++i)
          sums[plane][i] = windowed(held[i], held[i + 1], held[i + 2], held[i + 3], held[i + 4], held[i + 5],
                                    held[i + 6], in.p.window);
      }
    }
    __syncthreads();
    float *const du = &products[0][0][0], *const dv = du + height * columns,
                 *const weight = dv + height * columns;
    const auto near = [&](int cell_x, int cell_y) -> Motion {
      const int at_row = cell_y * cell_side - y0 + reach, at_column = cell_x * cell_side - x0 + reach;
      return {flow[0][at_row][at_column], flow[1][at_row][at_column]};
    };
    if (column < width && first < height) {
      float u0 = 0, v0 = 0;
      const auto pitch = unsigned(out.xx.stride());  // of all planes, which have less than 2^32 values
      PF_UNROLL
      for (int i = 0; i < rows_each; ++i) {
        const int row = first + i, y = y0 + row, in_shared = row * columns + column;
        if (!in_tile || y >= level_height) {
          du[in_shared] = dv[in_shared] = weight[in_shared] = 0;
          continue;
        }
        const Products sum{sums[0][i], sums[1][i], sums[2][i], sums[3][i], sums[4][i], sums[5][i]};
        const PlainSolution solution =
            plain_solution(sum, flow[0][row + reach][column + reach], flow[1][row + reach][column + reach]);
        const unsigned at = unsigned(y) * pitch + unsigned(x);
        out.xx.data[at] = sum.xx;
        out.xy.data[at] = sum.xy;
        out.yy.data[at] = sum.yy;
        out.xt.data[at] = sum.xt;
        out.yt.data[at] = sum.yt;
        out.residual.data[at] = solution.residual;
        if (i == 0 || y % cell_side == 0) {
          const Motion from = near(x / cell_side, y / cell_side);
          u0 = from.u, v0 = from.v;
        }
        du[in_shared] = solution.u - u0;
        dv[in_shared] = solution.v - v0;
        weight[in_shared] = determination(sum.xx, sum.xy, sum.yy);
      }
    }
    __syncthreads();
    store_cells(cells, du, dv, weight, columns, level_width, level_height, x0, y0, width, height, thread(),
                threads, near);
    if (with_luma)  // other warps than those of the cells above
      store_lumas(cells, luma, x0, y0, width, height, (thread() + threads / 2) % threads, threads);
  }
};

}  // namespace parafield
