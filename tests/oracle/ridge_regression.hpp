// SPDX-License-Identifier: MIT
#pragma once
#include "oracle/temporal.hpp"
#include "parafield/methods/ridge_regression.hpp"

/// Ridge regression (Bodily, chapter 4), with kernels whose sum is 1: derivatives at three instants, smoothed
/// in time. The smoothing in space comes first, as it commutes with the derivatives except at the border.
namespace parafield::oracle {

struct RidgeResult {
  Grid u, v;              ///< smoothed flow
  Grid rough_u, rough_v;  ///< flow before it is smoothed
  Grid determinant, confidence, k;
};

inline RidgeResult ridge_regression(const std::vector<Grid>& frames, const RidgeRegression& method) {
  const Size size = frames[3].size;
  const std::vector<double> in_space{3 / 16.0, 3 / 16.0, 4 / 16.0, 3 / 16.0, 3 / 16.0};
  const std::vector<double> in_time{2 / 8.0, 4 / 8.0, 2 / 8.0};
  std::vector<Grid> smoothed, gx_at, gy_at, gt_at;
  for (const Grid& frame : frames) smoothed.push_back(convolved(frame, in_space));
  for (int instant = 2; instant <= 4; ++instant) {
    const std::vector<Grid> around(smoothed.begin() + instant - 2, smoothed.begin() + instant + 3);
    gx_at.push_back(convolved(around[2], five_point_derivative, false));
    gy_at.push_back(convolved(around[2], five_point_derivative, true));
    gt_at.push_back(blend(around, five_point_derivative));
  }
  const Grid gx = blend(gx_at, in_time), gy = blend(gy_at, in_time), gt = blend(gt_at, in_time);
  const auto component = [&](const Grid& a, const Grid& b) {
    return convolved(product(a, b), {5 / 16.0, 6 / 16.0, 5 / 16.0});
  };
  const Grid xx = component(gx, gx), yy = component(gy, gy), tt = component(gt, gt), xy = component(gx, gy),
             xt = component(gx, gt), yt = component(gy, gt);
  RidgeResult result;
  for (Grid* grid : {&result.rough_u, &result.rough_v, &result.determinant, &result.confidence, &result.k})
    *grid = Grid(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const double a = xx(x, y), b = xy(x, y), c = yy(x, y), p = xt(x, y), q = yt(x, y);
      const double determinant = a * c - b * b;
      result.determinant(x, y) = determinant;
      result.confidence(x, y) = (a + c) / 2 - std::sqrt((a - c) * (a - c) / 4 + b * b);
      if (!(determinant > double(method.min_determinant))) continue;
      double u = (b * q - c * p) / determinant, v = (b * p - a * q) / determinant;
      if (determinant < double(method.ridge_determinant) && u * u + v * v > 0) {
        const double residual =
            std::max(tt(x, y) + 2 * (u * p + v * q) + u * u * a + 2 * u * v * b + v * v * c, 0.0);
        const double k = 2.0 / 7 * residual / (u * u + v * v), ridged = (a + k) * (c + k) - b * b;
        u = (b * q - (c + k) * p) / ridged, v = (b * p - (a + k) * q) / ridged;
        result.k(x, y) = k;
      }
      result.rough_u(x, y) = u;
      result.rough_v(x, y) = v;
    }
  const std::vector<double> last{1 / 8.0, 1 / 8.0, 1 / 8.0, 2 / 8.0, 1 / 8.0, 1 / 8.0, 1 / 8.0};
  result.u = convolved(result.rough_u, last);
  result.v = convolved(result.rough_v, last);
  return result;
}

}  // namespace parafield::oracle
