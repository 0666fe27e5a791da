// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <vector>

#include "parafield/parafield.hpp"

namespace parafield::bench {

/// Writes a frame and pictures of its size side by side, as a PNG.
void write_strip(const std::filesystem::path& file, const Frame& frame,
                 const std::vector<FrameBuffer>& pictures);

}  // namespace parafield::bench
