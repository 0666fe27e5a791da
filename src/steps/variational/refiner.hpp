// SPDX-License-Identifier: MIT
#pragma once
#include <optional>

#include "parafield/methods/refinement.hpp"
#include "steps/convert/convert.hpp"
#include "steps/median/median.hpp"
#include "steps/sharpen/sharpen.hpp"
#include "steps/smooth/smooth.hpp"
#include "steps/variational/variational.hpp"

namespace parafield {

/// Refines the flow between prepared frames, which are kept in slots.
template <class Backend>
class FlowRefiner {
 public:
  /// `shared`: lends what the solver's `solve` overwrites. `kept`: copies of the frames that the solver keeps
  /// in the same slots, or null.
  FlowRefiner(Backend& backend, SharedWorkspace& shared, Size size, const VariationalRefinement& parameters,
              int slots, const KeptFrames* kept)
      : backend_(backend),
        parameters_(parameters),
        keeps_frames_(parameters.refine_median > 0 && !kept),
        taps_(taps_of(is_color() ? 0.23f : 0.19f)) {
    Workspace& workspace = shared.workspace();
    for (Channels& slot : channels_)
      for (int c = 0; c < channels() && &slot < channels_ + slots; ++c)
        slot.plane[c] = workspace.image<float>(size);
    unfiltered_ = shared.flow(size);
    planes_ = RefinementPlanes::make(shared, size, unfiltered_);
    raw_ = {planes_.equations.xx, planes_.equations.xy, planes_.equations.yy};
    if (parameters.refine_median > 0) {
      planes_.lend_after_relaxation(shared);
      sharpening_ = make_sharpening<Backend>(
          shared, size, kept ? *kept : KeptFrames::make(workspace, size, slots), unfiltered_);
    }
    backend.reserve_scratch(refinement_scratch(size.width));
    backend.reserve_scratch(smooth_scratch(taps_, size.width));
  }

  /// Smooths frames into slots `slot` and following, and keeps their colors for the median if the solver does
  /// not.
  void prepare(const Frame* frames, int slot, int count) {
    for (int i = 0; i < count; i += 2) {
      const int some = smaller(2, count - i);
      if (keeps_frames_) keep_frames(backend_, frames + i, slot + i, some, sharpening_.kept);
      View<float> luma[2];
      for (int k = 0; k < some; ++k)
        is_color() ? smooth_colors(frames[i + k], channels_[slot + i + k])
                   : void(luma[k] = channels_[slot + i + k].plane[0]);
      if (!is_color()) smooth_luma(backend_, frames + i, taps_, luma, some);
    }
  }

  /// Refines the flow from the frame in slot `from` to the frame in slot `to`, in place. `back`: flow of the
  /// second frame, or empty.
  void refine(int from, int to, FlowPlanes flow, FlowPlanes back) {
    ComparedFrames frames;
    frames.channels = channels();
    for (int c = 0; c < channels(); ++c)
      frames.from[c] = channels_[from].plane[c], frames.to[c] = channels_[to].plane[c];
    for (int warp = 1; warp <= parameters_.refine; ++warp) {
      find_slopes(backend_, frames, planes_, flow);
      build_equations(backend_, frames, planes_, flow, back, parameters_.refine_smoothness);
      const bool last = warp == parameters_.refine;
      const bool sharpens = parameters_.refine_median > 0 && (last || warp % parameters_.refine_median == 0);
      const FlowPlanes relaxed = sharpens != is_color() ? unfiltered_ : flow;
      relax(backend_, planes_, flow, parameters_.refine_sweeps, relaxed);
      if (is_color()) smooth(relaxed, sharpens ? unfiltered_ : flow);
      if (sharpens) sharpen(from, to, back, flow);
    }
  }

 private:
  struct Channels {
    View<float> plane[ComparedFrames::most];
  };

  bool is_color() const { return parameters_.refine_data == RefineData::color; }
  int channels() const { return is_color() ? ComparedFrames::most : 1; }
  static Taps taps_of(float share) { return {1, {1 - 2 * share, share}}; }

  void smooth_colors(const Frame& frame, const Channels& to) {
    convert_color(backend_, frame, raw_.plane);
    parafield::smooth(backend_, raw_.plane, taps_, to.plane, 2);
    parafield::smooth(backend_, raw_.plane + 2, taps_, to.plane + 2, 1);
  }
  void smooth(FlowPlanes from, FlowPlanes to) {
    const View<float> in[] = {from.u, from.v}, out[] = {to.u, to.v};
    median(backend_, in, 3, out, 2);
  }
  void sharpen(int from, int to, FlowPlanes back, FlowPlanes result) {
    Sharpening sharpening = sharpening_;
    sharpening.from = from, sharpening.to = to, sharpening.back = back;
    sharpening.flow = unfiltered_, sharpening.sharpened = result;
    sharpen_flow(backend_, sharpening);
  }

  Backend& backend_;
  const VariationalRefinement parameters_;
  const bool keeps_frames_;
  const Taps taps_;
  RefinementPlanes planes_;
  Channels channels_[KeptFrames::most_slots];  // smoothed frames, one for each slot
  Channels raw_;  // of the newest frame, in planes that `refine` does not need yet
  Sharpening sharpening_;
  FlowPlanes unfiltered_;  // what the medians take, and between passes of the relaxation
};

}  // namespace parafield
