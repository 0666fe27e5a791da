// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cmath>

#include "scenes/affine.hpp"

namespace parafield {

/// Share of a window, 0..1, at a coordinate of a facade. The edges are soft enough for linear interpolation
/// to reproduce them.
inline double share_of_window(double at, double period) {
  const double from_center = std::abs(at / period - std::floor(at / period) - 0.5) * period;
  const double share = std::clamp((0.3 * period - from_center) / 2 + 0.5, 0.0, 1.0);
  return share * share * (3 - 2 * share);
}

/// Gray value of a facade: a wall with faint texture and dark windows that are taller than wide.
inline double facade_gray(double texture, Point p, double windows) {
  constexpr double wall = 150, depth = 70, mean_gray = 127.5;
  return wall + 0.06 * (texture - mean_gray) -
         depth * share_of_window(p.x, windows) * share_of_window(p.y, 1.5 * windows);
}

}  // namespace parafield
