// SPDX-License-Identifier: MIT
#include "markov/launch.cuh"
#include "markov/match/match.hpp"

// A CUDA block computes a tile, and a thread a pixel. Each label goes through three stages: differences of
// the tile and its surroundings; means down the columns; means along the rows, and the winner. Between two
// barriers each stage works on a different label, so that no stage waits for another one's loads.
//
// Lower bound: 450x375 pixels with 64 disparities and a 7x7 window have 10.8e6 costs. An H100 takes 0.003 ms
// for 8 operations each (running sums), or 0.012 ms for 32 (sums in a fixed order). Measured: 0.080 ms
// (bench/results, commit ca9cc01), because tiles compute 1.9 times as many differences, and all operands come
// from shared memory.
namespace parafield {
namespace {

constexpr int match_width = 64, match_height = 8, match_threads = match_width * match_height;

/// weight * min(difference, limit). `Plain`: absolute differences of gray; otherwise chosen at run time.
template <bool Plain>
__device__ float difference_at(const Matching& m, std::ptrdiff_t at, std::ptrdiff_t to) {
  const float difference = Plain ? data_term<DataTerm::absolute, false>(m.frame0, m.frame1, at, to)
                                 : with_term(m.term, m.color, [&]<DataTerm Term, bool Color>() {
                                     return data_term<Term, Color>(m.frame0, m.frame1, at, to);
                                   });
  return m.weight * smaller(difference, m.limit);
}

/// Stores a pixel's winner.
__device__ void store(const WinnerSoFar& winner, const Matching& m, const Winners& winners, int x, int y) {
  if (!winners.labels) return;
  const int label = winner.label, ly = label / m.grid.nx;
  winners.labels(x, y) = m.grid.label(label - ly * m.grid.nx, ly);
  if (!winners.costs.middle) return;
  const bool between = label > 0 && label + 1 < m.grid.nx;
  winners.costs.middle(x, y) = winner.least;
  winners.costs.before_x(x, y) = between ? winner.before : winner.least;
  winners.costs.after_x(x, y) = between ? winner.after : winner.least;
}

/// `Side`: side of the window, or 0 if it is known only at run time.
template <int Side, bool Plain>
__global__ void __launch_bounds__(match_threads) match_kernel(Matching m, Volume volume, Winners winners) {
  begin_kernel();
  extern __shared__ float differences[];  // of two labels
  const int side = Side > 0 ? Side : m.window.side, radius = side / 2;
  const int columns = match_width + 2 * radius, rows = match_height + 2 * radius, pixels = rows * columns;
  float* const means = differences + 2 * pixels;
  const int tx = int(threadIdx.x), ty = int(threadIdx.y), thread = ty * match_width + tx;
  const int x0 = int(blockIdx.x) * match_width, y0 = int(blockIdx.y) * match_height, x = x0 + tx, y = y0 + ty;
  const bool inside = x < m.width && y < m.height;
  const int labels = m.grid.count(), nx = m.grid.nx;

  constexpr int known = Side > 0 ? Side - 1 : 0;
  constexpr int each = ((match_width + known) * (match_height + known) + match_threads - 1) / match_threads;
  int own[each];  // offsets of the pixels whose differences this thread computes
  const auto offset_of = [&](int i) {
    const int row = i / columns, column = i - row * columns;
    return clamp(y0 + row - radius, -m.above, m.height - 1 + m.below) * int(m.pitch) +
           clamp(x0 + column - radius, -m.left, m.width - 1 + m.right);
  };
  if constexpr (Side > 0) {
    PF_UNROLL
    for (int e = 0; e < each; ++e) own[e] = offset_of(smaller(thread + e * match_threads, pixels - 1));
  }

  WinnerSoFar winner;
  int lx = 0, ly = 0;  // label of the next differences
  for (int i = 0; i < labels + 2; ++i) {
    if (i < labels) {
      const std::ptrdiff_t shift = match_offset(m, lx, ly);
      float* const to = differences + (i & 1) * pixels;
      if constexpr (Side > 0) {
        PF_UNROLL
        for (int e = 0; e < each; ++e)
          if (e + 1 < each || thread + e * match_threads < pixels)
            to[thread + e * match_threads] = difference_at<Plain>(m, own[e], own[e] + shift);
      } else {
        for (int j = thread; j < pixels; j += match_threads) {
          const int at = offset_of(j);
          to[j] = difference_at<Plain>(m, at, at + shift);
        }
      }
      if (++lx == nx) lx = 0, ++ly;
    }
    if (i >= 1 && i <= labels) {
      const float* const from = differences + ((i - 1) & 1) * pixels + ty * columns;
      float* const to = means + ((i - 1) & 1) * match_height * columns + ty * columns;
      for (int column = tx; column < columns; column += match_width) {
        float sum = m.window.weight[0] * from[column];
        PF_UNROLL
        for (int k = 1; k < side; ++k) sum = fma(m.window.weight[k], from[k * columns + column], sum);
        to[column] = sum;
      }
    }
    if (i >= 2) {
      const float* const along = means + (i & 1) * match_height * columns + ty * columns + tx;
      float cost = m.window.weight[0] * along[0];
      PF_UNROLL
      for (int k = 1; k < side; ++k) cost = fma(m.window.weight[k], along[k], cost);
      if (volume && inside) volume.row(y, i - 2)[x] = cost;
      winner.update(cost, i - 2);
    }
    __syncthreads();
  }
  if (inside) store(winner, m, winners, x, y);
}

/// Matching without a window. Each thread matches its pixel independently.
template <bool Plain>
__global__ void __launch_bounds__(256) match_alone_kernel(Matching m, Volume volume, Winners winners) {
  begin_kernel();
  const int x = own_x(), y = own_y();
  if (x >= m.width || y >= m.height) return;
  const std::ptrdiff_t at = y * m.pitch + x;
  WinnerSoFar winner;
  for (int ly = 0; ly < m.grid.ny; ++ly)
#pragma unroll 4
    for (int lx = 0; lx < m.grid.nx; ++lx) {
      const int label = ly * m.grid.nx + lx;
      const float cost = difference_at<Plain>(m, at, at + match_offset(m, lx, ly));
      if (volume) volume.row(y, label)[x] = cost;
      winner.update(cost, label);
    }
  store(winner, m, winners, x, y);
}

/// Winners of a square grid of `Side` x `Side` labels with plain differences. A thread matches four pixels of
/// a row, which share the loads of their matches, so that a label takes a difference and a minimum.
template <int Side>
__global__ void __launch_bounds__(256) match_square_kernel(Matching m, View<Label> labels) {
  begin_kernel();
  constexpr int each = 4, reach = (Side / 2 + 1) / 2 * 2, shift = reach - Side / 2, count = 2 * reach + each;
  const int x = own_x() * each, y = own_y();
  if (x >= m.width || y >= m.height) return;
  const bool whole = x + each <= m.width;
  const float* const from = m.frame1.luma + (y + m.grid.y0) * m.pitch + x - reach;
  float values[each], least[each];
  int rows[each];
  PF_UNROLL
  for (int i = 0; i < each; ++i) {
    values[i] = m.frame0.luma[y * m.pitch + smaller(x + i, m.width - 1)];
    least[i] = 3e38f, rows[i] = 0;
  }
#pragma unroll 1
  for (int ly = 0; ly < Side; ++ly) {
    const float* const row = from + ly * m.pitch;
    float match[count];
    if (whole) {
      PF_UNROLL
      for (int i = 0; i < count; i += 4) {
        const float4 four = *reinterpret_cast<const float4*>(row + i);
        match[i] = four.x, match[i + 1] = four.y, match[i + 2] = four.z, match[i + 3] = four.w;
      }
    } else {
      for (int i = 0; i < count; ++i) match[i] = row[smaller(i, m.width - 1 - x + 2 * reach)];
    }
    PF_UNROLL
    for (int i = 0; i < each; ++i) {
      float best = magnitude(values[i] - match[i + shift]);
      PF_UNROLL
      for (int lx = 1; lx < Side; ++lx)
        best = smaller_number(best, magnitude(values[i] - match[i + shift + lx]));
      best = m.weight * smaller(best, m.limit);  // as for each label; both operations are monotonic
      rows[i] = best < least[i] ? ly : rows[i];
      least[i] = smaller_number(best, least[i]);
    }
  }
  PF_UNROLL
  for (int i = 0; i < each; ++i) {
    const float* const row = from + rows[i] * m.pitch + i + shift;
    int column = 0;
    if (x + i < m.width) {
      PF_UNROLL
      for (int lx = Side - 1; lx >= 0; --lx)
        column = m.weight * smaller(magnitude(values[i] - row[lx]), m.limit) == least[i] ? lx : column;
      labels(x + i, y) = m.grid.label(column, rows[i]);
    }
  }
}

/// Launches match_square_kernel if it supports the request, otherwise returns false. It does not support a
/// limit, because with one, matches outside the image are NaN.
bool launch_square(Cuda& cuda, const Matching& m, Volume volume, const Winners& winners) {
  const int side = m.grid.nx, reach = (side / 2 + 1) / 2 * 2;
  if (m.window.side != 1 || volume || !winners.labels || winners.costs.middle || m.grid.ny != side ||
      m.step != 1 || m.grid.x0 != -(side / 2) || m.limit < 1e30f || m.pitch % 4 != 0 ||
      reinterpret_cast<std::uintptr_t>(m.frame1.luma - reach) % sizeof(float4) != 0)
    return false;
  return with_one_of<5, 7, 9, 11, 13>(side, [&]<int Side>() {
    cuda.launch(match_square_kernel<Side>, pixel_grid({m.width, m.height}, 4), pixel_block, 0, m,
                winners.labels);
  });
}

template <bool Plain>
void launch_match(Cuda& cuda, const Matching& m, Volume volume, Winners winners) {
  if (m.window.side == 1)
    return cuda.launch(match_alone_kernel<Plain>, pixel_grid({m.width, m.height}), pixel_block, 0, m, volume,
                       winners);
  const dim3 grid(blocks_for(m.width, match_width), blocks_for(m.height, match_height));
  const std::size_t reach = std::size_t(m.window.side - 1);
  const std::size_t bytes = 2 * (2 * match_height + reach) * (match_width + reach) * sizeof(float);
  with_constant<3, 5, 7>(m.window.side, [&]<int Side>() {
    launch_shared(cuda, match_kernel<Side, Plain>, grid, dim3(match_width, match_height), bytes, m, volume,
                  winners);
  });
}

}  // namespace

template <class Backend>
void match(Backend& cuda, const Matching& matching, Volume volume, Winners winners) {
  const bool plain = matching.term == DataTerm::absolute && !matching.color;
  if (plain && launch_square(cuda, matching, volume, winners)) return;
  plain ? launch_match<true>(cuda, matching, volume, winners)
        : launch_match<false>(cuda, matching, volume, winners);
}

PF_STEP(match<Cuda>);

}  // namespace parafield
