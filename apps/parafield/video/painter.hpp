// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "parafield/parafield.hpp"

/// Pictures of flow for videos: drawn fast, into reused memory, with a steady scale.
namespace parafield::command {

inline const std::vector<std::string> video_views = {"color", "overlay", "arrows", "side-by-side"};

/// The flow length, px, that has full color. If none is given, it follows the flow slowly: it starts as
/// color_scale() of the first flow, then changes by at most 2 % per picture. It is never below 2 px, so that
/// the noise of a still camera stays pale.
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
  /// `view` is one of video_views, `max_motion` the flow length that has full color (0 = automatic), and
  /// `step` the distance between arrows, px.
  FlowPainter(const std::string& view, float max_motion, int step);

  /// Returns whether the pictures show the frames' colors.
  bool shows_frame() const { return view_ != "color"; }
  /// Returns the size of the pictures for frames of size `frame`.
  Size size(Size frame) const;
  /// Draws a picture, rgb_u8, which stays valid until the next call but one. Frames must be gray or rgb, u8
  /// or u16, in host memory.
  const FrameBuffer& draw(const Frame& frame, const FlowView& flow);

 private:
  using Color = std::array<std::uint8_t, 4>;

  void color_row(std::uint8_t* out) const;
  void overlay_row(std::uint8_t* out) const;

  const std::string view_;
  const int step_;
  SteadyScale scale_;
  std::vector<Color> colors_;  // colors of a grid of vectors: see painter.cpp
  std::vector<int> numbers_;   // grid indices of a row's vectors
  FrameBuffer pictures_[2];
  int count_ = 0;
};

}  // namespace parafield::command
