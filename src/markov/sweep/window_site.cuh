// SPDX-License-Identifier: MIT
#pragma once
#include "markov/sweep/window_block.cuh"

/// Energies of a site's labels in a sweep over displacements: see windows.cuh.
namespace parafield {
namespace {

/// `sum` plus the absolute differences of the four bytes of two words.
__device__ unsigned add_distances(unsigned four, unsigned others, unsigned sum) {
#ifdef __CUDA_ARCH__
  unsigned result;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(result) : "r"(four), "r"(others), "r"(sum));
  return result;
#else  // tests/emulated
  return __vsadu4(four, others) + sum;
#endif
}

/// Site of a thread.
template <int Side, int Colors, int Strips>
struct WindowSite {
  using Block = WindowBlock<Side, Colors, Strips>;
  static constexpr int groups = (Side + 3) / 4;  // groups of label columns
  static constexpr int begin_of(int group) { return group * Side / groups; }

  int x, y;
  bool inside;
  Label label;
  float value, own[Side];  // own: pair costs along x
  float of_label;          // energy of the site's label; outside the image -1, below any other
  const float* window;     // match of label (0, 0)
  float* along_y;

  __device__ WindowSite(const Block& block, Sites sites, int strip) {
    const WindowEnergy& energy = block.energy;
    const int width = energy.width, height = energy.height, column = block.column_of(strip, sites),
              row = Block::row_of(strip) * Block::step_y;
    x = block.left + column, y = block.top + row;
    inside = x < width && y < height;
    PF_UNROLL
    for (int i = 0; i < Block::strips; ++i)
      if (i == strip) value = block.values[i];
    window = block.room.matches + row * Block::match_pitch + column;
    along_y = block.room.along_y + threadIdx.x;
    const Label* const near = block.room.labels + (row + 1) * Block::label_pitch + column + 1;
    label = near[0];
    const int lx = label & 255, ly = label >> 8;
    float along_x_of_label;
    if (energy.is_exact) {
      unsigned pairs[4];
      PF_UNROLL
      for (int i = 0; i < 4; ++i) {
        const Offset a = neighbor_offset(2 * i), b = neighbor_offset(2 * i + 1);
        pairs[i] = near[a.y * Block::label_pitch + a.x] | unsigned(near[b.y * Block::label_pitch + b.x])
                                                              << 16;
      }
      const float slope = energy.pair.slope, zero = slope * -8388608.0f;
      // Computes all pair costs. Each byte of inner0 and inner1 is 1 if there is such a neighbor, else 0.
      const auto fill = [&](unsigned inner0, unsigned inner1) {
        const unsigned x0 = __byte_perm(pairs[0], pairs[1], 0x6420) & (inner0 * 255),
                       x1 = __byte_perm(pairs[2], pairs[3], 0x6420) & (inner1 * 255),
                       y0 = __byte_perm(pairs[0], pairs[1], 0x7531) & (inner0 * 255),
                       y1 = __byte_perm(pairs[2], pairs[3], 0x7531) & (inner1 * 255);
        const auto cost = [&](unsigned four, unsigned others, int l) {
          const unsigned sum = add_distances(others, l * inner1, add_distances(four, l * inner0, 0x4b000000));
          return fma(__uint_as_float(sum), slope, zero);  // 0x4b000000 has the bits of 8388608.0f
        };
        PF_UNROLL
        for (int l = 0; l < Side; ++l) own[l] = cost(x0, x1, l);
        PF_UNROLL
        for (int l = 0; l < Side; ++l) along_y[l * site_threads] = cost(y0, y1, l);
        along_x_of_label = cost(x0, x1, lx);
      };
      const bool is_inner = x > 0 && y > 0 && x + 1 < width && y + 1 < height && energy.pair.neighbors == 8;
      if (__all_sync(0xffffffff, is_inner)) {
        fill(0x01010101, 0x01010101);
      } else {
        unsigned inner0 = 0x01010101, inner1 = energy.pair.neighbors == 4 ? 0 : inner0;
        if (x == 0) inner0 &= 0xffffff00, inner1 &= 0x00ffff00;
        if (y == 0) inner0 &= 0xffff00ff, inner1 &= 0xffff0000;
        if (x + 1 >= width) inner0 &= 0xff00ffff, inner1 &= 0xff0000ff;
        if (y + 1 >= height) inner0 &= 0x00ffffff, inner1 &= 0x0000ffff;
        fill(inner0, inner1);
      }
    } else {
      const auto fill = [&]<int Neighbors>() {
        Neighbor around[Neighbors];
        PF_UNROLL
        for (int k = 0; k < Neighbors; ++k) {
          const Offset to = neighbor_offset(k);
          const Label other = near[to.y * Block::label_pitch + to.x];
          const bool is_inner =
              x + to.x >= 0 && x + to.x < width && y + to.y >= 0 && y + to.y < height && inside;
          around[k] = {float(other & 255), float(other >> 8), is_inner ? energy.edges.weight(x, y, k) : 0.0f};
        }
        const auto neighbor = [&](int k) { return around[k]; };
#pragma unroll 4
        for (int l = 0; l < Side; ++l)
          along_y[l * site_threads] =
              pair_costs<PairModel::separable, Neighbors, true, false>(energy.pair, float(l), 0, neighbor);
        along_x_of_label = along_y[lx * site_threads];
        PF_UNROLL
        for (int l = 0; l < Side; ++l) own[l] = along_y[l * site_threads];
#pragma unroll 4
        for (int l = 0; l < Side; ++l)
          along_y[l * site_threads] =
              pair_costs<PairModel::separable, Neighbors, false, true>(energy.pair, 0, float(l), neighbor);
      };
      energy.pair.neighbors == 4 ? fill.template operator()<4>() : fill.template operator()<8>();
    }
    of_label = (magnitude(value - window[ly * Block::match_pitch + lx]) + along_x_of_label) +
               along_y[ly * site_threads];
    if (!inside) of_label = -1;
  }

