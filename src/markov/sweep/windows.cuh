// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>

#include "markov/sweep/sites.cuh"

/// Sweeps over displacements by plain differences, with linear smoothness. A block keeps the matches of its
/// sites, the labels around them and a table of their pair costs in shared memory. Pair costs along x are in
/// registers: a label takes two additions and a minimum, and a row of labels one more addition.
///
/// Data costs are not below 0. So labels whose pair costs alone are above a known energy cannot have the
/// least one, and the Gibbs sampler need not weigh labels whose weights do not count. Warps leave out what
/// all their sites can do without: rows of labels, and groups of columns. No bit of a result changes.
///
/// Floor, displacements to 6 px at 1024x1024 on an H100 (132 SMs, 4 instructions a clock, 1.755 GHz): 12 MB
/// take 0.004 ms. If no label is left out, 3 instructions for each of 169 labels take 0.018 ms in ICM, and 22
/// in the Gibbs sampler (3 for the least energy, 3 for the energy again, 16 for its weight and the sum) 0.131
/// ms. Measured for the scene of bench/jodoin, everything included: ICM 0.65 ms (ten sweeps), the sampler
/// 0.124 ms in the mean of 500 sweeps (kernels alone: 0.20 ms at temperature 20, 0.076 ms at 0.5).
namespace parafield {
namespace {

/// Absolute differences of gray for displacements, with weight 1 and without a limit, as in most uses.
struct PlainDifferences {
  const float *frame0, *frame1;
  std::ptrdiff_t pitch;
  int x0, y0;
};

struct WindowEnergy : Energy<PlainDifferences> {
  bool is_exact = false;  // pair costs are the slope times whole numbers, without rounding
};

/// Whether slope * i is exact for all whole numbers i up to 128.
inline bool is_short(float slope) {
  int exponent;
  const float significand = std::frexp(slope, &exponent) * 0x1p17f;
  return significand == std::floor(significand);
}

inline WindowEnergy window_energy(const Energy<Differences<1>>& energy) {
  const Differences<1>& d = energy.data;
  return {{energy.width,
           energy.height,
           energy.grid,
           energy.pair,
           energy.edges,
           {d.frame0[0], d.frame1[0], d.pitch, d.x0, d.y0}},
          !energy.edges.forward[0] && is_short(energy.pair.slope)};
}

/// Sum of `sum` and the distances of four bytes to four others.
__device__ unsigned add_distances(unsigned four, unsigned others, unsigned sum) {
#ifdef __CUDA_ARCH__
  unsigned result;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(result) : "r"(four), "r"(others), "r"(sum));
  return result;
#else  // tests/emulated
  return __vsadu4(four, others) + sum;
#endif
}

/// Sites of a block: `strips` times 16 x 8 sites of one of `Colors` colors. A warp has 8 x 4 of each strip.
/// Every thread has a site in each strip; it may lie outside the image.
template <int Side, int Colors, int Strips>
struct WindowBlock {
  static constexpr int strips = Strips;
  static constexpr int step_x = Colors == 1 ? 1 : 2, step_y = Colors == 4 ? 2 : 1;
  static constexpr int columns = 16, rows = 8 * strips, warps = threads / 32;  // sites
  // A row of matches ends with one more, as they are read in twos. Rows of a warp begin in different banks.
  static constexpr int match_columns = step_x * (columns - 1) + (Colors == 2 ? 1 : 0) + Side + 1,
                       match_rows = step_y * (rows - 1) + Side,
                       match_pitch = (match_columns + 7) / 16 * 16 + 8;
  static constexpr int label_columns = step_x * (columns - 1) + (Colors == 2 ? 1 : 0) + 3,
                       label_rows = step_y * (rows - 1) + 3, label_pitch = 40;

  struct Room {
    alignas(8) float matches[match_rows * match_pitch];
    Label labels[label_rows * label_pitch];
    float along_y[(Side + 1) * threads];  // pair costs: each thread's column, and room to read one beyond
  };

  const WindowEnergy& energy;
  Room& room;
  const int left, top;
  float values[strips];

