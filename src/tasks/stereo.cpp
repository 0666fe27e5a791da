// SPDX-License-Identifier: MIT
#include "parafield/stereo.hpp"

#include "markov/disparity.hpp"
#include "tasks/estimator.hpp"
#include "tasks/refined.hpp"

namespace parafield {

static auto session_of(const auto&... inputs) { return make_session<Stereo, RefinedDisparities>(inputs...); }

template class Estimator<Stereo>;

DisparityField estimate_disparity(const In<Frame>& left, const In<Frame>& right, const StereoMethod& method,
                                  const StereoOptions& options) {
  return estimate<Stereo>(std::array<Frame, 2>{left, right}, method, options);
}

}  // namespace parafield
