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

/// The bilinear value there.
PF_HD float sample(View<const float> image, const Match& match) {
  const int step = image.width > 1 ? 1 : 0;
  const float* top = image.row(match.y) + match.x;
  const float* bottom = image.row(image.height > 1 ? match.y + 1 : match.y) + match.x;
  return interpolate(interpolate(top[0], top[step], match.share_x),
                     interpolate(bottom[0], bottom[step], match.share_x), match.share_y);
}

}  // namespace parafield
