// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/matches/descriptors.hpp"

// Each thread processes a band of rows from top to bottom and keeps the rows it needs in ring buffers: raw
// gradients by direction, pooled gradients, and their energy. A row has one part for each direction; the last
// step interleaves a pixel's directions.
namespace parafield {
namespace {

constexpr int directions = Descriptors::directions, rows_margin = Descriptors::margin;
constexpr int raw_ring = 8, pooled_ring = 16;  // rows; at least 2 * reach + 1
using Channel = std::uint16_t;

/// A thread's rows in its scratch memory. Rows of energy begin `energy_reach` px before column 0.
struct Rings {
  int columns;
  Channel *raw, *pooled, *smoothed;
  float *energy, *gx, *gy, *scale, *sum;
  std::uint8_t* bytes;
  std::uint64_t* words;

  Rings(void* scratch, int width) : columns((width + 2 * energy_reach + 31) / 32 * 32) {
    const std::ptrdiff_t row = std::ptrdiff_t(columns) * directions;
    raw = static_cast<Channel*>(scratch);
    pooled = raw + raw_ring * row;
    smoothed = pooled + pooled_ring * row;
    energy = reinterpret_cast<float*>(smoothed + columns);
    gx = energy + std::ptrdiff_t(pooled_ring) * columns;
    gy = gx + columns;
    scale = gy + columns;
    sum = scale + columns;
    bytes = reinterpret_cast<std::uint8_t*>(sum + columns);
    words = reinterpret_cast<std::uint64_t*>(bytes + std::ptrdiff_t(directions) * columns);
  }
  Channel* raw_row(int y) const { return raw + std::ptrdiff_t(y % raw_ring) * columns * directions; }
  Channel* pooled_row(int y) const { return pooled + std::ptrdiff_t(y % pooled_ring) * columns * directions; }
  float* energy_row(int y) const { return energy + std::ptrdiff_t(y % pooled_ring) * columns; }
};

/// Raw gradients of row y in each direction.
void find_gradients(View<const float> luma, int y, const Rings& rings) {
  const int width = luma.width, last = width - 1;
  const float *const row = luma.row(y), *const above = luma.row(larger(y - 1, 0)),
                     *const below = luma.row(smaller(y + 1, luma.height - 1));
  float *const gx = rings.gx, *const gy = rings.gy, *const scale = rings.scale;
  gx[0] = half_difference(row[0], row[smaller(1, last)]);
  gx[last] = half_difference(row[larger(last - 1, 0)], row[last]);
#pragma GCC ivdep
  for (int x = 1; x < last; ++x) gx[x] = half_difference(row[x - 1], row[x + 1]);
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    gy[x] = half_difference(above[x], below[x]);
    scale[x] = sharpening(gx[x], gy[x]);
  }
  for (int k = 0; k < directions; ++k) {
    Channel* const out = rings.raw_row(y) + std::ptrdiff_t(k) * rings.columns;
    const Motion d = direction(k);
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) out[x] = directed(gx[x], gy[x], scale[x], d);
  }
}

/// Pools row y of the gradients and measures its energy.
void pool_gradients(int y, Size size, const Rings& rings) {
  const int width = size.width;
  float* const energy = rings.energy_row(y) + energy_reach;
  int* const squares = reinterpret_cast<int*>(rings.sum);
  for (int x = 0; x < width; ++x) squares[x] = 0;
  for (int k = 0; k < directions; ++k) {
    const std::ptrdiff_t part = std::ptrdiff_t(k) * rings.columns;
    const auto row = [&](int dy) { return rings.raw_row(clamp(y + dy, 0, size.height - 1)) + part; };
    const Channel *const a = row(-3), *const b = row(-2), *const c = row(-1), *const d = row(0),
                         *const e = row(1), *const f = row(2), *const g = row(3);
    Channel* const smoothed = rings.smoothed + pool_reach;
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) smoothed[x] = pooled(a[x], b[x], c[x], d[x], e[x], f[x], g[x]);
    for (int x = 1; x <= pool_reach; ++x) {
      smoothed[-x] = smoothed[0];
      smoothed[width - 1 + x] = smoothed[width - 1];
    }
    Channel* const out = rings.pooled_row(y) + part;
#pragma GCC ivdep
    for (int x = 0; x < width; ++x)
      out[x] = pooled(smoothed[x - 3], smoothed[x - 2], smoothed[x - 1], smoothed[x], smoothed[x + 1],
                      smoothed[x + 2], smoothed[x + 3]);
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) squares[x] += out[x] * out[x];
  }
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) energy[x] = float(squares[x]);
  for (int x = 1; x <= energy_reach; ++x) {
    energy[-x] = energy[0];
    energy[width - 1 + x] = energy[width - 1];
  }
}

