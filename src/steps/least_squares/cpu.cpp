// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/least_squares/least_squares.hpp"
#include "steps/warp/sample_row.hpp"

// Each thread processes a band of rows, tile by tile. For each row, it computes the products of the
// derivatives and sums them along the row, and keeps these sums for as many rows as the window has. Their
// sums along columns are the normal equations of a row of pixels, which it then solves. Each pixel takes 4
// gathered values and 5 loads for its products, 2 * 5 * (window - 1) additions and one division.
namespace parafield {
namespace {

constexpr int equations = NormalEquations::count;

/// out[x] = in[x] + in[x + 1] + ... + in[x + window - 1], added in this order. If `Window` is above 0, it is
/// the window, known at compile time; if it is 0, `window` counts. The same holds for the functions below.
template <int Window>
void sum_along(const float* __restrict in, float* __restrict out, int count, int window) {
  if constexpr (Window > 0) {
    for (int x = 0; x < count; ++x) {
      float sum = in[x];
      PF_UNROLL
      for (int k = 1; k < Window; ++k) sum += in[x + k];
      out[x] = sum;
    }
  } else {
    for (int x = 0; x < count; ++x) out[x] = in[x];
    for (int k = 1; k < window; ++k)
      for (int x = 0; x < count; ++x) out[x] += in[x + k];
  }
}

/// out[x] = the sum of rows[k][offset + x] over k = 0 to window - 1, added in this order.
template <int Window>
void sum_down(const float* const* rows, std::ptrdiff_t offset, float* __restrict out, int count, int window) {
  if constexpr (Window > 0) {
    const float* in[Window];
    PF_UNROLL
    for (int k = 0; k < Window; ++k) in[k] = rows[k] + offset;
    for (int x = 0; x < count; ++x) {
      float sum = in[0][x];
      PF_UNROLL
      for (int k = 1; k < Window; ++k) sum += in[k][x];
      out[x] = sum;
    }
  } else {
    for (int x = 0; x < count; ++x) out[x] = rows[0][offset + x];
    for (int k = 1; k < window; ++k) {
      const float* in = rows[k] + offset;
      for (int x = 0; x < count; ++x) out[x] += in[x];
    }
  }
}

/// A tile: columns x0 to x1 - 1 of a level, with one thread's scratch memory.
struct Tile {
  View<const float> frame0, frame1;
  LeastSquares p;
  FlowPlanes in, out;
  Trust trust;
  int x0, x1;
  float* scratch;

