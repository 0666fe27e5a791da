// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/error_bars/disparity.hpp"
#include "steps/error_bars/rows.hpp"

namespace parafield {
namespace {

/// A thread's part.
struct DisparityBars {
  using Rows = DisparityBarsRows;
  DisparityBarsInput input;
  DisparityErrorModel model;
  DisparityErrorBars out;
  float* scratch;

  int width() const { return input.d.width; }
  int height() const { return input.d.height; }
  float* row(int i) const { return scratch + i * bars_pitch(width()) + bars_margin; }
  float* mean(int y) const { return row(Rows::mean + y % Rows::ring); }
  float* difference(int y) const { return row(Rows::difference + y % Rows::ring); }
  float* texture(int y) const { return row(Rows::texture + y % Rows::ring); }
  float* apart(int y) const { return row(Rows::apart + y % Rows::wide_ring); }
  float* steps(int y) const { return row(Rows::steps + y % Rows::wide_ring); }
  float* columns(int which) const { return row(Rows::columns + which); }
};

/// A value that was loaded before, as a row.
struct Loaded {
  float value;
  float operator[](int) const { return value; }
};

/// The right image's disparities at the matches of a row. Without gathers, they are loaded first: see has_gathers.
struct MatchedRow {
  const float *right, *loaded;

  MatchedRow(const float* d, const float* right, int width, float* scratch) : right(right), loaded(scratch) {
    if constexpr (!has_gathers)
      for (int x = 0; x < width; ++x) scratch[x] = right[column_at(x, d[x], width).x];
  }
  /// The row for the pixel at column x.
  auto at(int x) const {
    if constexpr (has_gathers)
      return right;
    else
      return Loaded{loaded[x]};
  }
};

/// Warps a row by disparities: see warped_along. The row must be extended by 2.
void warp_along(const float* luma, const float* d, int width, float* __restrict out) {
  if constexpr (has_gathers) {
#pragma GCC ivdep
    for (int x = 0; x < width; ++x)
      out[x] = warped_along([=](int i) { return luma[i]; }, width, float(x) - d[x]);
  } else {
    constexpr int block = 64;
    for (int x0 = 0; x0 < width; x0 += block) {
      const int count = smaller(block, width - x0);
      int first[block], inside[block];
      float share[block], four[4 * block];
#pragma GCC ivdep
      for (int i = 0; i < count; ++i) {
        const Match match = locate(float(x0 + i) - d[x0 + i], 0, width, 1);
        first[i] = match.x, inside[i] = match.inside, share[i] = match.share_x;
      }
      for (int i = 0; i < count; ++i) std::memcpy(four + 4 * i, luma + first[i] - 1, 4 * sizeof *luma);
#pragma GCC ivdep
      for (int i = 0; i < count; ++i) {
        const float* const from = four + 4 * i;
        const float value = mixed(cubic_shares(share[i]), from[0], from[1], from[2], from[3]);
        out[x0 + i] = inside[i] ? value : __builtin_nanf("");
      }
    }
  }
}

/// Warps row y of the right image, and compares images and disparities.
void compare_views(const DisparityBars& bars, int y) {
  const int width = bars.width();
  const std::uint32_t *const left = bars.input.left_colors.row(y), *const right =
                                                                       bars.input.right_colors.row(y);
  const float *const d = bars.input.d.row(y), *const other = bars.input.right.row(y);
  float *const luma = bars.row(DisparityBarsRows::right_luma), *const mean = bars.mean(y),
               *const difference = bars.difference(y), *const apart = bars.apart(y);
  for (int x = 0; x < width; ++x) luma[x] = luma_of(right[x]);
  extend(luma, width, 2);
  warp_along(luma, d, width, difference);
  const MatchedRow matched(d, other, width, bars.row(DisparityBarsRows::matched));
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    const float a = luma_of(left[x]), b = difference[x];
    mean[x] = 0.5f * (a + b);
    difference[x] = b - a;
    apart[x] = apart_of(d[x], matched.at(x), width, x);
  }
  extend(mean, width, 1);
  extend(difference, width, 1);
}

void find_texture(const DisparityBars& bars, int y) {
  const int width = bars.width(), above = larger(y - 1, 0), below = smaller(y + 1, bars.height() - 1);
  const float *const m0 = bars.mean(above), *const m1 = bars.mean(y), *const m2 = bars.mean(below),
                     *const d0 = bars.difference(above), *const d1 = bars.difference(y),
                     *const d2 = bars.difference(below);
  float* const texture = bars.texture(y);
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    const auto down = [=](int i) { return smoothed_across(m0[x + i], m1[x + i], m2[x + i]); };
    const auto across = [=](const float* row) { return smoothed_across(row[x - 1], row[x], row[x + 1]); };
    texture[x] = texture_of(0.5f * (down(1) - down(-1)), smoothed_across(across(d0), across(d1), across(d2)));
  }
}

