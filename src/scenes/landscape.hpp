// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "scenes/surface.hpp"

namespace parafield {

/// Endless mountain valley that winds along z, under a sky. x is to the right, z ahead, height up, in scene
/// units; the camera flies 1 above the floor of the valley. It uses only + - * / and sqrt, which give the
/// same bits on every machine. Each thread must use its own copy.
class Landscape {
 public:
  static constexpr double highest = 5.2;  ///< upper bound of the terrain's height

  /// `finest` is the smallest texture spacing that is needed, in scene units (at depth 1).
  Landscape(std::uint64_t seed, double finest);

  /// x of the middle of the valley at z.
  double middle(double z) { return middle_width * middle_(z, 0); }
  double height(double x, double z);  ///< height of the terrain
  struct Ground {
    double gray;  ///< gray value in full light
    double snow;  ///< 1 = snow, 0 = none
  };
  /// Texture of the ground, without structure finer than `footprint`, the size of a pixel there.
  Ground ground(double x, double z, double height, double footprint);
  /// Gray value of the sky in the direction (x, up, 1), without structure finer than `footprint`.
  double sky(double x, double up, double footprint);
  /// Color of snow-free ground, without structure finer than `footprint`: woods, and rock mostly above them.
  Tint bare_ground(double x, double z, double height, double footprint);

 private:
  static constexpr double middle_width = 3;

  Octave middle_, woods_;
  std::array<Octave, 5> relief_;
  std::vector<Octave> ground_, clouds_;  // coarsest first
};

}  // namespace parafield
