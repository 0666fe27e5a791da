// SPDX-License-Identifier: MIT
#include <algorithm>

#include "core/fail.hpp"
#include "core/views.hpp"
#include "scenes/render.hpp"

namespace parafield {

constexpr SceneInfo flythrough{"flythrough",
                               "a camera flies along a valley under drifting clouds; depth, occlusion"};
constexpr SceneInfo stereo{
    "stereo",
    "the same valley from two cameras side by side: frames 0 and 1 are the left and the "
    "right image, and so on; true disparities, depth, occlusion"};

constexpr SceneInfo clouds{
    "clouds",
    "clouds with translucent edges over ground, both moving, from two sides: frames 0 and 1 are left and "
    "right, frames 2 and 3 the next pair; flow goes to the next frame of the same side; true disparities"};

constexpr SceneInfo square{
    "square", "walkers, cars and a dog cross a square before a still camera, under `conditions`; masks"};

std::span<const SceneInfo> scenes() {
  static const auto infos = [] {
    std::vector<SceneInfo> list;
    for (const LayeredScene& scene : layered_scenes()) list.push_back(scene.info);
    list.push_back(flythrough);
    list.push_back(stereo);
    list.push_back(clouds);
    list.push_back(square);
    return list;
  }();
  return infos;
}

/// The first view of the fly-through, the background of layered scenes. It reports no progress of its own.
static FrameBuffer picture_behind(const LayeredScene& scene, SceneOptions options) {
  if (!scene.before_landscape) return {};
  options.frames = 1;
  options.progress = {};
  return std::move(render_flythrough(options).frames[0]);
}

static std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

Pace pace_named(std::string_view name) {
  constexpr auto names = names_of(Pace{});
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    fail(ErrorCode::invalid_argument, "there is no pace '", name, "'; the paces are ", joined(names));
  return Pace(found - names.begin());
}

Conditions conditions_named(std::string_view name) {
  constexpr auto names = names_of(Conditions{});
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    fail(ErrorCode::invalid_argument, "there are no conditions '", name, "'; allowed: ", joined(names));
  return Conditions(found - names.begin());
}

Scene render_scene(std::string_view name, const SceneOptions& options) {
  if (options.size.width < 1 || options.size.height < 1)
    fail(ErrorCode::invalid_argument, "size cannot be ", options.size.width, "x", options.size.height,
         "; a scene has at least 1x1 pixels");
  if (std::int64_t(options.size.width) * options.size.height > most_pixels)
    fail(ErrorCode::invalid_argument, "size cannot be ", options.size.width, "x", options.size.height,
         "; a scene has at most ", most_pixels, " pixels");
  if (options.frames < 1)
    fail(ErrorCode::invalid_argument, "frames cannot be ", options.frames, "; a scene has at least 1");
  if (options.pace != Pace::steady &&
      (name == flythrough.name || name == stereo.name || name == clouds.name || name == square.name))
    fail(ErrorCode::invalid_argument, "pace cannot be ", names_of(Pace{})[std::size_t(options.pace)],
         " in the scene ", name, "; allowed: ", names_of(Pace{})[0]);
  if (options.conditions != Conditions::steady && name != square.name)
    fail(ErrorCode::invalid_argument, "conditions cannot be ",
         names_of(Conditions{})[std::size_t(options.conditions)], " in the scene ", name,
         "; allowed: ", names_of(Conditions{})[0], " (the scene ", square.name, " has others)");
  if (name == flythrough.name) return render_flythrough(options);
  if (name == stereo.name) return render_stereo(options);
  if (name == clouds.name) return render_clouds(options);
  if (name == square.name) return render_square(options);
  for (const LayeredScene& scene : layered_scenes()) {
    if (name != scene.info.name) continue;
    if (scene.before_landscape && options.pace == Pace::shaking)
      fail(ErrorCode::invalid_argument, "pace cannot be shaking in the scene ", name,
           ", whose camera stands still; allowed: steady, accelerating, stop-and-go");
    return render_layers(scene, options, picture_behind(scene, options));
  }
  std::vector<std::string_view> known;
  for (const SceneInfo& info : scenes()) known.push_back(info.name);
  fail(ErrorCode::invalid_argument, "there is no scene '", name, "'; the scenes are ", joined(known));
}

}  // namespace parafield
