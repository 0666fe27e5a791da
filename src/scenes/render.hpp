// SPDX-License-Identifier: MIT
#pragma once
#include "scenes/motion.hpp"

namespace parafield {

/// Render a scene. The options have been checked.
Scene render_layers(const LayeredScene& layered, const SceneOptions& options);
Scene render_flythrough(const SceneOptions& options);

/// Writes the flow of a pixel to its match. Returns whether the match is inside the image.
inline bool write_flow(FlowField& flow, int x, int y, Point match) {
  flow.u(x, y) = float(match.x - x);
  flow.v(x, y) = float(match.y - y);
  flow.valid(x, y) = 1;
  return match.x >= 0 && match.y >= 0 && match.x <= flow.size().width - 1 &&
         match.y <= flow.size().height - 1;
}

inline PixelFormat frame_format(const SceneOptions& options) {
  return options.color ? PixelFormat::rgb_u8 : PixelFormat::gray_u8;
}

}  // namespace parafield
