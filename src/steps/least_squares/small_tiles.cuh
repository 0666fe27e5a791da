// SPDX-License-Identifier: MIT
#pragma once
#include "steps/least_squares/pixels.cuh"

/// A solution in small tiles, for levels that do not fill the device. There, a launch takes as long as one
/// block. Therefore tiles are nearly square, which minimizes the pixels under their windows, their size is
/// known at compile time, and each step uses all threads. The derivatives of frame 0 do not depend on the
/// flow, so they are computed before the preceding kernel has ended.
namespace parafield {
namespace {

/// A tile of Width x Height pixels. Strip: number of pixels of a column whose products a thread computes.
/// Down: number of rows that a thread sums along a column; it must divide Height.
template <int Width, int Height, int Threads, int Strip, int Down>
struct TileShape {
  static constexpr int width = Width, height = Height, threads = Threads, strip = Strip, down = Down;
  static constexpr int pixels = Width * Height;
  static_assert(Height % Down == 0 && Width % 4 == 0);
};

/// Shared memory of a small tile.
template <class Shape, int Window>
struct SmallTile {
  static constexpr int before = Window / 2;
  static constexpr int columns = Shape::width + Window - 1, rows = Shape::height + Window - 1;
  static constexpr int pitch = (columns + 3) / 4 * 4, sum_pitch = Shape::width;
  /// Size of an equation's plane, in floats. The planes of narrow tiles begin in different banks.
  static constexpr int plane_of(int places) {
    const int shift = Shape::width % 32;
    return (places - shift + 31) / 32 * 32 + shift;
  }
  static constexpr int plane = plane_of(rows * pitch), sum_plane = plane_of(rows * sum_pitch);

  alignas(16) float products[equations * plane];  // later the sums over the windows
  alignas(16) float sums[equations * sum_plane];  // sums along rows
  float u[Shape::pixels], v[Shape::pixels];       // the flow before this solution
};

/// Calls use(i) for the thread's share of the numbers from 0 to Count - 1.
template <int Count, int Threads, class Use>
__device__ __forceinline__ void share_out(Use use) {
  PF_UNROLL
  for (int first = 0; first < Count; first += Threads) {
    const int i = first + int(threadIdx.x);
    if (first + Threads <= Count || i < Count) use(i);
  }
}

/// The solution of one tile.
template <class Shape, int Window, bool FromCoarser, bool Robust>
struct SmallSolution {
  using Tile = SmallTile<Shape, Window>;
  const Input& in;
  const LeastSquares& p;
  Tile& tile;
  const int x0 = int(blockIdx.x) * Shape::width, y0 = int(blockIdx.y) * Shape::height;
  const int left = x0 - Tile::before, top = y0 - Tile::before;
  // Rows inside the level. The products of the nearest row replace the rows outside.
  const int begin = larger(0, -top), end = smaller(Tile::rows, in.height - top);
  const bool interior =
      left >= 2 && top >= 2 && left + Tile::columns + 2 <= in.width && top + Tile::rows + 2 <= in.height;

  static constexpr int strips = (Tile::rows + Shape::strip - 1) / Shape::strip * Tile::columns;

  /// Pixels of a column. The last strip overlaps the previous one.
  struct Strip {
    int column, row, x, y;  // position in the tile; pixel
    Slopes<Shape::strip> slopes;
  };
  __device__ __forceinline__ Strip strip_at(int i) const {
    Strip strip;
    const int number = int(unsigned(i) / unsigned(Tile::columns));
    strip.column = i - number * Tile::columns;
    strip.row = larger(smaller(number * Shape::strip, end - Shape::strip), begin);
    strip.x = clamp(left + strip.column, 0, in.width - 1);
    strip.y = top + strip.row;
    strip.slopes = interior ? slopes_at<Shape::strip, true>(in, strip.x, strip.y)
                            : slopes_at<Shape::strip, false>(in, strip.x, strip.y);
    return strip;
  }

  /// Computes the products of a strip. Rows below the level get values too, but no step reads them.
  __device__ __forceinline__ void make_products(const Strip& strip) const {
    const auto& [column, row, x, y, slopes] = strip;
    float u[Shape::strip], v[Shape::strip];
    if constexpr (FromCoarser) {
      enlarge_strip<Shape::strip>(in.coarser, x, y, u, v);
    } else {
      PF_UNROLL
      for (int k = 0; k < Shape::strip; ++k) {
        const unsigned at = unsigned(smaller(y + k, in.height - 1) * in.pitch + x);
        u[k] = in.u[at];
        v[k] = in.v[at];
      }
    }
    Place place[Shape::strip];
    Neighbors neighbors[Shape::strip];
    PF_UNROLL
    for (int k = 0; k < Shape::strip; ++k) {
      place[k] = place_of<true>(in, float(x) + u[k], float(y + k) + v[k]);
      neighbors[k] = neighbors_at<false>(in, place[k]);
    }
    const int own_column = column - Tile::before, own_row = row - Tile::before;
    if (unsigned(own_column) < unsigned(Shape::width)) {
      PF_UNROLL
      for (int k = 0; k < Shape::strip; ++k)
        if (unsigned(own_row + k) < unsigned(Shape::height)) {
          tile.u[(own_row + k) * Shape::width + own_column] = u[k];
          tile.v[(own_row + k) * Shape::width + own_column] = v[k];
        }
    }
    if constexpr (Robust) __builtin_assume(p.robust2 > 0);
    PF_UNROLL
    for (int k = 0; k < Shape::strip; ++k) {
      const float e = mixed(neighbors[k], place[k]) - slopes.luma[k];
      const NormalEquations part = normal_equations(slopes.x[k], slopes.y[k], e, place[k].inside, u[k], v[k],
                                                    Robust ? p.robust2 : 0.0f);
      part.store(tile.products + (row + k) * Tile::pitch + column, Tile::plane);
    }
  }

