// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/error_bars/flow.hpp"
#include "steps/error_bars/rows.hpp"

// Each thread works down its rows and keeps the rows that the windows still need in rings, so each row is
// warped once and stays in the L2 cache.
namespace parafield {
namespace {

/// A thread's part.
struct FlowBars {
  using Rows = FlowBarsRows;
  FlowEvidence evidence;
  FlowErrorModel model;
  FlowErrorBars out;
  View<float> deviation;
  float* scratch;

  int width() const { return evidence.luma0.width; }
  int height() const { return evidence.luma0.height; }
  float* row(int i) const { return scratch + i * bars_pitch(width()) + bars_margin; }
  float* mean(int y) const { return row(Rows::mean + y % Rows::ring); }
  float* difference(int y) const { return row(Rows::difference + y % Rows::ring); }
  float* u(int y) const { return row(Rows::u + y % Rows::ring); }
  float* v(int y) const { return row(Rows::v + y % Rows::ring); }
  float* product(int which, int y) const { return row(Rows::products + which * Rows::ring + y % Rows::ring); }
  float* miss(int y) const { return row(Rows::miss + y % Rows::miss_ring); }
  float* sum(int which) const { return row(Rows::sums + which); }
};

/// Warps row y of the second frame, and computes the mean of both frames, their difference and the misses.
void compare_row(const FlowBars& bars, int y) {
  const int width = bars.width(), height = bars.height();
  const FlowEvidence& evidence = bars.evidence;
  float *const u = bars.u(y), *const v = bars.v(y), *const mean = bars.mean(y),
               *const difference = bars.difference(y), *const miss = bars.miss(y);
  copy_row(evidence.flow.u.row(y), u, width);
  copy_row(evidence.flow.v.row(y), v, width);
  compare_warped(evidence.luma0.row(y), evidence.luma1, {u, v}, y, mean, difference);
  if (!evidence.back.u) return;
  const float *const back_u = evidence.back.u.data, *const back_v = evidence.back.v.data;
  const int pitch = int(evidence.back.u.stride());
  // Two loops of samples, because for_samples reads one image. Together they compute miss_of.
  const float line = float(y);
  const auto to_x = [=](int x) { return float(x) + u[x]; };
  const auto to_y = [=](int x) { return line + v[x]; };
  for_samples(back_u, pitch, width, height, 0, width, to_x, to_y,
              [=](int x, float value, bool) { miss[x] = u[x] + value; });
  for_samples(back_v, pitch, width, height, 0, width, to_x, to_y, [=](int x, float value, bool inside) {
    const float du = miss[x], dv = v[x] + value;
    miss[x] = known_miss(fma(du, du, dv * dv), inside);
  });
}

/// Computes row y of the products.
void multiply_row(const FlowBars& bars, int y) {
  const int width = bars.width(), above = larger(y - 1, 0), below = smaller(y + 1, bars.height() - 1);
  const float *const m0 = bars.mean(above), *const m1 = bars.mean(y), *const m2 = bars.mean(below),
                     *const d0 = bars.difference(above), *const d1 = bars.difference(y),
                     *const d2 = bars.difference(below);
  float *const xx = bars.product(0, y), *const xy = bars.product(1, y), *const yy = bars.product(2, y),
               *const tt = bars.product(3, y);
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    const ErrorProducts products = products_at(m0 + x, m1 + x, m2 + x, d0 + x, d1 + x, d2 + x);
    xx[x] = products.xx, xy[x] = products.xy, yy[x] = products.yy, tt[x] = products.tt;
  }
}

/// Sums of the columns of row y's windows.
void sum_columns(const FlowBars& bars, int y) {
  const int width = bars.width();
  for (int i = 0; i < 4; ++i)
    sum_7_rows([&](int row) { return bars.product(i, row); }, y, bars.height(), width, bars.sum(i));
  if (!bars.evidence.back.u) return;
  const float* rows[9];
  for (int k = 0; k < 9; ++k) rows[k] = bars.miss(clamp(y + k - miss_reach, 0, bars.height() - 1));
  for (int i = 0; i < 2; ++i) {
    float* const to = bars.sum(4 + i);
    const float most = i == 0 ? near_miss : far_miss;
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) to[x] = sum_of_9([&](int k) { return smaller(rows[k][x], most); });
    extend(to, width, miss_reach);
  }
}

