// SPDX-License-Identifier: MIT
// Prints hashes of rendered scenes, of the results of every method and preset on them, and of pictures of the
// flow. Builds for different processors must print the same lines; scripts/test-arm compares them.
//   hashes [all] [WIDTHxHEIGHT...] [SCENE...]      at 32x24 and 29x21 and of six scenes, if none is given
// Frames of an even width are gray, of an odd width in color. A task runs on its own scenes, or on every one with
// `all`. Each line has scene, size, method, preset and hash. Gray frames with NaN and infinity are included.
#include <cstdio>
#include <limits>
#include <stdexcept>

#include "tasks/any_case.hpp"

namespace parafield {
namespace {

/// Frames of a scene with their name in the output.
struct Sequence {
  std::string name;
  Size size;
  std::vector<FrameBuffer> frames;
};

/// The bytes of a frame, as a field.
struct Bytes {
  Image<std::uint8_t> image;

  explicit Bytes(const FrameBuffer& frame)
      : image({frame.size().width * bytes_per_pixel(frame.format()), frame.size().height}) {
    for (int y = 0; y < frame.size().height; ++y)
      std::memcpy(image.view().row(y), frame.row(y), std::size_t(image.size().width));
  }
  auto planes() const { return std::tie(image); }
};

/// Gray float frames with some pixels that are NaN, infinite or huge.
std::vector<FrameBuffer> damaged(const std::vector<FrameBuffer>& frames) {
  constexpr float values[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(), 1e35f};
  std::vector<FrameBuffer> damaged;
  for (const FrameBuffer& frame : frames) {
    const Size size = frame.size();
    FrameBuffer copy(size, PixelFormat::gray_f32);
    copy.set_range({0, 255});
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const auto luma = static_cast<const std::uint8_t*>(frame.row(y))[x];
        const unsigned drawn = unsigned(x * 7919 + y * 104729) % 101;
        static_cast<float*>(copy.row(y))[x] = drawn < 4 ? values[drawn] : float(luma);
      }
    damaged.push_back(std::move(copy));
  }
  return damaged;
}

template <class Field>
void print(const Sequence& sequence, const std::string& what, const Field& field) {
  std::printf("%s %dx%d %s %016llx\n", sequence.name.c_str(), sequence.size.width, sequence.size.height,
              what.c_str(), static_cast<unsigned long long>(hash_of(field)));
}

/// Prints the last result of frames, or pairs of frames, that are pushed to an estimator.
template <class Task>
void push_all(const Sequence& sequence, const std::string& what, const typename Task::Method& method,
              typename Task::Options options) {
  options.device = Device::cpu(1);
  Estimator<Task> estimator(method, sequence.size, options);
  const typename Task::Result* last = nullptr;
  std::size_t count = sequence.frames.size();
  if constexpr (!Task::pairs && !Task::learns) count = std::size_t(frames_of(method)) + 1;
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (Task::pairs) {
      if (i % 2 == 1) last = &estimator.push(sequence.frames[i - 1], sequence.frames[i]);
    } else if (const auto* result = estimator.push(sequence.frames[i])) {
      last = result;
    }
  }
  if (!last) throw std::runtime_error(what + " needs more frames");
  print(sequence, what, *last);
  if constexpr (requires { color_flow(*last); }) print(sequence, what + " picture", Bytes(color_flow(*last)));
}

/// A preset with fewer sweeps, because an emulator runs it, and that fits the images.
template <class Method>
Method shortened(Method method, Size size) {
  if constexpr (requires { method.sweeps; }) method.sweeps = std::min(method.sweeps, 8);
  return fitted(method, size);
}

/// Prints the results of all presets of a task's methods, and of each method's defaults with error bars and,
/// for flow, all checks and filters.
template <class Task>
void print_methods(const Sequence& sequence, const std::string& task) {
  for_each_method<typename Task::Method>([&]<class Method>(const Method& defaults) {
    for (const auto& preset : presets(defaults))
      push_all<Task>(sequence, task + " " + std::string(Method::name) + " " + std::string(preset.name),
                     shortened(preset.method, sequence.size), {});
    typename Task::Options options;
    constexpr bool bars = Method::name == (Task::pairs ? "belief-propagation" : "adaptive-ridge");
    if constexpr (requires { options.cause; }) {
      options.outlier = options.cause = bars;
      if constexpr (requires { options.fb_check; }) {
        options.speckle = 12, options.fill = true, options.final_median = 3;
        options.fb_check = defaults.frames == 2 ? 1 : 0;
        options.covariance = bars;
      } else {
        options.sigma = bars;
      }
      const auto method = shortened(presets(defaults)[0].method, sequence.size);
      push_all<Task>(sequence, task + " " + std::string(Method::name) + " with-checks", method, options);
    }
  });
}

void print_scene(const std::string& name, Size size, bool all) {
  const bool color = size.width % 2 == 1, pairs = name == "stereo",
             masks = name == "balloons" || name == "square";
  const Scene scene = [&] {
    SceneOptions options;
    options.size = size, options.frames = pairs ? 4 : 8, options.color = color;
    return render_scene(name, options);
  }();
  const auto print_sequence = [&](std::string title, std::vector<FrameBuffer> frames) {
    const Sequence sequence{std::move(title), size, std::move(frames)};
    for (std::size_t i = 0; i < sequence.frames.size(); ++i)
      print(sequence, "frame " + std::to_string(i), Bytes(sequence.frames[i]));
    if (all || pairs) print_methods<Stereo>(sequence, "stereo");
    if (all || masks) print_methods<Detection>(sequence, "detect");
    if (all || !(pairs || masks)) print_methods<Flow>(sequence, "flow");
  };
  std::vector<FrameBuffer> bad;  // of one scene for each task
  if (!color && (name == "layers" || name == "stereo" || name == "balloons")) bad = damaged(scene.frames);
  std::vector<FrameBuffer> frames;
  for (const FrameBuffer& frame : scene.frames) frames.push_back(frame.to(Memory::host()));
  print_sequence(name + (color ? " rgb" : " gray"), std::move(frames));
  if (!bad.empty()) print_sequence(name + " damaged", std::move(bad));
}

}  // namespace
}  // namespace parafield

int main(int count, char** values) {
  std::vector<std::string> scenes;
  std::vector<parafield::Size> sizes;
  bool all = false;
  for (int i = 1; i < count; ++i) {
    parafield::Size size;
    if (std::string(values[i]) == "all")
      all = true;
    else if (std::sscanf(values[i], "%dx%d", &size.width, &size.height) == 2)
      sizes.push_back(size);
    else
      scenes.push_back(values[i]);
  }
  if (scenes.empty()) scenes = {"layers", "large", "flythrough", "stereo", "balloons", "square"};
  if (sizes.empty()) sizes = {{32, 24}, {29, 21}};
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    for (const std::string& scene : scenes)
      for (const parafield::Size size : sizes) parafield::print_scene(scene, size, all);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hashes: %s\n", error.what());
    return 1;
  }
}