  __device__ WindowBlock(const WindowEnergy& energy, View<const Label> labels, Sites sites, Room& room)
      : energy(energy),
        room(room),
        left(int(blockIdx.x) * columns * step_x + (Colors == 4 ? sites.color & 1 : 0)),
        top(int(blockIdx.y) * rows * step_y + (Colors == 4 ? sites.color >> 1 : 0)) {
    const int width = energy.width, height = energy.height;
    const PlainDifferences& data = energy.data;
    const int pitch = int(data.pitch), warp = int(threadIdx.x) >> 5, lane = int(threadIdx.x) & 31;
    // Matches of sites outside the image are not used.
    const int last_column = width - 1 - left + Side - 1, last_row = height - 1 - top + Side - 1;
    const float* const matches = data.frame1 + (top + data.y0) * data.pitch + left + data.x0;
    const int last_lane = smaller(lane, last_column), last_other = smaller(lane + 32, last_column);
    float* const to = room.matches + warp * match_pitch + lane;
    PF_UNROLL
    for (int first = 0; first < match_rows; first += warps) {
      const float* const from = matches + smaller(first + warp, last_row) * pitch;
      if (first + warps > match_rows && first + warp >= match_rows) continue;
      if (match_columns >= 32 || lane < match_columns) copy_later(to + first * match_pitch, from + last_lane);
      if (lane + 32 < match_columns) copy_later(to + first * match_pitch + 32, from + last_other);
    }
    constexpr int label_turns = (label_rows + warps - 1) / warps, label_parts = label_columns > 32 ? 2 : 1;
    Label near[label_turns][label_parts];
    const int label_stride = int(labels.stride());
    PF_UNROLL
    for (int i = 0; i < label_turns; ++i) PF_UNROLL
    for (int j = 0; j < label_parts; ++j)
      near[i][j] = labels.data[clamp(top - 1 + i * warps + warp, 0, height - 1) * label_stride +
                               clamp(left - 1 + lane + 32 * j, 0, width - 1)];
    PF_UNROLL
    for (int i = 0; i < label_turns; ++i) PF_UNROLL
    for (int j = 0; j < label_parts; ++j)
      if (lane + 32 * j < label_columns && (i + 1 < label_turns || i * warps + warp < label_rows))
        room.labels[(i * warps + warp) * label_pitch + lane + 32 * j] = near[i][j];
    PF_UNROLL
    for (int strip = 0; strip < strips; ++strip)
      values[strip] =
          data.frame0[smaller(y_of(strip), height - 1) * pitch + smaller(x_of(strip, sites), width - 1)];
  }

  /// Copies a float to shared memory, until `wait`.
  __device__ static void copy_later(float* to, const float* from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(unsigned(__cvta_generic_to_shared(to))),
                 "l"(from)
                 : "memory");
#else
    *to = *from;
#endif
  }
  /// Waits until all threads' parts are there.
  __device__ static void wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    __syncthreads();
  }

  // Of this thread's site in a strip.
  __device__ static int row_of(int strip) {
    return strip * 8 + (int(threadIdx.x) >> 6) * 4 + ((int(threadIdx.x) & 31) >> 3);
  }
  __device__ int y_of(int strip) const { return top + row_of(strip) * step_y; }
  __device__ int column_of(int strip, Sites sites) const {
    const int column = ((int(threadIdx.x) >> 5 & 1) * 8 + (int(threadIdx.x) & 7)) * step_x;
    return column + (Colors == 2 ? sites.first(y_of(strip)) : 0);
  }
  __device__ int x_of(int strip, Sites sites) const { return left + column_of(strip, sites); }
};

/// Site of a thread.
template <int Side, int Colors, int Strips>
struct WindowSite {
  using Block = WindowBlock<Side, Colors, Strips>;
  static constexpr int groups = (Side + 3) / 4;  // of the columns of labels
  static constexpr int begin_of(int group) { return group * Side / groups; }

