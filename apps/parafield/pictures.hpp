// SPDX-License-Identifier: MIT
#pragma once
#include "options.hpp"

namespace parafield::command {

/// Options for pictures of flow: colors or arrows over the first frame, with or without the plain frame next
/// to them.
struct PictureOptions {
  bool arrows = false, beside = false, legend = false;
  ArrowOptions arrow;
  ColorOptions color;

  /// Adds the options. Some require `frame`, the option that gives the frame.
  void add_to(App& command, Option frame);
  /// Sets the scale of colors or arrows to one that suits the flow, if none was given.
  void fit(const FlowView& flow);
  /// Describes the scale in words.
  std::string scale_text() const;
  /// Draws the flow. `frame` is used only for `arrows` and `beside`.
  FrameBuffer draw(const FlowView& flow, const Frame& frame) const;
};

}  // namespace parafield::command
