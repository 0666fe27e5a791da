// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>

#include "markov/sweep/sites.cuh"

/// Sweeps over displacements by plain differences, with linear smoothness.
namespace parafield {
namespace {

#ifndef PF_GROUPS
#define PF_GROUPS(side) ((side + 2) / 4)
#endif
#ifndef PF_MIN_BLOCKS
#define PF_MIN_BLOCKS 4
#endif

/// Absolute differences of gray for displacements, with weight 1 and without a limit, as in most uses.
struct PlainDifferences {
  const float *frame0, *frame1;
  std::ptrdiff_t pitch;
  int x0, y0;
};

struct WindowEnergy : Energy<PlainDifferences> {
  bool is_exact = false;  // the sum of a site's pair costs is its distance to the neighbors' labels times the slope
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

/// A block has 16 x 8 sites, and each of its warps 8 x 4. `Paired`: sites of one of four colors, so that each is two
/// columns and two rows from the next.
constexpr int window_columns = 16, window_rows = 8;

/// Shared memory of a block.
template <int Side, bool Paired>
struct WindowRoom {
  static constexpr int most_step = Paired ? 2 : 1;
  static constexpr int columns = 2 * (window_columns - 1) + Side + 1, rows = most_step * (window_rows - 1) + Side;
  static constexpr int pitch = (columns + 7) / 16 * 16 + 8;  // rows of a warp begin in different banks
  static constexpr int label_pitch = 40, label_rows = most_step * (window_rows - 1) + 3;

  alignas(8) float matches[rows * pitch];
  Label labels[label_rows * label_pitch];
  float along_y[Side * threads];  // pair costs: each thread's column
};

/// Sum of the distances of label l to four labels each, which are bytes.
__device__ unsigned distances(unsigned four, unsigned l, unsigned sum) {
  unsigned result;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(result) : "r"(four), "r"(l), "r"(sum));
  return result;
}

/// Site of a thread. Every thread of the block has one; it may lie outside the image.
template <int Side, bool Paired>
struct WindowSite {
  using Room = WindowRoom<Side, Paired>;
  static constexpr int groups = PF_GROUPS(Side);  // of the columns of labels
  static constexpr int begin_of(int group) { return group * Side / groups; }

  int x, y;
  bool inside;
  Label label;
  float value, own[Side];  // own: pair costs along x
  float of_label;          // energy of the site's label; below any other outside the image
  const float* window;     // matches: that of label (0, 0)
  const float* along_y;

