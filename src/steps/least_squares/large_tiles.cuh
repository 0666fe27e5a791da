// SPDX-License-Identifier: MIT
#pragma once
#include "steps/least_squares/rows.cuh"

/// A solution in tiles of 64 columns and any number of rows, for levels that fill the device. Each thread
/// computes the products of a strip of pixels, so that their loads overlap, and warps read neighboring pixels
/// of frame 1. Sums along rows replace the products; then each thread sums along a column for a few rows and
/// solves.
namespace parafield {
namespace {

/// Computes the products of the rows inside the level. A task is Strip pixels of a column.
template <int Window, int Strip, bool FromCoarser, bool Robust, bool Interior>
struct Products {
  const Input& in;
  const Rows<Window>& rows;
  float robust2;

  __device__ __forceinline__ bool has_row(int row, int k) const {
    return Interior || k == 0 || row + k < rows.end;
  }

  __device__ __forceinline__ void make(int task) const {
    const auto& layout = rows.layout;
    const int strip = int(unsigned(task) / unsigned(layout.columns()));
    const int column = task - strip * layout.columns();
    // The last strip overlaps the previous one. If there are fewer rows than in a strip, has_row skips the
    // missing ones.
    const int row = larger(smaller(rows.begin + strip * Strip, rows.end - Strip), rows.begin);
    const int y = rows.y0 + row;
    const int x = Interior ? rows.x0 + column : clamp(rows.x0 + column, 0, in.width - 1);
    const unsigned at = unsigned(y * in.pitch + x), pitch = unsigned(in.pitch);
    const Slopes<Strip> slopes = slopes_at<Strip, Interior>(in, x, y);
    float u[Strip], v[Strip];
    if constexpr (FromCoarser) {
      enlarge_strip<Strip>(in.coarser, x, y, u, v);
      const int own_column = column - layout.before(), own_row = row - layout.before();
      if (own_column >= 0 && own_column < tile_width && x == rows.x0 + column) {
        PF_UNROLL
        for (int k = 0; k < Strip; ++k)
          if (own_row + k >= 0 && own_row + k < rows.own && has_row(row, k)) {
            in.u[at + k * pitch] = u[k];
            in.v[at + k * pitch] = v[k];
          }
      }
    } else {
      PF_UNROLL
      for (int k = 0; k < Strip; ++k) {
        u[k] = has_row(row, k) ? in.u[at + k * pitch] : 0.0f;
        v[k] = has_row(row, k) ? in.v[at + k * pitch] : 0.0f;
      }
    }
    Place place[Strip];
    Neighbors neighbors[Strip];
    PF_UNROLL
    for (int k = 0; k < Strip; ++k) {
      place[k] = place_of<(Window > 0)>(in, float(x) + u[k], float(y + k) + v[k]);
      neighbors[k] = neighbors_at<Interior>(in, place[k]);
    }
    if constexpr (Robust) __builtin_assume(robust2 > 0);
    float* const to = rows.products + row * layout.pitch() + layout.first() + column;
    PF_UNROLL
    for (int k = 0; k < Strip; ++k) {
      const float e = mixed(neighbors[k], place[k]) - slopes.luma[k];
      const NormalEquations part =
          normal_equations(slopes.x[k], slopes.y[k], e, place[k].inside, u[k], v[k], Robust ? robust2 : 0.0f);
      if (!has_row(row, k)) break;
      part.store(to + k * layout.pitch(), rows.plane);
    }
  }

