// SPDX-License-Identifier: MIT
#pragma once
// Moving textures: frames to test methods of flow with.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "oracle/grid.hpp"
#include "parafield/parafield.hpp"
#include "same.hpp"
#include "textures.hpp"

namespace parafield {

/// `count` frames of a texture that moves by (u, v) a frame.
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

/// Adds noise from -most to most.
inline void add_noise(std::vector<Image<float>>& images, float most, unsigned seed) {
  std::mt19937 random(seed);
  for (auto& image : images)
    for (int y = 0; y < image.size().height; ++y)
      for (int x = 0; x < image.size().width; ++x) image(x, y) += most * (float(random() % 1001) / 500 - 1);
}

/// Frames with flow (u, v) at the middle frame, or at the first of two.
inline std::vector<Image<float>> frames_of_motion(Size size, int count, float u, float v, unsigned seed,
                                                  float noise = 0) {
  auto images = moving(size, count == 2 ? 3 : count, u, v, seed);
  if (count == 2) images.erase(images.begin());
  if (noise > 0) add_noise(images, noise, seed);
  return images;
}

inline std::vector<Frame> as_frames(const std::vector<Image<float>>& images) {
  std::vector<Frame> frames;
  for (const Image<float>& image : images) frames.push_back(frame_of(image));
  return frames;
}

inline std::vector<oracle::Grid> grids_of(const std::vector<Image<float>>& images) {
  std::vector<oracle::Grid> grids;
  for (const auto& image : images) grids.push_back(oracle::grid_of(image.view()));
  return grids;
}

/// Pushes the frames forth and back: each push must give the flow of a call with the last frames.
inline void expect_calls_flow_of_pushes(const FlowMethod& method, std::vector<Frame> frames,
                                        const Device& device) {
  for (std::size_t i = frames.size() - 1; i-- > 0;) frames.push_back(frames[i]);
  const Size size = frames[0].size();
  const std::size_t count = std::size_t(frames_of(method));
  FlowEstimator stream(method, size, {.device = device}), calls(method, size, {.device = device});
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const FlowField* pushed = stream.push(frames[i]);
    ASSERT_EQ(pushed != nullptr, i + 1 >= count) << i;
    if (!pushed) continue;
    const FlowField& called = calls({std::span(frames).subspan(i + 1 - count, count)});
    expect_same(*pushed, called, "frame " + std::to_string(i));
  }
}

}  // namespace parafield
