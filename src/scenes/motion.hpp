#pragma once
#include <string_view>
#include <vector>

#include "parafield/scenes.hpp"
#include "scenes/affine.hpp"

namespace parafield {

/// An elliptic patch of the plane in frame 0; without radii, all of the plane.
struct Shape {
  Point centre;
  double radius_x = 0, radius_y = 0;

  bool contains(Point p) const {
    if (radius_x <= 0) return true;
    const double x = (p.x - centre.x) / radius_x, y = (p.y - centre.y) / radius_y;
    return x * x + y * y <= 1;
  }
};

/// A textured patch that moves by the same map from every frame to the next.
struct Layer {
  Affine step;
  Shape shape;
};

/// The layers of a scene, the nearest first; the last one fills the plane. Throws Error(invalid_argument) for
/// a name that is none of `scenes()`.
std::vector<Layer> scene_layers(std::string_view name, Size size, std::uint64_t seed);

}  // namespace parafield
