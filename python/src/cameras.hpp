// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <parafield/rectification.hpp>
#include <vector>

#include "frames.hpp"

namespace parafield::python {

/// Reads an argument that is a StereoCalibration or the path of a calibration file. Throws Error.
StereoCalibration read_calibration_argument(nb::handle calibration);

/// Reads the frames of a pair and matches them (see match()). Stacks are refused: `who` names the caller in
/// that error. Throws Error(invalid_argument).
std::vector<FrameStack> read_pair(nb::handle first, nb::handle second, const FrameLayout& layout,
                                  const char* who,
                                  const std::array<const char*, 2>& names = {"left", "right"});

/// The frames of a pair, and the device that processes them.
struct PlacedPair {
  std::vector<FrameStack> frames;
  Device device;

  PlacedPair(nb::handle first, nb::handle second, nb::handle asked, nb::handle threads,
             const FrameLayout& layout, const char* who,
             const std::array<const char*, 2>& names = {"left", "right"});

  /// Waits until frames on a device are complete. Does not need the GIL.
  void wait() const;
};

}  // namespace parafield::python
