// SPDX-License-Identifier: MIT
#include "common/pairs.hpp"

#include <cstdlib>

namespace parafield::bench {
namespace {
namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code none;
  return fs::is_directory(path, none);
}

}  // namespace

std::optional<fs::path> data_folder(const std::string& given) {
  if (!given.empty()) {
    if (!is_folder(given)) throw Error(ErrorCode::file, "--data: there is no folder " + given);
    return given;
  }
  const char* variable = std::getenv("PARAFIELD_DATA");
  const fs::path folder =
      variable && *variable ? fs::path(variable) : fs::path(PARAFIELD_SOURCE_DIR) / "../shared/data";
  if (!is_folder(folder)) return {};
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

}  // namespace parafield::bench
