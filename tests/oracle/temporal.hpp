// SPDX-License-Identifier: MIT
#pragma once
#include "oracle/grid.hpp"

/// Steps that the oracles of gradient-tensor and ridge-regression share.
namespace parafield::oracle {

/// An image's weighted sums along rows, or down columns.
inline Grid convolved(const Grid& image, const std::vector<double>& weights, bool down) {
  const int reach = int(weights.size()) / 2;
  return tabulate(image.size, [&](int x, int y) {
    double sum = 0;
    for (int k = -reach; k <= reach; ++k)
      sum += weights[std::size_t(k + reach)] * (down ? image(x, y + k) : image(x + k, y));
    return sum;
  });
}

/// Weighted sums down columns, then along rows.
inline Grid convolved(const Grid& image, const std::vector<double>& weights) {
  return convolved(convolved(image, weights, true), weights, false);
}

/// Weighted sum of images.
inline Grid blend(const std::vector<Grid>& images, const std::vector<double>& weights) {
  return tabulate(images[0].size, [&](int x, int y) {
    double sum = 0;
    for (std::size_t i = 0; i < images.size(); ++i) sum += weights[i] * images[i](x, y);
    return sum;
  });
}

inline Grid product(const Grid& a, const Grid& b) {
  return tabulate(a.size, [&](int x, int y) { return a(x, y) * b(x, y); });
}

/// First derivative: (1 -8 0 8 -1) / 12.
inline const std::vector<double> five_point_derivative{1.0 / 12, -8.0 / 12, 0, 8.0 / 12, -1.0 / 12};

}  // namespace parafield::oracle
