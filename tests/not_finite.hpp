// SPDX-License-Identifier: MIT
#pragma once
#include <limits>

namespace parafield {

constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                infinity = std::numeric_limits<float>::infinity();

}  // namespace parafield
