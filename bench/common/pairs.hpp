// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parafield/parafield.hpp"

/// Pairs of frames with known truth: real ones, if the data folder is found, and rendered ones.
namespace parafield::bench {

struct Pair {
  std::string name;
  FrameBuffer frame0, frame1;
  FlowField truth;
  Image<std::uint8_t> mask;  ///< no data = every pixel counts
};

/// The folder of real sequences: `given`, otherwise PARAFIELD_DATA, otherwise ../shared/data beside the
/// sources. Empty if it does not exist; for `given`, throws Error(file).
std::optional<std::filesystem::path> data_folder(const std::string& given);

/// A real pair: "noclouds" (Yosemite 08-09), "clouds ground" (Yosemite 09-10 below the sky), or the name of a
/// pair of Middlebury's. Empty if its truth is missing.
std::optional<Pair> read_pair(const std::filesystem::path& data, std::string_view name);

/// The first pair of the scene `name`.
Pair rendered_pair(std::string_view name, Size size);

/// Errors of a flow over the pixels of the pair's mask.
FlowScores score(const FlowView& flow, const Pair& pair);

/// The scene for timings, as in `parafield bench`.
Scene timing_scene(Size size);

}  // namespace parafield::bench
