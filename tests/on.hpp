// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/device.hpp"

namespace parafield {

/// The options of a task with a device.
template <class Options>
Options on(const Device& device, Options options) {
  options.device = device;
  return options;
}

}  // namespace parafield
