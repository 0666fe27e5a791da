// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "kim/fields.hpp"
#include "kim/pole_scene.hpp"

namespace parafield::bench {
namespace {

constexpr int most_pole_tracks = 256;
constexpr float longest = 13;  // flow with full color, px

/// A way to estimate the flow of a scene.
struct Way {
  std::string name;
  std::function<FlowMethod(const PoleScene&)> method;
  std::function<Tracks(const PoleScene&)> tracks;
  const char* figure = "";  // with its picture; empty = without one
};

Tracks background(const PoleScene& scene) { return scene.tracks; }
Tracks one_on_bar(const PoleScene& scene) { return scene.with_one_on_bar(); }
Tracks one_elsewhere(const PoleScene& scene) { return scene.with_labels_elsewhere(1); }
Tracks seven_elsewhere(const PoleScene& scene) { return scene.with_labels_elsewhere(7); }

MultiHypothesis paper_with(float step, bool unvoted) {
  MultiHypothesis method = paper_hypotheses(most_pole_tracks);
  method.label_step = step;
  method.unvoted = unvoted;
  return method;
}

BeliefPropagation<DisplacementEnergy> propagation(const PoleScene& scene) {
  auto method = preset<BeliefPropagation<DisplacementEnergy>>("paper");
  method.energy.max_displacement = int(std::ceil(std::abs(scene.bar_u)));
  method.energy.cost.rgb = true;
  return method;
}

std::vector<Way> ways() {
  const auto always = [](const FlowMethod& method) { return [method](const PoleScene&) { return method; }; };
  const MultiHypothesis plain = plain_hypotheses();
  MultiHypothesis voted = plain, thin = plain;
  voted.unvoted = false;
  thin.change_threshold = 4;
  return {
      {"direct interpolation, 24 / 6", always(paper_interpolation(most_pole_tracks)), background, "Fig. 4"},
      {"direct interpolation, one feature on the bar", always(paper_interpolation(most_pole_tracks)),
       one_on_bar, "Fig. 4"},
      {"Alg. 3, preset paper, no unvoted labels", always(paper_with(1, false)), one_elsewhere},
      {"Alg. 3, preset paper", always(paper_hypotheses(most_pole_tracks)), one_elsewhere},
      {"Alg. 3, preset paper, a grid of 2 px", always(paper_with(2, true)), one_elsewhere},
      {"Alg. 3, 16 / 20, 7 flows elsewhere", always(plain), seven_elsewhere},
      {"Alg. 3, 16 / 20, 7 flows elsewhere, threshold 4", always(thin), seven_elsewhere},
      {"Alg. 3, 16 / 20, no unvoted labels", always(voted), one_elsewhere},
      {"Alg. 3, 16 / 20", always(plain), one_elsewhere, "Fig. 5"},
      {"Alg. 3, 16 / 20, threshold 4", always(thin), one_elsewhere},
      {"belief propagation, colors", [](const PoleScene& scene) { return FlowMethod(propagation(scene)); },
       nullptr, "Fig. 5"}};
}

FlowField flow_of(const Way& way, const PoleScene& scene, const Device& device) {
  const FlowMethod method = way.method(scene);
  return way.tracks ? estimated(method, device, scene.frame0, scene.frame1, way.tracks(scene))
                    : estimate_flow(scene.frame0, scene.frame1, method, {.device = device});
}

/// Mean over seeds without NaN.
struct Mean {
  double sum = 0, count = 0, least = 1e300, most = -1e300;
  void add(double value) {
    if (std::isnan(value)) return;
    sum += value, ++count;
    least = std::min(least, value), most = std::max(most, value);
  }
  double value() const { return sum / count; }
};

Table table_of(const Study& study, const char* name) {
  const int seeds = study.quick ? 1 : 5;
  std::vector<PoleScene> scenes;
  Mean tracks;
  for (int seed = 1; seed <= seeds; ++seed) {
    scenes.push_back(pole_scene(name, study.size(qvga), std::uint64_t(seed), study.device));
    tracks.add(double(scenes.back().tracks.size()));
  }
  Table table{
      fmt::format("Figures 3 to 5: {}", name),
      fmt::format(
          "The scene `{}` in color at {}, means over {} seeds: a bar 4 px wide moves by 12 px, the "
          "background by 2 px. Corners are tracked (of 200 cells {:.0f} to {:.0f}), and those within reach "
          "of the bar dropped. `no unvoted labels`: those that no feature near the pixel votes for are not "
          "tested (`--no-unvoted`); else they are, last. Labels pass below a difference of 8 (the default) "
          "or of 4 (`thin`): the scenes have no noise, and between what looks alike (camouflage) "
          "differences are small. For the bar's flow to be a label at all, one track elsewhere has it, in "
          "the corner furthest from the bar; `7 flows elsewhere`: seven tracks there, from near the "
          "background's flow to the bar's. Right: within 1 px; of the background only pixels that the "
          "second frame shows. "
          "EPE in px. Target: 95 % of the bar (camouflage: 90) and 99 % of the background.",
          name, size_text(study.size(qvga)), seeds, tracks.least, tracks.most),
      {"method", "labels", "bar right %", "least of a seed %", "background right %", "unclassified %",
       "EPE of accepted", "EPE of unclassified"},
      {}};
  for (const Way& way : ways()) {
    Mean labels, bar, ground, unclassified, accepted_epe, unclassified_epe;
    for (const PoleScene& scene : scenes) {
      const PoleScores scores = score(flow_of(way, scene, study.device), scene);
      bar.add(scores.bar), ground.add(scores.background), unclassified.add(scores.unclassified);
      accepted_epe.add(scores.accepted_epe), unclassified_epe.add(scores.unclassified_epe);
      const FlowMethod method = way.method(scene);
      if (const auto* hypotheses = std::get_if<MultiHypothesis>(&method))
        labels.add(label_count(*hypotheses, way.tracks(scene)));
      else if (const auto* field = std::get_if<BeliefPropagation<DisplacementEnergy>>(&method))
        labels.add(std::pow(2 * field->energy.max_displacement + 1, 2));
    }
    const std::string label_text = labels.count == 0 ? ""
                                   : labels.least == labels.most
                                       ? fmt::format("{}", labels.least)
                                       : fmt::format("{} to {}", labels.least, labels.most);
    table.rows.push_back({way.name,
                          label_text,
                          {100 * bar.value(), 1},
                          {100 * bar.least, 1},
                          {100 * ground.value(), 2},
                          {100 * unclassified.value(), 2},
                          {accepted_epe.value(), 3},
                          {unclassified_epe.value(), 3}});
  }
  return table;
}

void draw(const Study& study, const char* name) {
  const PoleScene scene = pole_scene(name, study.size(qvga), 1, study.device);
  const auto add = [&](const char* figure, const std::string& caption, const char* what,
                       const In<Frame>& picture) {
    study.pictures.add(figure, fmt::format("{}: {}", name, caption), fmt::format("kim-{}-{}", name, what),
                       picture);
  };
  add("Fig. 3", "first frame and tracks", "frame0", with_tracks(scene.frame0, scene.tracks));
  add("Fig. 3", "second frame", "frame1", scene.frame1);
  add("Fig. 3", fmt::format("true flow, full color {:g} px", longest), "truth",
      color_flow(scene.truth, {.max_motion = longest}));
  const char* const files[] = {"direct", "direct-one", "hypotheses", "propagation"};
  int drawn = 0;
  for (const Way& way : ways()) {
    if (!*way.figure) continue;
    const FlowField flow = flow_of(way, scene, study.device);
    const std::string file = files[drawn++];
    add(way.figure, way.name, file.c_str(), classified(flow, longest));
    add(way.figure, "its error, white from 4 px on", (file + "-error").c_str(),
        color_errors(flow, scene.truth, 4));
  }
}

}  // namespace

std::vector<Table> pole_tables(const Study& study) {
  for (const char* name : {"bar", "camouflage"})
    if (study.pictures.wanted()) draw(study, name);
  return {table_of(study, "bar"), table_of(study, "camouflage")};
}

}  // namespace parafield::bench
