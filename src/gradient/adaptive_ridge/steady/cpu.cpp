// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "gradient/adaptive_ridge/steady/steady.hpp"

namespace parafield {
namespace {

/// Computes the sums of row y of the cells.
void sum_cells(const TwoFlows& flows, const SteadyCells& cells, int y, float* scratch) {
  const FlowPlanes pair = flows.of_pair, more = flows.of_more;
  const int width = pair.u.width, top = y * cell_side, end = smaller(top + cell_side, pair.u.height);
  float* column[SteadySums::count];
  for (int i = 0; i < SteadySums::count; ++i) {
    column[i] = scratch + i * width;
    for (int x = 0; x < width; ++x) column[i][x] = 0;
  }
  for (int row = top; row < end; ++row) {
    const FlowRow of_pair = pair.row(row), of_more = more.row(row);
    const NormalRow normal = flows.pair.row(row);
    float *const to0 = column[0], *const to1 = column[1], *const to2 = column[2], *const to3 = column[3],
                 *const to4 = column[4], *const to5 = column[5], *const to6 = column[6];
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
      const SteadySums part = steady_part(normal[x], of_pair[x], of_more[x]);
      to0[x] += part.xx, to1[x] += part.xy, to2[x] += part.yy, to3[x] += part.x;
      to4[x] += part.y, to5[x] += part.residual, to6[x] += part.change;
    }
  }
  for (int x = 0; x < cells.trust.width; ++x) {
    const int left = x * cell_side, count = smaller(cell_side, width - left);
    const auto total = [&](int i) { return cell_total(column[i] + left, count); };
    cells.store(x, y, {total(0), total(1), total(2), total(3), total(4), total(5), total(6)});
  }
}

void mix_row(const TwoFlows& flows, View<const float> trust, int y, FlowPlanes out) {
  const int width = out.u.width, right = trust.width - 1;
  const float share_y = share_after(y);
  const float *const above = trust.row(clamp(cell_before(y), 0, trust.height - 1)),
                     *const below = trust.row(clamp(cell_before(y) + 1, 0, trust.height - 1));
  const FlowRow pair = flows.of_pair.row(y), more = flows.of_more.row(y), to = out.row(y);
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    const int before = clamp(cell_before(x), 0, right), after = clamp(cell_before(x) + 1, 0, right);
    const float share =
        trust_between(above[before], above[after], below[before], below[after], share_after(x), share_y);
    to.set(x, mixed(pair[x], more[x], share));
  }
}

}  // namespace

template <class Backend>
void mix_steady(Backend& cpu, const TwoFlows& flows, const SteadyCells& cells, FlowPlanes out) {
  cpu.few_rows(cells.trust.height, [=](RowRange rows, void* scratch) {
    for (int y = rows.begin; y < rows.end; ++y) sum_cells(flows, cells, y, static_cast<float*>(scratch));
  });
  cpu.pixels(cells.trust.size(),
             [=](int x, int y) { cells.trust(x, y) = steady_trust(steady_sums_around(cells, x, y)); });
  cpu.rows(out.u.height, [=](int y) { mix_row(flows, cells.trust, y, out); });
}

PF_STEP(mix_steady<Cpu>);

}  // namespace parafield