  int x, y;
  bool inside;
  Label label;
  float value, own[Side];  // own: pair costs along x
  float of_label;          // energy of the site's label; below any other outside the image
  const float* window;     // matches: that of label (0, 0)
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
      // Sets all pair costs. Each byte of inner0 and inner1 is 1, or 0 without such a neighbor.
      const auto fill = [&](unsigned inner0, unsigned inner1) {
        const unsigned x0 = __byte_perm(pairs[0], pairs[1], 0x6420) & (inner0 * 255),
                       x1 = __byte_perm(pairs[2], pairs[3], 0x6420) & (inner1 * 255),
                       y0 = __byte_perm(pairs[0], pairs[1], 0x7531) & (inner0 * 255),
                       y1 = __byte_perm(pairs[2], pairs[3], 0x7531) & (inner1 * 255);
        const auto cost = [&](unsigned four, unsigned others, int l) {
          const unsigned sum = add_distances(others, l * inner1, add_distances(four, l * inner0, 0x4b000000));
          return fma(__uint_as_float(sum), slope, zero);  // the bits 0x4b000000 are those of 8388608
        };
        PF_UNROLL
        for (int l = 0; l < Side; ++l) own[l] = cost(x0, x1, l);
        PF_UNROLL
        for (int l = 0; l < Side; ++l) along_y[l * threads] = cost(y0, y1, l);
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
          along_y[l * threads] =
              pair_costs<PairModel::separable, Neighbors, true, false>(energy.pair, float(l), 0, neighbor);
        along_x_of_label = along_y[lx * threads];
        PF_UNROLL
        for (int l = 0; l < Side; ++l) own[l] = along_y[l * threads];
#pragma unroll 4
        for (int l = 0; l < Side; ++l)
          along_y[l * threads] =
              pair_costs<PairModel::separable, Neighbors, false, true>(energy.pair, 0, float(l), neighbor);
      };
      energy.pair.neighbors == 4 ? fill.template operator()<4>() : fill.template operator()<8>();
    }
    of_label =
        (magnitude(value - window[ly * Block::match_pitch + lx]) + along_x_of_label) + along_y[ly * threads];
    if (!inside) of_label = -1;
  }

  __device__ float along_row(int ly) const { return along_y[ly * threads]; }

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
  /// Energy of a label, less what it has along y.
  __device__ float cost(const Row& row, int lx) const { return magnitude(value - row.match[lx]) + own[lx]; }

  /// Calls use(ly, energy) with the least energy of each row that may hold the least of all. Data costs are
  /// not below 0: so a row is left out if its pair costs alone are above an energy that is known, at all
  /// sites of the warp.
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
      use(ly, least);  // rounding keeps the order
      limit = smaller_number(limit, least);
    }
  }
};

template <int Side, int Colors, int Strips>
__global__ void __launch_bounds__(threads, 7)
    icm_window_kernel(WindowEnergy energy, View<const Label> in, View<Label> out, Sites sites,
                      const int* changed_before, int* changed) {
  begin_kernel();
  using Site = WindowSite<Side, Colors, Strips>;
  using Block = WindowBlock<Side, Colors, Strips>;
  __shared__ typename Block::Room room;
  const int goes_on = *changed_before;
  const Block block(energy, in, sites, room);
  Block::wait();
  if (!goes_on) return;
  bool changes = false;
#pragma unroll 1
  for (int strip = 0; strip < Block::strips; ++strip) {
    const Site site(block, sites, strip);
    float least = 3e38f, least_own = site.own[0];
    int row = 0;
    PF_UNROLL
    for (int lx = 1; lx < Side; ++lx) least_own = smaller_number(least_own, site.own[lx]);
    site.try_rows(least_own, [&](int ly, float energy) {
      row = energy < least ? ly : row;
      least = smaller_number(least, energy);
    });
    const float along = site.along_row(row);
    const auto matches = site.row(row);
    int column = 0;
    PF_UNROLL
    for (int lx = Side - 1; lx >= 0; --lx) column = site.cost(matches, lx) + along == least ? lx : column;
    const Label now = Label(column + (row << 8));
    if (site.inside) {
      changes |= now != site.label;
      out(site.x, site.y) = now;
    }
  }
  if (__any_sync(0xffffffff, changes) && (threadIdx.x & 31) == 0) *changed = 1;
}

