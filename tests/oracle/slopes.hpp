// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>

#include "oracle/grid.hpp"

/// Planes through the disparities of a coarse level of belief propagation, in float64.
namespace parafield::oracle {

/// Disparities of a level, in labels, and what planes need of them.
struct SlopeLevel {
  int level = 1;
  Grid d, trust;
  std::array<Grid, 3> color;  ///< bytes

  Grid slope_x, slope_y;
  Grid is_certain;  ///< 0 where a sample is almost as far from the plane as it may be

  void fit() {
    slope_x = slope_y = Grid(d.size);
    is_certain = Grid(d.size, 1);
    for (int y = 0; y < d.size.height; ++y)
      for (int x = 0; x < d.size.width; ++x) fit(x, y);
  }

  /// Rise of an edge of level `to`, whose pixels are those of this level or of the next finer one.
  static double rise(double slope, double other, int to, bool finer) {
    const double scale = std::pow(2, to), mean = (slope + other) / 2 / (finer ? 2 : 1);
    const double most = std::min(scale, 8.0);
    return std::abs(mean) < 0.09 * scale ? 0 : std::clamp(mean, -most, most);
  }

 private:
  void fit(int x, int y) {
    struct Plane {
      double d, a, b;
    } plane{d(x, y), 0, 0};
    const double scale = std::pow(2, level);
    for (int round = 0; round < 2; ++round) {
      // Normal equations of d + a dx + b dy around the weighted mean.
      double weights = 0, mx = 0, my = 0, md = 0;
      struct Sample {
        double weight, dx, dy, d;
      };
      std::vector<Sample> samples;
      for (int j = -3; j <= 3; ++j)
        for (int i = -4; i <= 4; ++i) {
          const int px = x + i, py = y + j;
          if (px < 0 || py < 0 || px >= d.size.width || py >= d.size.height) continue;
          const double off = std::abs(d(px, py) - (plane.d + plane.a * i + plane.b * j));
          const double most =
              round == 0 ? 1 + 0.5 * scale * std::max(1.0 * std::abs(i), 1.5 * std::abs(j)) : std::sqrt(scale);
          if (std::abs(off - most) < 1e-3) is_certain(x, y) = 0;
          if (off > most) continue;
          double difference = 0;
          for (const Grid& plane_of_color : color)
            difference = std::max(difference, std::abs(plane_of_color(px, py) - plane_of_color(x, y)));
          const double weight = trust(px, py) * std::max(1 - difference / 20, 0.02);
          samples.push_back({weight, double(i), double(j), d(px, py)});
          weights += weight, mx += weight * i, my += weight * j, md += weight * d(px, py);
        }
      if (std::abs(weights - 0.001) < 1e-4) is_certain(x, y) = 0;
      if (weights < 0.001) continue;
      mx /= weights, my /= weights, md /= weights;
      double cxx = 0.5, cyy = 0.5, cxy = 0, cxd = 0, cyd = 0;
      for (const Sample& s : samples) {
        cxx += s.weight * (s.dx - mx) * (s.dx - mx), cyy += s.weight * (s.dy - my) * (s.dy - my);
        cxy += s.weight * (s.dx - mx) * (s.dy - my);
        cxd += s.weight * (s.dx - mx) * (s.d - md), cyd += s.weight * (s.dy - my) * (s.d - md);
      }
      const double det = cxx * cyy - cxy * cxy;
      plane.a = (cxd * cyy - cyd * cxy) / det, plane.b = (cyd * cxx - cxd * cxy) / det;
      plane.d = md - plane.a * mx - plane.b * my;
    }
    slope_x(x, y) = plane.a, slope_y(x, y) = plane.b;
  }
};

}  // namespace parafield::oracle
