// SPDX-License-Identifier: MIT
#include "pictures.hpp"

namespace parafield::command {

void PictureOptions::add_to(App& command, Option frame) {
  const Option arrows_option =
      command.add_flag("--arrows", arrows, "draw arrows over the frame instead of colors").needs(frame);
  const Option step = command.add_setting("--step PX", arrow.step, "distance of the arrows")
                          .range(1, 100000)
                          .needs(arrows_option);
  const Option scale = command.add_option("--scale X", arrow.scale).range(1e-3, 1e6).needs(arrows_option);
  scale.help("length of an arrow / length of the flow; default: the longest arrow is one step long");
  const Option most = command.add_option("--max-motion PX", color.max_motion).excludes(arrows_option);
  most.is_positive().help(
      "length of flow with full color, px; default: the longest, without a few wild vectors");
  for (const Option option : {step, scale, most}) command.leave_out_of_help(option);
  command.add_flag("--beside", beside, "put the frame and the picture side by side").needs(frame);
  command.add_flag("--legend", legend, "draw the color wheel in the lower right corner")
      .excludes(arrows_option);
}

void PictureOptions::fit(const FlowView& flow) {
  if (arrows && arrow.scale == 0) arrow.scale = arrow_scale(flow, arrow.step);
  if (!arrows && color.max_motion == 0) color.max_motion = color_scale(flow);
}

std::string PictureOptions::scale_text() const {
  return arrows ? fmt::format("arrows are {:.3g} times as long as the flow", arrow.scale)
                : fmt::format("flow of {:.3g} px has full color", color.max_motion);
}

FrameBuffer PictureOptions::draw(const FlowView& flow, const Frame& frame) const {
  FrameBuffer picture = arrows ? draw_arrows(frame, flow, arrow) : color_flow(flow, color);
  if (legend) picture = with_legend(picture, color.scheme, color.max_motion);
  return beside ? parafield::beside(frame, picture) : std::move(picture);
}

}  // namespace parafield::command
