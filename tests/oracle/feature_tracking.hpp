// SPDX-License-Identifier: MIT
#pragma once
// Feature tracking: corners (Shi, Tomasi 1994), pyramidal Lucas-Kanade (Bouguet 2000), a check there and
// back, and outliers among neighbors. Intensities are 0..255.
#include <limits>
#include <optional>

#include "parafield/tracks.hpp"
#include "steps.hpp"

namespace parafield::oracle {

/// The feature of a cell.
struct TrackedFeature {
  std::optional<Position> at;    ///< no value = the cell has no corner
  std::optional<Position> flow;  ///< no value = dropped
  /// Least distance of a value from the limit that decided.
  double margin = std::numeric_limits<double>::infinity();

  bool decide(double value, double limit) {
    margin = std::min(margin, std::abs(value - limit));
    return value < limit;
  }
  /// Decides which pixels of a window around (x, y) lie inside.
  void decide_border(Size size, int radius, double x, double y) {
    const auto along = [&](double position, int side) {
      if (position - radius >= 0.5 && position + radius <= side - 1.5) return;
      decide(position, std::round(position));
    };
    along(x, size.width);
    along(y, size.height);
  }
};

/// Smaller eigenvalue of (a b; b c).
inline double smaller_eigenvalue_of(double a, double b, double c) {
  return (a + c) / 2 - std::hypot((a - c) / 2, b);
}

/// Smaller eigenvalue of the mean gradient tensor of 3x3 pixels; not finite where a pixel that it depends on
/// is not.
inline Grid corner_scores(const Grid& luma) {
  const Grid gx = derivative_x(luma), gy = derivative_y(luma);
  const auto mean = [&](const Grid& a, const Grid& b) {
    return window_mean(tabulate(luma.size, [&](int x, int y) { return a(x, y) * b(x, y); }), 3);
  };
  const Grid xx = mean(gx, gx), xy = mean(gx, gy), yy = mean(gy, gy);
  return tabulate(luma.size,
                  [&](int x, int y) { return smaller_eigenvalue_of(xx(x, y), xy(x, y), yy(x, y)); });
}

/// The largest maximum of 3x3 pixels among the pixels x0 <= x < x1, y0 <= y < y1; the first of equals, by
/// rows.
inline std::optional<Position> strongest_corner(const Grid& scores, int x0, int x1, int y0, int y1,
                                                double least) {
  std::optional<Position> best;
  double best_score = 0;
  for (int y = y0; y < y1; ++y)
    for (int x = x0; x < x1; ++x) {
      const double score = scores(x, y);
      if (!(score >= least) || (best && score <= best_score)) continue;
      bool is_maximum = true;
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i) {
          if (x + i < 0 || y + j < 0 || x + i >= scores.size.width || y + j >= scores.size.height) continue;
          const bool earlier = j < 0 || (j == 0 && i < 0), self = i == 0 && j == 0;
          const double other = scores(x + i, y + j);
          if (!self && (earlier ? other >= score : other > score)) is_maximum = false;
        }
      if (!is_maximum) continue;
      best = {double(x), double(y)};
      best_score = score;
    }
  return best;
}

