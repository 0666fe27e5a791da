// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/least_squares/least_squares.hpp"

// A solution is one launch. A block makes a tile of 64 columns. The products of all pixels under its windows
// go to shared memory; sums along the rows replace them there, four columns a thread; then each thread sums
// down a column for a few rows and solves. The height of the tiles is chosen so that the blocks fill the
// multiprocessors evenly.
//
// Floor: a solution reads 16 bytes a pixel (two frames, u, v) and writes 8, and does about 190 operations (60
// for the products, 2 * 5 * 10 additions at window 11, 30 to solve). A pair with 4 levels, 3 solutions each,
// and its pyramids moves about 118 bytes a pixel of the frame. An H100 (3.0 TB/s) needs 12 us for that at
// 640x480 and 0.33 ms at 3840x2160. Measured (bench/results): 79 us and 1.09 ms, so 15 % and 30 % of the
// floor's speed. The rest goes to products made twice where tiles meet (1.45 to 1.6 times the pixels), to
// instructions that find and load values (about 430 a pixel and solution in all), and on small levels to the
// 2 to 3 us that any launch takes from its first load to its last store.

namespace parafield {
namespace {

constexpr int equations = NormalEquations::count;
constexpr int tile_width = 64, threads = 1024, warps = threads / 32;
constexpr int columns_each = 4, threads_a_row = tile_width / columns_each;  // half a warp sums along a row

/// Floats of a row in shared memory, up to the last one that sum_along reads.
__host__ __device__ constexpr int row_floats(int window) { return (tile_width + window - 1 + 3) / 4 * 4; }

/// Input of a solution. Planes of one level share their pitch, so that one offset serves all.
struct Input {
  const float *frame0, *frame1, *u, *v;  // no u and v in the first solution of a level
  int width, height, pitch;              // pitch in floats
  FlowPlanes coarser;                    // flow of the coarser level, for the first solution

