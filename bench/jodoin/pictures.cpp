// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "common/study.hpp"

namespace parafield::bench {
namespace {

constexpr Size size{160, 120};

/// Draws a frame, the truth, and the results of WTA, ICM and annealing. draw(method) returns a result's picture.
template <class Energy, class Draw>
void draw_scene(const Study& study, const char* scene, const In<Frame>& frame, const char* caption,
                const In<Frame>& truth, Icm<Energy> icm, Annealing<Energy> annealing, Draw draw) {
  const auto add = [&](const char* what, const std::string& text, const In<Frame>& picture) {
    study.pictures.add("Fig. 1", fmt::format("{}: {}", scene, text), fmt::format("jodoin-{}-{}", scene, what),
                       picture);
  };
  add("frame", caption, frame);
  add("truth", "truth", truth);
  add("wta", "WTA", draw(WinnerTakesAll<Energy>{icm.energy}));
  add("icm", fmt::format("ICM, {} sweeps", icm.sweeps), draw(icm));
  const std::string text = fmt::format("SA, {} sweeps", annealing.sweeps);
  if (study.quick) annealing.sweeps = 5;
  add("sa", text, draw(annealing));
}

}  // namespace

void draw_label_fields(const Study& study) {
  const Layers change = render_change(size);
  const ChangeEnergy moving{.mean = 22, .sigma = 15};
  draw_scene(study, "detection", change.frame1, "newer frame", black_and_white(change.moved),
             Icm<ChangeEnergy>{moving, 10}, Annealing<ChangeEnergy>{moving, 60, 6, 0.2f},
             [&](const DetectionMethod& method) {
               return black_and_white(
                   detect_motion(change.frame0, change.frame1, method, {.device = study.device}).moving);
             });

  const Layers motion = render_motion(size, 5);
  const DisplacementEnergy displacement{
      .max_displacement = 5,
      .cost = {.weight = 0.07f, .truncation = 15},
      .smoothness = {.beta = 0.3f, .smoothness_truncation = 5, .neighbors = 4}};
  const auto colors = [](const FlowField& flow) { return color_flow(flow, {.max_motion = 7}); };
  draw_scene(study, "motion", motion.frame0, "first frame", colors(motion.flow),
             Icm<DisplacementEnergy>{displacement, 10, SiteOrder::all_at_once},
             Annealing<DisplacementEnergy>{displacement, 500, 1, 0.05f}, [&](const FlowMethod& method) {
               return colors(estimate_flow(motion.frame0, motion.frame1, method, {.device = study.device}));
             });

  const int disparities = 16;
  const StereoScene scene = stereo_scene(render_stereo(size, disparities), disparities);
  const StereoEnergy stereo{.disparities = disparities,
                            .cost = {.weight = 0.07f, .truncation = 15},
                            .smoothness = {.beta = 1, .smoothness_truncation = 1.7f}};
  draw_scene(study, "stereo", scene.left, "left image", colors_of(scene.truth, disparities),
             Icm<StereoEnergy>{stereo, 10, SiteOrder::all_at_once},
             Annealing<StereoEnergy>{stereo, 500, 1, 0.05f}, [&](const StereoMethod& method) {
               return colors_of(estimate_disparity(scene.left, scene.right, method, {.device = study.device}),
                                disparities);
             });
}

}  // namespace parafield::bench
