// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"

namespace parafield {

/// Clears `valid` where the confidence is below `least` or NaN.
template <class Backend>
void withhold_unsure(Backend& backend, View<const float> confidence, float least, View<std::uint8_t> valid);

}  // namespace parafield
