// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/video.hpp"
#include "video/ffmpeg_common.hpp"

namespace parafield::video {

/// Turns decoded pictures into frames.
class PixelReader {
 public:
  /// `gray`: only brightness is wanted. It works on `threads` threads, 0 = all.
  PixelReader(bool gray, int threads) : gray_(gray), threads_(threads) {}

  /// Converts a picture. `orientation` is EXIF's, 1 to 8. The memory of `frame` is used again where it fits.
  void read(const AVFrame& picture, int orientation, FrameBuffer& frame);

 private:
  void convert(const AVFrame& picture, FrameBuffer& frame);
  void scale(const AVFrame& picture, const AVPixFmtDescriptor& format, bool gray, FrameBuffer& frame);

  /// What the scaler was made for.
  struct Kind {
    int width = 0, height = 0, format = -1, matrix = 0;
    bool full = false;
    bool operator==(const Kind&) const = default;
  };

  const bool gray_;
  const int threads_;
  Kind kind_;
  Scaler scaler_;
  FrameBuffer stored_;  // before it is turned
};

/// EXIF's orientation that shows a picture as a display matrix (libavutil/display.h) does.
int orientation_of(const std::int32_t* matrix);

}  // namespace parafield::video
