// SPDX-License-Identifier: MIT
#include "common/scenes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "common/study.hpp"

namespace parafield::bench {
namespace {
namespace fs = std::filesystem;

/// A disc or bar; places and lengths in shares of the image's sides.
struct Shape {
  float x, y, half_width, half_height;
  bool round;

  bool contains(float px, float py) const {
    const float dx = (px - x) / half_width, dy = (py - y) / half_height;
    return round ? dx * dx + dy * dy <= 1 : std::abs(dx) <= 1 && std::abs(dy) <= 1;
  }
};

constexpr std::array<Shape, 4> shapes{{{0, 0, 9, 9, false},  // the background
                                       {0.30f, 0.36f, 0.18f, 0.24f, true},
                                       {0.58f, 0.66f, 0.26f, 0.14f, false},
                                       {0.76f, 0.30f, 0.07f, 0.22f, true}}};

struct Motion {
  int x, y;
};
using Motions = std::array<Motion, shapes.size()>;

/// Noise from -6 to 6, the same on every machine.
int noise(int x, int y, int channel, int frame) {
  std::uint32_t h = std::uint32_t(x) + 0x9e3779b9U * std::uint32_t(y) + 0x85ebca6bU * std::uint32_t(channel) +
                    0xc2b2ae35U * std::uint32_t(frame + 1);
  for (int i = 0; i < 2; ++i) h = (h ^ (h >> 16)) * 0x7feb352dU;
  return int((h >> 8) % 13) - 6;
}

/// Textures of the background and of the shapes. They are larger than the frames by `margin` px, so that all
/// can move.
class Textures {
 public:
  Textures(Size size, int margin, int channels) : margin_(margin) {
    for (int i = 0; i < 2 * channels; ++i) {
      Scene scene = render_scene("translation", {.size = {size.width + 2 * margin, size.height + 2 * margin},
                                                 .frames = 1,
                                                 .seed = std::uint64_t(i + 1)});
      planes_.push_back(std::move(scene.frames[0]));
    }
  }
  int value(std::size_t layer, int channel, int x, int y) const {
    const FrameBuffer& plane = planes_[std::size_t(2 * channel + (layer > 0))];
    return static_cast<const std::uint8_t*>(plane.row(y + margin_))[x + margin_];
  }

 private:
  int margin_;
  std::vector<FrameBuffer> planes_;
};

/// The foremost layer at a pixel of frame 0 or 1.
std::size_t layer_at(Size size, const Motions& motions, int frame, int x, int y) {
  for (std::size_t i = shapes.size(); i-- > 1;)
    if (shapes[i].contains((float(x - frame * motions[i].x) + 0.5f) / float(size.width),
                           (float(y - frame * motions[i].y) + 0.5f) / float(size.height)))
      return i;
  return 0;
}

Layers render(Size size, const Motions& motions, bool color) {
  const int channels = color ? 3 : 1;
  int margin = 0;
  for (const Motion& motion : motions) margin = std::max({margin, std::abs(motion.x), std::abs(motion.y)});
  const Textures textures(size, margin, channels);
  const PixelFormat format = color ? PixelFormat::rgb_u8 : PixelFormat::gray_u8;
  Layers layers{FrameBuffer(size, format), FrameBuffer(size, format), FlowField(size),
                Image<std::uint8_t>(size), Image<std::uint8_t>(size)};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      std::size_t shown[2];
      for (int frame = 0; frame < 2; ++frame) {
        const std::size_t i = shown[frame] = layer_at(size, motions, frame, x, y);
        auto* row = static_cast<std::uint8_t*>((frame ? layers.frame1 : layers.frame0).row(y));
        for (int c = 0; c < channels; ++c) {
          const int value = textures.value(i, c, x - frame * motions[i].x, y - frame * motions[i].y);
          row[x * channels + c] = std::uint8_t(std::clamp(value + noise(x, y, c, frame), 0, 255));
        }
      }
      const Motion motion = motions[shown[0]];
      layers.flow.u(x, y) = float(motion.x), layers.flow.v(x, y) = float(motion.y);
      layers.flow.valid(x, y) = 1;
      const int mx = x + motion.x, my = y + motion.y;
      const bool inside = mx >= 0 && my >= 0 && mx < size.width && my < size.height;
      layers.seen(x, y) = inside && layer_at(size, motions, 1, mx, my) == shown[0];
      const Motion newer = motions[shown[1]];
      layers.moved(x, y) = shown[0] != shown[1] || newer.x || newer.y ? 255 : 0;
    }
  return layers;
}

}  // namespace

Layers render_stereo(Size size, int disparities, bool color) {
  const int most = disparities - 1;
  return render(size, {{{-most / 5, 0}, {-most / 2, 0}, {-most * 3 / 4, 0}, {-most, 0}}}, color);
}