/// Interleaves each pixel's bytes from rows of one direction each.
void join_directions(const std::uint8_t* bytes, std::ptrdiff_t columns, int width, std::uint8_t* words) {
  const std::uint8_t* row[directions];
  PF_UNROLL
  for (int k = 0; k < directions; ++k) row[k] = bytes + k * columns;
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    PF_UNROLL
    for (int k = 0; k < directions; ++k) words[directions * x + k] = row[k][x];
  }
}

/// Computes row y of the descriptors, including its left and right margins.
void normalize_row(int y, Size size, const Rings& rings, const Descriptors& out) {
  const int width = size.width, all = width + 2 * energy_reach;
  const auto row = [&](int dy) { return rings.energy_row(clamp(y + dy, 0, size.height - 1)); };
  float* const sum = rings.sum;
  const float* const middle = row(0);
  const float* around[2 * energy_reach + 1];
  for (int k = -energy_reach; k <= energy_reach; ++k) around[k + energy_reach] = row(k);
#pragma GCC ivdep
  for (int x = 0; x < all; ++x) {
    float total = energy_weight(0) * middle[x];
    PF_UNROLL
    for (int k = 1; k <= energy_reach; ++k)
      total = fma(energy_weight(k), around[energy_reach - k][x] + around[energy_reach + k][x], total);
    sum[x] = total;
  }
  float* const scale = rings.scale;
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    const float* const here = sum + energy_reach + x;
    float total = energy_weight(0) * here[0];
    PF_UNROLL
    for (int k = 1; k <= energy_reach; ++k) total = fma(energy_weight(k), here[-k] + here[k], total);
    scale[x] = normalization(total);
  }
  std::uint8_t* const bytes = rings.bytes;
  for (int k = 0; k < directions; ++k) {
    const Channel* const channels = rings.pooled_row(y) + std::ptrdiff_t(k) * rings.columns;
    std::uint8_t* const to = bytes + std::ptrdiff_t(k) * rings.columns;
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) to[x] = descriptor_byte(channels[x], scale[x]);
  }
  join_directions(bytes, rings.columns, width, reinterpret_cast<std::uint8_t*>(rings.words));
  const std::uint64_t* const words = rings.words;
  for (int phase = 0; phase < Descriptors::phases; ++phase) {
    std::uint64_t* const part = out.at(phase - rows_margin, y);
    const int pixels = Descriptors::part(width), first = phase - rows_margin;
    for (int i = 0; i < pixels; ++i) part[i] = words[clamp(first + Descriptors::phases * i, 0, width - 1)];
  }
}

void describe_band(View<const float> luma, RowRange rows, void* scratch, const Descriptors& out) {
  const Size size = luma.size();
  const Rings rings(scratch, size.width);
  int next_raw = larger(rows.begin - energy_reach - pool_reach, 0),
      next_pooled = larger(rows.begin - energy_reach, 0);
  for (int y = rows.begin; y < rows.end; ++y) {
    for (; next_pooled <= smaller(y + energy_reach, size.height - 1); ++next_pooled) {
      for (; next_raw <= smaller(next_pooled + pool_reach, size.height - 1); ++next_raw)
        find_gradients(luma, next_raw, rings);
      pool_gradients(next_pooled, size, rings);
    }
    normalize_row(y, size, rings, out);
  }
}

}  // namespace

template <class Backend>
void describe(Backend& cpu, const Pyramid* pyramids, int count, const Descriptors* descriptors,
              const DescriptorScratch*) {
  for (int i = 0; i < count; ++i)
    for (int level = 0; level < pyramids[i].levels; ++level) {
      const View<const float> luma = pyramids[i].level[level];
      const Descriptors out = descriptors[i * pyramids[i].levels + level];
      cpu.bands(luma.height, [=](RowRange rows, void* scratch) { describe_band(luma, rows, scratch, out); });
      cpu.rows(2 * rows_margin, [=](int i) {
        const int y = i < rows_margin ? i - rows_margin : luma.height + i - rows_margin;
        const std::uint64_t* const from = out.rows.row(rows_margin + (i < rows_margin ? 0 : luma.height - 1));
        std::uint64_t* const to = out.rows.row(rows_margin + y);
        for (int x = 0; x < out.rows.width; ++x) to[x] = from[x];
      });
    }
}

PF_STEP(describe<Cpu>);

}  // namespace parafield
