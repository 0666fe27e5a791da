#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

/// Where a match lies between the pixels of an image: the one to its upper left and the shares of the next
/// ones.
struct Match {
  int x, y;
  float share_x, share_y;
  bool inside;  ///< otherwise the nearest place on the border stands in
};

/// The position (x, y) in an image of that size; NaN is outside.
PF_HD Match locate(float x, float y, int width, int height) {
  const float right = float(width - 1), bottom = float(height - 1);
  const bool inside = (x >= 0) & (x <= right) & (y >= 0) & (y <= bottom);
  x = clamp(x, 0.0f, right);
  y = clamp(y, 0.0f, bottom);
  const int column = smaller(int(x), larger(width - 2, 0)), row = smaller(int(y), larger(height - 2, 0));
  return {column, row, x - float(column), y - float(row), inside};
}

/// The bilinear value there, of an image of that size with `pitch` floats from one row to the next.
PF_HD float sample(const float* pixels, int pitch, int width, int height, const Match& match) {
  const float* top = pixels + match.y * pitch + match.x;
  const int right = width > 1 ? 1 : 0, down = height > 1 ? pitch : 0;
  return interpolate(interpolate(top[0], top[right], match.share_x),
                     interpolate(top[down], top[down + right], match.share_x), match.share_y);
}

}  // namespace parafield
