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

/// An energy for each solver.
template <class Energy>
using Energies = std::array<Energy, std::size(solvers)>;

/// Outcomes of the solvers, in the order of `solvers`.
template <class Scene, class Energy>
std::vector<Outcome> outcomes(const Study& study, const Scene& scene, const Energies<Energy>& energies) {
  return {solve(study, scene, WinnerTakesAll<Energy>{energies[0]}),
          solve(study, scene, Icm<Energy>{energies[1], 10, SiteOrder::all_at_once}),
          solve(study, scene, Icm<Energy>{energies[2], 12, SiteOrder::colored}),
          solve(study, scene, Annealing<Energy>{energies[3], study.quick ? 5 : 500, 1, 0.05f})};
}

/// Calls add(name of scene, labels, decimals of errors, outcomes) for each scene. `stereo`: the energies by
/// the number of disparities.
template <class Stereo, class Add>
void solve_all(const Study& study, const LabelScenes& scenes, Stereo stereo,
               const Energies<DisplacementEnergy>& flow, Add add) {
  for (const StereoScene& scene : scenes.stereo)
    add(scene.name, scene.disparities, 2, outcomes(study, scene, stereo(scene.disparities)));
  for (const Pair& pair : scenes.flow) add(pair.name + ", flow", 121, 3, outcomes(study, pair, flow));
}

template <class Energy>
Energies<Energy> for_all(const Energy& energy) {
  return {energy, energy, energy, energy};
}

Table solver_table(const char* title, const char* note) {
  Table table{title, note, {"scene", "labels"}};
  table.columns.insert(table.columns.end(), std::begin(solvers), std::end(solvers));
  return table;
}

Table fixed_table(const Study& study, const LabelScenes& scenes) {
  Table table = solver_table(
      "One energy for all solvers",
      "Stereo, Grauer-Gray's model: 0.07 min(|difference of luma|, 15), presmoothing 1, no aggregation, "
      "smoothness min(|difference of labels|, 1.7) over 4 neighbors; error: % of the pixels seen in both "
      "views that are wrong by more than 1 px. Displacement, d_max 5: 0.1 min(|difference of colors|, 10), "
      "smoothness min(0.3 (|du| + |dv|), 1.5) over 4 neighbors; error: endpoint error in px. ICM: 10 sweeps "
      "all at once, or 12 colored ones; SA: 500 sweeps, temperature 1 to 0.05. `order` holds if the energies "
      "fall from left to right.");
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
  const auto stereo = [](int disparities) {
    return for_all(StereoEnergy{.disparities = disparities,
                                .cost = {.weight = 0.07f, .truncation = 15, .presmooth = 1},
                                .smoothness = {.beta = 1, .smoothness_truncation = 1.7f, .neighbors = 4}});
  };
  const DisplacementEnergy flow{.max_displacement = 5,
                                .cost = {.rgb = true, .weight = 0.1f, .truncation = 10},
                                .smoothness = {.beta = 0.3f, .smoothness_truncation = 5, .neighbors = 4}};
  solve_all(study, scenes, stereo, for_all(flow), add);
  return table;
}

/// Window and smoothness that suit a solver.
template <class Energy>
struct Suiting {
  int aggregation;
  float sigma, beta;

  Energy of(Energy energy) const {
    energy.cost.data = DataTerm::mix, energy.cost.rgb = true;
    energy.cost.aggregation = aggregation, energy.cost.aggregation_sigma = sigma;
    energy.smoothness = {.beta = beta, .smoothness_truncation = 5, .neighbors = 4, .edge_scale = 15};
    return energy;
  }
};

template <class Energy>
Energies<Energy> suiting(const Energy& energy, const std::array<Suiting<Energy>, 3>& solvers) {
  return {solvers[0].of(energy), solvers[1].of(energy), solvers[1].of(energy), solvers[2].of(energy)};
}

