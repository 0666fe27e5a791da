// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/match/match.hpp"

// A thread computes bands of rows and, within a band, one label after the other. The label's differences go
// through a ring with as many rows as the window, so that each is computed once per band. They are averaged
// down the ring and then along the row, and the results update the winners at once. Without a volume, costs
// are therefore never stored.
namespace parafield {
namespace {

constexpr int band_rows = match_band_rows;

/// Computes weight * min(difference, limit) of label (lx, ly) for pixels of row y from column `first` on.
void fill_differences(const Matching& m, int lx, int ly, int y, int first, int width, float* out) {
  const std::ptrdiff_t at = y * m.pitch + first;
  const std::ptrdiff_t to = at + match_offset(m, lx, ly);
  const ComparedPlanes a = m.frame0, b = m.frame1;
  const float weight = m.weight, limit = m.limit;
  with_term(m.term, m.color, [=]<DataTerm Term, bool Color>() {
    for (int x = 0; x < width; ++x)
      out[x] = weight * smaller(data_term<Term, Color>(a, b, at + x, to + x), limit);
  });
}

/// Means down the columns: out[x] = sum of weight[k] * rows[k][x]. `Side`: window.side, or 0 if unknown.
template <int Side>
void mean_down(const float* const* rows, const Window& window, int width, float* out) {
  if constexpr (Side > 0) {
    const float* row[Side];
    float weight[Side];
    for (int k = 0; k < Side; ++k) row[k] = rows[k], weight[k] = window.weight[k];
    for (int x = 0; x < width; ++x) {
      float sum = weight[0] * row[0][x];
      PF_UNROLL
      for (int k = 1; k < Side; ++k) sum = fma(weight[k], row[k][x], sum);
      out[x] = sum;
    }
  } else {
    for (int x = 0; x < width; ++x) out[x] = window.weight[0] * rows[0][x];
    for (int k = 1; k < window.side; ++k) {
      const float* row = rows[k];
      const float weight = window.weight[k];
      for (int x = 0; x < width; ++x) out[x] = fma(weight, row[x], out[x]);
    }
  }
}

/// Means along a row: out[x] = sum of weight[k] * in[x + k].
template <int Side>
void mean_along(const float* in, const Window& window, int width, float* out) {
  const float* rows[Window::max_side];
  for (int k = 0; k < window.side; ++k) rows[k] = in + k;
  mean_down<Side>(rows, window, width, out);
}

/// Winners so far of a row's pixels: see WinnerSoFar.
struct WinnerRow {
  float *least, *before, *after, *last;
  int* label;
};

void update_winners(const float* costs, int label, int width, WinnerRow row) {
  float *least = row.least, *before = row.before, *after = row.after, *last = row.last;
  int* best = row.label;
#pragma GCC ivdep  // the rows do not overlap
  for (int x = 0; x < width; ++x) {
    WinnerSoFar winner{least[x], before[x], after[x], last[x], best[x]};
    winner.update(costs[x], label);
    least[x] = winner.least, before[x] = winner.before, after[x] = winner.after, last[x] = winner.last;
    best[x] = winner.label;
  }
}
/// Updates winners without the costs of adjacent labels.
void update_winners(const float* costs, int label, int width, float* least, int* best) {
  for (int x = 0; x < width; ++x) {
    const float cost = costs[x];
    const bool better = cost < least[x];
    least[x] = better ? cost : least[x];
    best[x] = better ? label : best[x];
  }
}

/// Matches the pixels of rows y0 .. y1 - 1.
template <int Side>
void match_band(const Matching& m, Volume volume, Winners winners, int y0, int y1, float* scratch) {
  const int width = m.width, side = m.window.side, radius = side / 2, stride = match_row_floats(m);
  float* const ring = scratch;
  float* const column =
      ring + side * stride;  // row of means down the columns, with room for the window on both sides
  float* const means = column + stride;
  float* const planes = means + stride;
  const auto plane_row = [=](int plane, int y) { return planes + (plane * band_rows + (y - y0)) * stride; };
  const auto winner_row = [=](int y) -> WinnerRow {
    return {plane_row(0, y), plane_row(1, y), plane_row(2, y), plane_row(3, y),
            reinterpret_cast<int*>(plane_row(4, y))};
  };
  const bool wants_costs = bool(winners.costs.middle);
  for (int y = y0; y < y1 && winners.labels; ++y) {
    const WinnerRow row = winner_row(y);
    for (int x = 0; x < width; ++x) row.least[x] = 3e38f, row.label[x] = 0;
    for (int x = 0; x < width; ++x) row.before[x] = row.after[x] = row.last[x] = 0;
  }
  const int left = smaller(m.left, radius), right = smaller(m.right, radius), across = left + width + right;
  const int above = smaller(m.above, radius), end = m.height + smaller(m.below, radius);
  // Rows whose differences are needed.
  const int first = larger(-above, y0 - radius), last = smaller(end, y1 + radius) - 1;
  const auto differences = [=](int y) { return ring + (y + side) % side * stride; };
  for (int ly = 0; ly < m.grid.ny; ++ly)
    for (int lx = 0; lx < m.grid.nx; ++lx) {
      const int label = ly * m.grid.nx + lx;
      int filled = first;
      for (int y = y0; y < y1; ++y) {
        for (; filled <= smaller(y + radius, last); ++filled)
          fill_differences(m, lx, ly, filled, -left, across, differences(filled));
        const float* costs = differences(y);
        if constexpr (Side != 1) {
          const float* rows[Window::max_side];
          for (int k = 0; k < side; ++k) rows[k] = differences(clamp(y + k - radius, -above, end - 1));
          float *const begin = column + radius - left, *const behind = begin + across;
          mean_down<Side>(rows, m.window, across, begin);
          for (int x = 0; x < radius - left; ++x) column[x] = begin[0];
          for (int x = 0; x < radius - right; ++x) behind[x] = behind[-1];
          mean_along<Side>(column, m.window, width, means);
          costs = means;
        }
        if (volume) {
          float* const stored = volume.row(y, label);
          for (int x = 0; x < width; ++x) stored[x] = costs[x];
        }
        if (!winners.labels) continue;
        const WinnerRow row = winner_row(y);
        wants_costs ? update_winners(costs, label, width, row)
                    : update_winners(costs, label, width, row.least, row.label);
      }
    }
  if (!winners.labels) return;
  for (int y = y0; y < y1; ++y) {
    const WinnerRow row = winner_row(y);
    Label* const labels = winners.labels.row(y);
    for (int x = 0; x < width; ++x) {
      const int label = row.label[x], ly = m.grid.ny == 1 ? 0 : label / m.grid.nx;
      labels[x] = m.grid.label(label - ly * m.grid.nx, ly);
    }
    if (!wants_costs) continue;
    const int top = m.grid.nx - 1;
    float *middle = winners.costs.middle.row(y), *before = winners.costs.before_x.row(y),
          *after = winners.costs.after_x.row(y);
    for (int x = 0; x < width; ++x) {
      const bool inside = row.label[x] > 0 && row.label[x] < top;
      middle[x] = row.least[x];
      before[x] = inside ? row.before[x] : row.least[x];
      after[x] = inside ? row.after[x] : row.least[x];
    }
  }
}

}  // namespace

template <class Backend>
void match(Backend& cpu, const Matching& m, Volume volume, Winners winners) {
  with_constant<1, 3, 5, 7>(m.window.side, [&]<int Side>() {
    cpu.few_rows((m.height + band_rows - 1) / band_rows, 1, [&](RowRange bands, void* scratch) {
      for (int y = bands.begin * band_rows; y < smaller(m.height, bands.end * band_rows); y += band_rows)
        match_band<Side>(m, volume, winners, y, smaller(m.height, y + band_rows),
                         static_cast<float*>(scratch));
    });
  });
}

PF_STEP(match<Cpu>);

}  // namespace parafield