/// Computes the largest step within 3x3 px, over 15 px along row y.
void find_steps(const DisparityBars& bars, int y) {
  const int width = bars.width();
  const View<const float> d = bars.input.d;
  const float *const above = d.row(larger(y - 1, 0)), *const here = d.row(y),
                     *const below = d.row(smaller(y + 1, bars.height() - 1));
  float *const low = bars.columns(0), *const high = bars.columns(1), *const range = bars.columns(2),
               *const steps = bars.steps(y);
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    low[x] = smaller(smaller(above[x], here[x]), below[x]);
    high[x] = larger(larger(above[x], here[x]), below[x]);
  }
  extend(low, width, 1);
  extend(high, width, 1);
#pragma GCC ivdep
  for (int x = 0; x < width; ++x)
    range[x] =
        larger(larger(high[x - 1], high[x]), high[x + 1]) - smaller(smaller(low[x - 1], low[x]), low[x + 1]);
  extend(range, width, step_reach);
  // Windows of 2, 4, 8 and then 15 px that begin at x. The rows are in turn input and output.
#pragma GCC ivdep
  for (int x = -step_reach; x < width + step_reach - 1; ++x) low[x] = larger(range[x], range[x + 1]);
#pragma GCC ivdep
  for (int x = -step_reach; x < width + step_reach - 3; ++x) high[x] = larger(low[x], low[x + 2]);
#pragma GCC ivdep
  for (int x = -step_reach; x < width + step_reach - 7; ++x) low[x] = larger(high[x], high[x + 4]);
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) steps[x] = larger(low[x - step_reach], low[x]);
}

/// Sums and extrema of the columns of row y's windows.
void reduce_columns(const DisparityBars& bars, int y) {
  const int width = bars.width(), bottom = bars.height() - 1;
  sum_7_rows([&](int row) { return bars.texture(row); }, y, bars.height(), width, bars.columns(0));
  float *const apart = bars.columns(1), *const not_valid = bars.columns(2), *const steps = bars.columns(3),
               *const curve = bars.columns(4);
  const float *aparts[9], *five[5];
  for (int k = 0; k < 9; ++k) aparts[k] = bars.apart(clamp(y + k - apart_reach, 0, bottom));
  for (int k = 0; k < 5; ++k) five[k] = bars.input.d.row(clamp(y + k - curve_reach, 0, bottom));
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    apart[x] = sum_of_9([&](int k) { return aparts[k][x]; });
    curve[x] = sum_of_5([&](int k) { return five[k][x]; });
    not_valid[x] = steps[x] = 0;
  }
  for (int k = -step_reach; k <= step_reach; ++k) {
    const float* const other = bars.steps(clamp(y + k, 0, bottom));
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) steps[x] = larger(steps[x], other[x]);
  }
  for (int k = -valid_reach; k <= valid_reach; ++k) {
    const std::uint8_t* const valid = bars.input.valid.row(clamp(y + k, 0, bottom));
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) not_valid[x] += valid[x] ? 0.0f : 1.0f;
  }
  extend(apart, width, apart_reach);
  extend(curve, width, curve_reach);
  extend(not_valid, width, valid_reach);
  // Counts are exact in any order: windows of 2, 4, 8, 16 and then 17 px that begin at x.
  float *const twice = bars.columns(5), *const four = bars.row(DisparityBarsRows::right_luma);
  const int begin = -valid_reach, end = width + valid_reach;
