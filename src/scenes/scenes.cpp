// SPDX-License-Identifier: MIT
#include "core/fail.hpp"
#include "core/views.hpp"
#include "scenes/render.hpp"

namespace parafield {

constexpr SceneInfo flythrough{"flythrough",
                               "a camera flies along a valley under drifting clouds; depth, occlusion"};

std::span<const SceneInfo> scenes() {
  static const auto infos = [] {
    std::vector<SceneInfo> list;
    for (const LayeredScene& scene : layered_scenes()) list.push_back(scene.info);
    list.push_back(flythrough);
    return list;
  }();
  return infos;
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
  if (name == flythrough.name) return render_flythrough(options);
  for (const LayeredScene& scene : layered_scenes())
    if (name == scene.info.name) return render_layers(scene, options);
  std::string known;
  for (const SceneInfo& info : scenes()) known += (known.empty() ? "" : ", ") + std::string(info.name);
  fail(ErrorCode::invalid_argument, "there is no scene '", name, "'; the scenes are ", known);
}

}  // namespace parafield