template <int Side, int Colors, int Strips>
__global__ void __launch_bounds__(threads, 8)
    gibbs_window_kernel(WindowEnergy energy, View<Label> labels, Sites sites, Temperature t) {
  begin_kernel();
  using Site = WindowSite<Side, Colors, Strips>;
  using Block = WindowBlock<Side, Colors, Strips>;
  __shared__ typename Block::Room room;
  __shared__ float all_sums[Side * threads];
  float* const sums = all_sums + threadIdx.x;
  const View<const Label> before_sweep(labels);
  const Block block(energy, before_sweep, sites, room);
  Block::wait();
#pragma unroll 1
  for (int strip = 0; strip < Block::strips; ++strip) {
    const Site site(block, sites, strip);
    float least_of[Site::groups], least_own = site.least_of(0), least = 3e38f;
    least_of[0] = least_own;
    PF_UNROLL
    for (int g = 1; g < Site::groups; ++g) {
      least_of[g] = site.least_of(g);
      least_own = smaller_number(least_own, least_of[g]);
    }
    site.try_rows(least_own, [&](int, float energy) { least = smaller_number(least, energy); });
    const auto weight = [&](float energy) { return exponential((least - energy) * t.inverse); };
    const float random = random_number(t.key, site.x, site.y);

    float limit = site.inside ? least + gibbs_reach / t.inverse : -1.0f;
    bool needs[Site::groups];
    const auto find_needs = [&](float along) {
      bool all = true;
      PF_UNROLL
      for (int g = 0; g < Site::groups; ++g) {
        needs[g] = __any_sync(0xffffffff, least_of[g] + along <= limit);
        all &= needs[g];
      }
      return all;
    };
    int row, column;
    for (;;) {
      SureSum sum;
      float next = site.along_row(0);
#pragma unroll 1
      for (int ly = 0; ly < Side; ++ly) {
        const float along = next;
        next = site.along_row(ly + 1);
        SureSum of_row;
        if (!__any_sync(0xffffffff, least_own + along <= limit)) {
          of_row.skip(Side);
        } else {
          const auto matches = site.row(ly);
          if (find_needs(along)) {  // all
            PF_UNROLL
            for (int lx = 0; lx < Side; ++lx) of_row.low += weight(site.cost(matches, lx) + along);
            of_row.high = of_row.low;
          } else {
            PF_UNROLL
            for (int g = 0; g < Site::groups; ++g) {
              const int begin = Site::begin_of(g), end = Site::begin_of(g + 1);
              if (needs[g]) {
                PF_UNROLL
                for (int lx = begin; lx < end; ++lx) of_row.add(weight(site.cost(matches, lx) + along));
              } else {
                of_row.skip(end - begin);
              }
            }
          }
        }
        sum.add(of_row, ly);
        sums[ly * threads] = sum.low;
      }
      const float aim = random * sum.low;
      row = 0;
      PF_UNROLL
      for (int ly = 0; ly + 1 < Side; ++ly) row += sums[ly * threads] <= aim ? 1 : 0;  // sums do not fall
      const float before = row > 0 ? sums[(row - 1) * threads] : 0.0f,
                  high_before = sum.high_at(row - 1, before);
      const float along = site.along_row(row);
      const auto matches = site.row(row);
      SureSum of_row;
      column = 0;
      int low_column = 0;
      find_needs(along);
      PF_UNROLL
      for (int g = 0; g < Site::groups; ++g) {
        const int begin = Site::begin_of(g), end = Site::begin_of(g + 1);
        if (needs[g]) {
          PF_UNROLL
          for (int lx = begin; lx < end; ++lx) {
            of_row.add(weight(site.cost(matches, lx) + along));
            column += before + of_row.low <= aim ? 1 : 0;
            low_column += high_before + of_row.high <= aim ? 1 : 0;
          }
        } else {
          of_row.skip(end - begin);
          column += before + of_row.low <= aim ? end - begin : 0;
          low_column += high_before + of_row.high <= aim ? end - begin : 0;
        }
      }
      const bool is_sure = sum.is_sure(aim) && column == low_column;
      if (!__any_sync(0xffffffff, site.inside && !is_sure)) break;
      limit = 3e38f;
    }
    const int index = smaller(row * Side + column, Side * Side - 1);
    row = index / Side;
    if (site.inside) labels(site.x, site.y) = Label(index - row * Side + (row << 8));
  }
}

}  // namespace
}  // namespace parafield
