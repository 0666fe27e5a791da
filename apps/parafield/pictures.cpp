// SPDX-License-Identifier: MIT
#include "pictures.hpp"

namespace parafield::command {

void PictureOptions::add_to(App& command, Option frame) {
  const Option arrows_option =
      command.add_flag("--arrows", arrows, "draw arrows over the frame instead of colors").needs(frame);
  const Option step = command.add_setting("--step PX", arrow.step, "distance of the arrows")
                          .range(1, 100000)
                          .needs(arrows_option);
  const Option scale =
      command.add_setting("--scale X", arrow.scale, "length of an arrow / length of the flow")
          .range(1e-3, 1e6)
          .needs(arrows_option);
  for (const Option option : {step, scale}) command.leave_out_of_help(option);
  command.add_flag("--beside", beside, "put the frame and the picture side by side").needs(frame);
  command.add_flag("--legend", legend, "draw the color wheel in the lower right corner")
      .excludes(arrows_option);
}

FrameBuffer PictureOptions::draw(const FlowView& flow, const Frame& frame, const ColorOptions& color) const {
  FrameBuffer picture = arrows ? draw_arrows(frame, flow, arrow) : color_flow(flow, color);
  if (legend) picture = with_legend(picture, color.scheme);
  return beside ? parafield::beside(frame, picture) : std::move(picture);
}

}  // namespace parafield::command
