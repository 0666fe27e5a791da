// SPDX-License-Identifier: MIT
#pragma once
// The median weighted by color that sharpens boundaries of motion, in float64, one pixel at a time.
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "oracle/grid.hpp"
#include "oracle/lucas_kanade.hpp"
#include "oracle/steps.hpp"

namespace parafield::oracle {

using ColorGrids = std::array<Grid, 3>;

class SharpenedFlow {
 public:
  /// `back`: of the second frame, or null.
  SharpenedFlow(const ColorGrids& from, const ColorGrids& to, const Flow& flow, const Flow* back)
      : from_(from), flow_(flow), trust_(tabulate(flow.u.size, [&](int x, int y) {
          const double u = flow.u(x, y), v = flow.v(x, y);
          double difference = 0, miss = 0;
          for (int c = 0; c < 3; ++c)
            difference += std::abs(bilinear(to[c], x + u, y + v) - from[c](x, y)) / 3;
          if (back)
            miss = std::hypot(u + bilinear(back->u, x + u, y + v), v + bilinear(back->v, x + u, y + v));
          return std::max(1 / (1 + std::pow(difference / 8, 2)) / (1 + std::pow(miss / 0.5, 2)), 0.1);
        })) {}

  /// Whether the pixel's cell has a boundary. `threshold`: px.
  bool is_sharpened(int x, int y, double threshold) const {
    const Size size = flow_.u.size;
    for (int j = 4 * (y / 4); j < std::min(4 * (y / 4) + 4, size.height); ++j)
      for (int i = 4 * (x / 4); i < std::min(4 * (x / 4) + 4, size.width); ++i)
        for (const Grid& plane : {std::cref(flow_.u), std::cref(flow_.v)})
          if (std::abs(plane(i + 1, j) - plane(i - 1, j)) > threshold ||
              std::abs(plane(i, j + 1) - plane(i, j - 1)) > threshold)
            return true;
    return false;
  }

  /// Two values of a plane of the flow: below the first lies at most the share 0.5 - `margin` of the weight,
  /// and up to the second at least 0.5 + `margin`. The median lies between them.
  std::pair<double, double> median(const Grid& plane, int x, int y, double margin) const {
    const Size size = plane.size;
    std::vector<std::pair<double, double>> samples;
    double all = 0;
    for (int dy = -9; dy <= 9; dy += 3)
      for (int dx = -9; dx <= 9; dx += 3) {
        const int i = x + dx, j = y + dy;
        if (i < 0 || j < 0 || i >= size.width || j >= size.height) continue;
        double difference = 0;
        for (const Grid& channel : from_)
          difference = std::max(difference, std::abs(channel(i, j) - channel(x, y)));
        const double weight =
            std::exp(-difference / 10) * std::exp(-(dx * dx + dy * dy) / 98.0) * trust_(i, j);
        samples.push_back({plane(i, j), weight});
        all += weight;
      }
    std::sort(samples.begin(), samples.end());
    const auto at = [&](double share) {
      double sum = 0;
      for (const auto& [value, weight] : samples)
        if ((sum += weight) >= share * all) return value;
      return samples.back().first;
    };
    return {at(0.5 - margin), at(0.5 + margin)};
  }

 private:
  const ColorGrids& from_;
  const Flow& flow_;
  const Grid trust_;
};

}  // namespace parafield::oracle
