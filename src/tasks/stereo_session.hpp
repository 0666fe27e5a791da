// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "parafield/stereo.hpp"
#include "tasks/session.hpp"

/// Internal functions of the stereo estimator.
namespace parafield {

/// The energy of a stereo method, const or not.
auto& energy_of(auto& method) {
  return std::visit(
      [](auto& chosen) -> auto& { return chosen.energy; }, method);
}

/// Makes the session of a method with a given number of disparities. Throws like the estimator's constructor.
std::unique_ptr<Session<Stereo>> known_stereo_session(const StereoMethod& method, Size size,
                                                      const Device& device, const StereoOptions& options);

/// Implements examine_pair(), which checks the frames first.
PairFindings find_disparities(const Frame& left, const Frame& right, int min_disparity);

}  // namespace parafield
