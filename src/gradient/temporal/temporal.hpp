// SPDX-License-Identifier: MIT
#pragma once
#include "core/solver.hpp"
#include "gradient/temporal/step.hpp"
#include "parafield/fields.hpp"
#include "steps/smooth/smooth.hpp"

namespace parafield {

/// Flow at the middle of five or seven frames (Bodily, chapters 3 and 4). Smoothing in space commutes with
/// differentiation, so each frame is smoothed only once, when it arrives. Smoothed frames are kept in slots.
template <class Backend, class Model>
class TemporalSolver : public SolverBase<TemporalSolver<Backend, Model>> {
 public:
  static constexpr int slots = Model::frames;
  static constexpr bool always_trusts = true;

  TemporalSolver(Backend& backend, Workspace& workspace, const typename Model::Method& method, Size size,
                 const SolverOptions&)
      : backend_(backend), model_(method) {
    for (View<float>& frame : smoothed_) frame = workspace.image<float>(size);
    if constexpr (Model::smooths_flow) rough_ = workspace.flow(size);
    backend.reserve_scratch(
        larger(temporal_scratch<Model>(size.width), smooth_scratch(Model::frame_taps(), size.width)));
  }

  /// Smooths `count` frames into the slots from `slot` on.
  void prepare(const Frame* frames, int slot, int count) {
    for (int i = 0; i < count; i += 2)
      smooth_luma(backend_, frames + i, Model::frame_taps(), smoothed_ + slot + i, smaller(2, count - i));
  }

  /// Estimates flow. `first`: slot of the oldest frame; the later frames follow in a ring.
  void solve(int first, const FlowView*, FlowPlanes result, Trust trust, Purpose) {
    temporal_flow(backend_, window(first), model_, rough(result), trust);
    smooth_flow(result);
  }

  /// Prepares the newest frame in the last slot of the ring and solves, all in one pass.
  void solve_newest(const Frame& newest, int, int first, const FlowView*, FlowPlanes result, Trust trust,
                    Purpose) {
    temporal_flow(backend_, window(first), model_, rough(result), trust, &newest);
    smooth_flow(result);
  }

 private:
  FrameWindow<Model> window(int first) const {
    FrameWindow<Model> window;
    for (int i = 0; i < slots; ++i) window.frame[i] = smoothed_[(first + i) % slots];
    return window;
  }
  /// Destination of the flow before it is smoothed.
  FlowPlanes rough(FlowPlanes result) const { return Model::smooths_flow ? rough_ : result; }
  void smooth_flow(FlowPlanes result) {
    if constexpr (Model::smooths_flow) {
      const View<float> from[] = {rough_.u, rough_.v}, to[] = {result.u, result.v};
      smooth(backend_, from, Model::flow_taps(), to, 2);
    }
  }

  Backend& backend_;
  const Model model_;
  View<float> smoothed_[slots];
  FlowPlanes rough_;
};

template <class Backend>
struct SolverOf<GradientTensor, Backend> : std::type_identity<TemporalSolver<Backend, GradientTensorModel>> {
};
template <class Backend>
struct SolverOf<RidgeRegression, Backend>
    : std::type_identity<TemporalSolver<Backend, RidgeRegressionModel>> {};

}  // namespace parafield
