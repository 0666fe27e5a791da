// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "bodily/study.hpp"

namespace parafield::bench {
namespace {

/// Figs. 5.1 and 5.2: the middle frame of seven, and the flow of both methods as arrows. `truth` has no pixels
/// if it is not known.
void draw_flow(const Study& study, const std::string& name, const std::string& prefix,
               const std::vector<FrameBuffer>& frames, const FlowField& truth) {
  study.pictures.add("Fig. 5.1", name + ": frame", prefix + "frame", frames[3]);
  for (const ThesisMethod& thesis : thesis_methods()) {
    const std::string figure = thesis.name == "tensor" ? "Fig. 5.1" : "Fig. 5.2";
    const int count = frames_of(thesis.method);
    std::vector<Frame> used;
    for (int i = 0; i < count; ++i) used.push_back(frames[std::size_t(3 - count / 2 + i)]);
    const FlowField flow = estimate_flow(used, thesis.method, {.device = study.device});
    study.pictures.add(figure, fmt::format("{}: {}, arrows of four times its length", name, thesis.name),
                       prefix + thesis.name, draw_arrows(frames[3], flow, {.step = 18, .scale = 4}));
    if (truth.u)
      study.pictures.add(figure, name + ": its error, white from 2 px on", prefix + thesis.name + "-error",
                         color_errors(flow, truth, 2));
  }
}

}  // namespace

std::vector<Table> draw_figures(const Study& study) {
  if (!study.pictures.wanted()) return {};
  const Scene scene = render_scene("flythrough", {.size = study.size(yosemite), .frames = 7});
  draw_flow(study, "rendered flythrough", "bodily-flythrough-", scene.frames, scene.flow[3]);
  if (!study.data || study.quick) return {};
  const auto folder = *study.data / "yosemite" / "clouds";
  std::vector<FrameBuffer> frames;
  for (int i = 5; i <= 11; ++i) {
    const auto file = folder / fmt::format("yos{:02}.png", i);
    if (!std::filesystem::exists(file)) return {};
    frames.push_back(read_frame(file));
  }
  draw_flow(study, "Yosemite, 8th frame", "real/bodily-yosemite-", frames, {});
  return {};
}

}  // namespace parafield::bench
