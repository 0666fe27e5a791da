#pragma once
#include <cmath>

#include "scenes/motion.hpp"

namespace parafield {

/// Scenes whose options were checked.
Scene render_layers(const LayeredScene& layered, const SceneOptions& options);
Scene render_flythrough(const SceneOptions& options);

inline std::uint8_t to_gray(double value) {
  return std::uint8_t(value < 0 ? 0 : value > 255 ? 255 : std::floor(value + 0.5));
}

}  // namespace parafield