Table tuned_table(const Study& study, const LabelScenes& scenes) {
  Table table = solver_table(
      "An energy for each solver",
      "Errors as above. Data term `mix` in color (census, absolute difference, gradient); linear smoothness "
      "with truncation 5 over 4 neighbors, weaker at image edges (edge_scale 15). Window and beta were "
      "chosen for each solver by a few trials on these scenes: WTA a gaussian window of 13 (sigma 2.6); both "
      "ICM a mean over 7x7 and beta 1.2 (stereo), or 11x11 and 0.6 (displacement); SA no window and beta 0.6 "
      "(stereo), or 3x3 and 0.6 (displacement). No sub-pixel refinement, left-right check or median.");
  const auto stereo = [](int disparities) {
    return suiting(StereoEnergy{.disparities = disparities},
                   {{{13, 2.6f, 0.6f}, {7, 0, 1.2f}, {1, 0, 0.6f}}});
  };
  const auto flow =
      suiting(DisplacementEnergy{.max_displacement = 5}, {{{13, 2.6f, 0.6f}, {11, 0, 0.6f}, {3, 0, 0.6f}}});
  solve_all(study, scenes, stereo, flow,
            [&](const std::string& name, int labels, int decimals, const std::vector<Outcome>& found) {
              std::vector<Cell> row{name, labels};
              for (const Outcome& outcome : found) row.push_back({outcome.error, decimals});
              table.rows.push_back(std::move(row));
            });
  return table;
}

/// Scores of the masks of a sequence, against the labels of the newer frame of each pair, without the first
/// three frames.
MaskScores detected(const Study& study, const std::filesystem::path& folder, const DetectionMethod& method) {
  constexpr int first = 861, last = 900, left_out = 3;
  MaskScores scores;
  std::optional<MotionDetector> detector;
  for (int i = first; i <= last; ++i) {
    const FrameBuffer frame = read_frame(folder / "gray" / fmt::format("in{:06}.png", i));
    if (!detector) detector.emplace(method, frame.size(), DetectionOptions{.device = study.device});
    const MotionMask* mask = detector->push(frame);
    if (mask && i >= first + left_out)
      scores += evaluate(*mask, read_frame(folder / "groundtruth" / fmt::format("gt{:06}.png", i)));
  }
  return scores;
}

Table detection_table(const Study& study, const std::filesystem::path& folder) {
  Table table{
      "Motion detection, CDnet's highway",
      "40 frames of 320x240, each compared with the one before. Masks are scored against the labels of "
      "the newer frame by CDnet's rules, without the first 3 frames; beta 1.",
      {"method", "m_p, sigma, beta_t", "F1", "precision", "recall"}};
  const auto add = [&](const char* name, const char* parameters, const DetectionMethod& method) {
    const MaskScores scores = detected(study, folder, method);
    table.add(name, parameters, Cell(scores.f1, 3), Cell(scores.precision, 3), Cell(scores.recall, 3));
  };
  add("threshold 11", "(WTA, m_p 22)", WinnerTakesAll<ChangeEnergy>{{.mean = 22, .temporal = 0}});
  add("ICM 10", "12, 15, 0", Icm<ChangeEnergy>{{.mean = 12, .sigma = 15, .temporal = 0}, 10});
  add("ICM 10, temporal prior", "12.2, 15, 1", Icm<ChangeEnergy>{{.mean = 12.2f, .sigma = 15}, 10});
  add("ICM 50, temporal prior", "14, 15, 1", Icm<ChangeEnergy>{{.mean = 14, .sigma = 15}, 50});
  add("SA 60, T 6 to 0.2", "12, 22, 0",
      Annealing<ChangeEnergy>{{.mean = 12, .sigma = 22, .temporal = 0}, 60, 6, 0.2f});
  return table;
}

}  // namespace

std::vector<Table> quality_tables(const Study& study) {
  const LabelScenes all = label_scenes(study);
  std::vector<Table> tables{fixed_table(study, all), tuned_table(study, all)};
  if (!study.data || study.quick) return tables;
  const auto highway = *study.data / "cdnet" / "highway_a";
  if (std::filesystem::exists(highway)) tables.push_back(detection_table(study, highway));
  return tables;
}

}  // namespace parafield::bench
