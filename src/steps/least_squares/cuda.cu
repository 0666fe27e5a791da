// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/least_squares/least_squares.hpp"

// A solution is one launch. A block makes a tile of 64 columns. The products of all pixels under its
// windows go to shared memory. A thread makes those of a few pixels of a column, so that their loads are
// under way together, and warps read neighboring pixels of frame 1. Sums along the rows replace the
// products; then each thread sums down a column for a few rows and solves. The height of the tiles is
// chosen so that the blocks fill the multiprocessors evenly. On small levels a launch takes the latency of
// one block: there the sums along the rows are spread over all threads.
//
// Floor: a solution reads 16 bytes a pixel (two frames, u, v) and writes 8, and does about 190 operations
// (60 for the products, 2 * 5 * 10 additions at window 11, 30 to solve). At 1920x1080 an H100 (3.0 TB/s)
// needs 17 us for the bytes and 12 us for the operations. Measured on the finest level: 42 us, so 40 %,
// with 328 instructions a pixel: 127 for the products (1.34 times the pixels, as tiles overlap), 74 for the
// sums along the rows, 127 for those down the columns and to solve. Schedulers issue one in 60 % of the
// cycles, and the L1 cache is busy in 64 %. Frames and flow (50 MB) do not stay in the L2 cache. A level of
// 80x60 takes 2.7 us: 0.7 for an empty launch, 1.1 for the products, 0.6 for the sums along the rows, 0.4
// for the rest.

namespace parafield {
namespace {

constexpr int equations = NormalEquations::count;
constexpr int tile_width = 64;

/// Places of a tile's columns in shared memory. Window: side of the window; 0 = any.
template <int Window>
struct Layout {
  int any_before, any_after;

