// SPDX-License-Identifier: MIT
// Replaces ffmpeg_*.cpp in a build without FFmpeg.
#include "core/fail.hpp"
#include "video/sink.hpp"
#include "video/source.hpp"

namespace parafield::video {

std::unique_ptr<Source> open_ffmpeg(const std::string&, std::unique_ptr<io::ByteStream>,
                                    const FrameSourceOptions&) {
  fail(ErrorCode::unsupported,
       "no picture and no Y4M, and this build of parafield has no FFmpeg for other videos");
}

std::unique_ptr<Sink> open_ffmpeg_sink(const std::string&, const std::string& extension, Size,
                                       const VideoWriterOptions&) {
  fail(ErrorCode::unsupported, "this build of parafield has no FFmpeg for ", extension,
       " files; .y4m and pictures (name%04d.png) are written without");
}

}  // namespace parafield::video
