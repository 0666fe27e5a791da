// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parafield/parafield.hpp"

/// Frames with known truth: real ones, if the data folder is found, and rendered ones.
namespace parafield::bench {

constexpr Size qvga = {320, 240}, vga = {640, 480}, yosemite = {316, 252};

struct Pair {
  std::string name;
  FrameBuffer frame0, frame1;
  FlowField truth;
  Image<std::uint8_t> mask;  ///< no data = every pixel counts
};

/// The folder of real sequences: `given`, otherwise PARAFIELD_DATA, otherwise ../shared/data next to the
/// sources. Empty if it does not exist; for `given`, throws Error(file).
std::optional<std::filesystem::path> data_folder(const std::string& given);

/// A real pair: "noclouds" (Yosemite 08-09), "clouds ground" (Yosemite 09-10 below the sky), or the name of a
/// pair of Middlebury's. Empty if its truth is missing.
std::optional<Pair> read_pair(const std::filesystem::path& data, std::string_view name);

/// Frames `first` to `last` of Yosemite with clouds; none if one is missing.
std::vector<FrameBuffer> read_yosemite(const std::optional<std::filesystem::path>& data, int first, int last);

/// The first pair of the scene `name`.
Pair rendered_pair(std::string_view name, Size size);

/// Errors of a flow over the pixels of the pair's mask.
FlowScores score(const FlowView& flow, const Pair& pair);

/// The scene for timings, as in `parafield bench`.
Scene timing_scene(Size size);

/// A rectified pair with its disparities.
struct StereoScene {
  std::string name;
  FrameBuffer left, right;
  DisparityField truth;
  Image<std::uint8_t> seen;  ///< 0 where the right image hides the pixel
  int disparities = 0;       ///< the truth lies in 0 to disparities - 1
};

/// A pair of Middlebury's by its name; empty if its truth is missing.
std::optional<StereoScene> read_stereo(const std::filesystem::path& data, const std::string& name);

/// A rendered pair: discs and bars over a background, each with a texture, move by whole pixels, so no pixel
/// is resampled. Both frames have independent noise of up to 6.
struct Layers {
  FrameBuffer frame0, frame1;
  FlowField flow;             ///< true flow of frame 0
  Image<std::uint8_t> seen;   ///< 1 where frame 1 shows the pixel of frame 0
  Image<std::uint8_t> moved;  ///< 255 where frame 1 shows another layer or place than frame 0, otherwise 0
};
Layers render_stereo(Size size, int disparities, bool color = false);
Layers render_motion(Size size, int max_displacement, bool color = false);
Layers render_change(Size size, bool color = false);  ///< the background stands still

/// The layers as a rectified pair with `disparities` disparities.
StereoScene stereo_scene(Layers layers, int disparities);

/// Scenes with truth: real ones, if they are found, and rendered ones.
struct LabelScenes {
  std::vector<StereoScene> stereo;
  std::vector<Pair> flow;  ///< displacements of up to 5 px
};
struct Study;
LabelScenes label_scenes(const Study& study);

/// Result of one pair in host memory, and its energy.
template <class Task>
struct Solved {
  typename Task::Result field;
  double energy = 0;
};
template <class Task>
Solved<Task> solved(const Device& device, const typename Task::Method& method, const Frame& frame0,
                    const Frame& frame1, typename Task::Options options = {}) {
  options.device = device;
  options.energies = EnergyReport::result;
  Estimator<Task> estimator(method, frame0.size(), options);
  const typename Task::Result& result = estimator(frame0, frame1);
  return {result.to(Memory::host()), estimator.energies().front()};
}

}  // namespace parafield::bench
