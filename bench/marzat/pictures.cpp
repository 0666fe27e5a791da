// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "common/study.hpp"

namespace parafield::bench {
namespace {

const ColorScheme scheme = ColorScheme::marzat;

FlowField estimated(const Study& study, const In<Frame>& frame0, const In<Frame>& frame1) {
  return estimate_flow(frame0, frame1, preset<LucasKanade>("paper"), {.device = study.device});
}

/// Fig. 4: the colors of flow, and the flow that they stand for.
void draw_colors(const Study& study) {
  constexpr int side = 241;
  FrameBuffer blank({side, side}, PixelFormat::gray_u8);
  FlowField flow({side, side});
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      static_cast<std::uint8_t*>(blank.row(y))[x] = 40;
      flow.u(x, y) = float(x - side / 2), flow.v(x, y) = float(y - side / 2);
      flow.valid(x, y) = 1;
    }
  study.pictures.add("Fig. 4", "colors of flow", "marzat-colors", color_wheel(side, scheme));
  study.pictures.add("Fig. 4", "the flow that they stand for", "marzat-vectors",
                     draw_arrows(blank, flow, {.step = 20}));
}

/// Fig. 5: frame, true flow and computed flow, in the same colors.
void draw_truth(const Study& study, const Pair& pair, const std::string& name, const std::string& prefix) {
  const FlowField flow = estimated(study, pair.frame0, pair.frame1);
  const float longest = color_scale(pair.truth);
  const FlowScores scores = score(flow, pair);
  const auto add = study.pictures.of("Fig. 5", name, prefix);
  add("frame", "first frame", pair.frame0);
  add("truth", fmt::format("true flow, brightest at {:.1f} px", longest),
      color_flow(pair.truth, {.scheme = scheme, .max_motion = longest}));
  add("flow", fmt::format("Lucas-Kanade, AAE {:.2f} degrees", scores.aae),
      color_flow(flow, {.scheme = scheme, .max_motion = longest}));
  add("error", "its error, white from 1 px on", color_errors(flow, pair.truth, 1));
}

/// Figs. 6 and 9: a frame of a sequence and its flow.
void draw_sequence(const Study& study, const char* figure, const std::string& name, const std::string& prefix,
                   const In<Frame>& frame0, const In<Frame>& frame1) {
  const FlowField flow = estimated(study, frame0, frame1);
  const float longest = color_scale(flow);
  const auto add = study.pictures.of(figure, name, prefix);
  add("frame", "frame", frame0);
  add("flow", fmt::format("Lucas-Kanade, brightest at {:.1f} px", longest),
      color_flow(flow, {.scheme = scheme, .max_motion = longest}));
}

}  // namespace

void draw_figures(const Study& study) {
  draw_colors(study);
  draw_truth(study, rendered_pair("flythrough", study.size(yosemite)), "rendered flythrough",
             "marzat-flythrough-");
  const Pair layers = rendered_pair("layers", study.size(vga));
  draw_sequence(study, "Fig. 6", layers.name, "marzat-layers-", layers.frame0, layers.frame1);
  const Scene balloons = render_scene("balloons", {.size = study.size(vga), .color = true});
  draw_sequence(study, "Fig. 9", "rendered balloons", "marzat-balloons-", balloons.frames[0],
                balloons.frames[1]);
  if (!study.data || study.quick) return;
  if (const auto pair = read_pair(*study.data, "noclouds"))
    draw_truth(study, *pair, "Yosemite without clouds", "real/marzat-yosemite-");
  const auto kitti = *study.data / "kitti-flow" / "k_000010";
  if (std::filesystem::exists(kitti / "frame10.png"))
    draw_sequence(study, "Fig. 6", "a street from a car (KITTI)", "real/marzat-kitti-",
                  read_frame(kitti / "frame10.png"), read_frame(kitti / "frame11.png"));
}

}  // namespace parafield::bench
