// SPDX-License-Identifier: MIT
#pragma once
// Matches that settle, in float64, one seed at a time.
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "oracle/grid.hpp"

namespace parafield::oracle {

/// The values that flows of a seed are compared by.
struct SettlePicture {
  std::array<Grid, 3> colors;
  Grid luma;

  bool has(int x, int y) const { return x >= 0 && y >= 0 && x < luma.size.width && y < luma.size.height; }
};

class SettledMatches {
 public:
  using Flow = std::array<double, 2>;

  struct Choice {
    Flow flow{};
    bool is_clear = true;  ///< whether the library's rounding cannot change it
  };

  /// `matches`: of each seed, row by row; nothing where there is none.
  SettledMatches(const SettlePicture& from, const SettlePicture& to, int stride,
                 const std::vector<std::optional<Flow>>& matches)
      : from_(from), to_(to), stride_(stride), matches_(matches) {
    columns_ = seeds(from.luma.size.width);
    rows_ = seeds(from.luma.size.height);
  }

  int count() const { return columns_ * rows_; }

  /// The flow of a seed that has a match.
  Choice choose(int seed) const {
    const int column = seed % columns_, row = seed / columns_;
    std::vector<Flow> flows = {*matches_[std::size_t(seed)]};
    for (const int far : {2, 4})
      for (int dy = -far; dy <= far; dy += far)
        for (int dx = -far; dx <= far; dx += far) {
          const int i = column + dx, j = row + dy;
          if (i < 0 || j < 0 || i >= columns_ || j >= rows_) continue;
          const auto& match = matches_[std::size_t(j * columns_ + i)];
          if (!match) continue;
          const bool is_known = std::ranges::any_of(flows, [&](const Flow& flow) {
            return std::hypot(flow[0] - (*match)[0], flow[1] - (*match)[1]) <= 2;
          });
          if (!is_known) flows.push_back(*match);
        }
    std::vector<Cost> costs;
    for (const Flow& flow : flows) costs.push_back(cost(column, row, flow));
    std::size_t best = 0;
    for (std::size_t i = 1; i < flows.size(); ++i)
      if (costs[i].value < costs[best].value) best = i;
    const double gain = 4 * costs[0].value - 5 * costs[best].value;
    const bool moves = best != 0 && gain > 0;
    Choice choice{moves ? flows[best] : flows[0]};
    for (std::size_t i = 1; i < flows.size(); ++i) {
      const auto& [value, error] = costs[i];
      if (!moves)  // nor may any other flow be taken
        choice.is_clear &= 5 * (value - error) >= 4 * (costs[0].value + costs[0].error);
      else if (i == best)
        choice.is_clear &= gain > 5 * error + 4 * costs[0].error;
      else
        choice.is_clear &= value - error > costs[best].value + costs[best].error;
    }
    return choice;
  }

 private:
  struct Cost {
    double value = 0, error = 0;  // the library's differs by at most that
  };

  int seeds(int side) const {
    int count = 1;
    while (stride_ / 2 + count * stride_ < side) ++count;
    return count;
  }
  static double difference(const SettlePicture& a, int ax, int ay, const SettlePicture& b, int bx, int by) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum += std::abs(a.colors[k](ax, ay) - b.colors[k](bx, by));
    return sum;
  }
  /// Brightness relative to the middle: -1 to 1, 0.7 at 4 levels.
  static double brighter(const SettlePicture& picture, int x, int y, int middle_x, int middle_y) {
    const double d = picture.luma(x, y) - picture.luma(middle_x, middle_y);
    return d / std::sqrt(d * d + 16);
  }

  Cost cost(int column, int row, const Flow& flow) const {
    const Size size = from_.luma.size;
    const int x = std::min(stride_ / 2 + column * stride_, size.width - 1),
              y = std::min(stride_ / 2 + row * stride_, size.height - 1);
    const int to_x = int(std::floor(x + flow[0] + 0.5)), to_y = int(std::floor(y + flow[1] + 0.5));
    Cost sum;
    for (int dy = -4; dy <= 4; dy += 2)
      for (int dx = -4; dx <= 4; dx += 2) {
        if (!from_.has(x + dx, y + dy)) continue;
        const double apart = difference(from_, x + dx, y + dy, from_, x, y);
        if (!std::isfinite(apart)) continue;
        const double share = 400 / (apart * apart + 400), weight = share * share;
        double cost = 1;
        if (to_.has(to_x, to_y) && to_.has(to_x + dx, to_y + dy)) {
          const double color = difference(from_, x + dx, y + dy, to_, to_x + dx, to_y + dy),
                       census = brighter(from_, x + dx, y + dy, x, y) -
                                brighter(to_, to_x + dx, to_y + dy, to_x, to_y);
          if (std::isfinite(color) && std::isfinite(census))
            cost = (std::min(color, 60.0) / 60 + census * census / (census * census + 0.1)) / 2;
        }
        sum.value += weight * cost;
        sum.error += 0.51 * (cost / 256 + weight / 4096 + 1.0 / 256 / 4096);  // both are rounded
      }
    return sum;
  }

  const SettlePicture from_, to_;
  const int stride_;
  const std::vector<std::optional<Flow>> matches_;
  int columns_ = 0, rows_ = 0;
};

}  // namespace parafield::oracle