Layers render_motion(Size size, int max_displacement, bool color) {
  const int most = max_displacement;
  return render(size, {{{1, 0}, {most, -1}, {-most, most / 2}, {0, most}}}, color);
}

Layers render_change(Size size, bool color) {
  return render(size, {{{0, 0}, {5, 0}, {-4, 2}, {0, 6}}}, color);
}

std::optional<fs::path> data_folder(const std::string& given) {
  if (!given.empty()) {
    if (!fs::is_directory(given)) throw Error(ErrorCode::file, "--data: there is no folder " + given);
    return given;
  }
  const char* variable = std::getenv("PARAFIELD_DATA");
  const fs::path folder =
      variable && *variable ? fs::path(variable) : fs::path(PARAFIELD_SOURCE_DIR) / "../shared/data";
  std::error_code none;
  if (!fs::is_directory(folder, none)) return {};
  return folder;
}

std::optional<Pair> read_pair(const fs::path& data, std::string_view name) {
  fs::path folder = data / "middlebury-flow" / name;
  const char *frame0 = "frame10.png", *frame1 = "frame11.png", *truth = "flow10.flo", *mask = nullptr;
  if (name == "noclouds") {
    folder = data / "yosemite" / "noclouds";
    frame0 = "yos08.png", frame1 = "yos09.png", truth = "yos08_nosky.flo";
  } else if (name == "clouds ground") {
    folder = data / "yosemite" / "clouds";
    frame0 = "yos09.png", frame1 = "yos10.png", truth = "flow09.flo", mask = "mask_ground.png";
  }
  if (!fs::exists(folder / truth)) return {};
  Pair pair{std::string(name),
            read_frame(folder / frame0),
            read_frame(folder / frame1),
            read_flow(folder / truth),
            {}};
  if (mask) pair.mask = read_mask(folder / mask);
  return pair;
}

std::vector<FrameBuffer> read_yosemite(const std::optional<fs::path>& data, int first, int last) {
  std::vector<FrameBuffer> frames;
  for (int i = first; data && i <= last; ++i) {
    const fs::path file = *data / "yosemite" / "clouds" / fmt::format("yos{:02}.png", i);
    if (!fs::exists(file)) return {};
    frames.push_back(read_frame(file));
  }
  return frames;
}

Pair rendered_pair(std::string_view name, Size size) {
  Scene scene = render_scene(name, {.size = size});
  return {"rendered " + std::string(name),
          std::move(scene.frames[0]),
          std::move(scene.frames[1]),
          std::move(scene.flow[0]),
          {}};
}

FlowScores score(const FlowView& flow, const Pair& pair) {
  return evaluate(flow, pair.truth, {.mask = pair.mask});
}

Scene timing_scene(Size size) { return render_scene("affine", {.size = size, .frames = 5}); }

StereoScene stereo_scene(Layers layers, int disparities) {
  const Size size = layers.frame0.size();
  StereoScene scene{"rendered layers",    std::move(layers.frame0), std::move(layers.frame1),
                    DisparityField(size), std::move(layers.seen),   disparities};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      scene.truth.d(x, y) = -layers.flow.u(x, y), scene.truth.valid(x, y) = 1;
  return scene;
}

std::optional<StereoScene> read_stereo(const fs::path& data, const std::string& name) {
  struct Known {
    const char* name;
    float scale;
    int disparities;
  };
  static constexpr Known known[] = {
      {"tsukuba", 16, 16}, {"venus", 8, 32}, {"cones", 4, 64}, {"art", 3, 80}, {"aloe", 3, 80}};
  const auto* scene = std::ranges::find(known, name, &Known::name);
  const auto folder = data / "middlebury-stereo" / name;
  if (scene == std::end(known) || !fs::exists(folder / "disp_left.png")) return {};
  return StereoScene{name,
                     read_frame(folder / "left.png"),
                     read_frame(folder / "right.png"),
                     read_disparity(folder / "disp_left.png", scene->scale),
                     read_mask(folder / "nonocc_derived.png"),
                     scene->disparities};
}

LabelScenes label_scenes(const Study& study) {
  const Size size = study.quick ? Size{64, 48} : Size{320, 240};
  LabelScenes all;
  if (study.data && !study.quick) {
    for (const char* name : {"tsukuba", "venus", "cones", "art", "aloe"})
      if (auto scene = read_stereo(*study.data, name)) all.stereo.push_back(std::move(*scene));
    for (const char* name : {"RubberWhale", "Grove2"})
      if (auto pair = read_pair(*study.data, name)) all.flow.push_back(std::move(*pair));
  }
  all.stereo.push_back(stereo_scene(render_stereo(size, 16, true), 16));
  Layers layers = render_motion(size, 5, true);
  all.flow.push_back({"rendered layers", std::move(layers.frame0), std::move(layers.frame1),
                      std::move(layers.flow), std::move(layers.seen)});
  return all;
}

}  // namespace parafield::bench
