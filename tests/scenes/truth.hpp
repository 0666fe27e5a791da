// SPDX-License-Identifier: MIT
#pragma once
// Shared by the tests of scenes: checksums, and truth that explains the frames.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "parafield/scenes.hpp"

namespace parafield {

inline const std::uint8_t* row(const FrameBuffer& frame, int y) {
  return static_cast<const std::uint8_t*>(frame.row(y));
}

inline int channels(const FrameBuffer& frame) { return frame.format() == PixelFormat::rgb_u8 ? 3 : 1; }

/// FNV-1a over all pixels, without the padding of rows. Floats are little-endian.
struct Checksum {
  std::uint64_t value = 0xcbf29ce484222325u;

  void add(const void* data, std::size_t bytes) {
    const auto* byte = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) value = (value ^ byte[i]) * 0x100000001b3u;
  }
};

inline std::uint64_t checksum(const Scene& scene) {
  Checksum sum;
  for (const FrameBuffer& frame : scene.frames)
    for (int y = 0; y < frame.size().height; ++y)
      sum.add(row(frame, y), std::size_t(frame.size().width * channels(frame)));
  for (const FlowField& flow : scene.flow)
    for (const Image<float>* plane : {&flow.u, &flow.v})
      for (int y = 0; y < flow.size().height; ++y)
        sum.add(plane->view().row(y), std::size_t(flow.size().width) * sizeof(float));
  for (const auto& occluded : scene.occluded)
    for (int y = 0; y < occluded.size().height; ++y)
      sum.add(occluded.view().row(y), std::size_t(occluded.size().width));
  for (const auto& depth : scene.depth)
    for (int y = 0; y < depth.size().height; ++y)
      sum.add(depth.view().row(y), std::size_t(depth.size().width) * sizeof(float));
  for (const auto& disparity : scene.disparity)
    for (int y = 0; y < disparity.size().height; ++y)
      sum.add(disparity.d.view().row(y), std::size_t(disparity.size().width) * sizeof(float));
  for (const auto& moving : scene.moving)
    for (int y = 0; y < moving.size().height; ++y)
      sum.add(moving.view().row(y), std::size_t(moving.size().width));
  return sum.value;
}

/// Value of a channel at a place between pixels, by linear interpolation.
inline double bilinear(const FrameBuffer& frame, int channel, double x, double y) {
  const Size size = frame.size();
  const int n = channels(frame);
  const int x0 = std::clamp(int(std::floor(x)), 0, size.width - 1), x1 = std::min(x0 + 1, size.width - 1);
  const int y0 = std::clamp(int(std::floor(y)), 0, size.height - 1), y1 = std::min(y0 + 1, size.height - 1);
  const auto value = [&](int column, int line) { return double(row(frame, line)[n * column + channel]); };
  const double a = x - x0, b = y - y0;
  return (1 - b) * ((1 - a) * value(x0, y0) + a * value(x1, y0)) +
         b * ((1 - a) * value(x0, y1) + a * value(x1, y1));
}

/// Difference between a pixel and a place in another frame, mean over the channels.
inline double difference(const FrameBuffer& frame, int x, int y, const FrameBuffer& other, double other_x,
                         double other_y) {
  const int n = channels(frame);
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += std::abs(bilinear(other, i, other_x, other_y) - row(frame, y)[n * x + i]);
  return sum / n;
}

/// Mean differences between frame i and frame i + 1.
struct Residual {
  double warped = 0, still = 0;  ///< with and without the true flow, of pixels that are not occluded
  double hidden = 0;             ///< with the true flow, of pixels whose match is hidden inside the image
  int pixels = 0, hidden_pixels = 0;
};

inline Residual residual(const Scene& scene, std::size_t i) {
  Residual sum;
  const FlowField& flow = scene.flow[i];
  const Size size = flow.size();
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const double match_x = x + double(flow.u(x, y)), match_y = y + double(flow.v(x, y));
      const double off = difference(scene.frames[i], x, y, scene.frames[i + 1], match_x, match_y);
      const bool inside =
          match_x >= 0 && match_y >= 0 && match_x <= size.width - 1 && match_y <= size.height - 1;
      if (!inside) {
        EXPECT_TRUE(scene.occluded[i](x, y)) << x << ", " << y;
      } else if (scene.occluded[i](x, y)) {
        sum.hidden += off;
        ++sum.hidden_pixels;
      } else {
        sum.warped += off;
        sum.still += difference(scene.frames[i], x, y, scene.frames[i + 1], x, y);
        ++sum.pixels;
      }
    }
  sum.warped /= std::max(sum.pixels, 1);
  sum.still /= std::max(sum.pixels, 1);
  sum.hidden /= std::max(sum.hidden_pixels, 1);
  return sum;
}

}  // namespace parafield
