#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "markov/match/match.hpp"

// A block makes a tile, a thread a pixel, label after label in three stages: differences of the tile and of what its
// windows reach, means down the columns, means along the rows and the winner. Between two barriers one label is in each
// stage, so that none waits for another's loads.
//
// Floor: at 450x375 with 64 disparities and a 7x7 window, 10.8 M costs of at least 8 operations (running sums) take an
// H100 0.003 ms, of 32 (sums in a fixed order, 7 + 7 products) 0.012. Measured 0.080 of a call's 0.094 ms (bench/results,
// commit ca9cc01): tiles of 64 x 8 make 1.9 times the differences, and every operand of the sums comes from shared memory.
namespace parafield {
namespace {

constexpr int tile_width = 64, tile_height = 8, threads = tile_width * tile_height;

/// Whether differences are plain: absolute, of gray. Others find their way at run time.
template <bool Plain>
__device__ float difference_at(const Matching& m, std::ptrdiff_t at, std::ptrdiff_t to) {
  const float difference = Plain ? data_term<DataTerm::absolute, false>(m.frame0, m.frame1, at, to)
                                 : with_term(m.term, m.color, [&]<DataTerm Term, bool Color>() {
                                     return data_term<Term, Color>(m.frame0, m.frame1, at, to);
                                   });
  return m.weight * smaller(difference, m.limit);
}

/// How far a label moves a pixel, as an offset.
__device__ std::ptrdiff_t shift_of(const Matching& m, int lx, int ly) {
  return (m.grid.y0 + ly) * m.pitch + (m.grid.x0 + lx) * m.step;
}

/// The winner so far, and the costs beside it.
struct Winner {
  float least = 3e38f, before = 0, after = 0, last = 0;
  int label = 0;

  __device__ void update(float cost, int next) {
    if (label + 1 == next) after = cost;
    const bool better = cost < least;
    before = better ? last : before;
    least = better ? cost : least;
    label = better ? next : label;
    last = cost;
  }
  __device__ void store(const Matching& m, const Winners& winners, int x, int y) const {
    if (!winners.labels) return;
    const int ly = label / m.grid.nx;
    winners.labels(x, y) = m.grid.label(label - ly * m.grid.nx, ly);
    if (!winners.costs.middle) return;
    const bool between = label > 0 && label + 1 < m.grid.nx;
    winners.costs.middle(x, y) = least;
    winners.costs.before_x(x, y) = between ? before : least;
    winners.costs.after_x(x, y) = between ? after : least;
  }
};

/// Side: the window's where the compiler knows it, or 0.
template <int Side, bool Plain>
__global__ void __launch_bounds__(threads) match_kernel(Matching m, Volume volume, Winners winners) {
  begin_kernel();
  extern __shared__ float shared[];
  const int side = Side > 0 ? Side : m.window.side, radius = side / 2;
  const int columns = tile_width + 2 * radius, rows = tile_height + 2 * radius, pixels = rows * columns;
  float* const differences = shared;  // two labels'
  float* const means = shared + 2 * pixels;
  const int tx = int(threadIdx.x), ty = int(threadIdx.y), thread = ty * tile_width + tx;
  const int x0 = int(blockIdx.x) * tile_width, y0 = int(blockIdx.y) * tile_height, x = x0 + tx, y = y0 + ty;
  const bool inside = x < m.width && y < m.height;
  const int labels = m.grid.count(), nx = m.grid.nx;

  constexpr int known = Side > 0 ? Side - 1 : 0;
  constexpr int each = ((tile_width + known) * (tile_height + known) + threads - 1) / threads;
  int own[each];  // offsets of the pixels that this thread fills
  const auto offset_of = [&](int i) {
    const int row = i / columns, column = i - row * columns;
    return clamp(y0 + row - radius, -m.above, m.height - 1 + m.below) * int(m.pitch) +
           clamp(x0 + column - radius, -m.left, m.width - 1 + m.right);
  };
  if constexpr (Side > 0) {
    PF_UNROLL
    for (int e = 0; e < each; ++e) own[e] = offset_of(smaller(thread + e * threads, pixels - 1));
  }

  Winner winner;
  int lx = 0, ly = 0;  // of the label whose differences are next
  for (int i = 0; i < labels + 2; ++i) {
    if (i < labels) {
      const std::ptrdiff_t shift = shift_of(m, lx, ly);
      float* const to = differences + (i & 1) * pixels;
      if constexpr (Side > 0) {
        PF_UNROLL
        for (int e = 0; e < each; ++e)
          if (e + 1 < each || thread + e * threads < pixels)
            to[thread + e * threads] = difference_at<Plain>(m, own[e], own[e] + shift);
      } else {
        for (int j = thread; j < pixels; j += threads) {
          const int at = offset_of(j);
          to[j] = difference_at<Plain>(m, at, at + shift);
        }
      }
      if (++lx == nx) lx = 0, ++ly;
    }
    if (i >= 1 && i <= labels) {
      const float* const from = differences + ((i - 1) & 1) * pixels + ty * columns;
      float* const to = means + ((i - 1) & 1) * tile_height * columns + ty * columns;
      for (int column = tx; column < columns; column += tile_width) {
        float sum = m.window.weight[0] * from[column];
        PF_UNROLL
        for (int k = 1; k < side; ++k) sum = fma(m.window.weight[k], from[k * columns + column], sum);
        to[column] = sum;
      }
    }
    if (i >= 2) {
      const float* const along = means + (i & 1) * tile_height * columns + ty * columns + tx;
      float cost = m.window.weight[0] * along[0];
      PF_UNROLL
      for (int k = 1; k < side; ++k) cost = fma(m.window.weight[k], along[k], cost);
      if (volume && inside) volume.row(y, i - 2)[x] = cost;
      winner.update(cost, i - 2);
    }
    __syncthreads();
  }
  if (inside) winner.store(m, winners, x, y);
}

/// Without a window: a thread a pixel, by itself.
template <bool Plain>
__global__ void __launch_bounds__(256) match_alone_kernel(Matching m, Volume volume, Winners winners) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= m.width || y >= m.height) return;
  const std::ptrdiff_t at = y * m.pitch + x;
  Winner winner;
  for (int ly = 0; ly < m.grid.ny; ++ly)
#pragma unroll 4
    for (int lx = 0; lx < m.grid.nx; ++lx) {
      const int label = ly * m.grid.nx + lx;
      const float cost = difference_at<Plain>(m, at, at + shift_of(m, lx, ly));
      if (volume) volume.row(y, label)[x] = cost;
      winner.update(cost, label);
    }
  winner.store(m, winners, x, y);
}

