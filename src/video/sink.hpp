// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "io/file.hpp"
#include "parafield/video.hpp"

/// Destinations of a VideoWriter's frames.
namespace parafield::video {

/// Receives frames of one size and format. Errors do not name the output.
struct Sink {
  virtual ~Sink() = default;
  /// Writes a u8 or u16 frame, whose pitch must be set. `time` is in seconds. Either all frames must have
  /// one, or none.
  virtual void write(const Frame& frame, std::optional<double> time) = 0;
  /// Completes the file and gives it its final name. If write() failed, the file still contains all frames
  /// written before the failure.
  virtual void finish() = 0;
  /// The same without the frames that an encoder still holds, which may take seconds. Returns their number.
  virtual std::int64_t finish_early() {
    finish();
    return 0;
  }
};

std::unique_ptr<Sink> open_y4m(const std::string& output, Size size, const VideoWriterOptions& options);
/// Throws Error(unsupported) in a build without FFmpeg.
std::unique_ptr<Sink> open_ffmpeg_sink(const std::string& output, const std::string& extension, Size size,
                                       const VideoWriterOptions& options);

/// HD video is BT.709, other video BT.601. This rule applies to writing, and to reading if the file does not
/// specify the matrix.
inline bool is_hd(Size size) { return size.width >= 1280 || size.height > 576; }

}  // namespace parafield::video
