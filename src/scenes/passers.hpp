// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <vector>

#include "parafield/scenes.hpp"
#include "scenes/affine.hpp"
#include "scenes/noise.hpp"

namespace parafield {

/// A walker, a car or a dog that crosses the square, at the time of one frame.
struct Passer {
  enum class Kind { walker, car, dog };

  Kind kind = Kind::walker;
  Point foot;             ///< px: the ground below its middle
  double height = 1;      ///< px
  double direction = 1;   ///< 1 to the right, -1 to the left
  double stride = 0;      ///< position of the legs, -1..1
  double light = 0;       ///< mean gray value
  double other = 0;       ///< gray value of legs, wheels and windows
  std::uint64_t key = 0;  ///< random key of its texture and colors

  /// Half its length divided by its height.
  double reach() const { return kind == Kind::car ? 1.3 : kind == Kind::dog ? 0.95 : 0.35; }
  /// Mean gray value of the part that a pixel shows; nothing outside the passer.
  std::optional<double> gray(Point pixel) const;
  /// Strength of its shadow, 0..1, at a place on the ground. The shadow is soft and falls a little to the
  /// right. `length`: how many times longer than usual it is.
  double shadow(Point pixel, double length) const;
};

/// Everything that crosses the square: lanes of walkers, cars and a dog, each with one passer at a time,
/// without end.
class Passers {
 public:
  Passers(const SceneOptions& options);

  /// The passers in the image at the time of a frame, the farthest first.
  std::vector<Passer> at(int frame) const;

 private:
  struct Lane {
    Passer::Kind kind;
    double foot, height;  ///< fractions of the image's height
    double speed;         ///< speed of its slowest passer, px per frame
    double direction, slope;
    double start, gap;  ///< frames
    int stop = 0;       ///< frames for which each passer stands still in mid-image
    int leaves = 0;     ///< frame at which its first passer leaves, which has stood still until then
  };

  Size size_;
  std::uint64_t key_;
  std::vector<Lane> lanes_;
};

}  // namespace parafield
