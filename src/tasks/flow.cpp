#include "parafield/flow.hpp"

#include "gradient/adaptive_ridge/adaptive_ridge.hpp"
#include "gradient/lucas_kanade/lucas_kanade.hpp"
#include "gradient/temporal/temporal.hpp"
#include "guided/direct_interpolation.hpp"
#include "guided/multi_hypothesis.hpp"
#include "markov/displacement.hpp"
#include "tasks/estimator.hpp"
#include "tasks/refined.hpp"

namespace parafield {

template <class Copy>
void copy_planes(const FlowField& from, FlowField& to, Copy copy) {
  copy(from.u, to.u);
  copy(from.v, to.v);
  copy(from.valid, to.valid);
  copy(from.confidence, to.confidence);
}

FlowField FlowField::to(Memory memory) const {
  FlowField result;
  copy_planes(*this, result, [&](const auto& from, auto& to) { to = from.to(memory); });
  return result;
}

template <class Copy>
void copy_start(const FlowView& from, FlowField& to, Copy copy) {
  copy(from.u, to.u);
  copy(from.v, to.v);
}

template <>
std::unique_ptr<Session<Flow>> make_session<Flow>(const FlowMethod& method, Size size, const Device& device,
                                                  Stream stream, const FlowOptions& options) {
  check(options);
  if (options.fb_check > 0 && frames_of(method) != 2)
    fail(ErrorCode::invalid_argument, "the forward-backward check is of methods of two frames, not of ",
         frames_of(method));
  const auto make = [&]<template <class> class Solver>(const auto& chosen) {
    return with_backend(device, [&]<class Backend>() -> std::unique_ptr<Session<Flow>> {
      return std::make_unique<SolverSession<Flow, Backend, RefinedFlow<Solver>::template Type>>(
          chosen, size, device, stream, options);
    });
  };
  return std::visit(
      [&]<class Method>(const Method& chosen) {
        if constexpr (LabelMethod<Method>)
          return make.template operator()<DisplacementSolver>(chosen);
        else if constexpr (std::is_same_v<Method, AdaptiveRidge>)
          return make.template operator()<AdaptiveRidgeSolver>(chosen);
        else if constexpr (std::is_same_v<Method, GradientTensor>)
          return make.template operator()<GradientTensorSolver>(chosen);
        else if constexpr (std::is_same_v<Method, RidgeRegression>)
          return make.template operator()<RidgeRegressionSolver>(chosen);
        else if constexpr (std::is_same_v<Method, DirectInterpolation>)
          return make.template operator()<DirectInterpolationSolver>(chosen);
        else if constexpr (std::is_same_v<Method, MultiHypothesis>)
          return make.template operator()<MultiHypothesisSolver>(chosen);
        else
          return make.template operator()<LucasKanadeSolver>(chosen);
      },
      method);
}

template class Estimator<Flow>;

FlowField estimate_flow(const Frame& frame0, const Frame& frame1, const FlowMethod& method,
                        const Device& device, const FlowOptions& options) {
  const Frame frames[] = {frame0, frame1};
  return estimate_flow(frames, method, device, options);
}

FlowField estimate_flow(std::span<const Frame> frames, const FlowMethod& method, const Device& device,
                        const FlowOptions& options) {
  if (frames.empty()) fail(ErrorCode::invalid_argument, "there are no frames to estimate flow of");
  FlowEstimator estimator(method, frames[0].size(), device, {}, options);
  const FlowField& flow = estimator({frames});
  estimator.synchronize();
  return flow.to(flow.memory());
}

}  // namespace parafield
