// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "io/stream.hpp"
#include "parafield/video.hpp"

namespace parafield::video {

/// The frames of one input of a FrameSource. Errors do not name the input.
struct Source {
  virtual ~Source() = default;
  /// Reads the next frame's pixels and time; false at the end. The memory of `frame` is reused if it fits.
  virtual bool next(VideoFrame& frame) = 0;

  VideoInfo info = {};                  ///< all but the size
  std::vector<std::string> notes = {};  ///< what is unusual about the input; the reader removes them
  /// After an error of a damaged frame, next() goes on with a later one.
  bool goes_on = false;
  bool names_frames = false;        ///< its errors include the number of the frame
  std::filesystem::path file = {};  ///< file of the last frame, if each frame has its own
};

/// Frame rate of pictures, which do not store one.
inline constexpr double usual_rate = 25;

/// A video that FFmpeg reads: from the file, device or address `input`, or from `bytes` if not null. Throws
/// Error(unsupported) in a build without FFmpeg.
std::unique_ptr<Source> open_ffmpeg(const std::string& input, std::unique_ptr<io::ByteStream> bytes,
                                    const FrameSourceOptions& options);

}  // namespace parafield::video
