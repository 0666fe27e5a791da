#pragma once
#include <string_view>
#include <vector>

#include "parafield/scenes.hpp"
#include "scenes/affine.hpp"

namespace parafield {

/// An elliptic patch of the plane in frame 0; a vertical strip with an infinite `radius_y`; without radii, all
/// of the plane.
struct Shape {
  Point center;
  double radius_x = 0, radius_y = 0;

  bool contains(Point p) const {
    if (radius_x <= 0) return true;
    const double x = (p.x - center.x) / radius_x, y = (p.y - center.y) / radius_y;
    return x * x + y * y <= 1;
  }
};

/// A textured patch that moves by the same map from every frame to the next.
struct Layer {
  Affine step;
  Shape shape;
  bool coarse = false;       ///< texture with large structure, too
  double light = 0;          ///< added to the gray values of the texture
  bool camouflaged = false;  ///< in the colors of the last layer, as that has them there in frame 0
};

class Draw;

struct LayeredScene {
  SceneInfo info;
  std::vector<Layer> (*layers)(Draw);
};

/// The scenes that consist of flat layers.
std::span<const LayeredScene> layered_scenes();

/// The layers of a scene, the nearest first; the last one fills the plane.
std::vector<Layer> scene_layers(const LayeredScene& scene, Size size, std::uint64_t seed);

}  // namespace parafield
