// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/study.hpp"

namespace parafield::bench {
namespace {

struct Steps {
  int levels, iterations;
};
constexpr Steps steps[] = {{5, 6}, {5, 7}, {5, 20}};

std::string text(Steps of) { return fmt::format("{} x {}", of.levels, of.iterations); }

template <class Energy>
BeliefPropagation<Energy> propagation(const Energy& energy, Steps of, Precision precision) {
  auto method = preset<BeliefPropagation<Energy>>("paper");
  method.energy = energy;
  method.levels = of.levels;
  method.iterations = of.iterations;
  method.precision = precision;
  return method;
}

template <class Energy>
Annealing<Energy> annealing(const Study& study, const Energy& energy) {
  return {energy, study.quick ? 5 : 500, 1, 0.05f};
}

/// Energy of the paper, section 4.
StereoEnergy paper_energy(int disparities) {
  StereoEnergy energy = preset<BeliefPropagation<StereoEnergy>>("paper").energy;
  energy.disparities = disparities;
  return energy;
}

/// Energy of a public code.
StereoEnergy peer_energy(int disparities) {
  StereoEnergy energy = paper_energy(disparities);
  energy.cost.weight = 0.1f;
  energy.cost.presmooth = 0;
  energy.smoothness.smoothness_truncation = float(disparities) / 7.5f;
  return energy;
}

/// Adds the rows of a scene, one for each precision: belief propagation and other solvers.
template <class Task, class Energy>
void add_energies(Table& table, const Study& study, const std::string& name, int labels, const Frame& frame0,
                  const Frame& frame1, const Energy& energy) {
  const auto energy_by = [&](const typename Task::Method& method) {
    return solved<Task>(study.device, method, frame0, frame1).energy;
  };
  const double others[] = {
      energy_by(WinnerTakesAll<Energy>{energy}), energy_by(Icm<Energy>{energy, 10, SiteOrder::all_at_once}),
      energy_by(Icm<Energy>{energy, 30, SiteOrder::colored}), energy_by(annealing(study, energy))};
  for (const Precision precision : precisions) {
    std::vector<Cell> row{name, labels, name_of(precision)};
    for (const double other : others) row.push_back({other, 0});
    std::vector<Cell> ratios;
    for (const Steps& of : steps) {
      const double found = energy_by(propagation(energy, of, precision));
      row.push_back({found, 0});
      ratios.push_back({found / others[3], 4});
    }
    row.insert(row.end(), ratios.begin(), ratios.end());
    table.rows.push_back(std::move(row));
  }
}

Table energy_table(const char* title, const char* note) {
  Table table{title, note, {"scene", "labels", "precision", "WTA", "ICM all at once", "ICM colored", "SA"}};
  for (const Steps& of : steps) table.columns.push_back("BP " + text(of));
  for (const Steps& of : steps) table.columns.push_back(text(of) + " / SA");
  return table;
}

Table paper_energy_table(const Study& study, const LabelScenes& scenes) {
  Table table = energy_table(
      "Energies, the paper's model",
      "0.07 min(|difference of luma|, 15), presmoothing 1, min(|difference of labels|, 1.7) over 4 "
      "neighbors; displacements (121 labels) differ by |du| + |dv|. ICM: 10 sweeps all at once, 30 "
      "colored ones; SA: 500 sweeps, temperature 1 to 0.05; BP: levels x iterations.");
  for (const StereoScene& scene : scenes.stereo)
    add_energies<Stereo>(table, study, scene.name, scene.disparities, scene.left, scene.right,
                         paper_energy(scene.disparities));
  DisplacementEnergy energy = preset<BeliefPropagation<DisplacementEnergy>>("paper").energy;
  energy.max_displacement = 5;
  for (const Pair& pair : scenes.flow)
    add_energies<Flow>(table, study, pair.name + ", flow", 121, pair.frame0, pair.frame1, energy);
  return table;
}

Table peer_energy_table(const Study& study, const LabelScenes& scenes) {
  Table table = energy_table("Energies, a stronger smoothness",
                             "0.1 min(|difference of luma|, 15), no presmoothing, min(|difference of "
                             "labels|, disparities / 7.5) over 4 neighbors. The rest as above.");
  for (const StereoScene& scene : scenes.stereo)
    add_energies<Stereo>(table, study, scene.name, scene.disparities, scene.left, scene.right,
                         peer_energy(scene.disparities));
  return table;
}

Table error_table(const Study& study, const LabelScenes& scenes) {
  Table table{
      "Errors of disparities",
      "% of the pixels seen in both views with an error above 1 px, for the two models above with 5 levels x "
      "7 iterations, and of a public code with the same parameters.",
      {"scene", "labels", "model", "precision", "bad 1", "public code"}};
  struct Case {
    const char *scene, *model;
    StereoEnergy (*energy)(int);
    double peer;
  };
  static constexpr Case cases[] = {{"tsukuba", "the paper's", paper_energy, NAN},
                                   {"tsukuba", "stronger", peer_energy, 2.07},
                                   {"venus", "stronger", peer_energy, 1.85},
                                   {"cones", "stronger", peer_energy, 8.81}};
  for (const Case& of : cases) {
    const auto scene = std::ranges::find(scenes.stereo, of.scene, &StereoScene::name);
    if (scene == scenes.stereo.end()) continue;
    for (const Precision precision : precisions) {
      const auto method = propagation(of.energy(scene->disparities), {5, 7}, precision);
      const DisparityField field =
          estimate_disparity(scene->left, scene->right, method, {.device = study.device});
      const double bad = 100 * evaluate(field, scene->truth, {.mask = scene->seen}).bad_1;
      table.add(scene->name, scene->disparities, of.model, name_of(precision), Cell(bad, 2),
                Cell(of.peer, 2));
    }
  }
  return table;
}

}  // namespace

std::vector<Table> quality_tables(const Study& study) {
  const LabelScenes scenes = label_scenes(study);
  std::vector<Table> tables{paper_energy_table(study, scenes), peer_energy_table(study, scenes)};
  if (Table table = error_table(study, scenes); !table.rows.empty()) tables.push_back(std::move(table));
  return tables;
}

}  // namespace parafield::bench