#pragma GCC ivdep
  for (int x = begin; x < end - 1; ++x) twice[x] = not_valid[x] + not_valid[x + 1];
#pragma GCC ivdep
  for (int x = begin; x < end - 3; ++x) four[x] = twice[x] + twice[x + 2];
#pragma GCC ivdep
  for (int x = begin; x < end - 7; ++x) twice[x] = four[x] + four[x + 4];
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) four[x] = (twice[x - valid_reach] + twice[x]) + not_valid[x + valid_reach];
}

void finish_disparities(const DisparityBars& bars, int y) {
  const int width = bars.width();
  const DisparityErrorBars& out = bars.out;
  const auto to = [&](const View<float>& plane) {
    return plane ? plane.row(y) : bars.row(DisparityBarsRows::unwanted);
  };
  float *const sigma = to(out.sigma), *const outlier = to(out.outlier), *const outlier3 = to(out.outlier3);
  int* const cause = reinterpret_cast<int*>(bars.row(DisparityBarsRows::cause));
  const float *const d = bars.input.d.row(y), *const right = bars.input.right.row(y),
                     *const confidence = bars.input.confidence.row(y);
  const std::uint8_t* const valid = bars.input.valid.row(y);
  const float *const texture = bars.columns(0), *const apart = bars.columns(1),
                     *const not_valid = bars.row(DisparityBarsRows::right_luma),
                     *const steps = bars.columns(3), *const curve = bars.columns(4);
  const DisparityErrorModel model = bars.model;
  const MatchedRow matched(d, right, width, bars.row(DisparityBarsRows::matched));
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    const DisparityErrorSums sums{sum_of_7([&](int k) { return texture[x + k - tensor_reach]; }),
                                  sum_of_9([&](int k) { return apart[x + k - apart_reach]; }), not_valid[x],
                                  steps[x], sum_of_5([&](int k) { return curve[x + k - curve_reach]; })};
    const DisparityErrors errors =
        disparity_errors_of(model, sums, d[x], matched.at(x), width, x, valid[x] != 0, confidence[x]);
    sigma[x] = errors.sigma, outlier[x] = errors.outlier, outlier3[x] = errors.outlier3;
    cause[x] = errors.cause;
  }
  if (!out.cause) return;
  std::uint8_t* const bytes = out.cause.row(y);
  for (int x = 0; x < width; ++x) bytes[x] = std::uint8_t(cause[x]);
}

}  // namespace

template <class Backend>
void disparity_error_bars(Backend& cpu, const DisparityBarsInput& input, const DisparityErrorModel& model,
                          const DisparityErrorBars& out) {
  const int height = input.d.height;
  cpu.few_rows(height, [=](RowRange rows, void* scratch) {
    const DisparityBars bars{input, model, out, static_cast<float*>(scratch)};
    int compared = rows.first_new(apart_reach, height), textured = rows.first_new(tensor_reach, height),
        stepped = rows.first_new(step_reach, height);
    for (int y = rows.begin; y < rows.end; ++y) {
      for (; textured < smaller(y + tensor_reach + 1, height); ++textured) {
        for (; compared < smaller(textured + 2, height); ++compared) compare_views(bars, compared);
        find_texture(bars, textured);
      }
      for (; stepped < smaller(y + step_reach + 1, height); ++stepped) find_steps(bars, stepped);
      reduce_columns(bars, y);
      finish_disparities(bars, y);
    }
  });
}

PF_STEP(disparity_error_bars<Cpu>);

}  // namespace parafield
