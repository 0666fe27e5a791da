// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>

#include "io/stream.hpp"
#include "parafield/video.hpp"

/// Where the frames of a VideoReader come from.
namespace parafield::video {

/// Frames one after the other. Errors do not name the input.
struct Source {
  virtual ~Source() = default;
  /// The next frame's pixels and time; false at the end. The memory of `frame` is used again where it fits.
  virtual bool next(VideoFrame& frame) = 0;

  VideoInfo info = {};        ///< but for the size
  bool names_frames = false;  ///< its errors have the number of the frame
};

/// Rate of pictures, which have none.
inline constexpr double usual_rate = 25;

/// Y4M and pictures of a stream, as FrameReader reads them.
std::unique_ptr<Source> open_stream(std::unique_ptr<io::ByteStream> bytes, bool gray);

/// Pictures of a folder, or those that a pattern names.
std::unique_ptr<Source> open_folder(const std::string& folder, bool gray);
std::unique_ptr<Source> open_pattern(const std::string& pattern, bool gray);

/// A video that FFmpeg reads: the file, device or address `input`, or `bytes` if there are any.
/// Error(unsupported) in a build without FFmpeg.
std::unique_ptr<Source> open_ffmpeg(const std::string& input, std::unique_ptr<io::ByteStream> bytes,
                                    const VideoReaderOptions& options);

/// A color frame becomes its BT.601 luma. A gray one stays.
void make_gray(FrameBuffer& frame);

}  // namespace parafield::video
