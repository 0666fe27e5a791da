// SPDX-License-Identifier: MIT
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

static auto session_of(const auto&... inputs) { return make_session<Flow, RefinedFlow>(inputs...); }

template class Estimator<Flow>;

FlowField estimate_flow(const In<Frame>& frame0, const In<Frame>& frame1, const FlowMethod& method,
                        const FlowOptions& options) {
  return estimate<Flow>(std::array<Frame, 2>{frame0, frame1}, method, options);
}

FlowField estimate_flow(std::span<const Frame> frames, const FlowMethod& method, const FlowOptions& options) {
  return estimate<Flow>(frames, method, options);
}

}  // namespace parafield
