// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <optional>

#include "core/solver.hpp"
#include "gradient/adaptive_ridge/matched_flow.hpp"
#include "gradient/adaptive_ridge/shrink/shrink.hpp"
#include "gradient/adaptive_ridge/spaced/spaced.hpp"
#include "gradient/adaptive_ridge/steady/steady.hpp"
#include "gradient/adaptive_ridge/trust/trust.hpp"
#include "parafield/fields.hpp"
#include "steps/pyramid/pyramid.hpp"
#include "steps/resize/resize.hpp"
#include "steps/sharpen/sharpen.hpp"

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

/// Whether the flow may use matches.
inline bool uses_matches(const AdaptiveRidge& method) {
  return method.frames == 2 && method.matches != UseOfMatches::never;
}

/// Ridge regression toward the local mean flow, from coarse to fine. Each frame is kept in a slot, with its
/// pyramid. With more than two frames, the additional ones refine the flow of the middle pair.
template <class Backend>
class AdaptiveRidgeSolver : public SolverBase<AdaptiveRidgeSolver<Backend>> {
 public:
  static constexpr bool applies_least = true;

  AdaptiveRidgeSolver(Backend& backend, Workspace& workspace, const AdaptiveRidge& method, Size size,
                      const SolverOptions&)
      : backend_(backend),
        method_(method),
        weights_(tensor_weights(method)),
        grid_weights_(grid_weights(weights_)),
        pyramids_(std::size_t(method.frames)) {
    if constexpr (Backend::is_gpu) backend.prefer_shared_memory(shared_percent);
    const bool matches = uses_matches(method);
    if (matches || method.sharpen != Sharpen::none) kept_ = KeptFrames::make(workspace, size, method.frames);
    if (matches) matched_.emplace(backend, workspace, method.matching, size, *kept_);
    if (method.frames == 2 && (method.sharpen == Sharpen::two_way ||
                               (method.refinement.refine > 0 && method.refinement.refine_back)))
      back_ = workspace.flow(size);
    if (method.sharpen != Sharpen::none) sharpener_.emplace(backend, workspace, size, *kept_, back_);
    const int levels = levels_of(method, size);
    std::vector<Size> sizes = pyramid_sizes(size, levels);
    if (is_spaced()) sizes.push_back(grid_of(sizes.back()));  // brightness for the coarsest level's grid
    std::vector<Size> described;
    if (matched_) described = pyramid_sizes(size, matched_->levels());
    for (Pyramid& pyramid : pyramids_)
      for (const Size level : described.size() > sizes.size() ? described : sizes)
        pyramid.level[pyramid.levels++] = workspace.image<float>(level);
    if (is_spaced()) sizes.erase(sizes.begin());
    for (const Size level : sizes)
      flows_.push_back(flows_.empty() && !is_spaced() ? FlowPlanes{} : workspace.flow(level));
    // Matches are refined at every pixel.
    const Size finest = is_spaced() && !matched_ ? grid_of(size) : size;
    normal_ = normal_planes(workspace, finest);
    if constexpr (!Backend::is_gpu)
      unsmoothed_ = method.frames == 2 ? FlowPlanes{normal_.xt, normal_.yt} : workspace.flow(finest);
    const Size cells{cells_along(finest.width), cells_along(finest.height)};
    for (Cells& statistics : cells_)
      for (View<float>* plane : {&statistics.u, &statistics.v, &statistics.spread, &statistics.weight})
        *plane = workspace.image<float>(cells);
    cells_[0].luma = cells_[1].luma = workspace.image<float>(cells);
    no_motion_ = workspace.flow(sizes.back());
    backend.reserve_scratch(ridge_scratch(size.width));
    if (method.frames == 2) return;
    flows_of_.of_pair = workspace.flow(size);
    flows_of_.of_more = workspace.flow(size);
    flows_of_.pair = normal_planes(workspace, size);
    steady_cells_ = SteadyCells::make(workspace, size);
    backend.reserve_scratch(steady_scratch(size.width));
  }

  /// Builds the pyramids of `count` frames, in the slots from `slot` on.
  void prepare(const Frame* frames, int slot, int count) {
    prepare_frames(frames, slot, count);
    // A sequence's first frame is described at once, because the next solve describes only its newest frame.
    if (matched_ && count == 1) matched_->describe_new(pyramids_.data());
  }

  template <class... Result>
  void solve_newest(const Frame& newest, int slot, int first, const FlowView* start, Result&&... result) {
    prepare_frames(&newest, slot, 1);
    solve(first, start, result...);
  }

  /// Estimates flow. `first`: slot of the oldest frame; the later frames follow in a ring. `start`: initial
  /// flow at level 0, or null.
  void solve(int first, const FlowView* start, FlowPlanes result, Trust trust, Purpose) {
    if (back_.u) {
      descend(1 - first, no_motion_, int(flows_.size()) - 1, back_, of_pair(method_.spacing, normal_, 3));
      complete(back_);
    }
    find_flow(first, start, result, trust);
    if (!sharpener_) return;
    const int middle = first + (method_.frames - 1) / 2;
    sharpener_->sharpen(middle % method_.frames, (middle + 1) % method_.frames, result);
  }