  __host__ __device__ constexpr int before() const { return Window > 0 ? Window / 2 : any_before; }
  __host__ __device__ constexpr int window() const {
    return Window > 0 ? Window : any_before + 1 + any_after;
  }
  __host__ __device__ constexpr int columns() const { return tile_width + window() - 1; }
  /// Place of the tile's first column, a multiple of four; that of the first column under its windows.
  __host__ __device__ constexpr int origin() const { return (before() + 3) / 4 * 4; }
  __host__ __device__ constexpr int first() const { return origin() - before(); }
  /// Floats from row to row, 4 more than a multiple of 8: so sum_along reads two rows without conflicts of
  /// banks. The last columns of a row may lie in the first places of the next one, which are free.
  __host__ __device__ constexpr int pitch() const { return (columns() + 3) / 8 * 8 + 4; }
};

/// Input of a solution. Planes of one level share their pitch, so that one offset serves all.
struct Input {
  const float *frame0, *frame1;
  float *u, *v;              // the first solution of a level stores its start there
  int width, height, pitch;  // pitch in floats
  FlowPlanes coarser;        // flow of the coarser level, for the first solution
};

/// Frame 0 at Strip pixels of a column.
template <int Strip>
struct Slopes {
  float x[Strip], y[Strip], luma[Strip];
};

/// Pixels (x, y), (x, y + 1)... Interior: the pixels up to 2 px away lie inside.
template <int Strip, bool Interior>
__device__ __forceinline__ Slopes<Strip> slopes_at(const Input& in, int x, int y) {
  Slopes<Strip> slopes;
  float column[Strip + 4];
  PF_UNROLL
  for (int k = 0; k < Strip + 4; ++k) {
    const bool middle = k >= 2 && k < Strip + 2;
    if constexpr (Interior) {
      const float* const here =
          in.frame0 + unsigned((y - 2) * in.pitch + x) + k * std::size_t(unsigned(in.pitch));
      column[k] = here[0];
      if (middle) slopes.x[k - 2] = derivative(here[-2], here[-1], here[1], here[2]);
    } else {
      const float* const row = in.frame0 + unsigned(clamp(y + k - 2, 0, in.height - 1) * in.pitch);
      column[k] = row[x];
      if (middle) slopes.x[k - 2] = derivative_at(row, x, in.width);
    }
  }
  PF_UNROLL
  for (int k = 0; k < Strip; ++k) {
    slopes.luma[k] = column[k + 2];
    slopes.y[k] = derivative(column[k], column[k + 1], column[k + 3], column[k + 4]);
  }
  return slopes;
}

/// enlarged_flow of pixels (x, y), (x, y + 1)...: rows share the values that they read.
template <int Strip>
__device__ __forceinline__ void enlarge_strip(View<const float> coarse, int x, int y, float (&to)[Strip]) {
  constexpr int count = Strip / 2 + 2;
  const int last = coarse.width - 1, bottom = coarse.height - 1;
  const int left = x >> 1, right = smaller(left + 1, last);
  const bool odd = y & 1;
  float a[count], b[count];
  PF_UNROLL
  for (int k = 0; k < count; ++k) {
    const float* const row = coarse.row(smaller((y >> 1) + k, bottom));
    a[k] = row[left];
    b[k] = row[right];
  }
  const float share_x = 0.5f * float(x & 1);
  PF_UNROLL
  for (int k = 0; k < Strip; ++k) {
    const int i = k / 2;
    const bool next = k % 2 && odd;  // the coarse row of an odd y and one row more
    const float share_y = odd == (k % 2 == 0) ? 0.5f : 0.0f;
    const float a0 = next ? a[i + 1] : a[i], a1 = next ? a[i + 2] : a[i + 1];
    const float b0 = next ? b[i + 1] : b[i], b1 = next ? b[i + 2] : b[i + 1];
    to[k] = 2 * interpolate(interpolate(a0, a1, share_y), interpolate(b0, b1, share_y), share_x);
  }
}

/// A match in frame 1.
struct Place {
  const float *top, *bottom;  // the pixel to its upper left, and the one below
  float share_x, share_y;
  bool inside;
};

constexpr int most_side = 1 << 22;   // px, for which `whole` does
constexpr float whole = 8388608.0f;  // 2^23: floats from here on are whole numbers, which their low bits show

/// The match at (x, y), with the bits of `locate`. Small: the level's sides are at most most_side. That
/// takes fewer instructions, as nothing is converted to whole numbers and back.
template <bool Small>
__device__ __forceinline__ Place place_of(const Input& in, float x, float y) {
  const unsigned pitch = unsigned(in.pitch), down = in.height > 1 ? pitch : 0;
  if constexpr (!Small) {
    const Match match = locate(x, y, in.width, in.height);
    const float* const top = in.frame1 + (unsigned(match.y) * pitch + unsigned(match.x));
    return {top, top + down, match.share_x, match.share_y, match.inside};
  }
  const float near_x = clamp(x, 0.0f, float(in.width - 1)), near_y = clamp(y, 0.0f, float(in.height - 1));
  const float column = smaller_number(__fadd_rd(near_x, whole), whole + float(larger(in.width - 2, 0))),
              row = smaller_number(__fadd_rd(near_y, whole), whole + float(larger(in.height - 2, 0)));
  const unsigned offset = __float_as_uint(whole) * (pitch + 1);
  unsigned at;
  asm("mad.lo.u32 %0, %1, %2, %3;"  // the compiler would subtract twice
      : "=r"(at)
      : "r"(__float_as_uint(row)), "r"(pitch), "r"(__float_as_uint(column)));
  const float* const top = in.frame1 + (at - offset);
  return {top, top + down, near_x - (column - whole), near_y - (row - whole), near_x == x && near_y == y};
}

/// The four pixels around a match.
struct Neighbors {
  float a, b, c, d;
};
/// Wide: the level has more than one column.
template <bool Wide>
__device__ __forceinline__ Neighbors neighbors_at(const Input& in, const Place& place) {
  const int right = Wide || in.width > 1 ? 1 : 0;
  return {place.top[0], place.top[right], place.bottom[0], place.bottom[right]};
}
/// The bits of `sample`.
__device__ __forceinline__ float mixed(const Neighbors& n, const Place& place) {
  return interpolate(interpolate(n.a, n.b, place.share_x), interpolate(n.c, n.d, place.share_x),
                     place.share_y);
}

/// A tile's rows in shared memory, those under its windows included.
template <int Window>
struct Rows {
  int x0, y0;      // column and row of the level at the first place
  int begin, end;  // rows inside the level
  int own;         // rows of the tile
  float* products;
  int plane;  // floats from one equation's rows to those of the next
  Layout<Window> layout;
};

/// Makes the products of the rows inside the level. A task is Strip pixels of a column.
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
    // The last strip overlaps the one before. With too few rows for a strip, has_row leaves some out.
    const int row = larger(smaller(rows.begin + strip * Strip, rows.end - Strip), rows.begin);
    const int y = rows.y0 + row;
    const int x = Interior ? rows.x0 + column : clamp(rows.x0 + column, 0, in.width - 1);
    const unsigned at = unsigned(y * in.pitch + x), pitch = unsigned(in.pitch);
    const Slopes<Strip> slopes = slopes_at<Strip, Interior>(in, x, y);
    float u[Strip], v[Strip];
    if constexpr (FromCoarser) {
      enlarge_strip<Strip>(in.coarser.u, x, y, u);
      enlarge_strip<Strip>(in.coarser.v, x, y, v);
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
      float* const here = to + k * layout.pitch();
      here[0] = part.xx;
      here[rows.plane] = part.xy;
      here[2 * rows.plane] = part.yy;
      here[3 * rows.plane] = part.xt;
      here[4 * rows.plane] = part.yt;
    }
  }

