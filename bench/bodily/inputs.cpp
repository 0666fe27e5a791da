// SPDX-License-Identifier: MIT
#include "bodily/inputs.hpp"

namespace parafield::bench {

Inputs::Inputs(Size size, int pitch) {
  frames_ = render_scene("affine", {.size = size, .frames = turns + 4}).frames;
  for (const FrameBuffer& frame : frames_) {
    std::vector<unsigned char> bytes(std::size_t(size.width) * std::size_t(size.height));
    std::vector<float> floats(std::size_t(pitch) * std::size_t(size.height));
    for (int y = 0; y < size.height; ++y) {
      const auto* row = static_cast<const unsigned char*>(frame.row(y));
      for (int x = 0; x < size.width; ++x) {
        bytes[std::size_t(y * size.width + x)] = row[x];
        floats[std::size_t(y * pitch + x)] = float(row[x]);
      }
    }
    bytes_.emplace_back(bytes);
    floats_.emplace_back(floats);
  }
}

std::array<const unsigned char*, 5> Inputs::bytes(int turn) const {
  std::array<const unsigned char*, 5> frames;
  for (std::size_t i = 0; i < 5; ++i) frames[i] = bytes_[std::size_t(turn % turns) + i].get();
  return frames;
}

TiledTensor::Frames Inputs::floats(int turn) const {
  TiledTensor::Frames frames;
  for (std::size_t i = 0; i < 5; ++i) frames[i] = floats_[std::size_t(turn % turns) + i].get();
  return frames;
}

std::array<Frame, 5> Inputs::frames(int turn) const {
  std::array<Frame, 5> frames;
  for (std::size_t i = 0; i < 5; ++i) frames[i] = frames_[std::size_t(turn % turns) + i];
  return frames;
}

}  // namespace parafield::bench