  template <bool FromCoarser>
  __device__ Motion flow(int x, int y, int at) const {
    if constexpr (!FromCoarser) return {u[at], v[at]};
    return enlarged_flow(coarser, x, y);
  }
};

/// Products of pixel (x, y), which lies inside the level. Interior: so do the pixels up to 2 px away.
template <bool FromCoarser, bool Interior>
__device__ NormalEquations products_at(const Input& in, float robust2, int x, int y) {
  const int at = y * in.pitch + x;
  const float* here = in.frame0 + at;
  float gx, gy;
  if constexpr (Interior) {
    const float *above = here - in.pitch, *below = here + in.pitch;
    gx = derivative(here[-2], here[-1], here[1], here[2]);
    gy = derivative(above[-in.pitch], above[0], below[0], below[in.pitch]);
  } else {
    const auto line = [=](int j) { return in.frame0[clamp(j, 0, in.height - 1) * in.pitch + x]; };
    gx = derivative_at(in.frame0 + y * in.pitch, x, in.width);
    gy = derivative(line(y - 2), line(y - 1), line(y + 1), line(y + 2));
  }
  const auto [u, v] = in.flow<FromCoarser>(x, y, at);
  const Match match = locate(float(x) + u, float(y) + v, in.width, in.height);
  const float e = sample(in.frame1, in.pitch, in.width, in.height, match) - here[0];
  return normal_equations(gx, gy, e, match.inside, u, v, robust2);
}

template <int Window, bool FromCoarser, bool Interior>
__device__ void fill_products(const Input& in, const LeastSquares& p, int x0, int y0, int rows,
                              float* products) {
  const int window = Window > 0 ? Window : p.window();
  const int columns = tile_width + window - 1, pitch = row_floats(window), plane = rows * pitch;
  const int left = x0 - p.before, top = y0 - p.before;
  for (int i = int(threadIdx.x); i < rows * columns; i += threads) {
    const int row = i / columns, column = i - row * columns;
    const int x = Interior ? left + column : clamp(left + column, 0, in.width - 1);
    const int y = Interior ? top + row : clamp(top + row, 0, in.height - 1);
    const NormalEquations part = products_at<FromCoarser, Interior>(in, p.robust2, x, y);
    float* to = products + row * pitch + column;
    to[0] = part.xx;
    to[plane] = part.xy;
    to[2 * plane] = part.yy;
    to[3 * plane] = part.xt;
    to[4 * plane] = part.yt;
  }
}

/// sums[j] = values[j] + values[j + 1] + ... + values[j + window - 1], added from the left.
template <int Window>
__device__ void sum_along(const float* values, int window, float (&sums)[columns_each]) {
  if constexpr (Window > 0) {
    float held[(Window + columns_each + 2) / 4 * 4];
    PF_UNROLL
    for (int k = 0; k < int(sizeof held / sizeof(float)); k += 4) {
      const float4 four = *reinterpret_cast<const float4*>(values + k);
      held[k] = four.x;
      held[k + 1] = four.y;
      held[k + 2] = four.z;
      held[k + 3] = four.w;
    }
    PF_UNROLL
    for (int j = 0; j < columns_each; ++j) {
      sums[j] = held[j];
      PF_UNROLL
      for (int k = 1; k < Window; ++k) sums[j] += held[j + k];
    }
  } else {
    PF_UNROLL
    for (int j = 0; j < columns_each; ++j) {
      sums[j] = values[j];
      for (int k = 1; k < window; ++k) sums[j] += values[j + k];
    }
  }
}

/// The same down a column, for Rows rows.
template <int Window, int Rows>
__device__ void sum_down(const float* values, int pitch, int window, float (&sums)[Rows]) {
  if constexpr (Window > 0) {
    float held[Window + Rows - 1];
    PF_UNROLL
    for (int k = 0; k < Window + Rows - 1; ++k) held[k] = values[k * pitch];
    PF_UNROLL
    for (int j = 0; j < Rows; ++j) {
      sums[j] = held[j];
      PF_UNROLL
      for (int k = 1; k < Window; ++k) sums[j] += held[j + k];
    }
  } else {
    PF_UNROLL
    for (int j = 0; j < Rows; ++j) {
      sums[j] = values[j * pitch];
      for (int k = 1; k < window; ++k) sums[j] += values[(j + k) * pitch];
    }
  }
}

/// Window: side of the window, or 0 for any. Rows: rows of the tile that a thread solves; they divide
/// tile_rows.
template <int Window, int Rows, bool FromCoarser>
__global__ void __launch_bounds__(threads)
    least_squares_kernel(Input in, LeastSquares p, FlowPlanes out, Trust trust, int tile_rows) {
  begin_kernel();
  extern __shared__ float4 storage[];
  float* const products = reinterpret_cast<float*>(storage);
  const int window = Window > 0 ? Window : p.window();
  const int pitch = row_floats(window), rows = tile_rows + window - 1, plane = rows * pitch;
  const int width = in.width, height = in.height;
  const int x0 = int(blockIdx.x) * tile_width, y0 = int(blockIdx.y) * tile_rows;

  const bool interior = x0 - p.before >= 2 && y0 - p.before >= 2 && x0 + tile_width + p.after + 2 <= width &&
                        y0 + tile_rows + p.after + 2 <= height;
  if (interior)
    fill_products<Window, FromCoarser, true>(in, p, x0, y0, rows, products);
  else
    fill_products<Window, FromCoarser, false>(in, p, x0, y0, rows, products);
  __syncthreads();

  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  for (int first = 2 * warp; first < rows; first += 2 * warps) {
    const int row = first + lane / threads_a_row;
    float* const values = products + row * pitch + columns_each * (lane % threads_a_row);
    float sums[equations][columns_each];
    if (row < rows) {
      PF_UNROLL
      for (int i = 0; i < equations; ++i) sum_along<Window>(values + i * plane, window, sums[i]);
    }
    __syncwarp();  // every lane has read the row that is now written over
    if (row < rows) {
      PF_UNROLL
      for (int i = 0; i < equations; ++i)
        *reinterpret_cast<float4*>(values + i * plane) =
            make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
    }
  }
  __syncthreads();

  for (int i = int(threadIdx.x); i < tile_rows / Rows * tile_width; i += threads) {
    const int column = i % tile_width, row = i / tile_width * Rows;
    const int x = x0 + column;
    if (x >= width || y0 + row >= height) continue;
    float sums[equations][Rows];
    PF_UNROLL
    for (int k = 0; k < equations; ++k)
      sum_down<Window, Rows>(products + k * plane + row * pitch + column, pitch, window, sums[k]);
    PF_UNROLL
    for (int j = 0; j < Rows; ++j) {
      const int y = y0 + row + j;
      if (y >= height) break;
      const int at = y * in.pitch + x;
      const NormalEquations sum{sums[0][j], sums[1][j], sums[2][j], sums[3][j], sums[4][j]};
      const Motion before = in.flow<FromCoarser>(x, y, at);
      const Motion solution = solve(sum, before.u, before.v, p.alpha, width, height);
      out.u.data[at] = solution.u;
      out.v.data[at] = solution.v;
      if (trust.valid) {
        const float eigenvalue = smaller_eigenvalue(sum.xx, sum.xy, sum.yy) * p.eigenvalue_unit;
        const Match match = locate(float(x) + solution.u, float(y) + solution.v, width, height);
        const float residual = sample(in.frame1, in.pitch, width, height, match) - in.frame0[at];
        trust.confidence(x, y) = confidence_of(eigenvalue, residual, match);
        trust.valid(x, y) = is_trusted(eigenvalue, residual, match, p);
      }
    }
  }
}

std::size_t shared_bytes(int tile_rows, int window) {
  return std::size_t(tile_rows + window - 1) * std::size_t(row_floats(window)) * equations * sizeof(float);
}

/// Rows of a tile that give the busiest multiprocessor the least work, halo included; above 16 a multiple of
/// 4, above 8 a multiple of 2.
int choose_tile_rows(const Cuda& cuda, Size size, int window) {
  int best = 1;
  double least = 1e30;
  for (int rows = 1; rows <= 64; rows += rows < 8 ? 1 : rows < 16 ? 2 : 4) {
    if (rows > 1 && shared_bytes(rows, window) > cuda.shared_memory()) break;
    const int blocks = int(blocks_for(size.width, tile_width) * blocks_for(size.height, rows));
    const double work =
        double((blocks + cuda.multiprocessors() - 1) / cuda.multiprocessors()) * (rows + window - 1 + 4);
    if (work >= least) continue;
    least = work;
    best = rows;
  }
  return best;
}

template <int Window, int Rows>
void launch_step(Cuda& cuda, const Input& in, const LeastSquares& p, FlowPlanes out, Trust trust,
                 int tile_rows) {
  const std::size_t bytes = shared_bytes(tile_rows, p.window());
  const auto kernel =
      in.coarser.u ? least_squares_kernel<Window, Rows, true> : least_squares_kernel<Window, Rows, false>;
  if (bytes > 48 * 1024) cuda.allow_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
  const dim3 grid(blocks_for(in.width, tile_width), blocks_for(in.height, tile_rows));
  cuda.launch(kernel, grid, dim3(threads), bytes, in, p, out, trust, tile_rows);
}

}  // namespace

template <class Backend>
void least_squares_step(Backend& cuda, View<const float> frame0, View<const float> frame1,
                        const LeastSquares& p, StartingFlow in, FlowPlanes out, Trust trust) {
  for (const View<float>& plane : {in.flow.u, in.flow.v, out.u, out.v})
    if (plane.pitch != frame0.pitch || plane.pitch != frame1.pitch)
      fail(ErrorCode::invalid_argument, "the planes of a level have pitches of ", plane.pitch, " and ",
           frame0.pitch, " bytes; they must be equal");
  const bool enlarge = bool(in.coarser.u);
  const Input input{frame0.data,
                    frame1.data,
                    enlarge ? nullptr : in.flow.u.data,
                    enlarge ? nullptr : in.flow.v.data,
                    frame0.width,
                    frame0.height,
                    int(frame0.stride()),
                    in.coarser};
  const int tile_rows = choose_tile_rows(cuda, frame0.size(), p.window());
  with_constant<7, 9, 10, 11, 15>(p.window(), [&]<int Window>() {
    if (tile_rows > 16)
      launch_step<Window, 4>(cuda, input, p, out, trust, tile_rows);
    else if (tile_rows > 8)
      launch_step<Window, 2>(cuda, input, p, out, trust, tile_rows);
    else
      launch_step<Window, 1>(cuda, input, p, out, trust, tile_rows);
  });
}

PF_STEP(least_squares_step<Cuda>);

}  // namespace parafield
