// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/adaptive_ridge/cells.cuh"
#include "gradient/adaptive_ridge/tensors/tensors.hpp"
#include "steps/warp/warp.cuh"

namespace parafield {

/// Inputs of the normal equations.
struct TensorInput {
  WarpFrames frames;
  StartingFlow start;
  TensorWeights p;
};

/// A block's work on a tile of Columns - 8 columns, which becomes `Columns` with the pixels under the
/// windows. The flow and the instants' images go to shared memory. Each thread computes a few rows of
/// products in one column. These are summed along the rows in place, then down the columns, a few rows per
/// thread. Finally, the systems are solved and the solutions summed over cells.
template <int Frames, int Columns, int ThreadsY, int Height>
struct TensorTile {
  static constexpr int columns = Columns, threads_y = ThreadsY, threads = columns * threads_y;
  static constexpr int reach = window_reach + 1, width = columns - 2 * reach, height = Height;
  static constexpr int rows = height + 2 * reach, product_rows = height + 2 * window_reach;
  static constexpr int instants = instants_of(Frames), planes = Products::count;
  /// Floats from one row of products to the next. The padding of four lets lanes that read eight columns of
  /// two rows use each bank once. With five frames it would leave no room for a second block.
  static constexpr int pitch = columns + (Frames == 5 ? 0 : 4);
  /// Rows that a thread solves, all in the same cell.
  static constexpr int rows_each = height <= threads_y ? 1 : height <= 2 * threads_y ? 2 : 4;
  static_assert(rows % threads_y == 0 && width % cell_side == 0 && height % cell_side == 0);
  static_assert(height <= rows_each * threads_y);

  alignas(16) float flow[2][rows][columns];
  alignas(16) float images[2 * instants][rows][columns];  // mean and difference of each instant
  alignas(16) float products[planes][product_rows][pitch];

  __device__ static int thread() { return int(threadIdx.y) * columns + int(threadIdx.x); }

  /// Loads the flow and computes the instants' images for the tile at (x0, y0) and its halo. Each thread
  /// computes pixels of one column.
  __device__ void fill_images(const TensorInput& in, int x0, int y0) {
    constexpr int middle = (Frames - 1) / 2, each = rows / threads_y;
    const View<const float> reference = in.frames.reference();
    const int level_width = reference.width, level_height = reference.height;
    const auto frame_pitch = unsigned(reference.stride());
    const int column = int(threadIdx.x), first = int(threadIdx.y) * each;
    const int x = clamp(x0 + column - reach, 0, level_width - 1);
    int y[each];
    float u[each], v[each], values[each][Frames];
    PF_UNROLL
    for (int k = 0; k < each; ++k) {
      y[k] = clamp(y0 + first + k - reach, 0, level_height - 1);
      values[k][middle] = reference.data[unsigned(y[k]) * frame_pitch + unsigned(x)];
    }
    load_start<each>(in.start, x, y, u, v);
    PF_UNROLL
    for (int i = 0; i < Frames; ++i) {
      if (i == middle) continue;
      float warped[each];
      warp_below<each>({in.frames.frame[i].data, frame_pitch, level_width, level_height}, float(i - middle),
                       x, y, u, v, warped);
      PF_UNROLL
      for (int k = 0; k < each; ++k) values[k][i] = warped[k];
    }
    PF_UNROLL
    for (int k = 0; k < each; ++k) {
      flow[0][first + k][column] = u[k], flow[1][first + k][column] = v[k];
      PF_UNROLL
      for (int i = 0; i < instants; ++i) {
        const Instant at = instant<Frames>(values[k][i], values[k][i + 1], values[k][Frames == 2 ? 1 : i + 2],
                                           in.p.prefilter);
        images[2 * i][first + k][column] = at.mean;
        images[2 * i + 1][first + k][column] = at.difference;
      }
    }
  }