  int width() const { return x1 - x0; }
  /// Floats from one equation's row to the next equation's row.
  std::ptrdiff_t stride() const { return least_squares_tile + 64; }
  /// Scratch memory with one row per equation: sums along row y, sums over the window, products of a row.
  float* row_sums(int y) const { return scratch + y % p.window() * equations * stride(); }
  float* window_sums() const { return scratch + p.window() * equations * stride(); }
  float* products() const { return window_sums() + equations * stride(); }
  std::ptrdiff_t products_stride() const { return stride() + p.window(); }
};

/// Computes the products of row y at columns begin to end - 1 into out[equation * stride + x]. `Interior`: no
/// horizontal derivative reaches beyond the border. `Robust`: pixels have weights.
template <bool Interior, bool Robust>
PF_HD void products_part(const Tile& tile, int y, int begin, int end, float* __restrict out) {
  const View<const float> frame0 = tile.frame0, frame1 = tile.frame1;
  const int width = frame0.width, height = frame0.height;
  const std::ptrdiff_t stride = tile.products_stride();
  const float* row = frame0.row(y);
  const float *above2 = frame0.row(clamp(y - 2, 0, height - 1)),
              *above = frame0.row(clamp(y - 1, 0, height - 1)),
              *below = frame0.row(clamp(y + 1, 0, height - 1)),
              *below2 = frame0.row(clamp(y + 2, 0, height - 1));
  const float *u = tile.in.u.row(y), *v = tile.in.v.row(y);
  const float robust2 = Robust ? tile.p.robust2 : 0, line = float(y);
  if (Robust && !(robust2 > 0)) __builtin_unreachable();  // a branch in the loop would prevent vectorization
  for_samples(
      frame1.data, int(frame1.stride()), width, height, begin, end, [=](int x) { return float(x) + u[x]; },
      [=](int x) { return line + v[x]; },
      [=](int x, float value, bool inside) {
        const float gx = Interior ? derivative(row[x - 2], row[x - 1], row[x + 1], row[x + 2])
                                  : derivative_at(row, x, width);
        const float gy = derivative(above2[x], above[x], below[x], below2[x]);
        normal_equations(gx, gy, value - row[x], inside, u[x], v[x], robust2).store(out + x, stride);
      });
}

/// Computes the products of row y and their sums along the row over each column's window in the tile.
template <int Window>
void sum_row(const Tile& tile, int y) {
  const int width = tile.frame0.width, before = tile.p.before;
  const int left = tile.x0 - before, right = tile.x1 + tile.p.after;  // columns under the windows
  const int begin = larger(left, 0), end = smaller(right, width);
  const std::ptrdiff_t stride = tile.products_stride();
  float* products = tile.products() - left;
  const int inner_begin = clamp(2, begin, end), inner_end = clamp(width - 2, inner_begin, end);
  const auto parts = [&]<bool Robust>() {
    products_part<false, Robust>(tile, y, begin, inner_begin, products);
    products_part<true, Robust>(tile, y, inner_begin, inner_end, products);
    products_part<false, Robust>(tile, y, inner_end, end, products);
  };
  tile.p.robust2 > 0 ? parts.template operator()<true>() : parts.template operator()<false>();
  float* sums = tile.row_sums(y);
  for (int i = 0; i < equations; ++i) {
    float* row = products + i * stride;
    for (int x = left; x < begin; ++x) row[x] = row[begin];
    for (int x = end; x < right; ++x) row[x] = row[end - 1];
    sum_along<Window>(row + left, sums + i * tile.stride(), tile.width(), tile.p.window());
  }
}

/// Solves row y from the sums along the rows under its window. Also stores confidence and validity if `trust`
/// has data.
template <int Window>
void solve_row(const Tile& tile, int y) {
  const int width = tile.frame0.width, height = tile.frame0.height, count = tile.width(), x0 = tile.x0;
  const std::ptrdiff_t stride = tile.stride();
  const float* rows[32];
  for (int k = 0; k < tile.p.window(); ++k)
    rows[k] = tile.row_sums(clamp(y - tile.p.before + k, 0, height - 1));
  float* __restrict sums = tile.window_sums();
  for (int i = 0; i < equations; ++i)
    sum_down<Window>(rows, i * stride, sums + i * stride, count, tile.p.window());

  const float *u = tile.in.u.row(y) + x0, *v = tile.in.v.row(y) + x0;
  float* __restrict out_u = tile.out.u.row(y) + x0, * __restrict out_v = tile.out.v.row(y) + x0;
  const float alpha = tile.p.alpha;
  for (int x = 0; x < count; ++x) {
    const NormalEquations sum = NormalEquations::load(sums + x, stride);
    const Motion solution = solve(sum, u[x], v[x], alpha, width, height);
    out_u[x] = solution.u;
    out_v[x] = solution.v;
  }
  if (!tile.trust.valid) return;
  const float* luma = tile.frame0.row(y) + x0;
  unsigned char* __restrict valid = tile.trust.valid.row(y) + x0;
  float* __restrict confidence = tile.trust.confidence.row(y) + x0;
  const LeastSquares p = tile.p;
  const float line = float(y), least = tile.trust.least;
  for_samples(
      tile.frame1.data, int(tile.frame1.stride()), width, height, 0, count,
      [=](int x) { return float(x0 + x) + out_u[x]; }, [=](int x) { return line + out_v[x]; },
      [=](int x, float value, bool inside) {
        const float eigenvalue =
            smaller_eigenvalue(sums[x], sums[stride + x], sums[2 * stride + x]) * p.eigenvalue_unit;
        const float residual = value - luma[x];
        const float certainty = confidence_of(eigenvalue, residual, inside);
        confidence[x] = certainty;
        valid[x] = (certainty >= least) & is_trusted(eigenvalue, residual, inside, p);
      });
}

/// Solves the rows of a band in one tile, from top to bottom.
template <int Window>
void solve_band(const Tile& tile, RowRange band) {
  const int last = tile.frame0.height - 1;
  int next = larger(0, band.begin - tile.p.before);  // first row without sums
  for (int y = band.begin; y < band.end; ++y) {
    for (; next <= smaller(last, y + tile.p.after); ++next) sum_row<Window>(tile, next);
    solve_row<Window>(tile, y);
  }
}

}  // namespace

template <class Backend>
void least_squares_step(Backend& cpu, View<const float> frame0, View<const float> frame1,
                        const LeastSquares& p, StartingFlow in, FlowPlanes out, Trust trust, bool) {
  if (in.coarser.u) enlarge_flow(cpu, in.coarser, in.flow);
  const int width = frame0.width;
  const int tiles = (width + least_squares_tile - 1) / least_squares_tile;
  cpu.bands(frame0.height, [=](RowRange rows, char* scratch) {
    for (int i = 0; i < tiles; ++i) {
      const int x0 = int((long long)width * i / tiles), x1 = int((long long)width * (i + 1) / tiles);
      const Tile tile{frame0, frame1, p, in.flow, out, trust, x0, x1, reinterpret_cast<float*>(scratch)};
      with_constant<5, 7, 9, 10, 11, 15, 21>(p.window(),
                                             [&]<int Window>() { solve_band<Window>(tile, rows); });
    }
  });
}

PF_STEP(least_squares_step<Cpu>);

}  // namespace parafield
