// SPDX-License-Identifier: MIT
#pragma once
#include "core/cpu/backend.hpp"
#include "steps/variational/variational.hpp"
#include "steps/warp/warp_row.hpp"

// Step 1 on the CPU. Each thread works down its rows and keeps the rows that the stencils still need in rings,
// so each row is warped and differentiated once and stays in the L2 cache. In an unnamed namespace, so that
// each instruction set has its own copy.
namespace parafield {
namespace {

constexpr int ring = 8;        // rows: a power of two above the 7 rows of the largest stencil
constexpr int rings_each = 4;  // of a channel: mean, difference, and the mean's derivatives along x and y
constexpr int planes = 5;      // of the data: xx, xy, yy, xt, yt
constexpr int ring_rows = ComparedFrames::most * rings_each * ring, smooth_rows = ring_rows + planes * ring,
              sum_rows = smooth_rows + 7, data_rows = sum_rows + 1;

/// How a thread compares frames, row after row.
struct Band {
  ComparedFrames frames;
  FlowPlanes flow, back;
  float* scratch;

  int width() const { return flow.u.width; }
  int height() const { return flow.u.height; }
  float* row(int i) const { return scratch + i * refinement_pitch(width()) + refinement_margin; }
  float* ring_row(int channel, int which, int y) const {
    return row((channel * rings_each + which) * ring + y % ring);
  }
  float* mean(int channel, int y) const { return ring_row(channel, 0, y); }
  float* difference(int channel, int y) const { return ring_row(channel, 1, y); }
  float* along_x(int channel, int y) const { return ring_row(channel, 2, y); }
  float* along_y(int channel, int y) const { return ring_row(channel, 3, y); }
  /// Data planes smoothed along rows.
  float* smooth(int plane, int y) const { return row(ring_rows + plane * ring + y % ring); }
  float* sum(int which) const { return row(smooth_rows + which); }
  float* miss() const { return row(sum_rows); }
};

/// Warps row y of the second frame, and computes the mean of both frames and their difference.
void compare_row(const Band& band, int y) {
  for (int c = 0; c < band.frames.channels; ++c)
    compare_warped(band.frames.from[c].row(y), band.frames.to[c], {band.flow.u.row(y), band.flow.v.row(y)}, y,
                   band.mean(c, y), band.difference(c, y));
}

/// Computes the first derivatives of the mean in row y.
void derive_row(const Band& band, int y) {
  const int width = band.width(), above = larger(y - 1, 0), below = smaller(y + 1, band.height() - 1);
  for (int c = 0; c < band.frames.channels; ++c) {
    const float *const mean = band.mean(c, y), *const before = band.mean(c, above),
                       *const after = band.mean(c, below);
    float *const along_x = band.along_x(c, y), *const along_y = band.along_y(c, y);
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
      along_x[x] = derivative_of_three(mean[x - 1], mean[x + 1]);
      along_y[x] = derivative_of_three(before[x], after[x]);
    }
    extend(along_x, width, 2);
    extend(along_y, width, 2);
  }
}

/// The rows two and one above a row, and one and two below it.
struct FiveRows {
  const float *above2, *above, *here, *below, *below2;
};

/// Adds a channel's products in row y to the sums. With `Five`, second derivatives have five taps.
template <bool Five>
void add_channel(const Band& band, int channel, int y) {
  const int width = band.width(), bottom = band.height() - 1;
  const auto around = [&](auto row_at) -> FiveRows {
    return {row_at(larger(y - 2, 0)), row_at(larger(y - 1, 0)), row_at(y), row_at(smaller(y + 1, bottom)),
            row_at(smaller(y + 2, bottom))};
  };
  const FiveRows gx = around([&](int row) { return band.along_x(channel, row); });
  const FiveRows gy = around([&](int row) { return band.along_y(channel, row); });
  const FiveRows t = around([&](int row) { return band.difference(channel, row); });
  const auto along = [](const float* row, int x) {
    return Five ? derivative_of_five(row[x - 2], row[x - 1], row[x + 1], row[x + 2])
                : derivative_of_three(row[x - 1], row[x + 1]);
  };
  const auto down = [](const FiveRows& rows, int x) {
    return Five ? derivative_of_five(rows.above2[x], rows.above[x], rows.below[x], rows.below2[x])
                : derivative_of_three(rows.above[x], rows.below[x]);
  };
  float* sum[7];
  for (int i = 0; i < 7; ++i) sum[i] = band.sum(i);
  const bool first = channel == 0;
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    GradientSums sums;
    if (!first) sums = {sum[0][x], sum[1][x], sum[2][x], sum[3][x], sum[4][x], sum[5][x], sum[6][x]};
    sums.add({along(gx.here, x), down(gx, x), along(gy.here, x), down(gy, x),
              derivative_of_three(t.here[x - 1], t.here[x + 1]), derivative_of_three(t.above[x], t.below[x]),
              t.here[x]});
    sum[0][x] = sums.xx, sum[1][x] = sums.xy, sum[2][x] = sums.yy, sum[3][x] = sums.xt, sum[4][x] = sums.yt,
    sum[5][x] = sums.tt, sum[6][x] = sums.difference;
  }
}

