// SPDX-License-Identifier: MIT
#pragma once
// Interpolation of matches by affine models, in float64, one seed and one pixel at a time.
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "oracle/grid.hpp"

namespace parafield::oracle {

using Vector2 = std::array<double, 2>;
using Vector3 = std::array<double, 3>;

/// Flow around a seed: value + slope * distance, in seeds, for u and for v.
struct LinearFlow {
  Vector2 value{}, slope_x{}, slope_y{};

  Vector2 at(double dx, double dy) const {
    return {value[0] + slope_x[0] * dx + slope_y[0] * dy, value[1] + slope_x[1] * dx + slope_y[1] * dy};
  }
};

class AffineFlow {
 public:
  /// `matches`: of each seed, row by row; nothing where there is none.
  AffineFlow(const std::array<Grid, 3>& colors, int stride,
             const std::vector<std::optional<Vector2>>& matches)
      : colors_(colors), stride_(stride), size_(colors[0].size), matches_(matches) {
    columns_ = seeds(size_.width);
    rows_ = seeds(size_.height);
    find_nearest();
    for (int i = 0; i < columns_ * rows_; ++i)
      fits.push_back(matches[std::size_t(i)] ? fit(i) : LinearFlow{});
  }

  std::vector<LinearFlow> fits;  ///< of seeds with a match
  std::vector<int> nearest;      ///< seed of the nearest match; -1 = none
  std::vector<double> distance;  ///< to it: a step between seeds of one color is 1

  /// Mean of the models around a pixel and the sum of their weights; empty if there are none.
  std::optional<Vector2> flow(int x, int y, double& confidence) const {
    double sum = 0;
    Vector2 total{};
    const int column = x / stride_, row = y / stride_;
    for (int j = std::max(row - 2, 0); j <= std::min(row + 2, rows_ - 1); ++j)
      for (int i = std::max(column - 2, 0); i <= std::min(column + 2, columns_ - 1); ++i) {
        const int seed = j * columns_ + i;
        const auto from = nearest[std::size_t(seed)];
        if (from < 0) continue;
        const double dx = double(x - stride_ / 2 - i * stride_) / stride_,
                     dy = double(y - stride_ / 2 - j * stride_) / stride_;
        double color2 = 0;
        for (int k = 0; k < 3; ++k) {
          const double difference = colors_[std::size_t(k)](x, y) - color(seed)[std::size_t(k)];
          color2 += difference * difference;
        }
        const double by_color = std::max(std::exp(-color2 / (2 * 3 * 12 * 12)), std::exp2(-58));
        const double weight =
            std::exp(-(dx * dx + dy * dy) / (2 * 0.75 * 0.75)) * by_color * (from == seed ? 1 : 0.3);
        const Vector2 here = fits[std::size_t(from)].at(i - from % columns_ + dx, j - from / columns_ + dy);
        sum += weight;
        for (std::size_t k = 0; k < 2; ++k) total[k] += weight * here[k];
      }
    confidence = std::min(1.0, sum / (2 * std::acos(-1.0) * 0.75 * 0.75));
    if (sum == 0) return {};
    return Vector2{total[0] / sum, total[1] / sum};
  }

 private:
  int seeds(int side) const { return std::max((side - stride_ / 2 + stride_ - 1) / stride_, 1); }
  Vector3 color(int seed) const {
    const int x = stride_ / 2 + seed % columns_ * stride_, y = stride_ / 2 + seed / columns_ * stride_;
    return {colors_[0](x, y), colors_[1](x, y), colors_[2](x, y)};
  }
  double difference(int a, int b) const {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum += std::abs(color(a)[k] - color(b)[k]);
    return sum;
  }

