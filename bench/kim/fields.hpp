// SPDX-License-Identifier: MIT
#pragma once
#include "kim/study.hpp"

namespace parafield::bench {

/// Colors of a flow field: full at `longest` px, black where it is not valid.
inline FrameBuffer classified(const FlowField& flow, float longest) {
  FlowField shown = flow.to(Memory::host());
  for (int y = 0; y < shown.size().height; ++y)
    for (int x = 0; x < shown.size().width; ++x)
      if (!shown.valid(x, y)) shown.u(x, y) = 1e10f;
  return color_flow(shown, {.max_motion = longest});
}

}  // namespace parafield::bench
