// SPDX-License-Identifier: MIT
#include "video/flows.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>

namespace parafield::command {
namespace {

/// Maps values of -bound to bound to 0 to 255. Unknown flow is stored as zero motion.
void flow_to_bytes(View<const float> plane, float bound, FrameBuffer& bytes) {
  const float gain = 127.5f / bound;
  for (int y = 0; y < plane.height; ++y) {
    const float* const from = plane.row(y);
    auto* const to = static_cast<std::uint8_t*>(bytes.row(y));
    for (int x = 0; x < plane.width; ++x) {
      const float value = from[x] * gain + 127.5f;
      to[x] = !(std::abs(from[x]) <= 1e9f) ? 128
              : value < 0                  ? 0
              : value > 255                ? 255
                                           : std::uint8_t(value + 0.5f);
    }
  }
}

}  // namespace

void make_folder(const Path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::string problem = error ? error.message() : "";
  if (!error && !std::filesystem::is_directory(folder, error)) problem = "it is no folder";
  if (problem.empty() && access(folder.c_str(), W_OK) != 0) problem = std::strerror(errno);
  if (!problem.empty())
    throw Error(ErrorCode::file, fmt::format("{}: cannot be written into: {}", folder.string(), problem));
}

FlowFolder::FlowFolder(const Path& folder, const std::string& format, float bound)
    : folder_(folder),
      extension_(format == "kitti" ? "png" : format),
      in_bytes_(format == "jpg" || format == "png"),
      bound_(bound) {}

std::vector<Path> FlowFolder::files(int number) const {
  std::vector<Path> names;
  for (const char* name : in_bytes_ ? std::vector{"flow_x_", "flow_y_"} : std::vector{"flow_"})
    names.push_back(folder_ / fmt::format("{}{:05}.{}", name, number, extension_));
  return names;
}

int FlowFolder::complete() const {
  const auto is_there = [&](int number) {
    return std::ranges::all_of(files(number), [](const Path& file) {
      std::error_code none;
      return std::filesystem::is_regular_file(file, none);
    });
  };
  int number = 0;
  while (is_there(number + 1)) ++number;
  return number;
}

void FlowFolder::write(int number, const FlowField& flow) {
  const std::vector<Path> names = files(number);
  if (!in_bytes_) return write_flow(names[0], flow);
  if (bytes_.size() != flow.size()) bytes_ = FrameBuffer(flow.size(), PixelFormat::gray_u8);
  for (const std::size_t i : {0u, 1u}) {
    flow_to_bytes(i == 0 ? flow.u.view() : flow.v.view(), bound_, bytes_);
    write_frame(names[i], bytes_);
  }
}

}  // namespace parafield::command