/// Flow one way, from a start; no value where the feature is lost. `error`: root of (mean of e^2 / mean of
/// |grad I|^2) at the match.
inline std::optional<Position> lucas_kanade_track(const std::vector<Grid>& from, const std::vector<Grid>& to,
                                                  Position at, Position start,
                                                  const FeatureTracking& tracking, double least_texture,
                                                  TrackedFeature& feature, double* error = nullptr) {
  const auto seen = [&](const Grid& frame, Position p) {
    const double right = frame.size.width - 1, bottom = frame.size.height - 1;
    for (const double distance : {p.x, right - p.x, p.y, bottom - p.y})
      if (distance != 0) feature.decide(distance, 0);
    return inside(frame.size, p.x, p.y) && std::isfinite(bilinear(frame, p.x, p.y));
  };
  if (!seen(from[0], at)) return {};
  const int radius = tracking.track_window / 2;
  const double whole = 1 << from.size();
  Position flow{start.x / whole, start.y / whole};
  for (int level = int(from.size()) - 1; level >= 0; --level) {
    const Grid &first = from[level], &second = to[level];
    const double scale = 1 << level;
    const Position middle{at.x / scale, at.y / scale};
    flow = {2 * flow.x, 2 * flow.y};
    for (int iteration = 0;; ++iteration) {
      double xx = 0, xy = 0, yy = 0, bx = 0, by = 0, ee = 0;
      if (middle.x != std::round(middle.x) || middle.y != std::round(middle.y))
        feature.decide_border(first.size, radius, middle.x, middle.y);
      if (flow.x != 0 || flow.y != 0)
        feature.decide_border(second.size, radius, middle.x + flow.x, middle.y + flow.y);
      for (int j = -radius; j <= radius; ++j)
        for (int i = -radius; i <= radius; ++i) {
          const double x = middle.x + i, y = middle.y + j;
          const auto value = [&](double dx, double dy) { return bilinear(first, x + dx, y + dy); };
          const double gx = (8 * (value(1, 0) - value(-1, 0)) - (value(2, 0) - value(-2, 0))) / 12;
          const double gy = (8 * (value(0, 1) - value(0, -1)) - (value(0, 2) - value(0, -2))) / 12;
          const double e = value(0, 0) - bilinear(second, x + flow.x, y + flow.y);
          if (!inside(first.size, x, y) || !inside(second.size, x + flow.x, y + flow.y)) continue;
          if (!std::isfinite(gx) || !std::isfinite(gy) || !std::isfinite(e)) continue;
          xx += gx * gx;
          xy += gx * gy;
          yy += gy * gy;
          bx += gx * e;
          by += gy * e;
          ee += e * e;
        }
      if (error) *error = std::sqrt(ee / (xx + yy));
      if (iteration == tracking.track_iterations) break;
      const double pixels = tracking.track_window * tracking.track_window;
      if (feature.decide(smaller_eigenvalue_of(xx, xy, yy) / pixels, least_texture)) {
        if (level == 0) return {};
        break;
      }
      const double determinant = xx * yy - xy * xy;
      const Position step{(yy * bx - xy * by) / determinant, (xx * by - xy * bx) / determinant};
      flow = {flow.x + step.x, flow.y + step.y};
      if (feature.decide(std::hypot(step.x, step.y), 0.01)) iteration = tracking.track_iterations - 1;
    }
  }
  if (!seen(to[0], {at.x + flow.x, at.y + flow.y})) return {};
  return flow;
}

/// Flow of a feature that is tracked there and back from a start; no value where it is lost or does not come
/// back.
inline std::optional<Position> there_and_back(const std::vector<Grid>& pyramid0,
                                              const std::vector<Grid>& pyramid1, Position start,
                                              const FeatureTracking& tracking, double least_texture,
                                              TrackedFeature& feature, double* error = nullptr) {
  const auto flow =
      lucas_kanade_track(pyramid0, pyramid1, *feature.at, start, tracking, least_texture, feature, error);
  if (!flow || tracking.track_check == 0) return flow;
  const Position end{feature.at->x + flow->x, feature.at->y + flow->y};
  const auto back =
      lucas_kanade_track(pyramid1, pyramid0, end, {-start.x, -start.y}, tracking, least_texture, feature);
  if (!back || !feature.decide(std::hypot(flow->x + back->x, flow->y + back->y), tracking.track_check))
    return {};
  return flow;
}

/// One round in which dropped features try the flows of the nearest tracks in 8 directions, at level 0.
/// `old`: the features a round before, whose flows have been tried; empty in the first round.
inline void retry_features(std::vector<TrackedFeature>& features, const std::vector<TrackedFeature>& old,
                           int columns, int rows, const Grid& frame0, const Grid& frame1,
                           FeatureTracking tracking, double least_texture) {
  tracking.track_iterations = std::min(tracking.track_iterations, 15);
  const double check = tracking.track_check * std::sqrt(0.5);
  tracking.track_check = float(check);
  const std::vector<TrackedFeature> before = features;
  constexpr int directions[][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}};
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      TrackedFeature& feature = features[std::size_t(row * columns + column)];
      if (!feature.at || feature.flow) continue;
      std::vector<Position> starts;
      double least_error = std::sqrt(2.0);
      for (const auto& [dx, dy] : directions) {
        const TrackedFeature* nearest = nullptr;
        for (int i = 1; i <= 8; ++i) {
          const int x = column + i * dx, y = row + i * dy;
          if (x < 0 || y < 0 || x >= columns || y >= rows) break;
          const auto cell = std::size_t(y * columns + x);
          feature.margin = std::min(feature.margin, before[cell].margin);
          if (!before[cell].flow) continue;
          if (old.empty() || !old[cell].flow) nearest = &before[cell];
          break;
        }
        if (!nearest) continue;
        const Position start = *nearest->flow;
        bool is_new = true;
        for (const Position other : starts)
          if (feature.decide(std::hypot(start.x - other.x, start.y - other.y), 1)) is_new = false;
        starts.push_back(start);
        if (!is_new) continue;
        double error = 0;
        const auto tracked = [&](double offset) {
          return there_and_back({frame0}, {frame1}, {start.x + offset, start.y - offset}, tracking,
                                least_texture, feature, offset == 0 ? &error : nullptr);
        };
        // Where solutions end before they converge, rounding of the start matters, in the library, too.
        const auto flow = tracked(0), beside = tracked(1e-3);
        if (flow.has_value() != beside.has_value() ||
            (flow && std::hypot(flow->x - beside->x, flow->y - beside->y) > 3e-4))
          feature.margin = 0;
        if (!flow || !feature.decide(error, least_error)) continue;
        least_error = error;
        feature.flow = flow;
      }
    }
}

