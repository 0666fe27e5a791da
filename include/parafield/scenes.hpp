#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parafield/flow.hpp"

namespace parafield {

/// A rendered sequence with exact ground truth, in host memory. Every frame is the scene itself, evaluated at
/// every pixel's center and rounded to u8: nothing is resampled. Motion is a few px at 640x480 (40 to 80 in
/// `large`, 24 and 4 in `bar` and `camouflage`, 8 to 50 in `poles`), other for each seed, and the same from every
/// frame to the next but in `flythrough`, whose camera follows a valley. Edges between layers, and of the
/// terrain, are hard: a pixel has the value and the flow of what is seen at its center. Flow has no
/// `confidence`.
struct Scene {
  std::vector<FrameBuffer> frames;            ///< gray_u8; rgb_u8 in color
  std::vector<FlowField> flow;                ///< flow[i]: from frame i to i + 1; exact, known at every pixel
  std::vector<Image<std::uint8_t>> occluded;  ///< occluded[i]: 1 where a pixel of frame i is not seen in
                                              ///< frame i + 1: its match is hidden or outside the image
  std::vector<Image<float>> depth;            ///< depth[i]: of frame i along the viewing direction, in scene
                                              ///< units; infinity in the sky. Empty for flat scenes
};

struct SceneOptions {
  Size size = {640, 480};
  int frames = 2;
  std::uint64_t seed = 1;
  bool fine = true;    ///< texture down to about 3 px, or only smooth shading (above about 20 px)
  bool color = false;  ///< rgb_u8, each surface in a slowly changing color; the luma is that of gray frames
};

struct SceneInfo {
  std::string_view name, help;
};

/// translation, rotation, zoom, affine, layers (two, with occlusion), pole (thin), large (motion), bar (at
/// 320x240 4 px wide; it moves by 12 px, the background by 2), camouflage (a bar that looks like the background),
/// poles (many, thin, at all depths), flythrough (terrain under a moving sky, with depth). The camera of
/// `flythrough` is level: at depth d the pixel (x, y) sees the point (x - (width - 1) / 2,
/// y - (0.42 height - 0.5)) d / f, with f = 0.8 max(width, 4/3 height) px.
PARAFIELD_API std::span<const SceneInfo> scenes();

/// The same bytes for the same options, on every machine. Throws Error(invalid_argument) for an unknown name
/// (listing the known ones), a size below 1x1 or fewer than 1 frame.
PARAFIELD_API Scene render_scene(std::string_view name, const SceneOptions& options = {});

}  // namespace parafield
