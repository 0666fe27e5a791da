// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "parafield/stereo.hpp"
#include "tasks/session.hpp"

/// What the estimator of stereo is made of, below its public functions.
namespace parafield {

/// The session of a method that says how many disparities there are. Throws like the estimator's constructor.
std::unique_ptr<Session<Stereo>> known_stereo_session(const StereoMethod& method, Size size,
                                                      const Device& device, const StereoOptions& options);

/// See examine_pair(), which checks the frames first.
PairFindings find_disparities(const Frame& left, const Frame& right, int min_disparity);

}  // namespace parafield