  template <int Threads>
  __device__ __forceinline__ void make_all() const {
    const int count = (rows.end - rows.begin + Strip - 1) / Strip * rows.layout.columns();
    for (int i = int(threadIdx.x); i < count; i += Threads) make(i);
  }
};

/// sums[j] = values[j] + values[j + 1] + ... + values[j + window - 1], added from the left, where `values`
/// is line + layout.first(), and `line` is aligned for vectors.
template <int Window, int Columns>
__device__ __forceinline__ void sum_along(const float* line, const Layout<Window>& layout,
                                          float (&sums)[Columns]) {
  if constexpr (Window > 0) {
    constexpr int first = Layout<Window>{}.first(), count = (first + Columns + Window - 1 + 3) / 4 * 4;
    float held[count];
    PF_UNROLL
    for (int k = 0; k < count; k += 4) {
      const float4 four = *reinterpret_cast<const float4*>(line + k);
      held[k] = four.x;
      held[k + 1] = four.y;
      held[k + 2] = four.z;
      held[k + 3] = four.w;
    }
    PF_UNROLL
    for (int j = 0; j < Columns; ++j) {
      sums[j] = held[first + j];
      PF_UNROLL
      for (int k = 1; k < Window; ++k) sums[j] += held[first + j + k];
    }
  } else {
    const float* const values = line + layout.first();
    PF_UNROLL
    for (int j = 0; j < Columns; ++j) {
      sums[j] = values[j];
      for (int k = 1; k < layout.window(); ++k) sums[j] += values[j + k];
    }
  }
}

/// Sums Columns columns of a row, in place. All threads of a warp call it at once, for whole rows.
template <int Window, int Columns>
__device__ __forceinline__ void sum_in_place(float* line, const Layout<Window>& layout) {
  float sums[Columns];
  sum_along<Window, Columns>(line, layout, sums);
  __syncwarp();  // every lane has read the row that is now written over
  float4* const to = reinterpret_cast<float4*>(line + layout.origin());
  PF_UNROLL
  for (int i = 0; i < Columns / 4; ++i)
    to[i] = make_float4(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]);
}

/// Replaces the products of the rows inside the level by their sums along the rows. Spread: threads share
/// the equations of a row, as few rows leave many threads.
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
    // Eight neighboring lanes read from two rows, at places without conflicts of banks.
    const int part = lane % 4 + lane / 8 % 2 * 4, row_of_warp = lane / 4 % 2 + lane / 16 * 2;
    for (int first = rows.begin + rows_a_warp * warp; first < rows.end; first += Threads / threads_a_row) {
      const int row = smaller(first + row_of_warp, rows.end - 1);
      float* const line = rows.products + row * pitch + columns * part;
      PF_UNROLL
      for (int i = 0; i < equations; ++i) sum_in_place<Window, columns>(line + i * rows.plane, rows.layout);
    }
  }
}

/// Beyond the border the sums of the nearest row stand in. `count`: rows in shared memory.
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

/// sums[j] = the sum over `window` rows from row j on, added from the top.
template <int Window, int Count>
__device__ __forceinline__ void sum_down(const float* values, int pitch, int window, float (&sums)[Count]) {
  if constexpr (Window > 0) {
    PF_UNROLL
    for (int k = 0; k < Window + Count - 1; ++k) {
      const float value = values[k * pitch];
      PF_UNROLL
      for (int j = 0; j < Count; ++j)
        if (k >= j && k < j + Window) sums[j] = k == j ? value : sums[j] + value;
    }
  } else {
    PF_UNROLL
    for (int j = 0; j < Count; ++j) {
      sums[j] = values[j * pitch];
      for (int k = 1; k < window; ++k) sums[j] += values[(j + k) * pitch];
    }
  }
}