template <bool Plain>
void launch_match_alone(Cuda& cuda, const Matching& m, Volume volume, Winners winners) {
  cuda.launch(match_alone_kernel<Plain>, dim3(blocks_for(m.width, 32), blocks_for(m.height, 8)), dim3(32, 8),
              0, m, volume, winners);
}

template <int Side, bool Plain>
void launch_match(Cuda& cuda, const Matching& m, Volume volume, Winners winners) {
  const std::size_t reach = std::size_t(m.window.side - 1);
  const std::size_t bytes = 2 * (2 * tile_height + reach) * (tile_width + reach) * sizeof(float);
  if (bytes > 48 * 1024)
    cuda.allow_shared_memory(reinterpret_cast<const void*>(match_kernel<Side, Plain>), bytes);
  cuda.launch(match_kernel<Side, Plain>,
              dim3(blocks_for(m.width, tile_width), blocks_for(m.height, tile_height)),
              dim3(tile_width, tile_height), bytes, m, volume, winners);
}

template <bool Plain>
void launch_match(Cuda& cuda, const Matching& m, Volume volume, Winners winners) {
  switch (m.window.side) {
    case 1:
      return launch_match_alone<Plain>(cuda, m, volume, winners);
    case 3:
      return launch_match<3, Plain>(cuda, m, volume, winners);
    case 5:
      return launch_match<5, Plain>(cuda, m, volume, winners);
    case 7:
      return launch_match<7, Plain>(cuda, m, volume, winners);
    default:
      return launch_match<0, Plain>(cuda, m, volume, winners);
  }
}

}  // namespace

template <>
void match(Cuda& cuda, const Matching& matching, Volume volume, Winners winners) {
  const bool plain = matching.term == DataTerm::absolute && !matching.color;
  plain ? launch_match<true>(cuda, matching, volume, winners)
        : launch_match<false>(cuda, matching, volume, winners);
}

}  // namespace parafield
