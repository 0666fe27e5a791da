// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "parafield/flow.hpp"

namespace parafield {

/// Finds cuts and frames without texture: compares the texture of two frames at the places where a coarse
/// flow matches them. Everything runs on the host, on one thread, with the same bits for every device.
class FrameExaminer {
 public:
  FrameExaminer();
  ~FrameExaminer();

  /// Compares two frames in host memory, which have been checked.
  FramesState compare(const Frame& before, const Frame& after);
  /// Compares a frame of a sequence with the previous one. `unknown` for the first frame.
  FramesState next(const Frame& frame);
  void forget() { last_.reset(); }  ///< the next frame is the first of a sequence

 private:
  /// Luma of a frame, 0..255, in two scales. Pixels that are not finite have the mean of the others.
  struct Excerpts {
    Image<float> whole;   // means over the frame, at most `most_side` px a side
    Image<float> center;  // the frame's center at full resolution; empty if `whole` has that already
  };
  static Excerpts excerpts_of(const Frame& frame);
  FramesState compare(const Excerpts& before, const Excerpts& after);
  float correlation(const Image<float>& before, const Image<float>& after);

  struct Matcher;
  std::vector<std::unique_ptr<Matcher>> matchers_;  // one per size of excerpts
  std::optional<Excerpts> last_;
};

/// The state, or `unknown` if it does not make results of the task unreliable: views may differ more than the
/// frames of a sequence, and a still scene needs no texture for motion to be seen.
template <class Task>
FramesState relevant(FramesState state) {
  constexpr bool detects = requires(typename Task::Result result) { result.moving; };
  const bool matters = Task::pairs ? state != FramesState::cut : !detects || state != FramesState::no_texture;
  return matters ? state : FramesState::unknown;
}

/// The worst state of several pairs: a cut, then no texture.
FramesState worst(FramesState a, FramesState b);

}  // namespace parafield
