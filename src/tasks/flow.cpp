// SPDX-License-Identifier: MIT
#include "parafield/flow.hpp"

#include "gradient/adaptive_ridge/adaptive_ridge.hpp"
#include "gradient/lucas_kanade/lucas_kanade.hpp"
#include "gradient/temporal/temporal.hpp"
#include "guided/direct_interpolation.hpp"
#include "guided/multi_hypothesis.hpp"
#include "markov/matching.hpp"
#include "tasks/estimator.hpp"
#include "tasks/refined.hpp"

namespace parafield {

template <>
std::unique_ptr<Session<Flow>> task_session<Flow>(const FlowMethod& method, Size size, const Device& device,
                                                  const FlowOptions& options) {
  return make_session<Flow, RefinedFlow>(method, size, device, options);
}

template class Estimator<Flow>;

FlowField estimate_flow(const In<Frame>& frame0, const In<Frame>& frame1, const FlowMethod& method,
                        const FlowOptions& options) {
  return estimate<Flow>(std::array<Frame, 2>{frame0, frame1}, method, options);
}

FlowField estimate_flow(std::span<const Frame> frames, const FlowMethod& method, const FlowOptions& options) {
  return estimate<Flow>(frames, method, options);
}

}  // namespace parafield
