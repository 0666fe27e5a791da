// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "oracle/grid.hpp"

/// Refined disparities in float64: from the data costs around labels, and by planes through them.
namespace parafield::oracle {

/// Samples are every other pixel of every other row.
inline Size sampled(Size size) { return {(size.width + 1) / 2, (size.height + 1) / 2}; }
inline bool contains(Size size, int x, int y) {
  return x >= 0 && y >= 0 && x < size.width && y < size.height;
}

/// How much more the labels before and after a pixel's label cost, summed over a window.
struct CostRises {
  double before = 0, after = 0;

  /// Offset of the minimum, in labels.
  double offset() const {
    const double most = std::max(before, after);
    if (std::min(before, after) < 0 || most <= 0) return 0;
    const double of_lines = (before - after) / most / 2;
    return of_lines * (1 + 0.8 * (1 - 2 * std::abs(of_lines)));
  }
  double mean() const { return (before + after) / 2; }
};
/// Sums rise(x, y, -1 or 1), how much more the adjacent label costs, over the pixels of the same label in the
/// 5x5 around a pixel.
template <class Rise>
CostRises rises_around(const Grid& labels, int x, int y, Rise rise) {
  CostRises sum;
  for (int j = y - 2; j <= y + 2; ++j)
    for (int i = x - 2; i <= x + 2; ++i)
      if (contains(labels.size, i, j) && labels(i, j) == labels(x, y))
        sum.before += rise(i, j, -1), sum.after += rise(i, j, 1);
  return sum;
}

/// Weight of a sample. `certainty`: CostRises::mean around it.
inline double trust_of(bool valid, double certainty) {
  return valid ? std::clamp(certainty / 2, 0.2, 1.0) : 0.05;
}

/// Samples, and the planes fitted to them.
struct Surfaces {
  Grid d, trust, luma, certainty;
  Grid value, slope_x, slope_y;

  /// Weighted least squares over 7x7 samples, 4 px apart. The slopes' squares have the weight 4. Where the
  /// samples in the middle are clearly off the plane and the sample is certain, it moves onto them.
  void fit() {
    value = slope_x = slope_y = Grid(d.size);
    for (int y = 0; y < d.size.height; ++y)
      for (int x = 0; x < d.size.width; ++x) fit(x, y);
  }

  /// Offset from a whole disparity.
  struct Offset {
    double value;
    bool is_certain;  // no comparison was nearly a tie
  };
  /// Mean offset of the surfaces around a pixel from its whole disparity. Small ones are 0. A comparison is
  /// nearly a tie if the difference is below `tolerance`.
  Offset offset(int x, int y, double whole, double tolerance) const {
    double weights = 0, sum = 0;
    bool is_certain = true;
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 2; ++i) {
        const auto sample = [](int position, int next, int count) {
          return std::clamp(position / 2 + next * (position % 2 ? 1 : -1), 0, count - 1);
        };
        const int sx = sample(x, i, d.size.width), sy = sample(y, j, d.size.height);
        const double at =
            value(sx, sy) + slope_x(sx, sy) * (x - 2 * sx) + slope_y(sx, sy) * (y - 2 * sy) - whole;
        const double weight = std::abs(at) <= 2 ? (i ? 1 : 3) * (j ? 1 : 3) : 0;
        weights += weight, sum += weight * at;
        is_certain = is_certain && std::abs(std::abs(at) - 2) > tolerance;
      }
    const double mean = weights > 0 ? std::clamp(sum / weights, -0.5, 0.5) : 0.0;
    return {std::abs(mean) < 0.06 ? 0 : mean, is_certain && std::abs(std::abs(mean) - 0.06) > tolerance};
  }

 private:
  void fit(int x, int y) {
    struct Sample {
      double weight, dx, dy, d;
    };
    std::vector<Sample> samples;
    double weights = 0, mx = 0, my = 0, md = 0;
    double of_middle = 0, middle_x = 0, middle_y = 0, middle_d = 0;  // of the 3x3 samples in the middle
    for (int j = -3; j <= 3; ++j)
      for (int i = -3; i <= 3; ++i) {
        const int sx = x + 2 * i, sy = y + 2 * j;
        if (!contains(d.size, sx, sy)) continue;
        const double difference = d(sx, sy) - d(x, y);
        if (std::abs(difference) > 0.8 + 0.09 * 4 * std::max(std::abs(i), std::abs(j))) continue;
        const double weight = trust(sx, sy) * std::max(1 - std::abs(luma(sx, sy) - luma(x, y)) / 30, 0.02);
        samples.push_back({weight, 4.0 * i, 4.0 * j, difference});
        weights += weight, mx += weight * 4 * i, my += weight * 4 * j, md += weight * difference;
        if (std::abs(i) > 1 || std::abs(j) > 1) continue;
        of_middle += weight, middle_d += weight * difference;
        middle_x += weight * 4 * i, middle_y += weight * 4 * j;
      }
    mx /= weights, my /= weights, md /= weights;
    double cxx = 4, cyy = 4, cxy = 0, cxd = 0, cyd = 0;
    for (const Sample& s : samples) {
      cxx += s.weight * (s.dx - mx) * (s.dx - mx), cyy += s.weight * (s.dy - my) * (s.dy - my);
      cxy += s.weight * (s.dx - mx) * (s.dy - my);
      cxd += s.weight * (s.dx - mx) * (s.d - md), cyd += s.weight * (s.dy - my) * (s.d - md);
    }
    const double det = cxx * cyy - cxy * cxy;
    slope_x(x, y) = (cxd * cyy - cyd * cxy) / det;
    slope_y(x, y) = (cyd * cxx - cxd * cxy) / det;
    value(x, y) = d(x, y) + md - slope_x(x, y) * mx - slope_y(x, y) * my;
    // A curved surface: the samples in the middle are off the plane.
    const double off = of_middle > 0
                           ? (middle_d - slope_x(x, y) * middle_x - slope_y(x, y) * middle_y) / of_middle -
                                 (value(x, y) - d(x, y))
                           : 0;
    const auto ramp = [](double at, double low, double high) {
      return std::clamp((at - low) / (high - low), 0.0, 1.0);
    };
    value(x, y) += off * ramp(std::abs(off), 0.2, 0.35) * ramp(certainty(x, y), 8, 12) * ramp(weights, 3, 6) *
                   ramp(of_middle / weights, 0.12, 0.16);
  }
};

}  // namespace parafield::oracle
