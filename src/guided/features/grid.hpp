// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"
#include "parafield/tracks.hpp"

namespace parafield {

/// Divides a frame into roughly square cells with one feature each.
struct FeatureGrid {
  int width = 0, height = 0;  ///< frame, px
  int columns = 0, rows = 0;

  PF_HD int count() const { return columns * rows; }
  PF_HD Size cells() const { return {columns, rows}; }
  PF_HD int cell(int column, int row) const { return row * columns + column; }
  /// First pixel of a column. A cell ends before the first pixel of the next.
  PF_HD int first_x(int column) const { return int((long long)column * width / columns); }
  PF_HD int first_y(int row) const { return int((long long)row * height / rows); }
  PF_HD float center_x(int column) const { return center(column, columns, width); }
  PF_HD float center_y(int row) const { return center(row, rows, height); }

 private:
  PF_HD static float center(int cell, int cells, int side) {
    return clamp(fma(float(cell) + 0.5f, float(side) / float(cells), -0.5f), 0.0f, float(side - 1));
  }
};

inline FeatureGrid feature_grid_of(Size frame, int max_features) {
  const Size cells = feature_grid(frame, max_features);
  return {frame.width, frame.height, cells.width, cells.height};
}

/// Position of a feature, px; NaN = no feature.
struct Feature {
  float x, y;
};

}  // namespace parafield
