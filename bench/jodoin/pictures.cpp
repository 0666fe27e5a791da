// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "common/scenes.hpp"
#include "jodoin/study.hpp"

namespace parafield::bench {
namespace {

constexpr Size size{160, 120};

void add(const Study& study, const char* scene, const char* what, const std::string& caption,
         const In<Frame>& picture) {
  study.pictures.add("Fig. 1", fmt::format("{}: {}", scene, caption),
                     fmt::format("jodoin-{}-{}", scene, what), picture);
}

/// A solver's caption and the name of its file.
struct Named {
  const char *caption, *file;
};
constexpr Named wta{"WTA", "wta"}, icm{"ICM, 10 sweeps", "icm"};

void draw_detection(const Study& study) {
  const Layers change = render_change(size);
  const ChangeEnergy moving{.mean = 22, .sigma = 15};
  add(study, "detection", "frame", "newer frame", change.frame1);
  add(study, "detection", "truth", "truth", black_and_white(change.moved));
  const int sweeps = study.quick ? 5 : 60;
  for (const auto& [named, method] :
       {std::pair(wta, DetectionMethod(WinnerTakesAll<ChangeEnergy>{moving})),
        std::pair(icm, DetectionMethod(Icm<ChangeEnergy>{moving, 10})),
        std::pair(Named{"SA, 60 sweeps", "sa"},
                  DetectionMethod(Annealing<ChangeEnergy>{moving, sweeps, 6, 0.2f}))}) {
    const MotionMask mask = detect_motion(change.frame0, change.frame1, method, {.device = study.device});
    add(study, "detection", named.file, named.caption, black_and_white(mask.moving));
  }
}

void draw_motion(const Study& study) {
  const Layers motion = render_motion(size, 5);
  const DisplacementEnergy energy{.max_displacement = 5,
                                  .cost = {.weight = 0.07f, .truncation = 15},
                                  .smoothness = {.beta = 0.3f, .smoothness_truncation = 5, .neighbors = 4}};
  constexpr float longest = 7;
  add(study, "motion", "frame", "first frame", motion.frame0);
  add(study, "motion", "truth", "truth", color_flow(motion.flow, {.max_motion = longest}));
  for (const auto& [named, method] :
       {std::pair(wta, FlowMethod(WinnerTakesAll<DisplacementEnergy>{energy})),
        std::pair(icm, FlowMethod(Icm<DisplacementEnergy>{energy, 10, SiteOrder::all_at_once})),
        std::pair(Named{"SA, 500 sweeps", "sa"},
                  FlowMethod(Annealing<DisplacementEnergy>{energy, study.quick ? 5 : 500, 1, 0.05f}))}) {
    const FlowField flow = estimate_flow(motion.frame0, motion.frame1, method, {.device = study.device});
    add(study, "motion", named.file, named.caption, color_flow(flow, {.max_motion = longest}));
  }
}

void draw_stereo(const Study& study) {
  const int disparities = 16;
  const StereoScene scene = stereo_scene(render_stereo(size, disparities), disparities);
  const StereoEnergy energy{.disparities = disparities,
                            .cost = {.weight = 0.07f, .truncation = 15},
                            .smoothness = {.beta = 1, .smoothness_truncation = 1.7f}};
  const auto colors = [&](const DisparityField& field) {
    return color_disparity(field, {.min = 0, .max = float(disparities - 1)});
  };
  add(study, "stereo", "frame", "left image", scene.left);
  add(study, "stereo", "truth", "truth", colors(scene.truth));
  for (const auto& [named, method] :
       {std::pair(wta, StereoMethod(WinnerTakesAll<StereoEnergy>{energy})),
        std::pair(icm, StereoMethod(Icm<StereoEnergy>{energy, 10, SiteOrder::all_at_once})),
        std::pair(Named{"SA, 500 sweeps", "sa"},
                  StereoMethod(Annealing<StereoEnergy>{energy, study.quick ? 5 : 500, 1, 0.05f}))})
    add(study, "stereo", named.file, named.caption,
        colors(estimate_disparity(scene.left, scene.right, method, {.device = study.device})));
}

}  // namespace

void draw_label_fields(const Study& study) {
  draw_detection(study);
  draw_motion(study);
  draw_stereo(study);
}

}  // namespace parafield::bench
