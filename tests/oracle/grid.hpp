// SPDX-License-Identifier: MIT
#pragma once
// Oracles are the papers' equations in float64, one pixel at a time, written to be compared with the papers.
// They share no code with the library, only the types of its parameters.
#include <algorithm>
#include <cmath>
#include <vector>

#include "parafield/image.hpp"

namespace parafield::oracle {

struct Position {
  double x, y;
};

/// A float64 image. Reading beyond the border gives the nearest pixel.
struct Grid {
  Size size;
  std::vector<double> values;

  Grid() = default;
  explicit Grid(Size s, double value = 0) : size(s), values(std::size_t(s.width) * s.height, value) {}

  double& operator()(int x, int y) { return values[std::size_t(y) * size.width + x]; }
  double operator()(int x, int y) const {
    return values[std::size_t(std::clamp(y, 0, size.height - 1)) * size.width +
                  std::clamp(x, 0, size.width - 1)];
  }
};

/// The image whose pixel (x, y) is f(x, y).
template <class F>
Grid tabulate(Size size, F f) {
  Grid grid(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) grid(x, y) = f(x, y);
  return grid;
}

inline Grid grid_of(const View<const float>& view) {
  return tabulate(view.size(), [&](int x, int y) { return double(view(x, y)); });
}

}  // namespace parafield::oracle