  /// Loads the initial flow of a thread's pixels.
  template <int Each>
  __device__ static void load_start(const StartingFlow& start, int x, const int (&y)[Each], float (&u)[Each],
                                    float (&v)[Each]) {
    if (const FlowPlanes coarser = start.coarser; coarser.u) {
      constexpr int alike = Each % 2 == 0 ? 2 : 1;  // vertical neighbors between the same coarser rows
      const int last = coarser.u.width - 1;
      PF_UNROLL
      for (int k = 0; k < Each; ++k) {
        const int top = y[k / alike * alike] >> 1, bottom = smaller(top + 1, coarser.u.height - 1);
        const float share = 0.5f * float(y[k] & 1);
        u[k] = enlarged_flow(coarser.u.row(top), coarser.u.row(bottom), share, x, last);
        v[k] = enlarged_flow(coarser.v.row(top), coarser.v.row(bottom), share, x, last);
      }
    } else {
      const auto u_pitch = unsigned(start.flow.u.stride()), v_pitch = unsigned(start.flow.v.stride());
      PF_UNROLL
      for (int k = 0; k < Each; ++k) {
        u[k] = start.flow.u.data[unsigned(y[k]) * u_pitch + unsigned(x)];
        v[k] = start.flow.v.data[unsigned(y[k]) * v_pitch + unsigned(x)];
      }
    }
  }

