// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parafield/fields.hpp"

namespace parafield {

/// A rendered sequence with its exact truth, in host memory. Every frame is the scene at the pixels' centers,
/// rounded to u8: nothing is resampled. Edges between layers and of the terrain are hard: a pixel has the
/// value and the flow of the surface at its center. Motion is a few px at 640x480 (40 to 80 in `large`, 24
/// and 4 in `bar` and `camouflage`, 8 to 50 in `poles`, 0 to 60 in `stereo`). It differs from seed to seed,
/// and is the same for all frames, except in `flythrough` and `stereo`, whose cameras follow a valley, and where
/// SceneOptions::pace says otherwise.
struct Scene {
  std::vector<FrameBuffer> frames;  ///< gray_u8; with SceneOptions::color rgb_u8
  /// flow[i]: from frame i to i + 1, at every pixel; no confidence. In `clouds` it is from frame i to i + 2,
  /// from left to left or from right to right. `square` has no flow.
  std::vector<FlowField> flow;
  /// occluded[i]: 1 where the frame to which flow[i] leads does not show a pixel of frame i: its match is
  /// hidden or outside.
  std::vector<Image<std::uint8_t>> occluded;
  /// depth[i]: of frame i along the viewing direction, in scene units; infinity in the sky. Empty for flat
  /// scenes.
  std::vector<Image<float>> depth;
  /// disparity[i]: of frame 2 i, whose right image is frame 2 i + 1, at every pixel. Only `stereo` and
  /// `clouds` have them. In `clouds` that of the ground is 0.
  std::vector<DisparityField> disparity;
  /// moving[i]: 1 where frame i + 1 shows a thing that moves. Only `balloons` and `square` have them. In
  /// `square` a car that stops for a while is one, shadows and leaves are none.
  std::vector<Image<std::uint8_t>> moving;
};

/// How the motion of a flat scene changes from pair of frames to pair of frames.
enum class Pace {
  steady,        ///< it does not
  accelerating,  ///< 0.4 of the motion in the first pair, and 0.3 more of it in each later one
  shaking,       ///< the camera also shifts, by up to 2 px (at 640x480) along x and y, at random in each pair
  stop_and_go  ///< what is before the background (or a lone background) rests for two pairs, then moves for two
};
constexpr std::array<std::string_view, 4> names_of(Pace) {
  return {"steady", "accelerating", "shaking", "stop-and-go"};
}

/// The pace of a name. Throws Error(invalid_argument) for an unknown name.
PARAFIELD_API Pace pace_named(std::string_view name);

/// What motion detection has to bear with in the scene `square`.
enum class Conditions {
  steady,    ///< camera noise of 2 gray levels (standard deviation), as in all but `noisy`
  swaying,   ///< leaves move back and forth by 1 to 3 px, with periods of 5 to 60 frames
  drifting,  ///< light changes slowly from 0.7 to 1.3 of its mean, or back, a little unevenly over the image
  jumping,   ///< light is 20 % brighter, or darker, from the middle of the sequence on
  stopping,  ///< each car of one lane stands still for 100 frames
  noisy      ///< camera noise of 6 gray levels
};
constexpr std::array<std::string_view, 6> names_of(Conditions) {
  return {"steady", "swaying", "drifting", "jumping", "stopping", "noisy"};
}

/// The conditions of a name. Throws Error(invalid_argument) for an unknown name.
PARAFIELD_API Conditions conditions_named(std::string_view name);

/// Options of `render_scene`.
struct SceneOptions {
  Size size = {640, 480};
  int frames = 2;
  std::uint64_t seed = 1;
  bool fine = true;    ///< texture down to about 3 px; otherwise only smooth shading, above about 20 px
  bool color = false;  ///< rgb_u8, each surface in a color that changes slowly; luma is the gray frames'
  Pace pace = Pace::steady;  ///< scenes with depth, `clouds` and `square` are steady, `balloons` do not shake
  Conditions conditions = Conditions::steady;  ///< only `square` has others
  /// Called with the share of the work that is done, 0 to 1; it never falls. It must not throw.
  std::function<void(double)> progress = {};
};

/// Name of a scene, and what it shows.
struct SceneInfo {
  std::string_view name, help;
};

/// All scenes: translation, rotation, zoom, affine, layers (two, with occlusion), pole (thin), large
/// (motion), bar (4 px wide at 320x240; it moves by 12 px, the background by 2), camouflage (a bar that
/// looks like the background), poles (many, thin, at different depths), balloons (before a still camera,
/// with masks), facade (windows that look alike, every 8 and 12 px), flythrough (terrain under a moving sky,
/// with depth), stereo (the same, seen by a rectified pair of cameras, with disparities). The cameras of
/// `flythrough` and `stereo` are level: at depth d the pixel (x, y) sees the point (x - (width - 1) / 2, y -
/// (0.42 height - 0.5)) d / f, with f = 0.8 max(width, 4/3 height) px. The baseline of `stereo` is 0.17.
/// clouds (over ground, both moving, seen by two satellites) are translucent at their edges: a pixel has the
/// flow and the disparity of the clouds where these cover at least half of the light. square (walkers, cars
/// and a dog cross a square before a still camera) has masks and no flow. Its objects have weak shadows, and
/// each frame has noise.
PARAFIELD_API std::span<const SceneInfo> scenes();

/// Renders a scene: the same bytes for the same options on every machine. Throws Error(invalid_argument) for
/// an unknown name, a size below 1x1 or fewer than 1 frame.
PARAFIELD_API Scene render_scene(std::string_view name, const SceneOptions& options = {});

}  // namespace parafield
