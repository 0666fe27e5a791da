#include "parafield/flow.hpp"

#include "gradient/lucas_kanade/lucas_kanade.hpp"
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
  check_refinement(options, options.fb_check, "fb_check");
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
        else
          return make.template operator()<LucasKanadeSolver>(chosen);
      },
      method);
}

template class Estimator<Flow>;

FlowField estimate_flow(const Frame& frame0, const Frame& frame1, const FlowMethod& method,
                        const Device& device, const FlowOptions& options) {
  FlowEstimator estimator(method, frame0.size(), device, {}, options);
  const FlowField& flow = estimator(frame0, frame1);
  estimator.synchronize();
  return flow.to(flow.memory());
}

}  // namespace parafield
