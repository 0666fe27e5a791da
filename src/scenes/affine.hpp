// SPDX-License-Identifier: MIT
#pragma once

namespace parafield {

struct Point {
  double x = 0, y = 0;
};

/// The affine map p -> A p + b.
struct Affine {
  double xx = 1, xy = 0, yx = 0, yy = 1;  ///< A, by rows
  double x = 0, y = 0;                    ///< b

  Point operator()(Point p) const { return {xx * p.x + xy * p.y + x, yx * p.x + yy * p.y + y}; }

  /// The map that applies `first`, then this one.
  Affine operator*(const Affine& first) const {
    const Point b = (*this)({first.x, first.y});
    return {xx * first.xx + xy * first.yx,
            xx * first.xy + xy * first.yy,
            yx * first.xx + yy * first.yx,
            yx * first.xy + yy * first.yy,
            b.x,
            b.y};
  }

  Affine inverse() const {
    const double determinant = xx * yy - xy * yx;
    const Affine linear{yy / determinant, -xy / determinant, -yx / determinant, xx / determinant};
    const Point b = linear({x, y});
    return {linear.xx, linear.xy, linear.yx, linear.yy, -b.x, -b.y};
  }

  /// The map that does around `center` what this one does around the origin.
  Affine about(Point center) const {
    Affine moved = *this;
    moved.x = x + center.x - xx * center.x - xy * center.y;
    moved.y = y + center.y - yx * center.x - yy * center.y;
    return moved;
  }
};

}  // namespace parafield
