#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parafield/parafield.hpp"

/// Pairs of frames with known truth: real ones, where the data folder is, and rendered ones.
namespace parafield::bench {

struct Pair {
  std::string name;
  FrameBuffer frame0, frame1;
  FlowField truth;
  Image<std::uint8_t> mask;  ///< no data = every pixel counts
};

/// The folder of real sequences: `given`, otherwise PARAFIELD_DATA, otherwise ../shared/data beside the
/// sources. Empty where there is none. Throws Error(file) for one that was given and is missing.
std::optional<std::filesystem::path> data_folder(const std::string& given);

/// "noclouds" (Yosemite 08-09), "clouds ground" (Yosemite 09-10 below the sky), or a pair of Middlebury's by
/// its name. Empty where its files are missing.
std::optional<Pair> read_pair(const std::filesystem::path& data, std::string_view name);

/// The first pair of the scene `name`.
Pair rendered_pair(std::string_view name, Size size);

FlowScores score(const FlowView& flow, const Pair& pair);

/// The scene that everything is timed on, as in `parafield bench`.
Scene timing_scene(Size size);

}  // namespace parafield::bench