/// Squared distances from the pixels of row y at which the flow back ends.
const float* misses_of(const Band& band, int y) {
  const int width = band.width(), height = band.height();
  float* const miss = band.miss();
  if (!band.back.u) {
    for (int x = 0; x < width; ++x) miss[x] = 0;
    return miss;
  }
  const float *const u = band.flow.u.row(y), *const v = band.flow.v.row(y);
  const float *const back_u = band.back.u.data, *const back_v = band.back.v.data;
  const int pitch = int(band.back.u.stride());
#pragma GCC ivdep
  for (int x = 0; x < width; ++x)
    miss[x] = miss_of(u[x], v[x], back_u, back_v, pitch, width, height,
                      locate(float(x) + u[x], float(y) + v[x], width, height));
  return miss;
}

/// Computes row y of the data in the first rows of the sums.
void weigh_row(const Band& band, int y) {
  const int width = band.width(), channels = band.frames.channels;
  for (int c = 0; c < channels; ++c)
    channels == 1 ? add_channel<false>(band, c, y) : add_channel<true>(band, c, y);
  const float* const miss = misses_of(band, y);
  float* sum[7];
  for (int i = 0; i < 7; ++i) sum[i] = band.sum(i);
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    const GradientSums sums{sum[0][x], sum[1][x], sum[2][x], sum[3][x], sum[4][x], sum[5][x], sum[6][x]};
    const GradientSums weighted = sums.weighted(channels, miss[x]);
    sum[0][x] = weighted.xx, sum[1][x] = weighted.xy, sum[2][x] = weighted.yy, sum[3][x] = weighted.xt,
    sum[4][x] = weighted.yt;
  }
}

/// Computes row y of the data, smoothed along the row.
void smooth_row(const Band& band, int y) {
  const int width = band.width();
  weigh_row(band, y);
  for (int i = 0; i < planes; ++i) {
    float *const raw = band.sum(i), *const to = band.smooth(i, y);
    extend(raw, width, 1);
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) to[x] = smoothed_data(raw[x - 1], raw[x], raw[x + 1]);
  }
}

/// Computes the data of rows from the first to the last, one after the other.
class DataRows {
 public:
  DataRows(const Band& band, RowRange rows)
      : band_(band),
        smooths_(band.frames.channels > 1 ? 1 : 0),
        compared_(rows.first_new(3 + smooths_, band.height())),
        derived_(rows.first_new(2 + smooths_, band.height())),
        smoothed_(rows.first_new(1, band.height())) {}

  /// Computes row y. Its data are in rows 0 to 4 of the band's sums: xx, xy, yy, xt, yt.
  void compute(int y) {
    const int width = band_.width(), height = band_.height();
    for (; derived_ < smaller(y + 3 + smooths_, height); ++derived_) {
      for (; compared_ < smaller(derived_ + 2, height); ++compared_) compare_row(band_, compared_);
      derive_row(band_, derived_);
    }
    if (smooths_ == 0) return weigh_row(band_, y);
    for (; smoothed_ < smaller(y + 2, height); ++smoothed_) smooth_row(band_, smoothed_);
    const int above = larger(y - 1, 0), below = smaller(y + 1, height - 1);
    for (int i = 0; i < planes; ++i) {
      const float *const a = band_.smooth(i, above), *const b = band_.smooth(i, y),
                         *const c = band_.smooth(i, below);
      float* const to = band_.sum(i);
#pragma GCC ivdep
      for (int x = 0; x < width; ++x) to[x] = smoothed_data(a[x], b[x], c[x]);
    }
  }

 private:
  const Band band_;
  const int smooths_;
  int compared_, derived_, smoothed_;  // the next rows
};

}  // namespace
}  // namespace parafield
