#pragma once
#include "options.hpp"

namespace parafield::command {

/// How a flow field is drawn: in colors, or as arrows over its first frame; alone or beside that frame.
struct PictureOptions {
  bool arrows = false, beside = false, legend = false;
  ArrowOptions arrow;

  /// `frame`: the option without which there is no frame to draw.
  void add_to(App& command, Option frame);
  /// `frame` is not looked at where none is needed.
  FrameBuffer draw(const FlowView& flow, const Frame& frame, const ColorOptions& color = {}) const;
};

}  // namespace parafield::command
