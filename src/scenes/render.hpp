#pragma once
#include "scenes/motion.hpp"

namespace parafield {

/// Render a scene. The options have been checked.
Scene render_layers(const LayeredScene& layered, const SceneOptions& options);
Scene render_flythrough(const SceneOptions& options);

inline PixelFormat frame_format(const SceneOptions& options) {
  return options.color ? PixelFormat::rgb_u8 : PixelFormat::gray_u8;
}

}  // namespace parafield
