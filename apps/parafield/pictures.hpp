// SPDX-License-Identifier: MIT
#pragma once
#include "options.hpp"

namespace parafield::command {

/// Options for pictures of flow: colors, or arrows over the first frame; alone or beside that frame.
struct PictureOptions {
  bool arrows = false, beside = false, legend = false;
  ArrowOptions arrow;

  /// Adds the options. Some need `frame`, the option that gives the frame.
  void add_to(App& command, Option frame);
  /// Draws the flow. `frame` is used only for arrows and beside.
  FrameBuffer draw(const FlowView& flow, const Frame& frame, const ColorOptions& color = {}) const;
};

}  // namespace parafield::command
