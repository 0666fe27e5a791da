// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/video.hpp"
#include "video/ffmpeg_common.hpp"

namespace parafield::video {

/// Converts decoded pictures to frames.
class PixelReader {
 public:
  /// `gray`: return only brightness. It uses `threads` threads; 0 = all.
  PixelReader(bool gray, int threads) : gray_(gray), threads_(threads) {}

  /// Converts a picture. `orientation` is an EXIF orientation, 1 to 8. The memory of `frame` is reused if it
  /// fits.
  void read(const AVFrame& picture, int orientation, FrameBuffer& frame);

 private:
  void convert(const AVFrame& picture, FrameBuffer& frame);
  void scale(const AVFrame& picture, const AVPixFmtDescriptor& format, bool gray, FrameBuffer& frame);

  /// The input that the scaler was made for.
  struct Kind {
    int width = 0, height = 0, format = -1, matrix = 0;
    bool full = false;
    bool operator==(const Kind&) const = default;
  };

  const bool gray_;
  const int threads_;
  Kind kind_;
  Scaler scaler_;
  FrameBuffer stored_;  // the picture as stored, before it is rotated
};

/// The EXIF orientation that is equivalent to a display matrix (libavutil/display.h).
int orientation_of(const std::int32_t* matrix);

}  // namespace parafield::video
