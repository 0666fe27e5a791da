// SPDX-License-Identifier: MIT
#pragma once
#include "core/solver.hpp"
#include "parafield/fields.hpp"
#include "steps/least_squares/least_squares.hpp"
#include "steps/median/median.hpp"
#include "steps/pyramid/pyramid.hpp"
#include "steps/resize/resize.hpp"
#include "steps/smooth/smooth.hpp"

namespace parafield {

/// Pyramidal iterative Lucas-Kanade (Marzat, sections 2.2 and 2.3). Each frame of a stream is prepared once,
/// in a slot, and used in two consecutive pairs.
template <class Backend>
class LucasKanadeSolver : public SolverBase<LucasKanadeSolver<Backend>> {
 public:
  static constexpr int slots = LucasKanade::frames;

  LucasKanadeSolver(Backend& backend, Workspace& workspace, const LucasKanade& method, Size size,
                    const SolverOptions&)
      : backend_(backend),
        method_(method),
        step_(least_squares(method.window, method.alpha, method.robust, method.min_eigenvalue,
                            method.max_residual)),
        taps_(gaussian_taps(method.presmooth)) {
    const std::vector<Size> sizes = pyramid_sizes(size, method.levels);
    for (Pyramid& pyramid : pyramids_)
      for (const Size level : sizes) pyramid.level[pyramid.levels++] = workspace.image<float>(level);
    for (const Size level : sizes) {
      flows_.push_back(workspace.flow(level));
      others_.push_back(workspace.flow(level));
    }
    no_motion_ = workspace.flow(sizes.back());
    backend.reserve_scratch(larger(least_squares_scratch(step_), smooth_scratch(taps_, size.width)));
  }

  /// Builds the pyramids of `count` frames, in the slots from `slot` on.
  void prepare(const Frame* frames, int slot, int count) {
    if (!(method_.presmooth > 0)) return convert_pyramids(backend_, frames, pyramids_ + slot, count);
    View<float> luma[slots];
    for (int i = 0; i < count; ++i) luma[i] = pyramids_[slot + i].level[0];
    smooth_luma(backend_, frames, taps_, luma, count);
    build_pyramids(backend_, pyramids_ + slot, count);
  }

  /// Estimates flow from the frame in slot `first` to the frame in the other slot. `start`: initial flow at
  /// level 0, or null.
  void solve(int first, const FlowView* start, FlowPlanes result, Trust trust, Purpose) {
    const Pyramid &pyramid0 = pyramids_[first], &pyramid1 = pyramids_[1 - first];
    const int coarsest = int(flows_.size()) - 1;
    FlowPlanes flow = no_motion_;
    if (start) {
      flow = flows_[coarsest];
      reduce_flow(backend_, start->u, start->v, coarsest, flow);
    }
    for (int level = coarsest; level >= 0; --level) {
      StartingFlow from{flow};
      if (level < coarsest) from = {flows_[level], flow};
      FlowPlanes next = others_[level];
      for (int i = 1; i <= method_.iterations; ++i) {
        const bool first_of_all = level == coarsest && i == 1;
        const bool last = level == 0 && i == method_.iterations;
        const bool filters = method_.median && (method_.median_each || i == method_.iterations);
        const FlowPlanes solved = last && !filters ? result : next;
        least_squares_step<Backend>(backend_, pyramid0.level[level], pyramid1.level[level], step_, from,
                                    solved, last ? trust : Trust{}, !first_of_all);
        const FlowPlanes other = solved.u.data == others_[level].u.data ? flows_[level] : others_[level];
        flow = filters ? (last ? result : other) : solved;
        if (filters) {
          const View<float> from_planes[] = {solved.u, solved.v}, to_planes[] = {flow.u, flow.v};
          median(backend_, from_planes, method_.median, to_planes, 2);
        }
        next = filters ? solved : other;  // keep the current flow intact
        from = {flow};
      }
    }
  }

  bool takes_start() const { return true; }
  /// Whether pushed frames start from the last pair's flow (section 2.3).
  bool starts_from_last() const { return method_.temporal; }

 private:
  Backend& backend_;
  const LucasKanade method_;
  const LeastSquares step_;
  const Taps taps_;
  Pyramid pyramids_[slots];                 // one for each slot
  std::vector<FlowPlanes> flows_, others_;  // two per level, which hold the current flow in turn
  FlowPlanes no_motion_;                    // start of the coarsest level; always zero
};

template <class Backend>
struct SolverOf<LucasKanade, Backend> : std::type_identity<LucasKanadeSolver<Backend>> {};

}  // namespace parafield