  static constexpr bool keeps_back = true;
  /// The flow back that `solve` has estimated, if the method sharpens two-way or refines with the flow back.
  FlowPlanes solve_back(int, FlowPlanes) { return back_; }

  View<const float> luma(int slot) const { return pyramids_[std::size_t(slot)].level[0]; }

  const KeptFrames* kept() const { return kept_ ? &*kept_ : nullptr; }

  void lend(SharedWorkspace& to) const {
    if (matched_) matched_->lend(to);
    if (sharpener_) sharpener_->lend(to);
    // Last, to be used first: matches may never be needed, and their memory never be touched.
    for (const View<float>& plane :
         {normal_.xx, normal_.xy, normal_.yy, normal_.xt, normal_.yt, normal_.residual})
      to.lend(plane);
  }

  bool takes_start() const { return true; }

 private:
  void prepare_frames(const Frame* frames, int slot, int count) {
    for (int i = 0; i < count; i += 2) {
      const int some = smaller(2, count - i);
      Pyramid* const pyramids = &pyramids_[std::size_t(slot + i)];
      if (kept_)
        convert_and_keep(backend_, frames + i, pyramids, some, slot + i, *kept_);
      else
        convert_pyramids(backend_, frames + i, pyramids, some);
    }
    if (matched_) matched_->prepare(slot, count);
  }

  void find_flow(int first, const FlowView* start, FlowPlanes result, Trust trust) {
    const int coarsest = int(flows_.size()) - 1;
    FlowPlanes flow = no_motion_;
    if (start) {
      flow = flow_at(coarsest, is_spaced(), result);
      reduce_flow(backend_, start->u, start->v, coarsest + method_.spacing - 1, flow);
    }
    const bool always_matches = matched_ && method_.matches == UseOfMatches::always;
    const auto solve_first = [&] {
      descend_to_result(first, flow, coarsest, result);
      if (trust.valid && !always_matches) return judge(first, result, trust);
      complete(result);
    };
    if (matched_)
      backend_.beside([&] { matched_->find_coarse(pyramids_.data()); }, solve_first);
    else
      solve_first();
    if (always_matches) return take_matches(first, result, trust, nullptr);
    if (!matched_) return;
    backend_.only_if(
        matched_->missed(),
        [&](const Condition& missed) { matched_->find_missed(first, 1 - first, result, missed); },
        [&] { take_matches(first, result, trust, matched_->missed()); });
  }

  void descend_to_result(int first, FlowPlanes start, int coarsest, FlowPlanes result) {
    if (method_.frames == 2)
      return descend(first, start, coarsest, result, of_pair(method_.spacing, normal_));
    descend(first, start, coarsest, flows_of_.of_pair, of_pair(1, flows_of_.pair));
    descend(first, flows_of_.of_pair, 0, flows_of_.of_more, {method_.frames, 0, more_iterations, 1, normal_});
    mix_steady<Backend>(backend_, flows_of_, steady_cells_, result);
  }

  void judge(int first, FlowPlanes result, Trust trust) {
    const WarpFrames frames = frames_at(0, first, 2);
    judge_flow<Backend>(backend_, frames.reference(), frames.frame[frames.middle + 1], normal_,
                        solved(result), method_.max_residual * 255, trust);
  }

  /// Replaces the flow by the flow with matches. On CUDA, it does so only if `wanted` is null or *wanted is
  /// not 0.
  void take_matches(int first, FlowPlanes result, Trust trust, const int* wanted) {
    matched_->fuse(first, 1 - first, pyramids_.data(), result);
    const FlowPlanes refined = matched_->spare();
    descend(first, matched_->fused(), 0, refined, of_pair(1, normal_));
    const WarpFrames frames = frames_at(0, first, 2);
    finish_matched(backend_,
                   {matched_->fused(), refined, matched_->back(), frames.frame[0], frames.frame[1], normal_,
                    method_.max_residual * 255, wanted},
                   result, trust);
    if (back_.u) choose_back(backend_, result, matched_->back(), wanted, back_);
  }

  /// On CUDA: enough for two of the largest tiles on an H100.
  static constexpr int shared_percent = 70;
  static constexpr int more_iterations = 2;  // on the finest level, with more frames than two

  bool is_spaced() const { return method_.spacing > 1; }
  /// The result of `descend`. With a spacing, it must still be enlarged to the size of `result`.
  StartingFlow solved(FlowPlanes result) const { return {result, is_spaced() ? flows_[0] : FlowPlanes{}}; }
  /// Enlarges the result of `descend` if it has a spacing.
  void complete(FlowPlanes result) {
    if (is_spaced()) enlarge_flow(backend_, flows_[0], result);
  }

