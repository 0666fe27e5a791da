// SPDX-License-Identifier: MIT
#include "parafield/stereo.hpp"

#include "markov/disparity.hpp"
#include "tasks/estimator.hpp"
#include "tasks/refined.hpp"

namespace parafield {

static std::unique_ptr<Session<Stereo>> session_of(const StereoMethod& method, Size size,
                                                   const Device& device, const StereoOptions& options) {
  return make_session<Stereo, RefinedDisparities>(method, size, device, options);
}

template class Estimator<Stereo>;

DisparityField estimate_disparity(const In<Frame>& left, const In<Frame>& right, const StereoMethod& method,
                                  const StereoOptions& options) {
  const Frame frames[] = {left, right};
  return estimate<Stereo>(frames, method, options);
}

}  // namespace parafield
