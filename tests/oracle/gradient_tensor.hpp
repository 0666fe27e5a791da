// SPDX-License-Identifier: MIT
#pragma once
#include "oracle/temporal.hpp"

/// Gradient tensor (Bodily, chapter 3), with kernels whose sum is 1. The smoothing comes before the
/// derivatives, with which it commutes except at the border.
namespace parafield::oracle {

struct TensorFlowResult {
  Grid u, v, determinant, confidence;
};

inline TensorFlowResult gradient_tensor(const std::vector<Grid>& frames) {
  const Size size = frames[2].size;
  std::vector<double> weights{3, 5, 7, 8, 7, 5, 3};
  for (double& weight : weights) weight /= 38;
  std::vector<Grid> weighted;
  for (const Grid& frame : frames) weighted.push_back(convolved(frame, weights));
  const Grid gx = convolved(weighted[2], five_point_derivative, false),
             gy = convolved(weighted[2], five_point_derivative, true),
             gt = blend(weighted, five_point_derivative);
  const auto mean_product = [&](const Grid& a, const Grid& b) {
    return convolved(product(a, b), std::vector<double>(3, 1.0 / 3));
  };
  const Grid t1 = mean_product(gx, gx), t2 = mean_product(gy, gy), t4 = mean_product(gx, gy),
             t5 = mean_product(gx, gt), t6 = mean_product(gy, gt);
  TensorFlowResult result;
  result.determinant =
      tabulate(size, [&](int x, int y) { return t1(x, y) * t2(x, y) - t4(x, y) * t4(x, y); });
  result.u = tabulate(size, [&](int x, int y) {
    return (t6(x, y) * t4(x, y) - t5(x, y) * t2(x, y)) / result.determinant(x, y);
  });
  result.v = tabulate(size, [&](int x, int y) {
    return (t5(x, y) * t4(x, y) - t6(x, y) * t1(x, y)) / result.determinant(x, y);
  });
  result.confidence = tabulate(size, [&](int x, int y) {
    const double half = (t1(x, y) - t2(x, y)) / 2;
    return (t1(x, y) + t2(x, y)) / 2 - std::sqrt(half * half + t4(x, y) * t4(x, y));
  });
  return result;
}

}  // namespace parafield::oracle
