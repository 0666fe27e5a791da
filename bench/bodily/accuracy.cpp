// SPDX-License-Identifier: MIT
#include "bodily/accuracy.hpp"

#include <fmt/format.h>

namespace parafield::bench {
namespace {
namespace fs = std::filesystem;

/// Seven frames, and the true flow from the middle one to the next.
struct Case {
  std::string name;
  std::vector<FrameBuffer> frames;
  FlowField truth = {};             ///< no pixels = not known
  Image<std::uint8_t> ground = {};  ///< 0 in the sky; no data = no sky
};

std::vector<Case> cases(const Study& study) {
  std::vector<Case> list;
  struct Known {
    int middle;
    const char *truth, *name;
  };
  for (const Known& known : {Known{9, "clouds/flow09.flo", "Yosemite, yos09"},
                             Known{8, "clouds/flow09.flo", "Yosemite, yos08, truth of yos09"},
                             Known{10, "noclouds/yos08_nosky.flo", "Yosemite, yos10"},
                             Known{11, "noclouds/yos09_nosky.flo", "Yosemite, yos11"}}) {
    std::vector<FrameBuffer> frames = read_yosemite(study.data, known.middle - 3, known.middle + 3);
    if (frames.empty()) continue;
    const fs::path folder = *study.data / "yosemite";
    list.push_back({known.name, std::move(frames), read_flow(folder / known.truth),
                    read_mask(folder / "clouds" / "mask_ground.png")});
  }
  Scene scene = render_scene("affine", {.size = study.size(yosemite), .frames = 7});
  list.push_back({"rendered affine", std::move(scene.frames), std::move(scene.flow[3])});
  return list;
}

/// Mask of the pixels at least `reach` px from the border, all or only those on the ground.
Image<std::uint8_t> inside(const Case& which, bool ground, int reach) {
  const Size size = which.truth.size();
  Image<std::uint8_t> mask(size);
  for (int y = reach; y < size.height - reach; ++y)
    for (int x = reach; x < size.width - reach; ++x)
      mask(x, y) = !ground || !which.ground || which.ground(x, y) ? 255 : 0;
  return mask;
}

FlowField estimated(const Study& study, const ThesisMethod& thesis, const Case& which) {
  const int count = frames_of(thesis.method);
  std::vector<Frame> frames;
  for (int i = 0; i < count; ++i) frames.push_back(which.frames[std::size_t(3 - count / 2 + i)]);
  return estimate_flow(frames, thesis.method, {.device = study.device});
}

/// Figs. 5.1 and 5.2: the middle frame, and the flow of both methods as arrows.
void draw_flow(const Study& study, const Case& which, const std::string& prefix) {
  study.pictures.of("Fig. 5.1", which.name, prefix)("frame", "frame", which.frames[3]);
  for (const ThesisMethod& thesis : thesis_methods()) {
    const auto add = study.pictures.of(thesis.name == "tensor" ? "Fig. 5.1" : "Fig. 5.2", which.name, prefix);
    const FlowField flow = estimated(study, thesis, which);
    add(thesis.name, thesis.name + ", arrows of four times its length",
        draw_arrows(which.frames[3], flow, {.step = 18, .scale = 4}));
    if (which.truth.u)
      add(thesis.name + "-error", "its error, white from 2 px on", color_errors(flow, which.truth, 2));
  }
}

}  // namespace

std::vector<ThesisMethod> thesis_methods() {
  return {{"tensor", GradientTensor{}, 6}, {"ridge", RidgeRegression{}, 8}};
}

Table accuracy_table(const Study& study) {
  Table table{
      "Section 5.2: errors",
      "AAE in degrees and EPE in px of the flow from the middle frame to the next. All pixels with "
      "known truth in the region count, also where flow is not valid and so 0; the last column counts "
      "valid pixels only, and `valid` is their share of the region. The thesis has 12.1 and 5.3 "
      "degrees on a GPU, 12.9 and 6.8 on FPGAs, for a frame and region that it does not name; its "
      "figures show the 8th frame. yos08 has no truth of its own, so the truth of yos09, a frame "
      "later, stands in. The truth of yos10 and yos11 is that of the same flight without clouds, "
      "which leaves out the sky; so their whole frames are without it, too.",
      {"method", "frame", "region", "AAE", "EPE", "valid %", "AAE of valid"}};
  for (const ThesisMethod& thesis : thesis_methods())
    for (const Case& which : cases(study)) {
      const FlowField flow = estimated(study, thesis, which);
      struct Region {
        std::string name;
        bool ground;
        int border;
      };
      std::vector<Region> regions{
          {fmt::format("whole frame but {} px at the border", thesis.reach), false, thesis.reach},
          {"whole frame", false, 0}};
      if (which.ground) {
        regions.insert(regions.begin(), {"ground", true, 0});
        regions.insert(regions.begin(),
                       {fmt::format("ground but {} px at the border", thesis.reach), true, thesis.reach});
      }
      for (const Region& region : regions) {
        const Image<std::uint8_t> mask = inside(which, region.ground, region.border);
        const FlowScores all = evaluate(flow, which.truth, {.mask = mask});
        const FlowScores valid = evaluate(flow, which.truth, {.mask = mask, .valid_only = true});
        table.add(thesis.name, which.name, region.name, Cell(all.aae, 2), Cell(all.epe, 3),
                  Cell(100 * all.density, 1), Cell(valid.aae, 2));
      }
    }
  return table;
}

double thesis_error(const Study& study, const ThesisMethod& thesis) {
  const std::vector<Case> list = cases(study);
  const Case& which = list.front();
  const auto mask = inside(which, true, thesis.reach);
  return evaluate(estimated(study, thesis, which), which.truth, {.mask = mask}).aae;
}

void draw_figures(const Study& study) {
  Scene scene = render_scene("flythrough", {.size = study.size(yosemite), .frames = 7});
  draw_flow(study, {"rendered flythrough", std::move(scene.frames), std::move(scene.flow[3])},
            "bodily-flythrough-");
  std::vector<FrameBuffer> real = read_yosemite(study.data, 5, 11);
  if (!study.quick && !real.empty())
    draw_flow(study, {"Yosemite, 8th frame", std::move(real)}, "real/bodily-yosemite-");
}

}  // namespace parafield::bench
