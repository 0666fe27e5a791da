#pragma once
#include "oracle/grid.hpp"

/// Bodily, chapter 3, with each kernel's sum 1.
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
  const std::vector<double> derivative{1.0 / 12, -8.0 / 12, 0, 8.0 / 12, -1.0 / 12};
  const Grid gx = convolved(frames[2], derivative, false), gy = convolved(frames[2], derivative, true);
  const Grid gt = tabulate(size, [&](int x, int y) {
    double sum = 0;
    for (std::size_t i = 0; i < 5; ++i) sum += derivative[i] * frames[i](x, y);
    return sum;
  });
  std::vector<double> weights{3, 5, 7, 8, 7, 5, 3};
  for (double& weight : weights) weight /= 38;
  const auto weighted = [&](const Grid& g) { return convolved(convolved(g, weights, true), weights, false); };
  const Grid wx = weighted(gx), wy = weighted(gy), wt = weighted(gt);
  const auto mean_product = [&](const Grid& a, const Grid& b) {
    const std::vector<double> third(3, 1.0 / 3);
    const Grid product = tabulate(size, [&](int x, int y) { return a(x, y) * b(x, y); });
    return convolved(convolved(product, third, true), third, false);
  };
  const Grid t1 = mean_product(wx, wx), t2 = mean_product(wy, wy), t4 = mean_product(wx, wy),
             t5 = mean_product(wx, wt), t6 = mean_product(wy, wt);
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
