// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

/// The oracle's sub-pixel values and confidences from the beliefs of a pixel.
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
    /// Offset of the minimum of a parabola through the three beliefs.
    double offset() const {
      return curvature() > 0 ? std::clamp((before - after) / curvature() / 2, -0.5, 0.5) : 0.0;
    }
  };
  Beside beside_x(int label) const { return beside(label, label % columns, columns, 1); }
  Beside beside_y(int label) const {
    return beside(label, label / columns, int(beliefs.size()) / columns, columns);
  }
  bool is_row() const { return columns == int(beliefs.size()); }
  /// Confidence of a displacement: the extra cost of the adjacent labels.
  double confidence(int label) const {
    return std::min(beside_x(label).confidence(), beside_y(label).confidence());
  }
  /// Confidence of a disparity: the extra cost of the best non-adjacent label; 0 if there is none.
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