  /// Settings of `descend`: number of middle frames, iterations on coarser levels and on the finest, spacing
  /// of the solutions, and memory for normal equations.
  struct Pass {
    int frames, iterations, finest_iterations, spacing;
    const NormalPlanes& normal;
  };
  /// Settings for two frames, with at most `most` iterations on a level.
  Pass of_pair(int spacing, const NormalPlanes& normal, int most = 100) const {
    return {2, smaller(method_.iterations, most), smaller(method_.iterations_at(0), most), spacing, normal};
  }
  /// The planes of a level's flow. With a spacing, every level has its own; otherwise the finest level uses
  /// the result's.
  FlowPlanes flow_at(int level, bool spaced, FlowPlanes result) const {
    return level > 0 || spaced ? flows_[std::size_t(level)] : result;
  }
  /// Estimates flow from level `coarsest` to the finest. `flow`: initial flow at `coarsest`. With a spacing,
  /// flow is defined on the levels' grids, and the final flow is in flows_[0] instead of `result`.
  void descend(int first, FlowPlanes flow, int coarsest, FlowPlanes result, const Pass& pass) {
    const bool spaced = pass.spacing > 1;
    for (int level = coarsest; level >= 0; --level) {
      const WarpFrames frames = frames_at(level, first, pass.frames);
      const View<const float> luma = (spaced ? frames_at(level + 1, first, 2) : frames).reference();
      const Size size = luma.size();
      const NormalPlanes normal = part(pass.normal, size);
      const Cells statistics[] = {part(cells_[0], size), part(cells_[1], size)};
      const FlowPlanes unsmoothed{part(unsmoothed_.u, size), part(unsmoothed_.v, size)};
      const FlowPlanes here = flow_at(level, spaced, result);
      StartingFlow start{flow};
      if (level < coarsest) start = {here, flow};
      const int iterations = level == 0 ? pass.finest_iterations : pass.iterations;
      for (int i = 1; i <= iterations; ++i) {
        const TensorOutput tensors{normal, statistics[0], i == 1};
        if (spaced)
          spaced_tensors<Backend>(backend_, frames.frame[0], frames.frame[1], luma, start, grid_weights_,
                                  tensors);
        else
          ridge_tensors<Backend>(backend_, frames, start, weights_, tensors);
        const bool last = level == 0 && i == iterations;
        const int rounds = last ? method_.rounds : 1;
        const Shrinkage shrinkage{method_.shrinkage * (last ? 1 : float(method_.rounds)),
                                  method_.likeness * method_.likeness};
        int round = 0;
        const auto before = [&] { return ShrinkInput{normal, luma, statistics[round % 2], shrinkage}; };
        for (; round + 1 < rounds; ++round) shrink_cells(backend_, before(), statistics[1 - round % 2]);
        flow = here;
        shrink_flow(backend_, before(), method_.median, unsmoothed, flow);
        start = {flow};
      }
    }
  }

  /// The middle `count` frames.
  WarpFrames frames_at(int level, int first, int count) const {
    WarpFrames frames{{}, count, (count - 1) / 2};
    const int oldest = first + (method_.frames - 1) / 2 - frames.middle;
    for (int i = 0; i < count; ++i)
      frames.frame[i] = pyramids_[std::size_t((oldest + i) % method_.frames)].level[level];
    return frames;
  }

  /// The part of a plane that a coarser level uses.
  static View<float> part(View<float> plane, Size size) {
    plane.width = size.width;
    plane.height = size.height;
    return plane;
  }
  static NormalPlanes normal_planes(Workspace& workspace, Size size) {
    NormalPlanes planes;
    for (View<float>* plane : {&planes.xx, &planes.xy, &planes.yy, &planes.xt, &planes.yt, &planes.residual})
      *plane = workspace.image<float>(size);
    return planes;
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
  const TensorWeights weights_, grid_weights_;
  std::vector<Pyramid> pyramids_;   // one for each slot
  std::vector<FlowPlanes> flows_;   // one for each level or its grid: see flow_at
  FlowPlanes unsmoothed_;           // flow before the median, on the CPU only: see shrink_flow
  NormalPlanes normal_;             // of the last iteration
  Cells cells_[2];                  // statistics before and after a round, in turn
  FlowPlanes back_;                 // flow of the second frame, if anything uses it
  FlowPlanes no_motion_;            // start of the coarsest level; always zero
  std::optional<KeptFrames> kept_;  // in the same slots
  TwoFlows flows_of_;               // only with more than two frames
  SteadyCells steady_cells_;
  std::optional<MatchedFlow<Backend>> matched_;
  std::optional<FlowSharpener<Backend>> sharpener_;
};

template <class Backend>
struct SolverOf<AdaptiveRidge, Backend> : std::type_identity<AdaptiveRidgeSolver<Backend>> {};

}  // namespace parafield
