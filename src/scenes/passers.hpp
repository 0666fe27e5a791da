// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "parafield/scenes.hpp"
#include "scenes/affine.hpp"

namespace parafield {

/// A wave of period 1 between -1 and 1, like a sine: two parabolas. It has the same bits on every machine.
inline double wave(double turns) {
  const double u = 2 * (turns - std::floor(turns)) - 1;  // -1..1
  return -4 * u * (1 - std::abs(u));
}

/// A walker, a car or a dog that crosses the square, at the time of one frame.
struct Passer {
  enum class Kind { walker, car, dog };

  Kind kind = Kind::walker;
  Point foot;             ///< below its middle, px
  double height = 1;      ///< px
  double direction = 1;   ///< 1 to the right, -1 to the left
  double stride = 0;      ///< where the legs are, -1..1
  double light = 0;       ///< mean gray value
  double other = 0;       ///< gray value of its legs, wheels and windows
  std::uint64_t key = 0;  ///< of its texture and colors

  /// Half its length over its height.
  double reach() const { return kind == Kind::car ? 1.3 : kind == Kind::dog ? 0.95 : 0.35; }
  /// Mean gray value of the part that a pixel shows; none beside it.
  std::optional<double> gray(Point pixel) const;
  /// How much of its shadow, 0..1, falls on a place of the ground: soft, and a little to the right.
  double shadow(Point pixel) const;
};

/// Everything that crosses the square: lanes of walkers, cars and a dog, one at a time in each, without end.
class Passers {
 public:
  Passers(const SceneOptions& options);

  /// What is in the image at the time of a frame, the farthest first.
  std::vector<Passer> at(int frame) const;

 private:
  struct Lane {
    Passer::Kind kind;
    double foot, height;  ///< shares of the image's height
    double speed;         ///< of its slowest, px a frame
    double direction, slope;
    double start, gap;  ///< frames
    int stop = 0;       ///< frames that each stands still in mid-image
  };

  Size size_;
  std::uint64_t key_;
  std::vector<Lane> lanes_;
};

}  // namespace parafield
