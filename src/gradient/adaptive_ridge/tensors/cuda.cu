// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "gradient/adaptive_ridge/cells.cuh"
#include "gradient/adaptive_ridge/tensors/tensors.hpp"

// One launch. A block makes a tile of 56 columns, which have 64 with those under the windows. The instants'
// images go to shared memory; each thread goes down a column of them for a few rows of products; these are
// summed along the rows in place, then down columns, a few rows a thread; the systems are solved, and the
// solutions summed up in cells. Tiles have 8 to 32 rows, few on small levels, so that many threads share the
// work there: the time of a small level is the latency of the stages.
//
// Floor of a pair: 16 bytes a pixel are read (two frames, u, v) and 24 written, which takes an H100 (3.0
// TB/s) 4.1 us at 640x480 and 0.11 ms at 3840x2160. About 550 instructions a pixel, halo included, would take
// it 0.16 ms there. Measured (commit e5689ad): 16 us and 0.27 ms; 6 us on levels of a few blocks, where six
// stages wait for each other.
namespace parafield {
namespace {

constexpr int columns = 64, reach = window_reach + 1, tile_width = columns - 2 * reach;
constexpr int threads_y = 8, threads = columns * threads_y;
constexpr int planes = Products::count;

// Rows of a tile whose threads solve `rows_each` pixels below each other.
constexpr int rows_of_tile(int rows_each) { return rows_each * threads_y; }
constexpr int rows_of_products(int rows_each) { return rows_of_tile(rows_each) + 2 * window_reach; }
constexpr int rows_of_images(int rows_each) { return rows_of_tile(rows_each) + 2 * reach; }
static_assert(rows_of_images(1) % threads_y == 0);

struct Input {
  WarpFrames frames;
  FlowPlanes flow;
  TensorWeights p;
};

/// Makes the instants' images of a tile and its halo.
template <int Frames, int RowsEach>
__device__ void fill_images(const Input& in, int x0, int y0, float* images) {
  constexpr int instants = instants_of(Frames), middle = (Frames - 1) / 2;
  constexpr int rows = rows_of_images(RowsEach), plane = rows * columns, each = rows / threads_y;
  const View<const float> reference = in.frames.reference();
  const int width = reference.width, height = reference.height;
  const int pitch = int(reference.stride());
  const int column = int(threadIdx.x), x = clamp(x0 + column - reach, 0, width - 1);
  int y[each];
  float u[each], v[each], here[each];
  PF_UNROLL
  for (int k = 0; k < each; ++k) {
    y[k] = clamp(y0 + int(threadIdx.y) + k * threads_y - reach, 0, height - 1);
    u[k] = in.flow.u(x, y[k]), v[k] = in.flow.v(x, y[k]);
    here[k] = reference.data[y[k] * pitch + x];
  }
  PF_UNROLL
  for (int k = 0; k < each; ++k) {
    float values[Frames];
    PF_UNROLL
    for (int i = 0; i < Frames; ++i) {
      const float step = float(i - middle);
      values[i] = i == middle ? here[k]
                              : warped(in.frames.frame[i].data, pitch, width, height,
                                       fma(step, u[k], float(x)), fma(step, v[k], float(y[k])));
    }
    float* const to = images + (int(threadIdx.y) + k * threads_y) * columns + column;
    PF_UNROLL
    for (int i = 0; i < instants; ++i) {
      const Instant at =
          instant<Frames>(values[i], values[i + 1], values[Frames == 2 ? 1 : i + 2], in.p.prefilter);
      to[2 * i * plane] = at.mean;
      to[(2 * i + 1) * plane] = at.difference;
    }
  }
}

/// Makes the products of all pixels under the windows, from the images.
template <int Frames, int RowsEach>
__device__ void fill_products(const Input& in, int x0, int y0, const float* images, float* out) {
  constexpr int instants = instants_of(Frames);
  const int width = in.flow.u.width, height = in.flow.u.height;
  constexpr int rows = rows_of_products(RowsEach), plane = rows * columns,
                image = rows_of_images(RowsEach) * columns, each = (rows + threads_y - 1) / threads_y;
  const int begin = int(threadIdx.y) * each, column = int(threadIdx.x);
  if (column < 1 || column >= columns - 1 || begin >= rows) return;
  const float prefilter = in.p.prefilter;
  struct Filtered {
    float slope, smooth, change;
  };
  const auto filtered = [=](int i, int row) -> Filtered {
    const float* const mean = images + 2 * i * image + row * columns + column;
    const float* const difference = mean + image;
    return {central(mean[-1], mean[1]), smoothed(mean[-1], mean[0], mean[1], prefilter),
            smoothed(difference[-1], difference[0], difference[1], prefilter)};
  };
  Filtered above[instants], here[instants];
  PF_UNROLL
  for (int i = 0; i < instants; ++i) above[i] = filtered(i, begin), here[i] = filtered(i, begin + 1);
  const int x = clamp(x0 + column - reach, 0, width - 1);
  PF_UNROLL
  for (int k = 0; k < each; ++k) {
    const int row = begin + k;
    if (row >= rows) break;
    const int y = clamp(y0 + row - window_reach, 0, height - 1);
    const float u = in.flow.u(x, y), v = in.flow.v(x, y);
    Products sum;
    PF_UNROLL
    for (int i = 0; i < instants; ++i) {
      const Filtered below = filtered(i, row + 2);
      const Products part = products(smoothed(above[i].slope, here[i].slope, below.slope, prefilter),
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
    for (int k = 0; k < planes; ++k) out[k * plane + row * columns + column] = values[k];
  }
}

/// Repeats the products at the border of the level beyond it.
template <int RowsEach>
__device__ void extend_products(Size level, int x0, int y0, float* products) {
  constexpr int rows = rows_of_products(RowsEach), plane = rows * columns;
  const int column = int(threadIdx.x), from = clamp(x0 + column - reach, 0, level.width - 1) - x0 + reach;
  for (int row = int(threadIdx.y); row < rows; row += threads_y) {
    const int from_row = clamp(y0 + row - window_reach, 0, level.height - 1) - y0 + window_reach;
    if (from == column && from_row == row) continue;
    PF_UNROLL
    for (int k = 0; k < planes; ++k)
      products[k * plane + row * columns + column] = products[k * plane + from_row * columns + from];
  }
}

/// Replaces products by their sums along the rows. Half a warp makes a row, four columns a lane.
template <int RowsEach>
__device__ void sum_along(const TensorWeights& p, int thread, float* products) {
  constexpr int rows = rows_of_products(RowsEach), plane = rows * columns, warps = threads / 32;
  const int lane = thread % 32, quad = lane % 16;
  PF_UNROLL
  for (int first = thread / 32 * 2; first < rows; first += 2 * warps) {
    const int row = first + lane / 16;
    const bool sums = row < rows && quad < tile_width / 4;
    PF_UNROLL
    for (int k = 0; k < planes; ++k) {
      float* const at = products + k * plane + row * columns + 4 * quad;
      float held[12], sum[4];
      if (sums) {
        PF_UNROLL
        for (int i = 0; i < 3; ++i) {
          const float4 four = *reinterpret_cast<const float4*>(at + 4 * i);
          held[4 * i] = four.x, held[4 * i + 1] = four.y, held[4 * i + 2] = four.z, held[4 * i + 3] = four.w;
        }
        PF_UNROLL
        for (int i = 0; i < 4; ++i)
          sum[i] = windowed(held[i + 1], held[i + 2], held[i + 3], held[i + 4], held[i + 5], held[i + 6],
                            held[i + 7], p.window);
      }
      __syncwarp();  // every lane has read the row that is now written over
      if (sums) *reinterpret_cast<float4*>(at + 4) = make_float4(sum[0], sum[1], sum[2], sum[3]);
    }
  }
}

template <int Frames, int RowsEach>
__global__ void __launch_bounds__(threads, 2)
    tensor_kernel(Input in, NormalPlanes out, Cells cells, bool with_luma) {
  begin_kernel();
  extern __shared__ float4 storage[];
  constexpr int tile_rows = rows_of_tile(RowsEach), plane = rows_of_products(RowsEach) * columns;
  float* const images = reinterpret_cast<float*>(storage);
  float* const products = images + 2 * instants_of(Frames) * rows_of_images(RowsEach) * columns;
  const View<const float> luma = in.frames.reference();
  const int width = luma.width, height = luma.height;
  const int x0 = int(blockIdx.x) * tile_width, y0 = int(blockIdx.y) * tile_rows;
  const int column = int(threadIdx.x), thread = int(threadIdx.y) * columns + column;
  fill_images<Frames, RowsEach>(in, x0, y0, images);
  __syncthreads();
  fill_products<Frames, RowsEach>(in, x0, y0, images, products);
  __syncthreads();
  if (x0 < reach || y0 < reach || x0 + tile_width + reach > width || y0 + tile_rows + reach > height) {
    extend_products<RowsEach>({width, height}, x0, y0, products);
    __syncthreads();
  }
  sum_along<RowsEach>(in.p, thread, products);
  const int first = int(threadIdx.y) * RowsEach, x = x0 + column;
  const bool in_tile = column < tile_width && x < width;
  float u[RowsEach], v[RowsEach], u0 = 0, v0 = 0;
  if (in_tile) {
    PF_UNROLL
    for (int i = 0; i < RowsEach; ++i) {
      const int y = smaller(y0 + first + i, height - 1);
      u[i] = in.flow.u(x, y), v[i] = in.flow.v(x, y);
    }
  }
  __syncthreads();

  float sums[planes][RowsEach];
  if (in_tile) {
    PF_UNROLL
    for (int k = 0; k < planes; ++k) {
      float held[RowsEach + 2 * window_reach];
      PF_UNROLL
      for (int i = 0; i < RowsEach + 2 * window_reach; ++i)
        held[i] = products[k * plane + (first + i) * columns + column + reach];
      PF_UNROLL
      for (int i = 0; i < RowsEach; ++i)
        sums[k][i] = windowed(held[i], held[i + 1], held[i + 2], held[i + 3], held[i + 4], held[i + 5],
                              held[i + 6], in.p.window);
    }
  }
  __syncthreads();
  float *const du = products, *const dv = du + tile_rows * columns, *const weight = dv + tile_rows * columns;
  const auto near = [&](int cell_x, int cell_y) -> Motion {
    return {in.flow.u(cell_x * cell_side, cell_y * cell_side),
            in.flow.v(cell_x * cell_side, cell_y * cell_side)};
  };
  if (in_tile) {
    PF_UNROLL
    for (int i = 0; i < RowsEach; ++i) {
      const int y = y0 + first + i;
      if (y >= height) break;
      const Products sum{sums[0][i], sums[1][i], sums[2][i], sums[3][i], sums[4][i], sums[5][i]};
      const PlainSolution solution = plain_solution(sum, u[i], v[i]);
      out.xx(x, y) = sum.xx;
      out.xy(x, y) = sum.xy;
      out.yy(x, y) = sum.yy;
      out.xt(x, y) = sum.xt;
      out.yt(x, y) = sum.yt;
      out.residual(x, y) = solution.residual;
      if (i == 0 || y % cell_side == 0) {
        const Motion from = near(x / cell_side, y / cell_side);
        u0 = from.u, v0 = from.v;
      }
      const int at = (first + i) * columns + column;
      du[at] = solution.u - u0;
      dv[at] = solution.v - v0;
      weight[at] = determination(sum.xx, sum.xy, sum.yy);
    }
  }
  __syncthreads();
  store_cells(cells, du, dv, weight, columns, width, height, x0, y0, tile_width, tile_rows, thread, threads,
              near);
  if (with_luma) store_lumas(cells, luma, x0, y0, tile_width, tile_rows, thread, threads);
}

std::size_t shared_bytes(int rows_each, int instants) {
  return std::size_t(2 * instants * rows_of_images(rows_each) + planes * rows_of_products(rows_each)) *
         columns * sizeof(float);
}

/// Rows that a thread solves, so that the multiprocessors, which hold two blocks each, are ready first.
int choose_rows_each(const Cuda& cuda, Size size, int instants) {
  int best = 1;
  long least = -1;
  for (int rows_each = 1; rows_each <= 4; ++rows_each) {
    const std::size_t bytes = shared_bytes(rows_each, instants);
    if (rows_each > 1 && bytes > cuda.shared_memory()) break;
    const long blocks =
        long(blocks_for(size.width, tile_width)) * blocks_for(size.height, rows_of_tile(rows_each));
    const long at_once = (2 * bytes <= cuda.shared_memory() ? 2 : 1) * cuda.multiprocessors();
    const long work = (blocks + at_once - 1) / at_once * rows_of_images(rows_each);
    if (least >= 0 && work >= least) continue;
    least = work;
    best = rows_each;
  }
  return best;
}

template <int Frames, int RowsEach>
void launch_tensors(Cuda& cuda, const Input& in, const NormalPlanes& out, const Cells& cells,
                    bool with_luma) {
  const std::size_t bytes = shared_bytes(RowsEach, instants_of(Frames));
  const auto kernel = tensor_kernel<Frames, RowsEach>;
  if (bytes > 48 * 1024) cuda.allow_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
  cuda.launch(
      kernel,
      dim3(blocks_for(in.flow.u.width, tile_width), blocks_for(in.flow.u.height, rows_of_tile(RowsEach))),
      dim3(columns, threads_y), bytes, in, out, cells, with_luma);
}

template <int Frames>
void launch_tensors(Cuda& cuda, const Input& in, const NormalPlanes& out, const Cells& cells,
                    bool with_luma) {
  switch (choose_rows_each(cuda, in.flow.u.size(), instants_of(Frames))) {
    case 1:
      return launch_tensors<Frames, 1>(cuda, in, out, cells, with_luma);
    case 2:
      return launch_tensors<Frames, 2>(cuda, in, out, cells, with_luma);
    case 3:
      return launch_tensors<Frames, 3>(cuda, in, out, cells, with_luma);
    default:
      return launch_tensors<Frames, 4>(cuda, in, out, cells, with_luma);
  }
}

}  // namespace

template <class Backend>
void ridge_tensors(Backend& cuda, const WarpFrames& frames, FlowPlanes flow, const TensorWeights& weights,
                   const NormalPlanes& out, const Cells& cells, bool with_luma) {
  const Input in{frames, flow, weights};
  switch (frames.count) {
    case 2:
      return launch_tensors<2>(cuda, in, out, cells, with_luma);
    case 3:
      return launch_tensors<3>(cuda, in, out, cells, with_luma);
    default:
      return launch_tensors<5>(cuda, in, out, cells, with_luma);
  }
}

PF_STEP(ridge_tensors<Cuda>);

}  // namespace parafield