  /// Dijkstra's algorithm from all matches at once.
  void find_nearest() {
    struct Way {
      double length;
      int from, seed;
      bool operator>(const Way& other) const {
        return std::tie(length, from, seed) > std::tie(other.length, other.from, other.seed);
      }
    };
    std::priority_queue<Way, std::vector<Way>, std::greater<>> ways;
    nearest.assign(matches_.size(), -1);
    distance.assign(matches_.size(), 0);
    for (int i = 0; i < int(matches_.size()); ++i)
      if (matches_[std::size_t(i)]) ways.push({0, i, i});
    while (!ways.empty()) {
      const Way way = ways.top();
      ways.pop();
      if (nearest[std::size_t(way.seed)] >= 0) continue;
      nearest[std::size_t(way.seed)] = way.from;
      distance[std::size_t(way.seed)] = way.length / 15;
      const int column = way.seed % columns_, row = way.seed / columns_;
      const auto go = [&](bool exists, int to) {  // lengths times 15 are whole numbers
        if (exists) ways.push({way.length + 15 + difference(way.seed, to), way.from, to});
      };
      go(column > 0, way.seed - 1);
      go(column < columns_ - 1, way.seed + 1);
      go(row > 0, way.seed - columns_);
      go(row < rows_ - 1, way.seed + columns_);
    }
  }

  /// Weighted least squares over the matches within 4 seeds, in two rounds.
  LinearFlow fit(int seed) const {
    const int column = seed % columns_, row = seed / columns_;
    LinearFlow model{*matches_[std::size_t(seed)], {}, {}};
    for (int round = 0; round < 2; ++round) {
      struct Sample {
        double weight, dx, dy;
        Vector2 flow;
      };
      std::vector<Sample> samples;
      double all = 0, mean_x = 0, mean_y = 0;
      Vector2 mean{};
      for (int j = std::max(row - 4, 0); j <= std::min(row + 4, rows_ - 1); ++j)
        for (int i = std::max(column - 4, 0); i <= std::min(column + 4, columns_ - 1); ++i) {
          const auto& match = matches_[std::size_t(j * columns_ + i)];
          if (!match) continue;
          const double dx = i - column, dy = j - row, far = difference(seed, j * columns_ + i);
          const Vector2 expected = model.at(dx, dy);
          const double error = std::hypot((*match)[0] - expected[0], (*match)[1] - expected[1]);
          const double robust = 1 / (1 + error * error / 9);
          const double weight = std::exp(-(dx * dx + dy * dy) / (2 * 2.5 * 2.5)) /
                                (1 + far * far / (36 * 36)) * robust * robust;
          samples.push_back({weight, dx, dy, *match});
          all += weight;
          mean_x += weight * dx;
          mean_y += weight * dy;
          for (std::size_t k = 0; k < 2; ++k) mean[k] += weight * (*match)[k];
        }
      mean_x /= all;
      mean_y /= all;
      double xx = 0.5, xy = 0, yy = 0.5;  // the ridge
      Vector2 x{}, y{};
      for (const Sample& s : samples) {
        const double dx = s.dx - mean_x, dy = s.dy - mean_y;
        xx += s.weight * dx * dx;
        xy += s.weight * dx * dy;
        yy += s.weight * dy * dy;
        for (std::size_t k = 0; k < 2; ++k) {
          x[k] += s.weight * dx * (s.flow[k] - mean[k] / all);
          y[k] += s.weight * dy * (s.flow[k] - mean[k] / all);
        }
      }
      const double determinant = xx * yy - xy * xy;
      for (std::size_t k = 0; k < 2; ++k) {
        model.slope_x[k] = (x[k] * yy - y[k] * xy) / determinant;
        model.slope_y[k] = (y[k] * xx - x[k] * xy) / determinant;
        model.value[k] = mean[k] / all - model.slope_x[k] * mean_x - model.slope_y[k] * mean_y;
      }
    }
    return model;
  }

  const std::array<Grid, 3> colors_;
  const int stride_;
  const Size size_;
  int columns_ = 0, rows_ = 0;
  const std::vector<std::optional<Vector2>> matches_;
};

}  // namespace parafield::oracle
