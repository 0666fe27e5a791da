#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "markov/match/match.hpp"

// A block makes a tile, a thread a pixel, label after label: differences of the tile and of what its windows reach go to
// shared memory, means down replace them there, and each thread takes the mean along and keeps its winner.
namespace parafield {
namespace {

constexpr int tile_width = 64, tile_height = 16, threads = tile_width * tile_height;

__device__ float difference_at(const Matching& m, int lx, int ly, int x, int y) {
  const std::ptrdiff_t at = y * m.pitch + x;
  const std::ptrdiff_t to = (y + m.grid.y0 + ly) * m.pitch + x + (m.grid.x0 + lx) * m.step;
  return m.weight * smaller(with_term(m.term, m.color,
                                      [&]<DataTerm Term, bool Color>() {
                                        return data_term<Term, Color>(m.frame0, m.frame1, at, to);
                                      }),
                            m.limit);
}

/// Side: the window's where the compiler knows it, or 0.
template <int Side>
__global__ void __launch_bounds__(threads) match_kernel(Matching m, Volume volume, Winners winners) {
  begin_kernel();
  extern __shared__ float shared[];
  const int side = Side > 0 ? Side : m.window.side, radius = side / 2;
  const int columns = tile_width + 2 * radius, rows = tile_height + 2 * radius;
  float* const differences = shared;
  float* const means = shared + rows * columns;
  const int tx = int(threadIdx.x), ty = int(threadIdx.y);
  const int x0 = int(blockIdx.x) * tile_width, y0 = int(blockIdx.y) * tile_height, x = x0 + tx, y = y0 + ty;
  const bool inside = x < m.width && y < m.height;

  float least = 3e38f, before = 0, after = 0, last = 0;
  int best = 0;
  for (int ly = 0; ly < m.grid.ny; ++ly)
    for (int lx = 0; lx < m.grid.nx; ++lx) {
      float cost;
      if constexpr (Side == 1) {
        if (!inside) return;
        cost = difference_at(m, lx, ly, x, y);
      } else {
        for (int row = ty; row < rows; row += tile_height)
          for (int column = tx; column < columns; column += tile_width)
            differences[row * columns + column] =
                difference_at(m, lx, ly, clamp(x0 + column - radius, 0, m.width - 1),
                              clamp(y0 + row - radius, 0, m.height - 1));
        __syncthreads();
        for (int column = tx; column < columns; column += tile_width) {
          const float* down = differences + ty * columns + column;
          float sum = m.window.weight[0] * down[0];
          PF_UNROLL
          for (int k = 1; k < side; ++k) sum = fma(m.window.weight[k], down[k * columns], sum);
          means[ty * columns + column] = sum;
        }
        __syncthreads();
        const float* along = means + ty * columns + tx;
        cost = m.window.weight[0] * along[0];
        PF_UNROLL
        for (int k = 1; k < side; ++k) cost = fma(m.window.weight[k], along[k], cost);
      }
      const int label = ly * m.grid.nx + lx;
      if (volume && inside) volume.row(y, label)[x] = cost;
      const bool better = cost < least;
      if (best + 1 == label) after = cost;
      before = better ? last : before;
      least = better ? cost : least;
      best = better ? label : best;
      last = cost;
    }
  if (!inside || !winners.labels) return;
  const int ly = best / m.grid.nx;
  winners.labels(x, y) = m.grid.label(best - ly * m.grid.nx, ly);
  if (!winners.costs.middle) return;
  const bool between = best > 0 && best + 1 < m.grid.nx;
  winners.costs.middle(x, y) = least;
  winners.costs.before_x(x, y) = between ? before : least;
  winners.costs.after_x(x, y) = between ? after : least;
}

template <int Side>
void launch_match(Cuda& cuda, const Matching& m, Volume volume, Winners winners) {
  const std::size_t reach = std::size_t(m.window.side - 1);
  const std::size_t bytes =
      Side == 1 ? 0 : (tile_height + reach + tile_height) * (tile_width + reach) * sizeof(float);
  if (bytes > 48 * 1024) cuda.allow_shared_memory(reinterpret_cast<const void*>(match_kernel<Side>), bytes);
  cuda.launch(match_kernel<Side>, dim3(blocks_for(m.width, tile_width), blocks_for(m.height, tile_height)),
              dim3(tile_width, tile_height), bytes, m, volume, winners);
}

}  // namespace

template <>
void match(Cuda& cuda, const Matching& matching, Volume volume, Winners winners) {
  switch (matching.window.side) {
    case 1:
      return launch_match<1>(cuda, matching, volume, winners);
    case 7:
      return launch_match<7>(cuda, matching, volume, winners);
    default:
      return launch_match<0>(cuda, matching, volume, winners);
  }
}

}  // namespace parafield
