// SPDX-License-Identifier: MIT
#include "common/pictures.hpp"

#include <algorithm>
#include <cmath>

#include "common/scenes.hpp"
#include "grauer_gray/study.hpp"

namespace parafield::bench {
namespace {

/// Draws fig. 1: left image, WTA, ICM, belief propagation.
void draw_disparities(const Study& study, const std::filesystem::path& file) {
  std::optional<StereoScene> scene;
  if (study.data && !study.quick) scene = read_stereo(*study.data, "tsukuba");
  if (!scene) scene = stereo_scene(render_stereo(study.size({384, 288}), 16), 16);
  auto method = preset<BeliefPropagation<StereoEnergy>>("paper");
  method.iterations = 10;
  method.energy.disparities = scene->disparities;
  std::vector<FrameBuffer> fields;
  for (const StereoMethod& solver :
       {StereoMethod(WinnerTakesAll<StereoEnergy>{method.energy}),
        StereoMethod(Icm<StereoEnergy>{method.energy, 10, SiteOrder::all_at_once}), StereoMethod(method)})
    fields.push_back(
        color_disparity(estimate_disparity(scene->left, scene->right, solver, {.device = study.device}),
                        {.min = 0, .max = float(scene->disparities - 1)}));
  write_strip(file, scene->left, fields);
}

/// Draws fig. 2: the older image, the motion in colors, and as arrows.
void draw_motion(const Study& study, const std::filesystem::path& file) {
  FrameBuffer older, newer;
  const auto clouds = study.data.value_or(std::filesystem::path()) / "goes-irma" / "ir_0907" / "inpainted";
  if (!study.quick && std::filesystem::exists(clouds / "HUIR172501015.png")) {
    older = read_frame(clouds / "HUIR172501015.png");
    newer = read_frame(clouds / "HUIR172501045.png");
  } else {
    Layers layers = render_motion(study.size({512, 512}), 5);
    older = std::move(layers.frame0), newer = std::move(layers.frame1);
  }
  auto method = preset<BeliefPropagation<DisplacementEnergy>>("paper");
  method.iterations = 10;
  method.energy.max_displacement = 5;
  const FlowField flow = estimate_flow(older, newer, method, {.device = study.device});
  std::vector<FrameBuffer> fields;
  fields.push_back(with_legend(color_flow(flow, {.max_motion = 7})));
  fields.push_back(draw_arrows(older, flow, {.step = 16, .scale = 2}));
  write_strip(file, older, fields);
}

/// The largest disparity of a field.
float largest(const DisparityField& field) {
  float most = 0;
  for (int y = 0; y < field.size().height; ++y)
    for (int x = 0; x < field.size().width; ++x) most = std::max(most, field.d(x, y));
  return most;
}

/// The paper's figures for a pair whose truth is known: clouds over ground, rendered. Heights are
/// disparities. Each file: the image, the truth, belief propagation as in sections 5 and 6.
void draw_clouds(const Study& study, const std::filesystem::path& folder) {
  const Scene scene = render_scene("clouds", {.size = study.size({320, 320}), .frames = 4, .seed = 2});
  const FrameBuffer &left = scene.frames[0], &right = scene.frames[1], &next = scene.frames[2];

  const float most = largest(scene.disparity[0]);
  auto stereo = preset<BeliefPropagation<StereoEnergy>>("paper");
  stereo.iterations = 10;
  stereo.energy.disparities = int(std::ceil(most)) + 1;
  const auto heights = [&](const DisparityField& field) {
    return color_disparity(field, {.min = 0, .max = most, .show_invalid = true});
  };
  const DisparityField disparity = estimate_disparity(left, right, stereo, {.device = study.device});
  std::vector<FrameBuffer> fields;
  fields.push_back(heights(scene.disparity[0]));
  fields.push_back(heights(disparity));
  write_strip(folder / "cloud-heights.png", left, fields);

  auto motion = preset<BeliefPropagation<DisplacementEnergy>>("paper");
  motion.iterations = 10;
  motion.energy.max_displacement = 5;
  motion.energy.cost.presmooth = 1;
  const auto arrows = [&](const FlowField& flow) {
    constexpr float scale = 6;
    return with_scale_arrow(draw_arrows(left, flow, {.step = 20, .scale = scale}), 5 * scale, "5 px");
  };
  const FlowField flow = estimate_flow(left, next, motion, {.device = study.device});
  fields.clear();
  fields.push_back(arrows(scene.flow[0]));
  fields.push_back(arrows(flow));
  write_strip(folder / "cloud-motion.jpg", left, fields);
}

}  // namespace

void draw_figures(const Study& study, const std::filesystem::path& folder) {
  draw_disparities(study, folder / "disparities.png");
  draw_motion(study, folder / "motion.png");
  draw_clouds(study, folder);
}

}  // namespace parafield::bench
