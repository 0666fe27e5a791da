#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/study.hpp"

/// What the studies' label fields are found on.
namespace parafield::bench {

/// A rectified pair with its disparities.
struct StereoScene {
  std::string name;
  FrameBuffer left, right;
  DisparityField truth;
  Image<std::uint8_t> seen;  ///< 0 where the right image does not show the pixel
  int disparities = 0;       ///< 0 .. disparities - 1 cover the truth
};

/// A pair of Middlebury's by its name, if its files are there.
std::optional<StereoScene> read_stereo(const std::filesystem::path& data, const std::string& name);

/// Discs and bars over a background, each with a rendered texture, that move by whole pixels; independent noise of
/// up to 6 in both frames. Exact: no pixel is resampled.
struct Layers {
  FrameBuffer frame0, frame1;
  FlowField flow;             ///< of frame 0
  Image<std::uint8_t> seen;   ///< 1 where frame 1 shows the pixel of frame 0
  Image<std::uint8_t> moved;  ///< 255 where frame 1 shows another layer or place than frame 0, otherwise 0
};
Layers render_stereo(Size size, int disparities, bool color = false);
Layers render_motion(Size size, int max_displacement, bool color = false);
Layers render_change(Size size, bool color = false);  ///< before a background that stands still

StereoScene stereo_scene(Layers layers, int disparities);

/// Scenes with truth: real ones, where they are found, and rendered ones.
struct LabelScenes {
  std::vector<StereoScene> stereo;
  std::vector<Pair> flow;  ///< displacements of up to 5 px
};
LabelScenes label_scenes(const Study& study);

/// The result of one pair in host memory, and its energy.
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
