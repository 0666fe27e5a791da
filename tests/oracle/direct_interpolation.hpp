// SPDX-License-Identifier: MIT
#pragma once
// Direct interpolation (Kim, Hwangbo, Kanade, section 4.1, Alg. 1): a pixel's flow is the mean of all
// features' flows, weighted by their likelihoods.
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "oracle/steps.hpp"
#include "parafield/methods/direct_interpolation.hpp"
#include "parafield/tracks.hpp"

namespace parafield::oracle {

using Rgb = std::array<Grid, 3>;

/// (x, y, r, g, b) of a pixel or a feature. A feature's color is bilinear.
using Five = std::array<double, 5>;

struct Feature {
  Five place;
  double u, v;
};

inline Five place_of(const Rgb& colors, double x, double y) {
  const auto channel = [&](const Grid& plane) { return bilinear(plane, x, y); };
  return {x, y, channel(colors[0]), channel(colors[1]), channel(colors[2])};
}

/// Features of the tracks that are finite and begin inside the frame.
inline std::vector<Feature> features_of(const std::vector<Track>& tracks, const Rgb& colors) {
  std::vector<Feature> features;
  for (const Track& track : tracks) {
    if (!std::isfinite(track.x + track.y + track.u + track.v) || !inside(colors[0].size, track.x, track.y))
      continue;
    const Five place = place_of(colors, track.x, track.y);
    if (std::isfinite(place[2] + place[3] + place[4])) features.push_back({place, track.u, track.v});
  }
  return features;
}

/// -ln L(p, f) without a constant (eqs. 1 to 3): alpha = 1 / sigma_color, beta = 1 / sigma_position.
inline double exponent(const Five& p, const Five& f, double alpha, double beta) {
  const Five scale{beta, beta, alpha, alpha, alpha};
  double sum = 0;
  for (std::size_t i = 0; i < 5; ++i) sum += std::pow(scale[i] * (p[i] - f[i]), 2) / 2;
  return sum;
}

struct Interpolated {
  double u = 0, v = 0;
  double exponent = 0;  ///< of the best feature
};

/// Eq. 4. Likelihoods are divided by the best one, since all may underflow. Without features there is no
/// hypothesis.
inline Interpolated interpolate(const Five& pixel, const std::vector<Feature>& features, double alpha,
                                double beta) {
  if (features.empty()) return {};
  double best = INFINITY, sum = 0, u = 0, v = 0;
  for (const Feature& f : features) best = std::min(best, exponent(pixel, f.place, alpha, beta));
  for (const Feature& f : features) {
    const double likelihood = std::exp(best - exponent(pixel, f.place, alpha, beta));
    sum += likelihood;
    u += likelihood * f.u;
    v += likelihood * f.v;
  }
  return {u / sum, v / sum, best};
}

/// K R K^-1 (x, y, 1): the ray through the pixel is rotated about the axis (Rodrigues) and projected; NaN
/// behind the camera.
inline Position turned(const CameraRotation& camera, double x, double y) {
  using Vector = std::array<double, 3>;
  const double angle = std::hypot(double(camera.x), double(camera.y), double(camera.z));
  const Vector ray{(x - camera.cx) / camera.fx, (y - camera.cy) / camera.fy, 1};
  Vector seen = ray;
  if (angle > 0) {
    const Vector k{camera.x / angle, camera.y / angle, camera.z / angle};
    const double along = k[0] * ray[0] + k[1] * ray[1] + k[2] * ray[2];
    const Vector cross{k[1] * ray[2] - k[2] * ray[1], k[2] * ray[0] - k[0] * ray[2],
                       k[0] * ray[1] - k[1] * ray[0]};
    for (std::size_t i = 0; i < 3; ++i)
      seen[i] = ray[i] * std::cos(angle) + cross[i] * std::sin(angle) + k[i] * along * (1 - std::cos(angle));
  }
  if (!(seen[2] > 0)) return {NAN, NAN};
  return {camera.fx * seen[0] / seen[2] + camera.cx, camera.fy * seen[1] / seen[2] + camera.cy};
}

/// Difference of the color test: the mean over channels and window of |I0(q) - I1(q + flow)|; infinite where
/// the pixel itself ends outside I1 or a value is not finite.
inline double difference(const Rgb& frame0, const Rgb& frame1, int window, int x, int y, double u, double v) {
  const Size size = frame0[0].size;
  if (!inside(size, x + u, y + v)) return INFINITY;
  double sum = 0;
  for (int dy = -(window / 2); dy <= window / 2; ++dy)
    for (int dx = -(window / 2); dx <= window / 2; ++dx) {
      const int column = std::clamp(x + dx, 0, size.width - 1), row = std::clamp(y + dy, 0, size.height - 1);
      for (std::size_t c = 0; c < 3; ++c)
        sum += std::abs(frame0[c](column, row) - bilinear(frame1[c], column + u, row + v)) / 3;
    }
  sum /= window * window;
  return std::isfinite(sum) ? sum : INFINITY;
}

struct Estimate {
  Interpolated mean;
  double difference = INFINITY;         ///< difference of the mean
  Position turn = {NAN, NAN};           ///< flow of the camera's rotation
  double turned_difference = INFINITY;  ///< difference of the rotation
};

/// Alg. 1 for a pixel. Likelihoods compare `smoothed`. The first of the two hypotheses that passes is the
/// flow.
struct DirectInterpolationOracle {
  DirectInterpolation method;
  Rgb frame0, frame1, smoothed;
  std::vector<Feature> features;
  std::optional<CameraRotation> rotation;

  DirectInterpolationOracle(const Frame& first, const Frame& second, const std::vector<Track>& tracks,
                            const DirectInterpolation& m, std::optional<CameraRotation> turn)
      : method(m), frame0(colors(first)), frame1(colors(second)), smoothed(frame0), rotation(turn) {
    if (method.presmooth > 0)
      for (Grid& plane : smoothed) plane = smooth(plane, gaussian_taps(method.presmooth));
    features = features_of(tracks, smoothed);
  }

  Estimate at(int x, int y) const {
    Five pixel{double(x), double(y), smoothed[0](x, y), smoothed[1](x, y), smoothed[2](x, y)};
    for (double& value : pixel)
      if (!std::isfinite(value)) value = 0;  // a pixel that is not finite is black
    Estimate result;
    result.mean =
        interpolate(pixel, features, 1 / double(method.sigma_color), 1 / double(method.sigma_position));
    if (!features.empty())
      result.difference =
          difference(frame0, frame1, method.change_window, x, y, result.mean.u, result.mean.v);
    if (!rotation) return result;
    const Position seen = turned(*rotation, x, y);
    result.turn = {seen.x - x, seen.y - y};
    result.turned_difference =
        difference(frame0, frame1, method.change_window, x, y, result.turn.x, result.turn.y);
    return result;
  }
};

}  // namespace parafield::oracle
