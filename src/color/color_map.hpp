// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>

namespace parafield {

using Color = std::array<std::uint8_t, 3>;

/// 256 colors from blue through cyan, green and yellow to red, in steps that look equally large.
const std::array<Color, 256>& color_map();

}  // namespace parafield