/// Window: side of the window, or 0 for any. Strip: rows of the tile that a thread makes and solves at once;
/// they divide tile_rows.
template <int Window, int Strip, int Threads, bool FromCoarser, bool Robust>
__global__ void __launch_bounds__(Threads, 1024 / Threads)
    least_squares_kernel(Input in, LeastSquares p, FlowPlanes out, Trust trust, int tile_rows) {
  begin_kernel();
  extern __shared__ float4 storage[];
  const Layout<Window> layout{p.before, p.after};
  const int window = layout.window(), pitch = layout.pitch(), width = in.width, height = in.height;
  const int x0 = int(blockIdx.x) * tile_width, y0 = int(blockIdx.y) * tile_rows;
  const int left = x0 - layout.before(), top = y0 - layout.before(), count = tile_rows + window - 1;
  const Rows<Window> rows{left,
                          top,
                          larger(0, -top),
                          smaller(count, height - top),
                          tile_rows,
                          reinterpret_cast<float*>(storage),
                          count * pitch,
                          layout};
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
    for (int j = 0; j < Strip; ++j) {  // rows below the level have sums, too
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
      const Match match{.inside = place[j].inside};
      if (y + j >= height) continue;
      trust.confidence(x, y + j) = confidence_of(eigenvalue, residual, match);
      trust.valid(x, y + j) = is_trusted(eigenvalue, residual, match, p);
    }
  }
}

std::size_t shared_bytes(int tile_rows, const LeastSquares& p) {
  constexpr std::size_t beyond = 8;  // floats that sum_along may read beyond the last row
  const int pitch = Layout<0>{p.before, p.after}.pitch();
  return (std::size_t(tile_rows + p.window() - 1) * std::size_t(pitch) * equations + beyond) * sizeof(float);
}

/// Rows of a tile that give the busiest multiprocessor the least work, halo included; above 16 a multiple of
/// 4, above 8 a multiple of 2.
int choose_tile_rows(const Cuda& cuda, Size size, const LeastSquares& p) {
  int best = 1;
  double least = 1e30;
  for (int rows = 1; rows <= 64; rows += rows < 8 ? 1 : rows < 16 ? 2 : 4) {
    if (rows > 1 && shared_bytes(rows, p) > cuda.shared_memory()) break;
    const int blocks = int(blocks_for(size.width, tile_width) * blocks_for(size.height, rows));
    const double work =
        double((blocks + cuda.multiprocessors() - 1) / cuda.multiprocessors()) * (rows + p.window() - 1 + 4);
    if (work >= least) continue;
    least = work;
    best = rows;
  }
  return best;
}

template <int Window, int Strip, int Threads>
void launch_step(Cuda& cuda, const Input& in, const LeastSquares& p, FlowPlanes out, Trust trust,
                 int tile_rows) {
  const std::size_t bytes = shared_bytes(tile_rows, p);
  const auto launch = [&](auto kernel) {
    if (bytes > 48 * 1024) cuda.allow_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
    const dim3 grid(blocks_for(in.width, tile_width), blocks_for(in.height, tile_rows));
    cuda.launch(kernel, grid, dim3(Threads), bytes, in, p, out, trust, tile_rows);
  };
  if (p.robust2 > 0)
    launch(in.coarser.u ? least_squares_kernel<Window, Strip, Threads, true, true>
                        : least_squares_kernel<Window, Strip, Threads, false, true>);
  else
    launch(in.coarser.u ? least_squares_kernel<Window, Strip, Threads, true, false>
                        : least_squares_kernel<Window, Strip, Threads, false, false>);
}

}  // namespace

template <class Backend>
void least_squares_step(Backend& cuda, View<const float> frame0, View<const float> frame1,
                        const LeastSquares& p, StartingFlow in, FlowPlanes out, Trust trust) {
  for (const View<float>& plane : {in.flow.u, in.flow.v, out.u, out.v})
    if (plane.pitch != frame0.pitch || plane.pitch != frame1.pitch)
      fail(ErrorCode::invalid_argument, "the planes of a level have pitches of ", plane.pitch, " and ",
           frame0.pitch, " bytes; they must be equal");
  const Input input{frame0.data,  frame1.data,   in.flow.u.data,       in.flow.v.data,
                    frame0.width, frame0.height, int(frame0.stride()), in.coarser};
  const int tile_rows = choose_tile_rows(cuda, frame0.size(), p);
  const auto blocks = int(blocks_for(input.width, tile_width) * blocks_for(input.height, tile_rows));
  const int window = larger(input.width, input.height) <= most_side ? p.window() : 0;
  with_constant<7, 9, 10, 11, 15>(window, [&]<int Window>() {
    if (tile_rows <= 8)
      launch_step<Window, 1, 1024>(cuda, input, p, out, trust, tile_rows);
    else if (tile_rows <= 16)
      launch_step<Window, 2, 1024>(cuda, input, p, out, trust, tile_rows);
    else if (blocks <= cuda.multiprocessors())
      launch_step<Window, 4, 1024>(cuda, input, p, out, trust, tile_rows);
    else
      launch_step<Window, 4, 512>(cuda, input, p, out, trust, tile_rows);  // two blocks on a multiprocessor
  });
}

PF_STEP(least_squares_step<Cuda>);

}  // namespace parafield