/// Median; the lower middle value if their number is even.
inline double middle_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

/// Drops features that are outliers among their neighbors in a grid.
inline void drop_outliers(std::vector<TrackedFeature>& features, int columns, int rows, double outliers) {
  const std::vector<TrackedFeature> before = features;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      TrackedFeature& feature = features[std::size_t(row * columns + column)];
      if (!feature.flow) continue;
      std::vector<double> u, v, distances;
      double least_margin = feature.margin;
      for (int y = std::max(row - 1, 0); y <= std::min(row + 1, rows - 1); ++y)
        for (int x = std::max(column - 1, 0); x <= std::min(column + 1, columns - 1); ++x) {
          const TrackedFeature& near = before[std::size_t(y * columns + x)];
          least_margin = std::min(least_margin, near.margin);
          if (!near.flow) continue;
          u.push_back(near.flow->x);
          v.push_back(near.flow->y);
        }
      feature.margin = least_margin;  // a neighbor that was nearly dropped decides here
      if (u.size() < 3) continue;
      const Position median{middle_of(u), middle_of(v)};
      for (std::size_t i = 0; i < u.size(); ++i)
        distances.push_back(std::hypot(u[i] - median.x, v[i] - median.y));
      const double limit = outliers * std::max(middle_of(distances), 0.7);
      if (!feature.decide(std::hypot(feature.flow->x - median.x, feature.flow->y - median.y), limit))
        feature.flow.reset();
    }
}

/// Features of frame0 (luma), one for each cell of a grid, and their flow to frame1.
inline std::vector<TrackedFeature> track_features(const Grid& frame0, const Grid& frame1, int columns,
                                                  int rows, const FeatureTracking& tracking,
                                                  double least_texture, double least_corner) {
  const auto pyramid_of = [&](const Grid& frame) {
    std::vector<Grid> pyramid{frame};
    while (int(pyramid.size()) < tracking.track_levels) {
      Grid next = reduce(pyramid.back());
      if (std::min(next.size.width, next.size.height) < 4) break;
      pyramid.push_back(std::move(next));
    }
    return pyramid;
  };
  const std::vector<Grid> pyramid0 = pyramid_of(frame0), pyramid1 = pyramid_of(frame1);
  const Grid scores = tracking.features == FeatureChoice::corners ? corner_scores(frame0) : Grid{};
  const auto [width, height] = frame0.size;
  std::vector<TrackedFeature> features;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      TrackedFeature& feature = features.emplace_back();
      if (tracking.features == FeatureChoice::corners)
        feature.at = strongest_corner(scores, column * width / columns, (column + 1) * width / columns,
                                      row * height / rows, (row + 1) * height / rows, least_corner);
      else
        feature.at = {(column + 0.5) * width / columns - 0.5, (row + 0.5) * height / rows - 0.5};
      if (!feature.at) continue;
      feature.flow = there_and_back(pyramid0, pyramid1, {0, 0}, tracking, least_texture, feature);
    }
  std::vector<TrackedFeature> old;
  for (int round = 0; round < tracking.track_rounds; ++round) {
    std::vector<TrackedFeature> last = features;
    retry_features(features, old, columns, rows, frame0, frame1, tracking, least_texture);
    old = std::move(last);
  }
  if (tracking.track_outliers > 0) drop_outliers(features, columns, rows, tracking.track_outliers);
  return features;
}

}  // namespace parafield::oracle