  __device__ float along_row(int ly) const { return along_y[ly * site_threads]; }

  /// The least pair cost along x of a group.
  __device__ float least_of(int group) const {
    float least = own[begin_of(group)];
    for (int lx = begin_of(group) + 1; lx < begin_of(group + 1); ++lx) least = smaller_number(least, own[lx]);
    return least;
  }

  /// The matches of a row of labels.
  struct Row {
    float match[Side + 1];
  };
  __device__ Row row(int ly) const {
    Row row;
    const float* const from = window + ly * Block::match_pitch;
    if constexpr (Colors == 4) {
      PF_UNROLL
      for (int i = 0; i <= Side; i += 2) {
        const float2 two = *reinterpret_cast<const float2*>(from + i);
        row.match[i] = two.x, row.match[i + 1] = two.y;
      }
    } else {
      PF_UNROLL
      for (int i = 0; i < Side; ++i) row.match[i] = from[i];
    }
    return row;
  }
  /// Energy of a label without its pair costs along y.
  __device__ float cost(const Row& row, int lx) const { return magnitude(value - row.match[lx]) + own[lx]; }

  /// Calls use(ly, energy) with the least energy of each row that may contain the overall minimum. Data costs
  /// are never negative, so a row is skipped if its pair costs alone exceed an energy that is already known,
  /// at all sites of the warp.
  template <class Use>
  __device__ void try_rows(float least_own, Use use) const {
    float limit = of_label, next = along_row(0);
#pragma unroll 1
    for (int ly = 0; ly < Side; ++ly) {
      const float along = next;
      next = along_row(ly + 1);
      if (!__any_sync(0xffffffff, least_own + along <= limit)) continue;
      const Row matches = row(ly);
      float best[4];
      PF_UNROLL
      for (int lx = 0; lx < Side; ++lx)
        best[lx % 4] = lx < 4 ? cost(matches, lx) : smaller_number(best[lx % 4], cost(matches, lx));
      const float least =
          smaller_number(smaller_number(best[0], best[1]), smaller_number(best[2], best[3])) + along;
      use(ly, least);  // rounding is monotonic
      limit = smaller_number(limit, least);
    }
  }
};

}  // namespace
}  // namespace parafield
