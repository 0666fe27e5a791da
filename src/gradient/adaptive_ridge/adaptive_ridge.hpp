// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <optional>

#include "core/solver.hpp"
#include "gradient/adaptive_ridge/fusion/fusion.hpp"
#include "gradient/adaptive_ridge/shrink/shrink.hpp"
#include "gradient/adaptive_ridge/trust/trust.hpp"
#include "parafield/fields.hpp"
#include "steps/affine/interpolation.hpp"
#include "steps/colors/colors.hpp"
#include "steps/convert/convert.hpp"
#include "steps/matches/matcher.hpp"
#include "steps/median/median.hpp"
#include "steps/pyramid/pyramid.hpp"
#include "steps/resize/resize.hpp"

namespace parafield {

inline TensorWeights tensor_weights(const AdaptiveRidge& method) {
  TensorWeights weights{{}, method.prefilter, method.contrast, 1 / (method.robust * method.robust)};
  double taps[window_reach + 1], sum = 0;
  for (int i = 0; i <= window_reach; ++i) {
    taps[i] = std::exp(-i * i / (2.0 * method.window * method.window));
    sum += i == 0 ? taps[i] : 2 * taps[i];
  }
  for (int i = 0; i <= window_reach; ++i) weights.window[i] = float(taps[i] / sum);
  return weights;
}

/// Flow interpolated from matches of two frames.
template <class Backend>
class MatchedFlow {
 public:
  MatchedFlow(Backend& backend, Workspace& workspace, const FeatureMatching& matching, Size size,
              bool both_ways)
      : matcher_(backend, workspace, matching, size, 2),
        colors_(backend, workspace, color_sigma, size),
        interpolation_(backend, workspace, seed_grid_of(size, matching.match_stride)),
        first_(workspace.flow(size)),
        fused_(workspace.flow(size)),
        backend_(backend),
        levels_(int(FeatureMatcher<Backend>::level_sizes(matching, size).size())),
        both_ways_(both_ways) {}

  int levels() const { return levels_; }       ///< of the pyramids that frames are described by
  FlowPlanes first() const { return first_; }  ///< where the flow is that matches are compared with

  void prepare(const Frame* frames, const Pyramid* pyramids, int slot, int count) {
    Pyramid described[2];
    for (int i = 0; i < count; ++i) {
      described[i] = pyramids[i];
      described[i].levels = levels_;
    }
    matcher_.describe(described, slot, count);
    colors_.prepare(frames, slot, count, both_ways_);
  }

  /// Flow from the frame in slot `from` to that in slot `to`: first(), or that of matches where it differs.
  FlowPlanes fuse(int from, int to, View<const float> luma0, View<const float> luma1) {
    const Matches& matches = matcher_.find(from, to, luma0, luma1);
    snap_matches(backend_, first_, matches);
    interpolation_.interpolate(matches, colors_.smoothed(from), fused_, {});
    fuse_flow(backend_, first_, fused_);
    return fused_;
  }

 private:
  static constexpr float color_sigma = 1;  // px: noise is smoothed before colors are compared

  FeatureMatcher<Backend> matcher_;
  FrameColors<Backend> colors_;
  AffineInterpolation<Backend> interpolation_;
  const FlowPlanes first_, fused_;
  Backend& backend_;
  const int levels_;
  const bool both_ways_;
};

/// Ridge regression toward the local mean flow, from coarse to fine. Each frame lies in a slot, with its
/// pyramid.
template <class Backend>
class AdaptiveRidgeSolver : public SolverBase<AdaptiveRidgeSolver<Backend>> {
 public:
  AdaptiveRidgeSolver(Backend& backend, Workspace& workspace, const AdaptiveRidge& method, Size size,
                      const SolverOptions& options)
      : backend_(backend),
        method_(method),
        weights_(tensor_weights(method)),
        pyramids_(std::size_t(method.frames)) {
    if (method.matches == UseOfMatches::always)
      matched_.emplace(backend, workspace, method.matching, size, options.both_ways);
    const int levels = levels_of(method, size);
    const std::vector<Size> sizes = pyramid_sizes(size, levels);
    for (Pyramid& pyramid : pyramids_)
      for (const Size level : pyramid_sizes(size, matched_ ? larger(levels, matched_->levels()) : levels))
        pyramid.level[pyramid.levels++] = workspace.image<float>(level);
    for (const Size level : sizes) flows_.push_back(workspace.flow(level));
    unsmoothed_ = workspace.flow(size);
    for (View<float>* plane :
         {&normal_.xx, &normal_.xy, &normal_.yy, &normal_.xt, &normal_.yt, &normal_.residual})
      *plane = workspace.image<float>(size);
    const Size cells{cells_along(size.width), cells_along(size.height)};
    for (Cells& statistics : cells_)
      for (View<float>* plane : {&statistics.u, &statistics.v, &statistics.spread, &statistics.weight})
        *plane = workspace.image<float>(cells);
    cells_[0].luma = cells_[1].luma = workspace.image<float>(cells);
    no_motion_ = workspace.flow(sizes.back());
    backend.reserve_scratch(ridge_scratch(size.width));
  }

