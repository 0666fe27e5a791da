// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/slopes/slopes.hpp"

namespace parafield {
namespace {

constexpr int slope_chunk = 64;  // pixels whose sums are kept together
constexpr int window_columns = 2 * slope_radius_x + 1, window_rows = 2 * slope_radius_y + 1;  // of a window

/// Fills row y of the padded samples. Samples outside the level have no weight.
void take_samples(const LevelLabels& from, const SlopeSamples& samples, int y) {
  const Size size = from.size();
  float *const d = samples.d.row(y), *const trust = samples.trust.row(y);
  std::uint32_t* const color = samples.color.row(y);
  const int own = y - slope_radius_y, width = samples.d.width;
  for (int i = 0; i < width; ++i) d[i] = trust[i] = 0, color[i] = 0;
  if (own < 0 || own >= size.height) return;
  const Label* const labels = from.labels.row(own);
  const float *const middle = from.costs.middle.row(own), *const before = from.costs.before_x.row(own),
                     *const after = from.costs.after_x.row(own), *const margin = from.costs.margin.row(own);
  const std::uint32_t* const words = from.color.row(own);
  const int level = from.level;
#pragma GCC ivdep  // planes do not overlap
  for (int x = 0; x < size.width; ++x) {
    d[x + slope_radius_x] = sloped_disparity(labels[x], before[x], middle[x], after[x]);
    trust[x + slope_radius_x] = sloped_trust(margin[x], level);
    color[x + slope_radius_x] = words[x];
  }
}

/// Planes of a chunk of pixels.
struct ChunkPlanes {
  float d[slope_chunk], slope_x[slope_chunk], slope_y[slope_chunk];
};

/// Weights of the samples in the windows of a chunk of pixels by trust and color. Both rounds use them.
using ChunkShares = float[window_rows][window_columns][slope_chunk];

/// Finds the shares for `count` pixels of row y from x0 on.
void find_shares(const SlopeSamples& samples, int x0, int y, int count, ChunkShares& shares) {
  const std::uint32_t* const own = samples.color.row(y + slope_radius_y) + x0 + slope_radius_x;
  for (int j = 0; j < window_rows; ++j) {
    const float* const trust = samples.trust.row(y + j) + x0;
    const std::uint32_t* const color = samples.color.row(y + j) + x0;
    for (int k = 0; k < window_columns; ++k) {
      float* const share = shares[j][k];
#pragma GCC ivdep
      for (int i = 0; i < count; ++i) share[i] = trust[i + k] * color_share(own[i], color[i + k]);
    }
  }
}

/// Runs a round for `count` pixels of row y from x0 on. most(dx, dy): largest distance from the plane.
template <class Most>
void fit_round(const SlopeSamples& samples, const ChunkShares& shares, int x0, int y, int count, Most most,
               ChunkPlanes& planes) {
  ChunkSums<slope_chunk> sums;
  for (int i = 0; i < count; ++i) sums.set(i, {});
  for (int j = 0; j < window_rows; ++j) {
    const float* const d = samples.d.row(y + j) + x0;
    const float dy = float(j - slope_radius_y);
    float mosts[window_columns];
    for (int k = 0; k < window_columns; ++k) mosts[k] = most(k - slope_radius_x, j - slope_radius_y);
#pragma GCC ivdep
    for (int i = 0; i < count; ++i) {
      const SlopePlane plane{planes.d[i], planes.slope_x[i], planes.slope_y[i]};
      RowSums row;
      PF_UNROLL
      for (int k = 0; k < window_columns; ++k) {
        const float dx = float(k - slope_radius_x), difference = d[i + k] - plane.d;
        row.add(dx, difference, plane.weight(difference, dx, dy, mosts[k], shares[j][k][i]));
      }
      WindowSums window = sums.at(i);
      window.add(row, dy);
      sums.set(i, window);
    }
  }
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    const SlopePlane next = SlopePlane{planes.d[i], planes.slope_x[i], planes.slope_y[i]}.next(sums.at(i));
    planes.d[i] = next.d, planes.slope_x[i] = next.slope_x, planes.slope_y[i] = next.slope_y;
  }
}

template <class Backend>
void fit_slopes(Backend& cpu, const LevelLabels& labels, const SlopeSamples& samples, const Slopes& slopes) {
  const LevelLabels from = labels;
  cpu.rows(samples.d.height, [=](int y) { take_samples(from, samples, y); });
  const SlopeTolerance tolerance(labels.level);
  const int width = labels.size().width;
  cpu.rows(labels.size().height, [=](int y) {
    for (int x0 = 0; x0 < width; x0 += slope_chunk) {
      const int count = smaller(slope_chunk, width - x0);
      const float* const own = samples.d.row(y + slope_radius_y) + x0 + slope_radius_x;
      ChunkPlanes planes;
      for (int i = 0; i < count; ++i) planes.d[i] = own[i], planes.slope_x[i] = planes.slope_y[i] = 0;
      ChunkShares shares;
      find_shares(samples, x0, y, count, shares);
      const auto fit = [&](auto most) { fit_round(samples, shares, x0, y, count, most, planes); };
      fit([=](int dx, int dy) { return tolerance.first(dx, dy); });
      fit([=](int, int) { return tolerance.second; });
      float *const to_x = slopes.x.row(y) + x0, *const to_y = slopes.y.row(y) + x0;
      for (int i = 0; i < count; ++i) to_x[i] = planes.slope_x[i], to_y[i] = planes.slope_y[i];
    }
  });
}

}  // namespace

template <class Backend>
void find_rises(Backend& cpu, const LevelLabels& labels, const SlopeSamples& samples, const Slopes& slopes,
                bool finer, int level, const View<float> (&rises)[2]) {
  fit_slopes(cpu, labels, samples, slopes);
  const View<float> right = rises[0], down = rises[1];
  const int shift = finer ? 1 : 0;
  cpu.rows(right.height, [=](int y) {
    const int width = right.width, next_y = smaller(y + 1, right.height - 1);
    const float *const x = slopes.x.row(y >> shift), *const here = slopes.y.row(y >> shift),
                       *const below = slopes.y.row(next_y >> shift);
    float *const to_right = right.row(y), *const to_down = down.row(y);
#pragma GCC ivdep
    for (int i = 0; i < width; ++i) {
      to_right[i] = rise_of(x[i >> shift], x[smaller(i + 1, width - 1) >> shift], finer, level);
      to_down[i] = rise_of(here[i >> shift], below[i >> shift], finer, level);
    }
  });
}

PF_STEP(find_rises<Cpu>);

}  // namespace parafield
