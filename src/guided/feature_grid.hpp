#pragma once
#include "core/arithmetic.hpp"
#include "parafield/tracks.hpp"

namespace parafield {

/// A frame in cells of about equal sides, one feature in each: cell (column, row) is number row * columns + column.
struct FeatureGrid {
  int width = 0, height = 0;  ///< of the frame
  int columns = 0, rows = 0;

  PF_HD int count() const { return columns * rows; }
  /// Pixels of a cell: from the first one of its column (row) to before the first one of the next.
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

/// Where a feature is, px; NaN where there is none.
struct Feature {
  float x, y;
};

}  // namespace parafield