  __device__ WindowSite(const WindowEnergy& energy, View<const Label> labels, Sites sites, Room& room) {
    const int width = energy.width, height = energy.height;
    const int thread = int(threadIdx.x), warp = thread >> 5, lane = thread & 31;
    const int step_x = Paired ? 2 : sites.stride(), step_y = Paired ? 2 : 1;
    const int left = int(blockIdx.x) * window_columns * step_x + (Paired ? sites.color & 1 : 0),
              top = int(blockIdx.y) * window_rows * step_y + (Paired ? sites.color >> 1 : 0);
    const PlainDifferences& data = energy.data;

    // The matches of the block, and the labels around its sites.
    const float* const matches = data.frame1 + (top + data.y0) * data.pitch + left + data.x0;
    const int last_column = width - 1 - left + Side - 1, last_row = height - 1 - top + Side - 1;
    const int columns = step_x * (window_columns - 1) + Side;
#pragma unroll 4
    for (int row = warp; row < Room::rows; row += threads / 32)
      for (int column = lane; column < columns; column += 32)
        room.matches[row * Room::pitch + column] =
            matches[smaller(row, last_row) * data.pitch + smaller(column, last_column)];
    const int label_columns = step_x * (window_columns - 1) + 3;
#pragma unroll 2
    for (int row = warp; row < Room::label_rows; row += threads / 32) {
      const Label* const from = labels.row(clamp(top - 1 + row, 0, height - 1));
      for (int column = lane; column < label_columns; column += 32)
        room.labels[row * Room::label_pitch + column] = from[clamp(left - 1 + column, 0, width - 1)];
    }

    const int row = (warp >> 1) * 4 + (lane >> 3);
    y = top + row * step_y;
    const int column = ((warp & 1) * 8 + (lane & 7)) * step_x + (!Paired && sites.colors == 2 ? sites.first(y) : 0);
    x = left + column;
    inside = x < width && y < height;
    value = data.frame0[smaller(y, height - 1) * data.pitch + smaller(x, width - 1)];
    __syncthreads();

    window = room.matches + row * step_y * Room::pitch + column;
    float* const table = room.along_y + thread;
    along_y = table;
    const Label* const near = room.labels + (row * step_y + 1) * Room::label_pitch + column + 1;
    label = near[0];
    const int lx = label & 255, ly = label >> 8;
    float along_x_of_label;
    if (energy.is_exact) {
      unsigned pairs[4], inner[2] = {0x01010101, 0x01010101};
      PF_UNROLL
      for (int i = 0; i < 4; ++i) {
        const Offset a = neighbor_offset(2 * i), b = neighbor_offset(2 * i + 1);
        pairs[i] = near[a.y * Room::label_pitch + a.x] | unsigned(near[b.y * Room::label_pitch + b.x]) << 16;
      }
      // A neighbor outside the image has distance 0.
      if (energy.pair.neighbors == 4) inner[1] = 0;
      if (x == 0) inner[0] &= 0xffffff00, inner[1] &= 0x00ffff00;
      if (y == 0) inner[0] &= 0xffff00ff, inner[1] &= 0xffff0000;
      if (x + 1 >= width) inner[0] &= 0xff00ffff, inner[1] &= 0xff0000ff;
      if (y + 1 >= height) inner[0] &= 0x00ffffff, inner[1] &= 0x0000ffff;
      const unsigned x0 = __byte_perm(pairs[0], pairs[1], 0x6420) & (inner[0] * 255),
                     x1 = __byte_perm(pairs[2], pairs[3], 0x6420) & (inner[1] * 255),
                     y0 = __byte_perm(pairs[0], pairs[1], 0x7531) & (inner[0] * 255),
                     y1 = __byte_perm(pairs[2], pairs[3], 0x7531) & (inner[1] * 255);
      const float slope = energy.pair.slope, zero = slope * -8388608.0f;
      const auto cost = [&](unsigned four, unsigned other, int l) {
        const unsigned sum = distances(other, l * inner[1], distances(four, l * inner[0], 0x4b000000));
        return fma(__uint_as_float(sum), slope, zero);  // the bits of 0x4b000000 are those of 8388608
      };
      PF_UNROLL
      for (int l = 0; l < Side; ++l) own[l] = cost(x0, x1, l);
      PF_UNROLL
      for (int l = 0; l < Side; ++l) table[l * threads] = cost(y0, y1, l);
      along_x_of_label = cost(x0, x1, lx);
    } else {
      const auto fill = [&]<int Neighbors>() {
        Neighbor around[Neighbors];
        find_neighbors(energy, labels, smaller(x, width - 1), smaller(y, height - 1), around);
        const auto neighbor = [&](int k) { return around[k]; };
        for (int l = 0; l < Side; ++l)
          table[l * threads] =
              pair_costs<PairModel::separable, Neighbors, true, false>(energy.pair, float(l), 0, neighbor);
        along_x_of_label = table[lx * threads];
        PF_UNROLL
        for (int l = 0; l < Side; ++l) own[l] = table[l * threads];
        for (int l = 0; l < Side; ++l)
          table[l * threads] =
              pair_costs<PairModel::separable, Neighbors, false, true>(energy.pair, 0, float(l), neighbor);
      };
      energy.pair.neighbors == 4 ? fill.template operator()<4>() : fill.template operator()<8>();
    }
    of_label = (magnitude(value - window[ly * Room::pitch + lx]) + along_x_of_label) + table[ly * threads];
    if (!inside) of_label = -1;
  }

  __device__ float along_row(int ly) const { return along_y[ly * threads]; }

  __device__ float least_of(int group) const {
    float least = own[begin_of(group)];
    PF_UNROLL
    for (int lx = begin_of(group) + 1; lx < begin_of(group + 1); ++lx) least = smaller_number(least, own[lx]);
    return least;
  }
  __device__ float least_own() const {
    float least = own[0];
    PF_UNROLL
    for (int lx = 1; lx < Side; ++lx) least = smaller_number(least, own[lx]);
    return least;
  }