  /// Sums four columns of one equation's row, added from the left.
  __device__ __forceinline__ void sum_along(int i) const {
    constexpr int columns = 4, groups = Shape::width / columns;
    const int group = i % groups, line = int(unsigned(i) / unsigned(groups));
    const int row = int(unsigned(line) / unsigned(equations)), equation = line - row * equations;
    const float* const from =
        tile.products + equation * Tile::plane + clamp(row, begin, end - 1) * Tile::pitch + columns * group;
    float sums[columns];
    sum_vectors<Window, 0>(from, sums);
    *reinterpret_cast<float4*>(tile.sums + equation * Tile::sum_plane + row * Tile::sum_pitch +
                               columns * group) = make_float4(sums[0], sums[1], sums[2], sums[3]);
  }

  /// Sums along a column of one equation, for a few rows. The sums replace the products.
  __device__ __forceinline__ void sum_columns(int i) const {
    const int column = i % Shape::width, line = int(unsigned(i) / unsigned(Shape::width));
    const int strip = int(unsigned(line) / unsigned(equations)), equation = line - strip * equations;
    float sums[Shape::down];
    sum_down<Window, Shape::down>(
        tile.sums + equation * Tile::sum_plane + strip * Shape::down * Tile::sum_pitch + column,
        Tile::sum_pitch, Window, sums);
    PF_UNROLL
    for (int j = 0; j < Shape::down; ++j)
      tile.products[equation * Shape::pixels + (strip * Shape::down + j) * Shape::width + column] = sums[j];
  }

  /// Solves pixel i of the tile.
  __device__ __forceinline__ void solve_pixel(int i, const FlowPlanes& out, const Trust& trust) const {
    const int column = i % Shape::width, x = x0 + column, y = y0 + int(unsigned(i) / unsigned(Shape::width));
    if (x >= in.width || y >= in.height) return;
    const NormalEquations sum = NormalEquations::load(tile.products + i, Shape::pixels);
    const Motion solution = solve(sum, tile.u[i], tile.v[i], p.alpha, in.width, in.height);
    const unsigned at = unsigned(y * in.pitch + x);
    out.u.data[at] = solution.u;
    out.v.data[at] = solution.v;
    if (!trust.valid) return;
    const Place place = place_of<true>(in, float(x) + solution.u, float(y) + solution.v);
    const float residual = mixed(neighbors_at<false>(in, place), place) - in.frame0[at];
    const float eigenvalue = smaller_eigenvalue(sum.xx, sum.xy, sum.yy) * p.eigenvalue_unit;
    const float confidence = confidence_of(eigenvalue, residual, place.inside);
    trust.confidence(x, y) = confidence;
    trust.valid(x, y) = (confidence >= trust.least) & is_trusted(eigenvalue, residual, place.inside, p);
  }

  /// `follows`: frame 0 may be read before the preceding kernel has ended.
  __device__ __forceinline__ void run(const FlowPlanes& out, const Trust& trust, bool follows) const {
    if (!follows) await_last();
    bool waits = true;
    const auto begin_once = [&] {
      if (!waits) return;
      await_last();
      launch_next();
      waits = false;
    };
    share_out<strips, Shape::threads>([&](int i) {
      const Strip strip = strip_at(i);
      begin_once();
      make_products(strip);
    });
    begin_once();
    __syncthreads();
    share_out<Tile::rows * equations*(Shape::width / 4), Shape::threads>([&](int i) { sum_along(i); });
    __syncthreads();
    share_out<equations * Shape::pixels / Shape::down, Shape::threads>([&](int i) { sum_columns(i); });
    __syncthreads();
    share_out<Shape::pixels, Shape::threads>([&](int i) { solve_pixel(i, out, trust); });
  }
};

/// Blocks that must fit on one SM: one may belong to the next kernel. Devices of compute capability 7.5 allow
/// 1024 threads per SM.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
template <int Threads>
constexpr int small_blocks = 1024 / Threads;
#else
template <int Threads>
constexpr int small_blocks = 2;
#endif

template <class Shape, int Window, bool FromCoarser, bool Robust>
__global__ void __launch_bounds__(Shape::threads, small_blocks<Shape::threads>)
    least_squares_small_kernel(Input in, LeastSquares p, FlowPlanes out, Trust trust, bool follows) {
  auto& tile = *dynamic_shared<SmallTile<Shape, Window>>();
  SmallSolution<Shape, Window, FromCoarser, Robust>{in, p, tile}.run(out, trust, follows);
}

}  // namespace
}  // namespace parafield