/// Computes row y of the local error bars.
void finish_row(const FlowBars& bars, int y) {
  const int width = bars.width(), height = bars.height();
  const FlowErrorBars& out = bars.out;
  float *const xx = out.covariance.xx.row(y), *const xy = out.covariance.xy.row(y),
               *const yy = out.covariance.yy.row(y), *const outlier = out.outlier.row(y),
               *const outlier3 = out.outlier3.row(y), *const deviation = bars.deviation.row(y);
  int* const cause = reinterpret_cast<int*>(bars.row(FlowBarsRows::cause));
  const float *u[5], *v[5], *sum[6];
  for (int k = 0; k < 5; ++k) {
    const int row = clamp(y + k - around_reach, 0, height - 1);
    u[k] = bars.u(row), v[k] = bars.v(row);
  }
  for (int i = 0; i < 6; ++i) sum[i] = bars.sum(i);
  const float* const miss = bars.miss(y);
  const std::uint8_t* const valid = bars.evidence.valid.row(y);
  const FlowErrorModel model = bars.model;
  const float right = float(width - 1), bottom = float(height - 1), line = float(y);
  const bool has_back = bool(bars.evidence.back.u);
  const auto finish = [&]<bool Back>() {
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
      const auto along7 = [&](const float* columns) {
        return sum_of_7([&](int k) { return columns[x + k - tensor_reach]; });
      };
      const auto along9 = [&](const float* columns) {
        return sum_of_9([&](int k) { return columns[x + k - miss_reach]; });
      };
      const float own_u = u[2][x], own_v = v[2][x], to_x = float(x) + own_u, to_y = line + own_v;
      FlowErrorSums sums{{along7(sum[0]), along7(sum[1]), along7(sum[2]), along7(sum[3])},
                         {},
                         Back ? along9(sum[4]) : 0,
                         Back ? along9(sum[5]) : 0};
      PF_UNROLL
      for (int j = 0; j < 5; ++j) PF_UNROLL
      for (int i = -2; i <= 2; ++i)
        if (i != 0 || j != 2) sums.around.add(u[j][x + i] - own_u, v[j][x + i] - own_v);
      const bool inside = (to_x >= 0) & (to_x <= right) & (to_y >= 0) & (to_y <= bottom);
      const FlowErrors errors =
          flow_errors(model, sums, own_u, own_v, Back ? miss[x] : 0.0f, inside, valid[x] != 0);
      xx[x] = errors.xx, xy[x] = errors.xy, yy[x] = errors.yy;
      outlier[x] = errors.outlier, outlier3[x] = errors.outlier3, cause[x] = errors.cause;
      deviation[x] = errors.deviation;
    }
  };
  has_back ? finish.template operator()<true>() : finish.template operator()<false>();
  std::uint8_t* const bytes = out.cause.row(y);
  for (int x = 0; x < width; ++x) bytes[x] = std::uint8_t(cause[x]);
}

/// Sums deviations over the cells around those of row y: around[x] for each pixel. `columns`: a row of
/// scratch memory.
void sum_cells(View<const float> deviation, int y, float* columns, float* around) {
  const int width = deviation.width, count = (width + bars_cell - 1) / bars_cell;
  const float* rows[2 * cells_around + 1];
  for (int k = 0; k <= 2 * cells_around; ++k)
    rows[k] = deviation.row(sample_of_cell(y / bars_cell + k - cells_around, deviation.height));
  for (int i = 0; i < count; ++i) {
    const int x = sample_of_cell(i, width);
    columns[i] = sum_of_cells([&](int k) { return rows[k][x]; });
  }
  extend(columns, count, cells_around);
  for (int i = 0; i < count; ++i) {
    const float sum = sum_of_cells([&](int k) { return columns[i + k - cells_around]; });
    for (int x = i * bars_cell; x < smaller((i + 1) * bars_cell, width); ++x) around[x] = sum;
  }
}

/// Widens row y. `sums`: a row of scratch memory; `around`: see sum_cells.
void widen_row(View<const float> deviation, const FlowErrorModel& model, const FlowErrorBars& out, int y,
               float* sums, const float* around) {
  const int width = deviation.width;
  const float* rows[9];
  for (int k = 0; k < 9; ++k)
    rows[k] = deviation.row(clamp(y + wide_step * k - wide_reach, 0, deviation.height - 1));
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) sums[x] = sum_of_9([&](int k) { return rows[k][x]; });
  extend(sums, width, wide_reach);
  float *const xx = out.covariance.xx.row(y), *const yy = out.covariance.yy.row(y),
               *const outlier = out.outlier.row(y), *const outlier3 = out.outlier3.row(y);
  std::uint8_t* const cause = out.cause.row(y);
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    const float sum = sum_of_9([&](int k) { return sums[x + wide_step * k - wide_reach]; });
    const FlowErrors errors =
        widened(model, {xx[x], 0, yy[x], outlier[x], outlier3[x], cause[x], 0}, sum, around[x]);
    xx[x] = errors.xx, yy[x] = errors.yy;
    outlier[x] = errors.outlier, outlier3[x] = errors.outlier3;
    cause[x] = std::uint8_t(errors.cause);
  }
}

}  // namespace

template <class Backend>
void local_error_bars(Backend& cpu, const FlowEvidence& evidence, const FlowErrorModel& model,
                      const FlowErrorBars& out, View<float> deviation) {
  const int height = evidence.luma0.height;
  cpu.few_rows(height, [=](RowRange rows, void* scratch) {
    const FlowBars bars{evidence, model, out, deviation, static_cast<float*>(scratch)};
    int compared = rows.first_new(miss_reach, height), multiplied = rows.first_new(tensor_reach, height);
    for (int y = rows.begin; y < rows.end; ++y) {
      for (; multiplied < smaller(y + tensor_reach + 1, height); ++multiplied) {
        for (; compared < smaller(multiplied + 2, height); ++compared) compare_row(bars, compared);
        multiply_row(bars, multiplied);
      }
      sum_columns(bars, y);
      finish_row(bars, y);
    }
  });
}

template <class Backend>
void widen_error_bars(Backend& cpu, View<const float> deviation, const FlowErrorModel& model,
                      const FlowErrorBars& out) {
  cpu.few_rows(deviation.height, [=](RowRange rows, void* scratch) {
    const int pitch = bars_pitch(deviation.width);
    float *const sums = static_cast<float*>(scratch) + bars_margin, *const columns = sums + pitch,
                 *const around = columns + pitch;
    for (int y = rows.begin; y < rows.end; ++y) {
      if (y == rows.begin || y % bars_cell == 0) sum_cells(deviation, y, columns, around);
      widen_row(deviation, model, out, y, sums, around);
    }
  });
}

PF_STEP(local_error_bars<Cpu>);
PF_STEP(widen_error_bars<Cpu>);

}  // namespace parafield
