// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "parafield/image.hpp"

namespace parafield {

/// Knowledge of a motion detector about a still scene, in host memory. It is the same for all devices.
/// write_background and read_background (io.hpp) keep it in a file.
struct LearnedBackground {
  std::string method;               ///< name of the method that learned it, such as icm-background
  Size size;                        ///< of the frames, px
  ValueRange range;                 ///< of the frames; {0, 0} = the usual range of their format
  std::vector<std::uint8_t> state;  ///< the method's own data
};

}  // namespace parafield
