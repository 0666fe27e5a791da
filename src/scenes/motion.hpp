// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "parafield/scenes.hpp"
#include "scenes/affine.hpp"

namespace parafield {

/// A patch of the plane in frame 0: an ellipse, a vertical strip if `radius_y` is infinite, or the whole
/// plane if both radii are 0.
struct Shape {
  Point center;
  double radius_x = 0, radius_y = 0;

  bool contains(Point p) const {
    if (radius_x <= 0) return true;
    const double x = (p.x - center.x) / radius_x, y = (p.y - center.y) / radius_y;
    return x * x + y * y <= 1;
  }
};

/// A textured patch that moves by the map `step` from every frame to the next.
struct Layer {
  Affine step;
  Shape shape;
  bool coarse = false;       ///< texture also has large structure
  double light = 0;          ///< added to the gray values of the texture
  bool camouflaged = false;  ///< has the colors of the last layer at the same place in frame 0
  double windows = 0;        ///< px between the windows of a facade; 0 = texture without windows
  double slats = 0;          ///< px between the slats of a facade, whose wall is between them; 0 = none
};

/// Factor for lengths and motions that are given for 640x480. It grows with the side of the image within
/// limits, so that motion neither vanishes nor exceeds usual search ranges.
inline double scale_of(Size size) {
  return std::clamp(std::sqrt(double(size.width) * size.height / (640.0 * 480.0)), 0.25, 4.0);
}

class LayerDraw;

struct LayeredScene {
  SceneInfo info;
  std::vector<Layer> (*layers)(LayerDraw);
  /// The last layer is still and is replaced by a view of the fly-through. The scene has true masks.
  bool before_landscape = false;
};

/// Scenes of flat layers.
std::span<const LayeredScene> layered_scenes();

/// Layers of a scene, nearest first. The last one fills the plane.
std::vector<Layer> scene_layers(const LayeredScene& scene, Size size, std::uint64_t seed);

/// Map of a layer from frame `pair` to the next one. `ground` says that it is the last of several layers.
Affine step_of(const Layer& layer, bool ground, const SceneOptions& options, int pair);

}  // namespace parafield
