// SPDX-License-Identifier: MIT
#include "common/pictures.hpp"

#include <algorithm>

namespace parafield::bench {

void write_strip(const std::filesystem::path& file, const Frame& frame,
                 const std::vector<FrameBuffer>& pictures) {
  const int width = frame.width, height = frame.height, gap = 4;
  const int count = int(pictures.size()) + 1;
  FrameBuffer strip({count * (width + gap) - gap, height}, PixelFormat::rgb_u8);
  for (int y = 0; y < height; ++y) {
    auto* row = static_cast<std::uint8_t*>(strip.row(y));
    std::fill(row, row + 3 * strip.size().width, std::uint8_t(255));
  }
  for (int i = 0; i < count; ++i) {
    const Frame part = i == 0 ? frame : pictures[std::size_t(i) - 1].frame();
    const int depth = channels(part.format);
    for (int y = 0; y < height; ++y) {
      const auto* from = static_cast<const std::uint8_t*>(part.data) + y * part.pitch;
      auto* to = static_cast<std::uint8_t*>(strip.row(y)) + 3 * i * (width + gap);
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < 3; ++c) to[3 * x + c] = from[depth * x + (depth == 3 ? c : 0)];
    }
  }
  write_frame(file, strip);
}

}  // namespace parafield::bench
