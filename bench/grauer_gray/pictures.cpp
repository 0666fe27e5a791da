// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "common/study.hpp"

namespace parafield::bench {
namespace {

BeliefPropagation<StereoEnergy> stereo_method(int disparities) {
  auto method = preset<BeliefPropagation<StereoEnergy>>("paper");
  method.iterations = 10;
  method.energy.disparities = disparities;
  return method;
}

BeliefPropagation<DisplacementEnergy> motion_method() {
  auto method = preset<BeliefPropagation<DisplacementEnergy>>("paper");
  method.iterations = 10;
  method.energy.max_displacement = 5;
  return method;
}

/// Fig. 1: left image, truth, WTA, ICM, belief propagation. Files begin with `prefix`.
void draw_disparities(const Study& study, const StereoScene& scene, const std::string& prefix) {
  const auto method = stereo_method(scene.disparities);
  const auto add = study.pictures.of("Fig. 1", scene.name, prefix);
  const auto solved = [&](const StereoMethod& solver) {
    return estimate_disparity(scene.left, scene.right, solver, {.device = study.device});
  };
  add("left", "left image", scene.left);
  add("truth", "truth", colors_of(scene.truth, scene.disparities));
  add("wta", "WTA", colors_of(solved(WinnerTakesAll<StereoEnergy>{method.energy}), scene.disparities));
  const Icm<StereoEnergy> icm{method.energy, 10, SiteOrder::all_at_once};
  add("icm", "ICM, 10 sweeps", colors_of(solved(icm), scene.disparities));
  const DisparityField field = solved(method);
  add("bp", "belief propagation, 5 levels x 10", colors_of(field, scene.disparities));
  add("bp-error", "its error, white from 2 px on", color_errors(field, scene.truth, 2));
}

/// Fig. 2: the older image, its motion in colors and as arrows.
void draw_motion(const Study& study, const std::string& name, const std::string& prefix,
                 const In<Frame>& older, const In<Frame>& newer) {
  const FlowField flow = estimate_flow(older, newer, motion_method(), {.device = study.device});
  const auto add = study.pictures.of("Fig. 2", name, prefix);
  add("older", "older image", older);
  add("colors", "motion, full color 7 px", with_legend(color_flow(flow, {.max_motion = 7}), {}, 7));
  add("arrows", "motion as arrows, twice its length", draw_arrows(older, flow, {.step = 16, .scale = 2}));
}

/// The largest disparity of a field.
float largest(const DisparityField& field) {
  float most = 0;
  for (int y = 0; y < field.size().height; ++y)
    for (int x = 0; x < field.size().width; ++x) most = std::max(most, field.d(x, y));
  return most;
}

/// The paper's figures for a pair whose truth is known: clouds over ground, rendered. Heights are
/// disparities.
void draw_clouds(const Study& study) {
  const Scene scene = render_scene("clouds", {.size = study.size({320, 320}), .frames = 4, .seed = 2});
  const FrameBuffer &left = scene.frames[0], &right = scene.frames[1], &next = scene.frames[2];
  const auto add = study.pictures.of("Clouds", "clouds", "grauer_gray-clouds-");
  add("left", "image of the left satellite", left);

  const float most = largest(scene.disparity[0]);
  const auto stereo = stereo_method(int(std::ceil(most)) + 1);
  const auto heights = [&](const DisparityField& field) {
    return color_disparity(field, {.min = 0, .max = most, .show_invalid = true});
  };
  const DisparityField disparity = estimate_disparity(left, right, stereo, {.device = study.device});
  add("heights-truth", "true disparities (heights)", heights(scene.disparity[0]));
  add("heights", "belief propagation", heights(disparity));
  add("heights-error", "its error, white from 2 px on", color_errors(disparity, scene.disparity[0], 2));

  BeliefPropagation<DisplacementEnergy> motion = motion_method();
  motion.energy.cost.presmooth = 1;
  const auto arrows = [&](const FlowField& flow) {
    constexpr float scale = 6;
    return with_scale_arrow(draw_arrows(left, flow, {.step = 20, .scale = scale}), 5 * scale, "5 px");
  };
  const FlowField flow = estimate_flow(left, next, motion, {.device = study.device});
  add("motion-truth", "true motion to the next image", arrows(scene.flow[0]));
  add("motion", "belief propagation", arrows(flow));
  add("motion-error", "its error, white from 2 px on", color_errors(flow, scene.flow[0], 2));
}

}  // namespace

void draw_figures(const Study& study) {
  draw_disparities(study, stereo_scene(render_stereo(study.size({384, 288}), 16), 16), "grauer_gray-stereo-");
  const Layers layers = render_motion(study.size({512, 512}), 5);
  draw_motion(study, "rendered layers", "grauer_gray-motion-", layers.frame0, layers.frame1);
  draw_clouds(study);
  if (!study.data || study.quick) return;
  if (const auto tsukuba = read_stereo(*study.data, "tsukuba"))
    draw_disparities(study, *tsukuba, "real/grauer_gray-tsukuba-");
  const auto folder = *study.data / "goes-irma" / "ir_0907" / "inpainted";
  if (std::filesystem::exists(folder / "HUIR172501015.png"))
    draw_motion(study, "hurricane Irma", "real/grauer_gray-irma-", read_frame(folder / "HUIR172501015.png"),
                read_frame(folder / "HUIR172501045.png"));
}

}  // namespace parafield::bench
