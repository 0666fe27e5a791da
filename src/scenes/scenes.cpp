// SPDX-License-Identifier: MIT
#include <algorithm>

#include "core/views.hpp"
#include "scenes/render.hpp"

namespace parafield {
namespace {

/// A scene that is not made of flat layers.
struct SolidScene {
  SceneInfo info;
  Scene (*render)(const SceneOptions& options);
  bool has_conditions = false;
};
constexpr SolidScene solid_scenes[] = {
    {{"flythrough", "a camera flies along a valley under drifting clouds; depth, occlusion"},
     render_flythrough},
    {{"stereo",
      "the same valley from two cameras: frames 0 and 1 are left and right; true disparities, depth, "
      "occlusion"},
     render_stereo},
    {{"ball", "a ball before a wall, from two cameras; disparities"}, render_ball},
    {{"sheet", "a sheet in folds, from two cameras; disparities"}, render_sheet},
    {{"clouds",
      "clouds with translucent edges over ground, both moving, from two sides: frames 2 and 3 are the next "
      "pair after 0 and 1, to which flow goes; true disparities"},
     render_clouds},
    {{"square", "walkers, cars and a dog cross a square before a still camera, under `conditions`; masks"},
     render_square,
     true},
};

/// Value of an enum by its name. `none` and `known` are the parts of the message for an unknown name.
template <class Enum>
Enum named(std::string_view name, const char* none, const char* known) {
  constexpr auto names = names_of(Enum{});
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) fail_value(none, " '", name, "'; ", known, " ", joined(names));
  return Enum(found - names.begin());
}

template <class Enum>
std::string_view name_of(Enum value) {
  return names_of(value)[std::size_t(value)];
}

}  // namespace

std::span<const SceneInfo> scenes() {
  static const auto infos = [] {
    std::vector<SceneInfo> list;
    for (const LayeredScene& scene : layered_scenes()) list.push_back(scene.info);
    for (const SolidScene& scene : solid_scenes) list.push_back(scene.info);
    return list;
  }();
  return infos;
}

Pace pace_named(std::string_view name) { return named<Pace>(name, "there is no pace", "the paces are"); }

Conditions conditions_named(std::string_view name) {
  return named<Conditions>(name, "there are no conditions", "allowed:");
}

Scene render_scene(std::string_view name, const SceneOptions& options) {
  const auto& [size, frames, seed, fine, color, pace, conditions, progress] = options;
  if (size.width < 1 || size.height < 1)
    fail_value("size cannot be ", size, "; a scene has at least 1x1 pixels");
  if (std::int64_t(size.width) * size.height > most_pixels)
    fail_value("size cannot be ", size, "; a scene has at most ", most_pixels, " pixels");
  if (frames < 1) fail_value("frames cannot be ", frames, "; a scene has at least 1");
  const auto solid =
      std::ranges::find(solid_scenes, name, [](const SolidScene& one) { return one.info.name; });
  const bool is_solid = solid != std::end(solid_scenes);
  if (pace != Pace::steady && is_solid)
    fail_value("pace cannot be ", name_of(pace), " in the scene ", name, "; allowed: steady");
  if (conditions != Conditions::steady && !(is_solid && solid->has_conditions))
    fail_value("conditions cannot be ", name_of(conditions), " in the scene ", name,
               "; allowed: steady (the scene square has others)");
  if (is_solid) return solid->render(options);
  const auto layered =
      std::ranges::find(layered_scenes(), name, [](const LayeredScene& one) { return one.info.name; });
  if (layered == layered_scenes().end()) {
    std::vector<std::string_view> known;
    for (const SceneInfo& info : scenes()) known.push_back(info.name);
    fail_value("there is no scene '", name, "'; the scenes are ", joined(known));
  }
  if (layered->before_landscape && pace == Pace::shaking)
    fail_value("pace cannot be shaking in the scene ", name,
               ", whose camera stands still; allowed: steady, accelerating, stop-and-go");
  return render_layers(*layered, options);
}

}  // namespace parafield
