// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "common/study.hpp"

namespace parafield::bench {
namespace {

/// Result of a solver on a pair of frames.
struct Outcome {
  double energy = 0;
  double error = 0;  ///< bad pixels in %, or endpoint error in px
};

Outcome solve(const Study& study, const StereoScene& scene, const StereoMethod& method) {
  const auto [field, energy] = solved<Stereo>(study.device, method, scene.left, scene.right);
  return {energy, 100 * evaluate(field, scene.truth, {.mask = scene.seen}).bad_1};
}

Outcome solve(const Study& study, const Pair& pair, const FlowMethod& method) {
  const auto [field, energy] = solved<Flow>(study.device, method, pair.frame0, pair.frame1);
  return {energy, score(field, pair).epe};
}

constexpr const char* solvers[] = {"WTA", "ICM all at once", "ICM colored", "SA"};

/// Outcomes of the solvers, in the order of `solvers`.
template <class Scene, class Energy>
std::vector<Outcome> outcomes(const Study& study, const Scene& scene, const Energy& energy) {
  return {solve(study, scene, WinnerTakesAll<Energy>{energy}),
          solve(study, scene, Icm<Energy>{energy, 10, SiteOrder::all_at_once}),
          solve(study, scene, Icm<Energy>{energy, 12, SiteOrder::colored}),
          solve(study, scene, Annealing<Energy>{energy, study.quick ? 5 : 500, 1, 0.05f})};
}

}  // namespace

std::vector<Table> quality_tables(const Study& study) {
  Table table{
      "One energy for all solvers",
      "Stereo, Grauer-Gray's model: 0.07 min(|difference of luma|, 15), presmoothing 1, no aggregation, "
      "smoothness min(|difference of labels|, 1.7) over 4 neighbors; error: % of the pixels seen in both "
      "views that are wrong by more than 1 px. Displacement, d_max 5: 0.1 min(|difference of colors|, 10), "
      "smoothness min(0.3 (|du| + |dv|), 1.5) over 4 neighbors; error: endpoint error in px. ICM: 10 sweeps "
      "all at once, or 12 colored ones; SA: 500 sweeps, temperature 1 to 0.05. `order` holds if the energies "
      "fall from left to right.",
      {"scene", "labels"}};
  table.columns.insert(table.columns.end(), std::begin(solvers), std::end(solvers));
  table.columns.push_back("order");
  for (const char* solver : solvers) table.columns.push_back(fmt::format("{}: error", solver));
  const auto add = [&](const std::string& name, int labels, int decimals, const std::vector<Outcome>& found) {
    std::vector<Cell> row{name, labels};
    for (const Outcome& outcome : found) row.push_back({outcome.energy, 0});
    row.push_back(std::ranges::adjacent_find(found, std::less_equal{}, &Outcome::energy) == found.end()
                      ? "holds"
                      : "does not hold");
    for (const Outcome& outcome : found) row.push_back({outcome.error, decimals});
    table.rows.push_back(std::move(row));
  };
  StereoEnergy stereo{.cost = {.weight = 0.07f, .truncation = 15, .presmooth = 1},
                      .smoothness = {.beta = 1, .smoothness_truncation = 1.7f, .neighbors = 4}};
  const DisplacementEnergy flow{.max_displacement = 5,
                                .cost = {.rgb = true, .weight = 0.1f, .truncation = 10},
                                .smoothness = {.beta = 0.3f, .smoothness_truncation = 5, .neighbors = 4}};
  const LabelScenes scenes = label_scenes(study);
  for (const StereoScene& scene : scenes.stereo) {
    stereo.disparities = scene.disparities;
    add(scene.name, scene.disparities, 2, outcomes(study, scene, stereo));
  }
  for (const Pair& pair : scenes.flow) add(pair.name + ", flow", 121, 3, outcomes(study, pair, flow));
  return {std::move(table)};
}

namespace {

constexpr Size size{160, 120};

/// Draws a frame, the truth, and the results of WTA, ICM and annealing. draw(method) returns a result's
/// picture.
template <class Energy, class Draw>
void draw_scene(const Study& study, const char* scene, const In<Frame>& frame, const char* caption,
                const In<Frame>& truth, Icm<Energy> icm, Annealing<Energy> annealing, Draw draw) {
  const auto add = study.pictures.of("Fig. 1", scene, fmt::format("jodoin-{}-", scene));
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