  /// Makes the pyramids of `count` frames, in the slots from `slot` on.
  void prepare(const Frame* frames, int slot, int count) {
    for (int i = 0; i < count; i += 2) {
      const int some = smaller(2, count - i);
      Pyramid* const pyramids = &pyramids_[std::size_t(slot + i)];
      const View<float> luma[] = {pyramids[0].level[0], pyramids[some - 1].level[0]};
      convert(backend_, frames + i, luma, some);
      build_pyramids(backend_, pyramids, some);
      if (matched_) matched_->prepare(frames + i, pyramids, slot + i, some);
    }
  }

  /// Estimates flow. `first`: slot of the oldest frame; the others follow in a ring. `start`: flow of level 0
  /// to start from, or null.
  void solve(int first, const FlowView* start, FlowPlanes result, Trust trust, bool) {
    const int coarsest = int(flows_.size()) - 1;
    FlowPlanes flow = no_motion_;
    if (start) {
      flow = flows_[std::size_t(coarsest)];
      reduce_flow(backend_, start->u, start->v, coarsest, flow);
    }
    descend(first, flow, coarsest, matched_ ? matched_->first() : result);
    const WarpFrames frames = frames_at(0, first);
    if (matched_) {
      const FlowPlanes fused = matched_->fuse(first, 1 - first, frames.frame[0], frames.frame[1]);
      descend(first, fused, 0, result);
      keep_near(backend_, fused, result);
    }
    if (!trust.valid) return;
    judge_flow<Backend>(backend_, frames.reference(), frames.frame[frames.middle + 1], normal_, result,
                        method_.max_residual * 255, trust);
  }

  bool takes_start() const { return true; }

 private:
  /// Estimates flow from level `coarsest` to the finest. `flow`: the start there.
  void descend(int first, FlowPlanes flow, int coarsest, FlowPlanes result) {
    for (int level = coarsest; level >= 0; --level) {
      const WarpFrames frames = frames_at(level, first);
      const Size size = frames.reference().size();
      const NormalPlanes normal = part(normal_, size);
      const Cells statistics[] = {part(cells_[0], size), part(cells_[1], size)};
      const FlowPlanes unsmoothed{part(unsmoothed_.u, size), part(unsmoothed_.v, size)};
      if (level < coarsest) {
        enlarge_flow(backend_, flow, flows_[std::size_t(level)]);
        flow = flows_[std::size_t(level)];
      }
      for (int i = 1; i <= method_.iterations; ++i) {
        ridge_tensors<Backend>(backend_, frames, flow, weights_, normal, statistics[0], i == 1);
        const bool last = level == 0 && i == method_.iterations;
        const int rounds = last ? method_.rounds : 1;
        const Shrinkage shrinkage{method_.shrinkage * (last ? 1 : float(method_.rounds)),
                                  method_.likeness * method_.likeness};
        int round = 0;
        for (; round + 1 < rounds; ++round)
          shrink_cells<Backend>(backend_, normal, frames.reference(), statistics[round % 2], shrinkage,
                                statistics[1 - round % 2]);
        flow = last ? result : flows_[std::size_t(level)];
        shrink_flow<Backend>(backend_, normal, frames.reference(), statistics[round % 2], shrinkage,
                             method_.median ? unsmoothed : flow);
        if (method_.median) {
          const View<float> from[] = {unsmoothed.u, unsmoothed.v}, to[] = {flow.u, flow.v};
          median(backend_, from, method_.median, to, 2);
        }
      }
    }
  }

  WarpFrames frames_at(int level, int first) const {
    WarpFrames frames{{}, method_.frames, (method_.frames - 1) / 2};
    for (int i = 0; i < method_.frames; ++i)
      frames.frame[i] = pyramids_[std::size_t((first + i) % method_.frames)].level[level];
    return frames;
  }

  /// Part of a plane for a coarser level.
  static View<float> part(View<float> plane, Size size) {
    plane.width = size.width;
    plane.height = size.height;
    return plane;
  }
  static NormalPlanes part(const NormalPlanes& all, Size size) {
    return {part(all.xx, size), part(all.xy, size), part(all.yy, size),
            part(all.xt, size), part(all.yt, size), part(all.residual, size)};
  }
  static Cells part(const Cells& all, Size size) {
    const Size cells{cells_along(size.width), cells_along(size.height)};
    return {part(all.u, cells), part(all.v, cells), part(all.spread, cells), part(all.weight, cells),
            part(all.luma, cells)};
  }

  Backend& backend_;
  const AdaptiveRidge method_;
  const TensorWeights weights_;
  std::vector<Pyramid> pyramids_;  // for each slot
  std::vector<FlowPlanes> flows_;  // for each level
  FlowPlanes unsmoothed_;          // flow before the median
  NormalPlanes normal_;            // of the last iteration
  Cells cells_[2];                 // statistics before and after a round, in turn
  FlowPlanes no_motion_;           // for the coarsest level; always zero
  std::optional<MatchedFlow<Backend>> matched_;
};

template <class Backend>
struct SolverOf<AdaptiveRidge, Backend> : std::type_identity<AdaptiveRidgeSolver<Backend>> {};

}  // namespace parafield
