// SPDX-License-Identifier: MIT
#include "common/pictures.hpp"

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
  for (const StereoMethod& solver : {StereoMethod(WinnerTakesAll<StereoEnergy>{method.energy}),
                                     StereoMethod(Icm<StereoEnergy>{method.energy}), StereoMethod(method)})
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
  BeliefPropagation<DisplacementEnergy> method{.iterations = 10};
  method.energy.max_displacement = 5;
  const FlowField flow = estimate_flow(older, newer, method, {.device = study.device});
  std::vector<FrameBuffer> fields;
  fields.push_back(with_legend(color_flow(flow, {.max_motion = 7})));
  fields.push_back(draw_arrows(older, flow, {.step = 16, .scale = 2}));
  write_strip(file, older, fields);
}

}  // namespace

void draw_figures(const Study& study, const std::filesystem::path& folder) {
  draw_disparities(study, folder / "disparities.png");
  draw_motion(study, folder / "motion.png");
}

}  // namespace parafield::bench