  template <int Threads>
  __device__ __forceinline__ void make_all() const {
    const int count = (rows.end - rows.begin + Strip - 1) / Strip * rows.layout.columns();
    for (int i = int(threadIdx.x); i < count; i += Threads) make(i);
  }
};

/// Window: side of the window, or 0 for any. Strip: number of rows that a thread computes and solves
/// together; it must divide tile_rows.
template <int Window, int Strip, int Threads, bool FromCoarser, bool Robust>
__global__ void __launch_bounds__(Threads, 1024 / Threads)
    least_squares_kernel(Input in, LeastSquares p, FlowPlanes out, Trust trust, int tile_rows) {
  await_last();
  launch_next();  // this order matters: see cuda.cu
  const Layout<Window> layout{p.before, p.after};
  const int window = layout.window(), pitch = layout.pitch(), width = in.width, height = in.height;
  const int x0 = int(blockIdx.x) * tile_width, y0 = int(blockIdx.y) * tile_rows;
  const int left = x0 - layout.before(), top = y0 - layout.before(), count = tile_rows + window - 1;
  const Rows<Window> rows{
      left,          top,   larger(0, -top), smaller(count, height - top), tile_rows, dynamic_shared<float>(),
      count * pitch, layout};
  const bool interior =
      left >= 2 && top >= 2 && left + layout.columns() + 2 <= width && top + count + 2 <= height;
  if (interior)
    Products<Window, Strip, FromCoarser, Robust, true>{in, rows, p.robust2}.template make_all<Threads>();
  else
    Products<Window, Strip, FromCoarser, Robust, false>{in, rows, p.robust2}.template make_all<Threads>();
  __syncthreads();
  sum_rows<Window, Threads, (Strip < 4)>(rows);
  __syncthreads();
  if (rows.begin > 0 || rows.end < count) {
    repeat_rows<Window, Threads>(rows, count);
    __syncthreads();
  }

  for (int i = int(threadIdx.x); i < tile_rows / Strip * tile_width; i += Threads) {
    const int column = i % tile_width, row = i / tile_width * Strip;
    const int x = x0 + column, y = y0 + row;
    if (x >= width || y >= height) continue;
    float u[Strip], v[Strip], sums[equations][Strip];
    PF_UNROLL
    for (int j = 0; j < Strip; ++j) {
      const unsigned at = unsigned(smaller(y + j, height - 1) * in.pitch + x);
      u[j] = in.u[at];
      v[j] = in.v[at];
    }
    PF_UNROLL
    for (int k = 0; k < equations; ++k)
      sum_down<Window, Strip>(rows.products + k * rows.plane + row * pitch + layout.origin() + column, pitch,
                              window, sums[k]);
    PF_UNROLL
    for (int j = 0; j < Strip; ++j) {  // includes rows below the level
      const NormalEquations sum{sums[0][j], sums[1][j], sums[2][j], sums[3][j], sums[4][j]};
      const Motion solution = solve(sum, u[j], v[j], p.alpha, width, height);
      u[j] = solution.u;
      v[j] = solution.v;
      if (y + j >= height) continue;
      const unsigned at = unsigned((y + j) * in.pitch + x);
      out.u.data[at] = u[j];
      out.v.data[at] = v[j];
    }
    if (!trust.valid) continue;
    Place place[Strip];
    Neighbors neighbors[Strip];
    float luma[Strip];
    PF_UNROLL
    for (int j = 0; j < Strip; ++j) {
      place[j] = place_of<(Window > 0)>(in, float(x) + u[j], float(y + j) + v[j]);
      neighbors[j] = neighbors_at<false>(in, place[j]);
      luma[j] = in.frame0[unsigned(smaller(y + j, height - 1) * in.pitch + x)];
    }
    PF_UNROLL
    for (int j = 0; j < Strip; ++j) {
      const float eigenvalue = smaller_eigenvalue(sums[0][j], sums[1][j], sums[2][j]) * p.eigenvalue_unit;
      const float residual = mixed(neighbors[j], place[j]) - luma[j];
      if (y + j >= height) continue;
      const float confidence = confidence_of(eigenvalue, residual, place[j].inside);
      trust.confidence(x, y + j) = confidence;
      trust.valid(x, y + j) =
          (confidence >= trust.least) & is_trusted(eigenvalue, residual, place[j].inside, p);
    }
  }
}

}  // namespace
}  // namespace parafield
