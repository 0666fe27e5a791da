#pragma once
#include "oracle/grid.hpp"

/// Bodily, chapter 3, with each kernel's sum 1; the weighting comes before the derivatives, with which it commutes but at
/// the border.
namespace parafield::oracle {

struct TensorFlowResult {
  Grid u, v, determinant, confidence;
};

/// The sum of weights times an image's pixels, along rows or columns.
inline Grid convolved(const Grid& image, const std::vector<double>& weights, bool down) {
  const int reach = int(weights.size()) / 2;
  return tabulate(image.size, [&](int x, int y) {
    double sum = 0;
    for (int k = -reach; k <= reach; ++k)
      sum += weights[std::size_t(k + reach)] * (down ? image(x, y + k) : image(x + k, y));
    return sum;
  });
}

inline TensorFlowResult gradient_tensor(const std::vector<Grid>& frames) {
  const Size size = frames[2].size;
  std::vector<double> weights{3, 5, 7, 8, 7, 5, 3};
  for (double& weight : weights) weight /= 38;
  std::vector<Grid> weighted;
  for (const Grid& frame : frames)
    weighted.push_back(convolved(convolved(frame, weights, true), weights, false));
  const std::vector<double> derivative{1.0 / 12, -8.0 / 12, 0, 8.0 / 12, -1.0 / 12};
  const Grid gx = convolved(weighted[2], derivative, false), gy = convolved(weighted[2], derivative, true);
  const Grid gt = tabulate(size, [&](int x, int y) {
    double sum = 0;
    for (std::size_t i = 0; i < 5; ++i) sum += derivative[i] * weighted[i](x, y);
    return sum;
  });
  const auto mean_product = [&](const Grid& a, const Grid& b) {
    const std::vector<double> third(3, 1.0 / 3);
    const Grid product = tabulate(size, [&](int x, int y) { return a(x, y) * b(x, y); });
    return convolved(convolved(product, third, true), third, false);
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
