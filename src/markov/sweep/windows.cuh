// SPDX-License-Identifier: MIT
#pragma once
#include "markov/sweep/window_site.cuh"

/// Sweeps over displacements with plain differences and linear smoothness. A block keeps the matches of its
/// sites, the labels around them and a table of their pair costs along y in shared memory. Pair costs along x
/// are in registers, so a label takes two additions and a minimum, and a row of labels one more addition.
///
/// Data costs are never negative. Therefore labels whose pair costs alone exceed a known energy cannot have
/// the least energy, and the Gibbs sampler can skip labels whose weights are too small to affect the sum. A
/// warp skips rows of labels and groups of columns that none of its sites needs. Results stay bit-identical.
///
/// Lower bounds for displacements up to 6 px at 1024x1024 on an H100 (132 SMs, 4 instructions per clock,
/// 1.755 GHz): moving 12 MB takes 0.004 ms. If no label is skipped, ICM takes 3 instructions for each of 169
/// labels, or 0.018 ms, and the Gibbs sampler 22 (3 for the least energy, 3 for the energy again, 16 for its
/// weight and the sum), or 0.131 ms. Measured for the scene of bench/jodoin, everything included: ICM 0.65 ms
/// for ten sweeps, the sampler 0.124 ms per sweep, averaged over 500 sweeps (kernels alone: 0.20 ms at
/// temperature 20, 0.076 ms at 0.5).
namespace parafield {
namespace {

template <int Side, int Colors, int Strips>
__global__ void __launch_bounds__(site_threads, 7)
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
__global__ void __launch_bounds__(site_threads, 8)
    gibbs_window_kernel(WindowEnergy energy, View<Label> labels, Sites sites, Temperature t) {
  begin_kernel();
  using Site = WindowSite<Side, Colors, Strips>;
  using Block = WindowBlock<Side, Colors, Strips>;
  __shared__ typename Block::Room room;
  __shared__ float all_sums[Side * site_threads];
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
          if (find_needs(along)) {  // all groups
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
        sums[ly * site_threads] = sum.low;
      }
      const float aim = random * sum.low;
      row = 0;
      PF_UNROLL
      for (int ly = 0; ly + 1 < Side; ++ly)
        row += sums[ly * site_threads] <= aim ? 1 : 0;  // sums never decrease
      const float before = row > 0 ? sums[(row - 1) * site_threads] : 0.0f,
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
