// SPDX-License-Identifier: MIT
#pragma once
#include "steps/least_squares/pixels.cuh"

/// Rows of a large tile in shared memory: first products of pixels, then their sums along the rows.
namespace parafield {
namespace {

constexpr int tile_width = 64;

/// Positions of a tile's columns in shared memory. Window: side of the window; 0 = any.
template <int Window>
struct Layout {
  int any_before, any_after;

  __host__ __device__ constexpr int before() const { return Window > 0 ? Window / 2 : any_before; }
  __host__ __device__ constexpr int window() const {
    return Window > 0 ? Window : any_before + 1 + any_after;
  }
  __host__ __device__ constexpr int columns() const { return tile_width + window() - 1; }
  /// Positions of the tile's first column, a multiple of four, and of the first column under its windows.
  __host__ __device__ constexpr int origin() const { return (before() + 3) / 4 * 4; }
  __host__ __device__ constexpr int first() const { return origin() - before(); }
  /// Floats from row to row: 4 more than a multiple of 8, so that sum_along reads two rows without bank
  /// conflicts. The last columns of a row may be in the first positions of the next one, which are free.
  __host__ __device__ constexpr int pitch() const { return (columns() + 3) / 8 * 8 + 4; }
};

/// The rows of a tile in shared memory, including all rows under its windows.
template <int Window>
struct Rows {
  int x0, y0;      // column and row of the level at the first position
  int begin, end;  // rows inside the level
  int own;         // number of rows of the tile itself
  float* products;
  int plane;  // floats from one equation's rows to the next equation's rows
  Layout<Window> layout;
};

/// sums[j] = values[j] + values[j + 1] + ... + values[j + window - 1], added from the left, where `values` is
/// line + layout.first(), and `line` is aligned for vector loads.
template <int Window, int Columns>
__device__ __forceinline__ void sum_along(const float* line, const Layout<Window>& layout,
                                          float (&sums)[Columns]) {
  if constexpr (Window > 0) {
    sum_vectors<Window, Layout<Window>{}.first()>(line, sums);
  } else {
    const float* const values = line + layout.first();
    PF_UNROLL
    for (int j = 0; j < Columns; ++j) {
      sums[j] = values[j];
      for (int k = 1; k < layout.window(); ++k) sums[j] += values[j + k];
    }
  }
}

/// Sums Columns columns of a row in place. All threads of a warp must call it together, for whole rows.
template <int Window, int Columns>
__device__ __forceinline__ void sum_in_place(float* line, const Layout<Window>& layout) {
  float sums[Columns];
  sum_along<Window, Columns>(line, layout, sums);
  __syncwarp();  // all lanes have read the row before it is overwritten
  float4* const to = reinterpret_cast<float4*>(line + layout.origin());
  PF_UNROLL
  for (int i = 0; i < Columns / 4; ++i)
    to[i] = make_float4(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]);
}

/// Replaces the products of the rows inside the level by their sums along the rows. Spread: threads share the
/// equations of a row, because with few rows there are more threads than rows.
template <int Window, int Threads, bool Spread>
__device__ __forceinline__ void sum_rows(const Rows<Window>& rows) {
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32, pitch = rows.layout.pitch();
  if constexpr (Spread) {
    constexpr int columns = 4, threads_a_row = tile_width / columns;
    const int count = (rows.end - rows.begin) * equations;
    for (int first = 2 * warp; first < count; first += Threads / threads_a_row) {
      const int i = smaller(first + lane / threads_a_row, count - 1);
      const int row = int(unsigned(i) / unsigned(equations)), equation = i - row * equations;
      sum_in_place<Window, columns>(rows.products + equation * rows.plane + (rows.begin + row) * pitch +
                                        columns * (lane % threads_a_row),
                                    rows.layout);
    }
  } else {
    constexpr int columns = 8, threads_a_row = tile_width / columns, rows_a_warp = 32 / threads_a_row;
    // Eight neighboring lanes read from two rows, at positions without bank conflicts.
    const int part = lane % 4 + lane / 8 % 2 * 4, row_of_warp = lane / 4 % 2 + lane / 16 * 2;
    for (int first = rows.begin + rows_a_warp * warp; first < rows.end; first += Threads / threads_a_row) {
      const int row = smaller(first + row_of_warp, rows.end - 1);
      float* const line = rows.products + row * pitch + columns * part;
      PF_UNROLL
      for (int i = 0; i < equations; ++i) sum_in_place<Window, columns>(line + i * rows.plane, rows.layout);
    }
  }
}

/// Gives rows beyond the border the sums of the nearest row. `count`: number of rows in shared memory.
template <int Window, int Threads>
__device__ __forceinline__ void repeat_rows(const Rows<Window>& rows, int count) {
  const int outside = rows.begin + count - rows.end, pitch = rows.layout.pitch();
  for (int i = int(threadIdx.x); i < outside * tile_width; i += Threads) {
    const int row = i / tile_width, column = rows.layout.origin() + i % tile_width;
    const int to = row < rows.begin ? row : rows.end + row - rows.begin;
    const int from = row < rows.begin ? rows.begin : rows.end - 1;
    PF_UNROLL
    for (int k = 0; k < equations; ++k)
      rows.products[k * rows.plane + to * pitch + column] =
          rows.products[k * rows.plane + from * pitch + column];
  }
}

}  // namespace
}  // namespace parafield
