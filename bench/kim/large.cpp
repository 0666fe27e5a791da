#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kim/fields.hpp"
#include "kim/guided.hpp"

namespace parafield::bench {
namespace {

constexpr int given_tracks = 422;  // the paper's merry-go-round

/// What moves more than 3 px further than something to its left and something to its right, both within 12 px at 640x480.
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

/// True flow at places spread evenly: in the place of matches by SIFT.
Tracks true_tracks(const FlowField& truth) {
  Tracks tracks = stretched(truth.size(), {1, 1}, given_tracks).tracks;
  for (Track& track : tracks) {
    const int x = int(std::lround(track.x)), y = int(std::lround(track.y));
    track = {float(x), float(y), truth.u(x, y), truth.v(x, y)};
  }
  return tracks;
}

struct Way {
  const char* name;
  FlowMethod method;
  bool in_picture = false;
};

std::vector<Way> ways(int most) {
  const auto with = [&](auto method) {
    method.tracking.max_features = most;
    return method;
  };
  MultiHypothesis unvoted = with(MultiHypothesis{}), patch = unvoted;
  unvoted.unvoted = true;
  unvoted.max_labels = patch.max_labels = 4096;
  patch.change_window = 3;
  MultiHypothesis ranked = unvoted;
  ranked.unvoted = false;
  ranked.ranked = 8;
  MultiHypothesis soft = with(presets(MultiHypothesis{})[2].method);
  MultiHypothesis grid = paper_hypotheses(most);
  grid.max_labels = 4096;
  return {{"direct interpolation, 24 / 6", paper_interpolation(most), true},
          {"direct interpolation, default", with(DirectInterpolation{})},
          {"Alg. 3, 24 / 6, grid of 1 px", grid},
          {"Alg. 3, default", with(MultiHypothesis{}), true},
          {"Alg. 3, default, unvoted labels", unvoted, true},
          {"Alg. 2, default, the best 8 labels", ranked},
          {"Alg. 3, default, test over 3x3", patch},
          {"Alg. 3, accurate", soft}};
}

struct Tracked {
  const char* name;
  Tracks tracks;
};

Table table_of(const KimStudy& study, Size size) {
  const Scene scene = render_scene("poles", {.size = size, .color = true});
  const FrameBuffer &frame0 = scene.frames[0], &frame1 = scene.frames[1];
  const FlowField& truth = scene.flow[0];
  const Image<std::uint8_t> thin = thin_things(truth);
  double on_thin = 0, longest = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      on_thin += thin(x, y) != 0;
      longest = std::max(longest, std::hypot(double(truth.u(x, y)), double(truth.v(x, y))));
    }

  Table table{
      fmt::format("Figures 6 and 7: poles, {}", size_text(size)),
      fmt::format(
          "The scene `poles` in colour, motion up to {:.0f} px. Tracks: `given`, {} with their true flow, "
          "spread evenly, in the place of the paper's matches by SIFT; `tracked`, the library's own (1000 "
          "cells, default). Thin: the {:.1f} % of the pixels that move over 3 px further than something "
          "close by on both sides. EPE in px over all pixels; right: within 1 px. Labels of the tracks; ms "
          "of a call with given tracks, frames and flow on the device.",
          longest, given_tracks, 100 * on_thin / (double(size.width) * size.height)),
      {"tracks", "number", "method", "labels", "EPE", "right %", "thin: EPE", "thin: right %",
       "unclassified %", "EPE of accepted", "ms"},
      {}};
  const std::vector<Tracked> inputs{{"given", true_tracks(truth)},
                                    {"tracked", find_tracks(frame0, frame1, {}, study.device)}};
  std::vector<Captioned> pictures;
  if (!study.pictures.empty() && size.width == study.size(qvga).width) {
    pictures.push_back({"frame", frame0.to(Memory::host())});
    pictures.push_back({"truth", color_flow(truth, {.max_motion = float(longest)})});
  }
  for (const Tracked& input : inputs) {
    const Guided guided{frame0.to(Memory::host()), frame1.to(Memory::host()), input.tracks};
    for (const Way& way : ways(1000)) {
      const auto* hypotheses = std::get_if<MultiHypothesis>(&way.method);
      const FlowField flow = estimated(way.method, study.device, frame0, frame1, input.tracks);
      const FlowScores all = evaluate(flow, truth), slim = evaluate(flow, truth, {.mask = thin}),
                       accepted = evaluate(flow, truth, {.valid_only = true});
      const Times times =
          time_in_turn({guided_call(way.method, study.device, {&guided, 1}, memory_of(study.device))},
                       {study.effort.least, 100, 0.3})[0];
      table.rows.push_back({input.name,
                            int(input.tracks.size()),
                            way.name,
                            hypotheses ? Cell(label_count(*hypotheses, input.tracks)) : Cell(""),
                            {all.epe, 3},
                            {100 * (1 - all.r1), 1},
                            {slim.epe, 2},
                            {100 * (1 - slim.r1), 1},
                            {100 * (1 - all.density), 2},
                            {accepted.epe, 3},
                            {times.median, 3}});
      if (!pictures.empty() && way.in_picture && &input == inputs.data())
        pictures.push_back(
            {fmt::format("{}, {} tracks", way.name, input.name), classified(flow, float(longest))});
    }
  }
  if (!pictures.empty()) {
    pictures.push_back({"belief propagation", [&] {
                          BeliefPropagation<DisplacementEnergy> method;
                          method.energy.max_displacement = int(std::ceil(longest));
                          method.energy.cost.rgb = true;
                          method.precision = Precision::fast;
                          return classified(estimate_flow(frame0, frame1, method, study.device),
                                            float(longest));
                        }()});
    write_captioned(study.pictures / "poles.png", pictures, 3);
  }
  return table;
}

}  // namespace

std::vector<Table> large_tables(const KimStudy& study) {
  return {table_of(study, study.size(qvga)), table_of(study, study.size(vga))};
}

}  // namespace parafield::bench
