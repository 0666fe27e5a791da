#pragma once
// Frames that methods of several are tested with.
#include <vector>

#include "parafield/image.hpp"
#include "textures.hpp"

namespace parafield {

/// `count` frames of a texture that moves by (u, v) a frame, exact in the middle one.
inline std::vector<Image<float>> moving(Size size, int count, float u, float v, unsigned seed) {
  const Texture texture(seed);
  std::vector<Image<float>> frames;
  for (int i = 0; i < count; ++i) {
    Image<float>& frame = frames.emplace_back(size);
    const float after = float(i - count / 2);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) frame(x, y) = float(texture(x - u * after, y - v * after));
  }
  return frames;
}

inline std::vector<Frame> as_frames(const std::vector<Image<float>>& images) {
  std::vector<Frame> frames;
  for (const Image<float>& image : images) frames.push_back(frame_of(image));
  return frames;
}

}  // namespace parafield
