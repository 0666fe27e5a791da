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

/// A rendered sequence with its exact ground truth, in host memory. Every frame is evaluated at the pixels'
/// centers and rounded to u8; nothing is resampled. Edges between layers and of the terrain are hard: a pixel
/// has the value and the flow of the surface at its center. Motion is a few px at 640x480 (40 to 80 in
/// `large`, 24 and 4 in `bar` and `camouflage`, 8 to 50 in `poles`, 10 to 40 in `runner`, 0 to 60 in
/// `stereo`, `ball` and `sheet`). It differs between seeds and is the same for all frames, except in
/// `flythrough` and `stereo`, whose cameras follow a valley, and where SceneOptions::pace says otherwise.
struct Scene {
  std::vector<FrameBuffer> frames;  ///< gray_u8, or rgb_u8 with SceneOptions::color
  /// flow[i]: from frame i to frame i + 1, at every pixel, without confidence. In `clouds` it is from frame i
  /// to frame i + 2, the next frame of the same satellite. `square` has no flow.
  std::vector<FlowField> flow;
  /// occluded[i]: 1 where the target frame of flow[i] does not show the pixel of frame i, because its match
  /// is hidden or outside.
  std::vector<Image<std::uint8_t>> occluded;
  /// depth[i]: depth of frame i along the viewing direction, in scene units; infinity in the sky. Empty for
  /// flat scenes.
  std::vector<Image<float>> depth;
  /// disparity[i]: disparity at every pixel of frame 2 i, whose right image is frame 2 i + 1. Only `stereo`,
  /// `ball`, `sheet` and `clouds` have disparities. In `clouds` the ground has disparity 0.
  std::vector<DisparityField> disparity;
  /// moving[i]: 1 where frame i + 1 shows a moving object. Only `balloons` and `square` have masks. In
  /// `square`, a car that stops or stands for a while still counts as moving, but shadows and leaves do not.
  std::vector<Image<std::uint8_t>> moving;
};

/// How the motion of a flat scene changes from one frame pair to the next.
enum class Pace {
  steady,        ///< the motion is constant
  accelerating,  ///< 0.4 of the full motion in the first pair, and 0.3 more in each later pair
  shaking,       ///< the camera also shifts at random in each pair, by up to 2 px (at 640x480) along x and y
  stop_and_go    ///< the foreground (or a lone background) rests for two pairs, then moves for two
};
constexpr std::array<std::string_view, 4> names_of(Pace) {
  return {"steady", "accelerating", "shaking", "stop-and-go"};
}

/// Returns the pace of this name. Throws Error(invalid_argument) for an unknown name.
PARAFIELD_API Pace pace_named(std::string_view name);

/// Disturbances that the scene `square` adds for motion detection.
enum class Conditions {
  steady,    ///< only camera noise of 2 gray levels (standard deviation), as in all conditions but `noisy`
  swaying,   ///< leaves move back and forth by 1 to 3 px, with periods of 5 to 60 frames
  drifting,  ///< light changes slowly from 0.7 to 1.3 of its mean or back, not quite evenly over the image
  jumping,   ///< light is 20 % brighter or darker from the middle of the sequence on
  stopping,  ///< every car of one lane stops for 100 frames
  noisy,     ///< camera noise of 6 gray levels
  waving,    ///< leaves as in `swaying`, but in most of the image, and they move by up to 5 px
  shadowed,  ///< shadows of up to 40 % of the light, three times as long
  leaving,   ///< a car of each lane stands in the first 60 frames and then leaves
  shaking,   ///< the camera shifts at random, by up to 3 px along x and y
  lamp,      ///< a lamp makes half of the scene 1.5 times brighter in the second third of the sequence
  thermal    ///< thermal images: little contrast, fixed noise of each pixel, and warm objects
};
constexpr std::array<std::string_view, 12> names_of(Conditions) {
  return {"steady", "swaying",  "drifting", "jumping", "stopping", "noisy",
          "waving", "shadowed", "leaving",  "shaking", "lamp",     "thermal"};
}

/// Returns the conditions of this name. Throws Error(invalid_argument) for an unknown name.
PARAFIELD_API Conditions conditions_named(std::string_view name);

/// Options of `render_scene`.
struct SceneOptions {
  Size size = {640, 480};
  int frames = 2;
  std::uint64_t seed = 1;
  bool fine = true;    ///< texture down to about 3 px; otherwise only smooth shading, above about 20 px
  bool color = false;  ///< rgb_u8, with slowly varying colors on each surface; luma as in gray frames
  /// Must be steady for `flythrough`, `stereo`, `ball`, `sheet`, `clouds` and `square`, and must not be
  /// shaking for `balloons`.
  Pace pace = Pace::steady;
  Conditions conditions = Conditions::steady;  ///< must be steady except for `square`
  /// Called with the completed fraction of the work, 0 to 1, which never decreases. An exception
  /// that it throws ends the call.
  std::function<void(double)> progress = {};
};

/// Name and description of a scene.
struct SceneInfo {
  std::string_view name, help;
};

/// Lists all scenes:
/// - translation, rotation, zoom, affine: one surface with this motion.
/// - layers: two layers with occlusion.
/// - pole: a thin pole before a background.
/// - large: large motion.
/// - bar: a bar that is 4 px wide at 320x240 and moves by 12 px, while the background moves by 2.
/// - camouflage: a bar that looks like the background.
/// - poles: many thin poles at different depths.
/// - balloons: moving balloons before a still camera, with masks.
/// - facade: windows that look alike, every 8 and 12 px.
/// - slats: level slats that look alike, every 6 and 8 px, at any size.
/// - runner: a thin figure with limbs that swing, before a distant background.
/// - flythrough: terrain under a moving sky, with depth.
/// - stereo: the same, seen by a rectified pair of cameras, with disparities. Their baseline is 0.17.
/// - ball, sheet: a ball, or a sheet that hangs in folds, before a wall, seen by a rectified pair of cameras
///   that pan, with disparities.
/// - clouds: clouds over ground, both moving, seen by two satellites. Clouds are translucent at their edges;
///   a pixel has the flow and the disparity of the clouds where they contribute at least half of the light.
/// - square: walkers, cars and a dog that cross a square before a still camera, with masks and without flow.
///   They have weak shadows, and each frame has noise.
///
/// The cameras of `flythrough` and `stereo` are level: at depth d, the pixel (x, y) sees the point (x -
/// (width - 1) / 2, y - (0.42 height - 0.5)) d / f, with f = 0.8 max(width, 4/3 height) px.
PARAFIELD_API std::span<const SceneInfo> scenes();

/// Renders a scene: the same bytes for the same options on every machine. Throws Error(invalid_argument) for
/// an unknown name, a size below 1x1 or above 2^29 pixels, fewer than 1 frame, or a pace or conditions that
/// the scene does not have; Error(memory).
PARAFIELD_API Scene render_scene(std::string_view name, const SceneOptions& options = {});

}  // namespace parafield
