// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>

#include "io/stream.hpp"
#include "parafield/video.hpp"

/// Sources of a VideoReader's frames.
namespace parafield::video {

/// A sequence of frames. Errors do not name the input.
struct Source {
  virtual ~Source() = default;
  /// Reads the next frame's pixels and time; false at the end. The memory of `frame` is reused if it fits.
  virtual bool next(VideoFrame& frame) = 0;

  VideoInfo info = {};        ///< all but the size
  bool names_frames = false;  ///< its errors include the number of the frame
};

/// Frame rate of pictures, which do not store one.
inline constexpr double usual_rate = 25;

/// Y4M and pictures in a stream, as FrameReader reads them.
std::unique_ptr<Source> open_stream(std::unique_ptr<io::ByteStream> bytes, bool gray);

/// Pictures of a folder or of a pattern.
std::unique_ptr<Source> open_folder(const std::string& folder, bool gray);
std::unique_ptr<Source> open_pattern(const std::string& pattern, bool gray);

/// A video that FFmpeg reads: from the file, device or address `input`, or from `bytes` if not null. Throws
/// Error(unsupported) in a build without FFmpeg.
std::unique_ptr<Source> open_ffmpeg(const std::string& input, std::unique_ptr<io::ByteStream> bytes,
                                    const VideoReaderOptions& options);

/// Converts a color frame to its BT.601 luma; leaves a gray frame unchanged.
void make_gray(FrameBuffer& frame);

}  // namespace parafield::video