  /// Computes the products of all pixels under the windows from the images. Left and right of the level, the
  /// nearest pixel's products are repeated. Above and below it, products are arbitrary, because sum_along
  /// replaces them.
  __device__ void fill_products(const TensorInput& in, int x0) {
    const int level_width = in.frames.reference().width;
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
    PF_UNROLL
    for (int i = 0; i < instants; ++i) above[i] = filtered(i, begin), here[i] = filtered(i, begin + 1);
    PF_UNROLL
    for (int k = 0; k < each; ++k) {
      const int row = begin + k;
      if (product_rows % each != 0 && row >= product_rows) break;
      const float u = flow[0][row + 1][from], v = flow[1][row + 1][from];
      Products sum;
      PF_UNROLL
      for (int i = 0; i < instants; ++i) {
        const Filtered below = filtered(i, row + 2);
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
      const float values[planes] = {sum.xx, sum.xy, sum.yy, sum.xt, sum.yt, sum.tt};
      PF_UNROLL
      for (int plane = 0; plane < planes; ++plane) products[plane][row][column] = values[plane];
    }
  }

  /// Replaces products by their sums along the rows. Rows above and below the level become copies of the
  /// nearest row in it. A lane computes eight columns of some of the planes, and a warp as many rows as its
  /// lanes cover.
  __device__ void sum_along(const TensorInput& in, int y0) {
    constexpr int lanes = columns / 8, rows_at_once = 32 / lanes, warps = threads / 32;
    constexpr int groups = (product_rows + rows_at_once - 1) / rows_at_once;
    constexpr int parts = smaller(warps / groups, 3);  // parts of the planes, shared among warps
    constexpr int planes_each = planes / parts;
    static_assert(parts > 0 && width % 8 == 0 && lanes % 4 == 0);
    const int part = thread() / 32 / groups, group = thread() / 32 - part * groups, lane = thread() % 32;
    // Each group of eight lanes, which read at the same time, covers four places in two rows.
    const int place = lane % 4 + lane / 8 % (lanes / 4) * 4;
    const int row = group * rows_at_once + lane / 4 % 2 + lane / (2 * lanes) * 2;
    const int top = larger(window_reach - y0, 0);  // rows of the level
    const int bottom = smaller(in.frames.reference().height - 1 - y0 + window_reach, product_rows - 1);
    const bool sums = part < parts && row >= top && row <= bottom && place < width / 8;
    float* const at = &products[0][0][0] + (part * planes_each * product_rows + row) * pitch + 8 * place;
    float4 sum[planes_each][2];
    if (sums) {
      PF_UNROLL
      for (int plane = 0; plane < planes_each; ++plane) {
        float held[16], eight[8];
        PF_UNROLL
        for (int k = 0; k < 16; k += 4) {
          const float4 four = *reinterpret_cast<const float4*>(at + plane * product_rows * pitch + k);
          held[k] = four.x, held[k + 1] = four.y, held[k + 2] = four.z, held[k + 3] = four.w;
        }
        PF_UNROLL
        for (int k = 0; k < 8; ++k)
          eight[k] = windowed(held[k + 1], held[k + 2], held[k + 3], held[k + 4], held[k + 5], held[k + 6],
                              held[k + 7], in.p.window);
        sum[plane][0] = make_float4(eight[0], eight[1], eight[2], eight[3]);
        sum[plane][1] = make_float4(eight[4], eight[5], eight[6], eight[7]);
      }
    }
    __syncwarp();  // all lanes must have read the row before it is overwritten
    if (!sums) return;
    const int first = row == top ? 0 : row, last = row == bottom ? product_rows - 1 : row;
    float* to = at + (first - row) * pitch + reach;
#pragma unroll 1
    for (int i = first; i <= last; ++i, to += pitch) {
      PF_UNROLL
      for (int plane = 0; plane < planes_each; ++plane) {
        float4* const eight = reinterpret_cast<float4*>(to + plane * product_rows * pitch);
        eight[0] = sum[plane][0], eight[1] = sum[plane][1];
      }
    }
  }

  /// Solutions relative to the flow of their cells, and their weights. They reuse the memory of the images.
  struct Solutions {
    float u[height][width], v[height][width], weight[height][width];
  };
  static_assert(sizeof(Solutions) <= sizeof images);
  __device__ Solutions& solutions() { return reinterpret_cast<Solutions&>(images); }

  /// The flow that the sums of a pixel's cell are relative to: the flow at the cell's first pixel.
  __device__ Motion flow_of_cell(int row, int column) const {
    const int at_row = row / cell_side * cell_side + reach,
              at_column = column / cell_side * cell_side + reach;
    return {flow[0][at_row][at_column], flow[1][at_row][at_column]};
  }

  /// Sums down columns, stores the normal equations and solves them.
  __device__ void solve(const TensorInput& in, int x0, int y0, const NormalPlanes& out) {
    constexpr int taps = 2 * window_reach + 1;
    const int column = int(threadIdx.x), first = int(threadIdx.y) * rows_each;
    const int rows_in_level = in.frames.reference().height - y0;
    if (column >= width || x0 + column >= in.frames.reference().width || first >= height) return;
    const auto out_pitch = unsigned(out.xx.stride());
    const unsigned at = out.index(x0 + column, y0 + first);
    const Motion from = flow_of_cell(first, column);
    float held[planes][taps];
    const auto product = [&](int plane, int row) { return products[plane][first + row][column + reach]; };
    PF_UNROLL
    for (int plane = 0; plane < planes; ++plane) PF_UNROLL
    for (int i = 0; i + 1 < taps; ++i) held[plane][i] = product(plane, i);
    PF_UNROLL
    for (int i = 0; i < rows_each; ++i) {
      const int row = first + i;
      if (row >= rows_in_level) break;
      float sum[planes];
      PF_UNROLL
      for (int plane = 0; plane < planes; ++plane) {
        float* const h = held[plane];
        h[taps - 1] = product(plane, i + taps - 1);
        sum[plane] = windowed(h[0], h[1], h[2], h[3], h[4], h[5], h[6], in.p.window);
        PF_UNROLL
        for (int k = 0; k + 1 < taps; ++k) h[k] = h[k + 1];
      }
      const Products all{sum[0], sum[1], sum[2], sum[3], sum[4], sum[5]};
      const PlainSolution solution =
          plain_solution(all, flow[0][row + reach][column + reach], flow[1][row + reach][column + reach]);
      out.store(at + unsigned(i) * out_pitch, normal_sums(all, solution));
      solutions().u[row][column] = solution.u - from.u;
      solutions().v[row][column] = solution.v - from.v;
      solutions().weight[row][column] = determination(all.xx, all.xy, all.yy);
    }
    for (int row = larger(first, rows_in_level); row < first + rows_each; ++row)
      solutions().u[row][column] = solutions().v[row][column] = solutions().weight[row][column] = 0;
  }

  /// Computes the normal equations and the cells of the tile whose first pixel is (x0, y0).
  __device__ void make(const TensorInput& in, int x0, int y0, const TensorOutput& out) {
    const View<const float> luma = in.frames.reference();
    fill_images(in, x0, y0);
    __syncthreads();
    fill_products(in, x0);
    __syncthreads();
    sum_along(in, y0);
    __syncthreads();
    solve(in, x0, y0, out.normal);
    __syncthreads();
    const auto near = [&](int cell_x, int cell_y) {
      return flow_of_cell(cell_y * cell_side - y0, cell_x * cell_side - x0);
    };
    store_cells(out.cells, solutions().u[0], solutions().v[0], solutions().weight[0], width, luma.width,
                luma.height, x0, y0, width, height, thread(), threads, near);
    if (out.with_luma)  // on different warps from the cells above
      store_lumas(out.cells, luma, x0, y0, width, height, (thread() + threads / 2) % threads, threads);
  }
};

}  // namespace parafield
