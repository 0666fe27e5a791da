// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "io/file.hpp"
#include "parafield/video.hpp"

/// Where the frames of a VideoWriter go.
namespace parafield::video {

/// Takes frames of one size and format. Errors do not name the output.
struct Sink {
  virtual ~Sink() = default;
  /// Writes a frame, u8 or u16 with its pitch. All frames have a time, s, or none has.
  virtual void write(const Frame& frame, std::optional<double> time) = 0;
  /// Completes the file and gives it its name. After an error of write() it completes what was written
  /// before.
  virtual void finish() = 0;
};

std::unique_ptr<Sink> open_y4m(const std::string& output, Size size, const VideoWriterOptions& options);
std::unique_ptr<Sink> open_pictures(const std::string& output);
/// Error(unsupported) in a build without FFmpeg.
std::unique_ptr<Sink> open_ffmpeg_sink(const std::string& output, const std::string& extension, Size size,
                                       const VideoWriterOptions& options);

/// HD video is BT.709, other video BT.601: that is how it is written, and how it is read if it does not say.
inline bool is_hd(Size size) { return size.width >= 1280 || size.height > 576; }

}  // namespace parafield::video
