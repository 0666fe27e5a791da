// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/study.hpp"
#include "kim/guided.hpp"

namespace parafield::bench {
namespace {

constexpr int given_tracks = 422;  // the paper's merry-go-round
constexpr int most_tracks = 1000;

/// Mask of thin objects: pixels that move more than 3 px further than a pixel to their left and one to their
/// right, both within 12 px at 640x480.
Image<std::uint8_t> thin_things(const FlowField& truth) {
  const Size size = truth.size();
  const int reach = std::max(4, 12 * size.width / 640);
  Image<std::uint8_t> mask(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const auto is_behind = [&](int other) {
        return other >= 0 && other < size.width &&
               std::hypot(truth.u(x, y), truth.v(x, y)) >
                   3 + std::hypot(truth.u(other, y), truth.v(other, y));
      };
      bool left = false, right = false;
      for (int i = 1; i <= reach; ++i) left |= is_behind(x - i), right |= is_behind(x + i);
      mask(x, y) = left && right ? 255 : 0;
    }
  return mask;
}

struct Poles {
  FrameBuffer frame0, frame1;
  FlowField truth;
  Image<std::uint8_t> thin;
  double thin_share = 0;
  float longest = 0;  ///< length of the longest flow, px
  Tracks given;       ///< spread evenly, with their true flow, instead of matches by SIFT
};

Poles poles_scene(Size size) {
  Scene scene = render_scene("poles", {.size = size, .color = true});
  Poles poles;
  poles.frame0 = std::move(scene.frames[0]);
  poles.frame1 = std::move(scene.frames[1]);
  poles.truth = std::move(scene.flow[0]);
  poles.thin = thin_things(poles.truth);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      poles.thin_share += (poles.thin(x, y) != 0) / (double(size.width) * size.height);
      poles.longest = std::max(poles.longest, std::hypot(poles.truth.u(x, y), poles.truth.v(x, y)));
    }
  poles.given = stretched(size, {1, 1}, given_tracks).tracks;
  for (Track& track : poles.given) {
    track.u = poles.truth.u(int(track.x), int(track.y));
    track.v = poles.truth.v(int(track.x), int(track.y));
  }
  return poles;
}

struct Setting {
  const char* name;
  FlowMethod method;
  const char* picture = "";  ///< its file's name; empty = it has no picture
};

std::vector<Setting> settings() {
  const MultiHypothesis plain = plain_hypotheses();
  MultiHypothesis ranked = plain, patch = plain, voted = plain;
  ranked.ranked = 8;
  patch.change_window = 3;
  voted.unvoted = false;
  return {{"direct interpolation, 24 / 6", paper_interpolation(most_tracks), "direct"},
          {"direct interpolation, 10 / 20", plain_interpolation()},
          {"Alg. 3, 24 / 6, grid of 1 px", paper_hypotheses(most_tracks)},
          {"Alg. 3, 16 / 20, no unvoted labels", voted, "hypotheses-voted"},
          {"Alg. 3, 16 / 20", plain, "hypotheses"},
          {"Alg. 2, 16 / 20, the best 8 labels", ranked},
          {"Alg. 3, 16 / 20, test over 3x3", patch},
          {"Alg. 3, accurate", preset<MultiHypothesis>("accurate")}};
}

Table table_of(const Study& study, Size size) {
  const Poles poles = poles_scene(size);
  Table table{
      fmt::format("Figures 6 and 7: poles, {}", size_text(size)),
      fmt::format(
          "The scene `poles` in color, motion up to {:.0f} px. Tracks: `given`, {} with their true flow, "
          "spread evenly, in the place of the paper's matches by SIFT; `tracked`, the library's own ({} "
          "cells, default). Thin: the {:.1f} % of the pixels that move over 3 px further than something "
          "close by on both sides. EPE in px over all pixels; right: within 1 px. Labels of the tracks; ms "
          "of a call with given tracks, frames and flow on the device.",
          poles.longest, given_tracks, most_tracks, 100 * poles.thin_share),
      {"tracks", "number", "method", "labels", "EPE", "right %", "thin: EPE", "thin: right %",
       "unclassified %", "EPE of accepted", "ms"}};
  for (const bool given : {true, false}) {
    const Guided guided{poles.frame0.to(Memory::host()), poles.frame1.to(Memory::host()),
                        given ? poles.given : find_tracks(poles.frame0, poles.frame1, {}, study.device)};
    for (const Setting& setting : settings()) {
      const auto* hypotheses = std::get_if<MultiHypothesis>(&setting.method);
      const FlowField flow =
          estimated(setting.method, study.device, guided.frame0, guided.frame1, guided.tracks);
      const FlowScores all = evaluate(flow, poles.truth),
                       thin = evaluate(flow, poles.truth, {.mask = poles.thin}),
                       accepted = evaluate(flow, poles.truth, {.valid_only = true});
      const double ms = guided_ms(setting.method, study, {&guided, 1}, {study.effort.least, 100, 0.3});
      table.add(given ? "given" : "tracked", int(guided.tracks.size()), setting.name,
                hypotheses ? Cell(label_count(*hypotheses, guided.tracks)) : Cell(""), Cell(all.epe, 3),
                Cell(100 * (1 - all.r1), 1), Cell(thin.epe, 2), Cell(100 * (1 - thin.r1), 1),
                Cell(100 * (1 - all.density), 2), Cell(accepted.epe, 3), Cell(ms, 3));
    }
  }
  return table;
}

}  // namespace

void draw_large(const Study& study) {
  const Poles poles = poles_scene(study.size(qvga));
  const auto add = study.pictures.of("Fig. 6", "poles", "kim-poles-");
  add("frame0", "first frame and given tracks", with_tracks(poles.frame0, poles.given));
  add("frame1", "second frame", poles.frame1);
  add("truth", fmt::format("true flow, full color {:.1f} px", poles.longest),
      color_flow(poles.truth, {.max_motion = poles.longest}));
  const auto add_flow = [&](const std::string& caption, const std::string& what, const FlowField& flow) {
    const auto add_result = study.pictures.of("Fig. 7", "poles", "kim-poles-");
    add_result(what, caption, classified(flow, poles.longest));
    add_result(what + "-error", "its error, white from 8 px on", color_errors(flow, poles.truth, 8));
  };
  for (const Setting& setting : settings())
    if (*setting.picture)
      add_flow(setting.name, setting.picture,
               estimated(setting.method, study.device, poles.frame0, poles.frame1, poles.given));
  auto propagation = preset<BeliefPropagation<DisplacementEnergy>>("paper");
  propagation.energy.max_displacement = int(std::ceil(poles.longest));
  propagation.energy.cost.rgb = true;
  propagation.precision = Precision::fast;
  add_flow("belief propagation", "propagation",
           estimate_flow(poles.frame0, poles.frame1, propagation, {.device = study.device}));
}

std::vector<Table> large_tables(const Study& study) {
  return {table_of(study, study.size(qvga)), table_of(study, study.size(vga))};
}

}  // namespace parafield::bench
