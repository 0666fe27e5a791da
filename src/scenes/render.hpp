// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>

#include "core/cpu/parallel.hpp"
#include "scenes/motion.hpp"

namespace parafield {

/// Render a scene. The options must have been checked. If a picture is given, it replaces the last layer.
Scene render_layers(const LayeredScene& layered, const SceneOptions& options,
                    const FrameBuffer& picture = {});
Scene render_flythrough(const SceneOptions& options);
Scene render_stereo(const SceneOptions& options);
Scene render_clouds(const SceneOptions& options);
Scene render_square(const SceneOptions& options);

/// The passes over pixels that render a scene. They run on all cores and report progress.
class Passes {
 public:
  Passes(const SceneOptions& options, int count) : progress_(options.progress), count_(count) {}

  /// Runs the next pass: calls f(i) for each of `lines` rows or columns of `length` pixels, in any order.
  template <class F>
  void run(int lines, int length, const F& f) {
    constexpr int pixels = 1 << 20;  // pixels between two progress reports
    const int most = progress_ ? std::max(pixels / length, 1) : lines;
    for (int first = 0; first < lines; first += most) {
      const int now = std::min(most, lines - first);
      parallel_rows(now, [&](int i) { f(first + i); });
      if (progress_) progress_((done_ + double(first + now) / lines) / count_);
    }
    ++done_;
  }

 private:
  const std::function<void(double)>& progress_;
  int count_, done_ = 0;
};

/// Writes the flow from a pixel to its match. Returns whether the match is inside the image.
inline bool write_flow(FlowField& flow, int x, int y, Point match) {
  flow.u(x, y) = float(match.x - x);
  flow.v(x, y) = float(match.y - y);
  flow.valid(x, y) = 1;
  return match.x >= 0 && match.y >= 0 && match.x <= flow.size().width - 1 &&
         match.y <= flow.size().height - 1;
}

inline PixelFormat frame_format(const SceneOptions& options) {
  return options.color ? PixelFormat::rgb_u8 : PixelFormat::gray_u8;
}

}  // namespace parafield
