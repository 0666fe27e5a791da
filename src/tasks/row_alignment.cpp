// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/fail.hpp"
#include "parafield/rectification.hpp"
#include "parafield/tracks.hpp"

namespace parafield {
namespace {

/// A match, px. (x, y) is the mean of the feature's positions in both images, relative to the image center,
/// because it is unknown which of the images is rotated. `dy` is the row in the right image minus the row in
/// the left one.
struct RowMatch {
  double x, y, dy, disparity;
};

/// The plane dy = level + along * x + down * y.
struct RowPlane {
  double level = 0, along = 0, down = 0;
  double operator()(const RowMatch& match) const { return level + along * match.x + down * match.y; }
};

/// Returns the quantile at `share`, 0 to 1. It is always one of the values: the median of an even number of
/// values is not an average.
double ranked(std::vector<double> values, double share) {
  const auto at = values.begin() + std::ptrdiff_t(share * double(values.size() - 1) + 0.5);
  std::ranges::nth_element(values, at);
  return *at;
}
double ranked(const std::vector<RowMatch>& matches, double share, auto value) {
  std::vector<double> values;
  for (const RowMatch& match : matches) values.push_back(value(match));
  return ranked(std::move(values), share);
}

/// Solves the normal equations of a least-squares plane. If the features are collinear, returns a level plane
/// at `median`.
RowPlane solved(const double (&m)[6], const double (&b)[3], double median) {
  const auto [a, d, e, f, g, h] = m;  // (a d e; d f g; e g h)
  const double i = f * h - g * g, j = e * g - d * h, k = d * g - e * f, whole = a * i + d * j + e * k;
  if (!(whole > 1e-9 * a * f * h)) return {median, 0, 0};
  return {(i * b[0] + j * b[1] + k * b[2]) / whole,
          (j * b[0] + (a * h - e * e) * b[1] + (d * e - a * g) * b[2]) / whole,
          (k * b[0] + (d * e - a * g) * b[1] + (a * f - d * d) * b[2]) / whole};
}

/// Fits the plane with the least sum of |dy - plane|, by iteratively reweighted least squares. Tolerates up
/// to 30 % wrong matches.
RowPlane plane_of(const std::vector<RowMatch>& matches) {
  const double median = ranked(matches, 0.5, [](const RowMatch& match) { return match.dy; });
  RowPlane plane{median, 0, 0};
  constexpr double smallest_error = 0.05;  // px; smaller errors get the same weight
  for (int i = 0; i < 50; ++i) {
    double m[6] = {}, b[3] = {};
    for (const RowMatch& match : matches) {
      const auto& [x, y, dy, disparity] = match;
      const double weight = 1 / std::max(std::abs(dy - plane(match)), smallest_error);
      const double terms[] = {1, x, y, x * x, x * y, y * y}, sums[] = {dy, x * dy, y * dy};
      for (std::size_t k = 0; k < 6; ++k) m[k] += weight * terms[k];
      for (std::size_t k = 0; k < 3; ++k) b[k] += weight * sums[k];
    }
    plane = solved(m, b, median);
  }
  return plane;
}

/// Drops matches that are too far from the plane.
void drop_outliers(std::vector<RowMatch>& matches) {
  const RowPlane plane = plane_of(matches);
  const auto error = [&](const RowMatch& match) { return std::abs(match.dy - plane(match)); };
  const double limit =
      std::max(1.0, 6 * ranked(matches, 0.5, error));  // 4 standard deviations, at least 1 px
  std::erase_if(matches, [&](const RowMatch& match) { return error(match) > limit; });
}

}  // namespace

RowAlignment measure_row_alignment(const In<Frame>& left, const In<Frame>& right,
                                   const std::optional<Device>& device) {
  // Use enough levels that the coarsest one has only a few pixels, because disparities may be a large part
  // of the width.
  const FeatureTracking tracking{.max_features = 1000, .track_levels = 16, .track_iterations = 10};
  std::vector<RowMatch> matches;
  for (const Track& track : find_tracks(left, right, tracking, device))
    matches.push_back({track.x + track.u / 2 - left.width / 2.0, track.y + track.v / 2 - left.height / 2.0,
                       track.v, -track.u});
  constexpr auto least = std::size_t(RowAlignment::least_tracks);
  if (matches.size() >= least) drop_outliers(matches);
  RowAlignment result;
  result.tracks = int(matches.size());
  if (matches.size() < least) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    return {result.tracks, unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown};
  }
  const auto error = [](const RowMatch& match) { return std::abs(match.dy); };
  const auto disparity = [](const RowMatch& match) { return match.disparity; };
  result.median_dy = ranked(matches, 0.5, [](const RowMatch& match) { return match.dy; });
  result.median_error = ranked(matches, 0.5, error);
  result.error_90 = ranked(matches, 0.9, error);
  result.above_1 =
      double(std::ranges::count_if(matches, [&](const auto& match) { return error(match) > 1; })) /
      double(matches.size());
  const RowPlane plane = plane_of(matches);
  result.rotation = std::atan(plane.along) * 180 / std::numbers::pi;
  result.scale = plane.down;
  result.least_disparity = ranked(matches, 0.05, disparity);
  result.largest_disparity = ranked(matches, 0.95, disparity);
  return result;
}

}  // namespace parafield
