// SPDX-License-Identifier: MIT
#include "parafield/stereo.hpp"

#include "markov/matching.hpp"
#include "tasks/estimator.hpp"
#include "tasks/found_disparities.hpp"
#include "tasks/refined.hpp"
#include "tasks/stereo_session.hpp"

namespace parafield {

std::unique_ptr<Session<Stereo>> known_stereo_session(const StereoMethod& method, Size size,
                                                      const Device& device, const StereoOptions& options) {
  return make_session<Stereo, RefinedDisparities>(method, size, device, options);
}

template <>
std::unique_ptr<Session<Stereo>> task_session<Stereo>(const StereoMethod& method, Size size,
                                                      const Device& device, const StereoOptions& options) {
  const int disparities = std::visit([](const auto& chosen) { return chosen.energy.disparities; }, method);
  if (disparities > 0) return known_stereo_session(method, size, device, options);
  return with_backend(device, [&]<class Backend>() -> std::unique_ptr<Session<Stereo>> {
    return std::make_unique<FoundDisparities<Backend>>(method, size, device, options);
  });
}

template class Estimator<Stereo>;

DisparityField estimate_disparity(const In<Frame>& left, const In<Frame>& right, const StereoMethod& method,
                                  const StereoOptions& options) {
  return estimate<Stereo>(std::array<Frame, 2>{left, right}, method, options);
}

}  // namespace parafield
