// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "parafield/parafield.hpp"

/// Pictures of flow for videos: drawn fast, into memory that is used again, on one steady scale.
namespace parafield::command {

inline const std::vector<std::string> video_views = {"color", "overlay", "arrows", "side-by-side"};

/// Length of flow, px, that has full color. Without a given length it follows the flow slowly: the first
/// picture's is color_scale() of its flow, then it changes by at most 2 % a picture. It is never below 2 px, so
/// that noise before a still camera stays pale.
class SteadyScale {
 public:
  explicit SteadyScale(float given) : given_(given) {}
  float next(const FlowView& flow);

 private:
  const float given_;  // 0 = none
  float now_ = 0;
};

/// Draws the pictures of one video.
class FlowPainter {
 public:
  /// `view` is one of video_views, `max_motion` the length with full color or 0, `step` the arrows' distance.
  FlowPainter(const std::string& view, float max_motion, int step);

  /// Whether the pictures show the frames' colors.
  bool shows_frame() const { return view_ != "color"; }
  /// Size of the pictures.
  Size size(Size frame) const;
  /// The picture, rgb_u8; it stays until the next call but one. Frames are gray or rgb, u8 or u16, in host memory.
  const FrameBuffer& draw(const Frame& frame, const FlowView& flow);

 private:
  using Color = std::array<std::uint8_t, 4>;

  void color_row(std::uint8_t* out) const;
  void overlay_row(std::uint8_t* out) const;

  const std::string view_;
  const int step_;
  SteadyScale scale_;
  std::vector<Color> colors_;  // of the vectors of a grid: see video_painter.cpp
  std::vector<int> numbers_;   // those of a row's vectors
  FrameBuffer pictures_[2];
  int count_ = 0;
};

}  // namespace parafield::command
