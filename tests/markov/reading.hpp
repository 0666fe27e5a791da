// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

/// What the oracle reads in the beliefs of a pixel: sub-pixel values and confidences.
namespace parafield {
namespace {

/// Beliefs of a pixel.
struct Reading {
  std::vector<double> beliefs;  // of each label, in units of cost
  int columns = 1;              // columns of the grid of labels

  double least() const { return *std::min_element(beliefs.begin(), beliefs.end()); }
  /// Beliefs of the labels before and after a label, less its own; 0 on the grid's border.
  struct Beside {
    double before = 0, after = 0;

    double curvature() const { return before + after; }
    double confidence() const { return std::max(curvature() / 2, 0.0); }
    /// Of a parabola through the three beliefs.
    double offset() const {
      return curvature() > 0 ? std::clamp((before - after) / curvature() / 2, -0.5, 0.5) : 0.0;
    }
  };
  Beside beside_x(int label) const { return beside(label, label % columns, columns, 1); }
  Beside beside_y(int label) const {
    return beside(label, label / columns, int(beliefs.size()) / columns, columns);
  }
  bool is_row() const { return columns == int(beliefs.size()); }
  /// Of a displacement: how much more the labels beside it cost.
  double confidence(int label) const {
    return std::min(beside_x(label).confidence(), beside_y(label).confidence());
  }
  /// Of a disparity: how much more the best label costs that is not beside it. 0 without one.
  double margin(int label) const {
    double best = std::numeric_limits<double>::infinity();
    for (int other = 0; other < int(beliefs.size()); ++other)
      if (std::abs(other - label) > 1) best = std::min(best, beliefs[std::size_t(other)]);
    return std::isinf(best) ? 0 : best - beliefs[std::size_t(label)];
  }

 private:
  Beside beside(int label, int at, int count, int step) const {
    if (at == 0 || at + 1 == count) return {};
    const auto of = [&](int l) { return beliefs[std::size_t(l)]; };
    return {of(label - step) - of(label), of(label + step) - of(label)};
  }
};

}  // namespace
}  // namespace parafield