  /// The matches of a row of labels.
  struct Row {
    float match[Side + 1];
  };
  __device__ Row row(int ly) const {
    Row row;
    const float* const from = window + ly * Room::pitch;
    if constexpr (Paired) {
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

  /// Calls use(ly, energy) with the least energy of each row that may hold the least of all.
  template <class Use>
  __device__ void try_rows(Use use) const {
    const float least = least_own();
    float limit = of_label;
#pragma unroll 1
    for (int ly = 0; ly < Side; ++ly) {
      const float along = along_row(ly);
      if (!__any_sync(0xffffffff, least + along <= limit)) continue;
      const Row matches = row(ly);
      float best = cost(matches, 0);
      PF_UNROLL
      for (int lx = 1; lx < Side; ++lx) best = smaller_number(best, cost(matches, lx));
      best += along;  // rounding keeps the order
      use(ly, best);
      limit = smaller_number(limit, best);
    }
  }
};

template <int Side, bool Paired>
__global__ void __launch_bounds__(threads, PF_MIN_BLOCKS)
    icm_window_kernel(WindowEnergy energy, View<const Label> in, View<Label> out, Sites sites,
                      const int* changed_before, int* changed) {
  begin_kernel();
  if (!*changed_before) return;
  __shared__ WindowRoom<Side, Paired> room;
  const WindowSite<Side, Paired> site(energy, in, sites, room);
  float least = 3e38f;
  int row = 0;
  site.try_rows([&](int ly, float energy) {
    row = energy < least ? ly : row;
    least = smaller_number(least, energy);
  });
  const float along = site.along_row(row);
  const auto matches = site.row(row);
  int column = 0;
  PF_UNROLL
  for (int lx = Side - 1; lx >= 0; --lx) column = site.cost(matches, lx) + along == least ? lx : column;
  const Label now = Label(column + (row << 8));
  if (site.inside) out(site.x, site.y) = now;
  if (__syncthreads_or(site.inside && now != site.label) && threadIdx.x == 0) *changed = 1;
}

/// A label whose energy is more than `reach` above the least has a weight below 2^-40.
constexpr float gibbs_reach = 28, most_skipped = 0x1p-39f;

template <int Side, bool Paired>
__global__ void __launch_bounds__(threads, PF_MIN_BLOCKS)
    gibbs_window_kernel(WindowEnergy energy, View<Label> labels, Sites sites, Temperature t) {
  begin_kernel();
  using Site = WindowSite<Side, Paired>;
  __shared__ WindowRoom<Side, Paired> room;
  __shared__ float all_sums[Side * threads];
  float* const sums = all_sums + threadIdx.x;
  const Site site(energy, View<const Label>(labels), sites, room);
  float least = 3e38f;
  site.try_rows([&](int, float energy) { least = smaller_number(least, energy); });
  const auto weight = [&](float energy) { return exponential((least - energy) * t.inverse); };
  const float random = random_number(t.key, site.x, site.y);

  float limit = site.inside ? least + gibbs_reach / t.inverse : -1.0f;
  float least_of[Site::groups];
  PF_UNROLL
  for (int g = 0; g < Site::groups; ++g) least_of[g] = site.least_of(g);
  int row, column;
  for (;;) {
    float sum = 0, high = 0, unsure = 0;
    int last_unsure = -1;
#pragma unroll 1
    for (int ly = 0; ly < Side; ++ly) {
      const float along = site.along_row(ly);
      bool needs[Site::groups], any = false;
      PF_UNROLL
      for (int g = 0; g < Site::groups; ++g) {
        needs[g] = __any_sync(0xffffffff, least_of[g] + along <= limit);
        any |= needs[g];
      }
      float sum_of_row = 0, high_of_row = 0;
      if (any) {
        const auto matches = site.row(ly);
        PF_UNROLL
        for (int g = 0; g < Site::groups; ++g) {
          const int begin = Site::begin_of(g), end = Site::begin_of(g + 1);
          if (needs[g]) {
            PF_UNROLL
            for (int lx = begin; lx < end; ++lx) {
              const float w = weight(site.cost(matches, lx) + along);
              sum_of_row += w;
              high_of_row += w;
            }
          } else {
            high_of_row += float(end - begin) * most_skipped;
          }
        }
      } else {
        high_of_row = Side * most_skipped;
      }
      sum += sum_of_row;
      high += high_of_row;
      sums[ly * threads] = sum;
      if (sum != high) last_unsure = ly, unsure = high;
    }
    const float aim = random * sum;
    bool sure = sum == high && (last_unsure < 0 || unsure <= aim);
    row = 0;
    while (row + 1 < Side && sums[row * threads] <= aim) ++row;
    const float before = row > 0 ? sums[(row - 1) * threads] : 0.0f;
    const float high_before = row > 0 && row - 1 == last_unsure ? unsure : before;
    const float along = site.along_row(row);
    const auto matches = site.row(row);
    float sum_of_row = 0;
    column = 0;
    int low_column = 0;
    PF_UNROLL
    for (int lx = 0; lx < Side; ++lx) {
      sum_of_row += weight(site.cost(matches, lx) + along);
      column += before + sum_of_row <= aim ? 1 : 0;
      low_column += high_before + sum_of_row <= aim ? 1 : 0;
    }
    sure &= column == low_column;
    if (!__any_sync(0xffffffff, site.inside && !sure)) break;
    limit = 3e38f;
#ifdef PF_COUNT
    if ((threadIdx.x & 31) == 0) atomicAdd(&redo_count, 1);
#endif
  }
  const int index = smaller(row * Side + column, Side * Side - 1);
  row = index / Side;
  if (site.inside) labels(site.x, site.y) = Label(index - row * Side + (row << 8));
}

}  // namespace
}  // namespace parafield
