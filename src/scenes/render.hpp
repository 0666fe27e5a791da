// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>

#include "core/cpu/parallel.hpp"
#include "scenes/motion.hpp"

namespace parafield {

/// Render a scene. The options must have been checked.
Scene render_layers(const LayeredScene& layered, const SceneOptions& options);
Scene render_flythrough(const SceneOptions& options);
Scene render_stereo(const SceneOptions& options);
Scene render_ball(const SceneOptions& options);
Scene render_sheet(const SceneOptions& options);
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

  /// The next pass over an image: calls f(state, x, y) for each pixel. Each row uses its own copy of `state`,
  /// because noise caches what it computes.
  template <class State, class F>
  void pixels(Size size, const State& state, const F& f) {
    run(size.height, size.width, [&](int y) {
      State own = state;
      for (int x = 0; x < size.width; ++x) f(own, x, y);
    });
  }

 private:
  const std::function<void(double)>& progress_;
  int count_, done_ = 0;
};

/// The true flow between two frames, and where it is occluded; added to a scene.
struct Truth {
  FlowField& flow;
  Image<std::uint8_t>& occluded;

  Truth(Scene& scene, Size size)
      : flow(scene.flow.emplace_back(size, Memory::host(), false)),
        occluded(scene.occluded.emplace_back(size)) {}

  /// Writes the flow from a pixel to its match. It is occluded if the match is outside the image or hidden()
  /// is true.
  template <class Hidden>
  void put(int x, int y, Point match, const Hidden& hidden) const {
    flow.u(x, y) = float(match.x - x);
    flow.v(x, y) = float(match.y - y);
    flow.valid(x, y) = 1;
    const bool inside =
        match.x >= 0 && match.y >= 0 && match.x <= flow.size().width - 1 && match.y <= flow.size().height - 1;
    occluded(x, y) = !inside || hidden();
  }
};

inline FrameBuffer& add_frame(Scene& scene, const SceneOptions& options) {
  return scene.frames.emplace_back(options.size, options.color ? PixelFormat::rgb_u8 : PixelFormat::gray_u8);
}

}  // namespace parafield
