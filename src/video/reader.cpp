// SPDX-License-Identifier: MIT
#include <filesystem>
#include <utility>

#include "io/formats.hpp"
#include "video/names.hpp"
#include "video/source.hpp"

namespace parafield {
namespace video {
namespace {

namespace fs = std::filesystem;

/// Whether FrameReader can read the stream.
bool is_for_frame_reader(io::ByteStream& bytes) {
  // Peek at few bytes first, because a pipe may never deliver more.
  for (const std::size_t count : {std::size_t(3), std::size_t(10), io::recognized_by})
    if (io::content_of(bytes.peek(count)) != io::Content::unknown) return true;
  return bytes.look() < 0;  // FrameReader reports that it is empty
}

std::unique_ptr<Source> open(const std::string& input, const VideoReaderOptions& options) {
  if (options.threads < 0)
    fail(ErrorCode::invalid_argument, "threads is ", options.threads, "; it should be 0 (all) or more");
  std::error_code error;
  const fs::file_status status = input == "-" ? fs::file_status() : fs::status(input, error);
  if (fs::is_directory(status)) return open_folder(input, options.gray);
  const bool there = fs::exists(status) || input == "-";
  if (!there && input.find("://") == input.npos && options.format.empty() && pattern_of(input))
    return open_pattern(input, options.gray);
  const bool is_address = !there && (input.find("://") != input.npos || !options.format.empty());
  if (is_address || fs::is_character_file(status)) return open_ffmpeg(input, nullptr, options);
  auto bytes = std::make_unique<io::ByteStream>(input);
  if (options.format.empty() && is_for_frame_reader(*bytes))
    return open_stream(std::move(bytes), options.gray);
  if (fs::is_regular_file(status)) bytes.reset();
  return open_ffmpeg(input, std::move(bytes), options);
}

}  // namespace
}  // namespace video

struct VideoReader::Impl {
  Impl(const std::string& input, const VideoReaderOptions& options)
      : name(input == "-" ? "standard input" : input) {
    io::naming(name, [&] {
      source = video::open(input, options);
      if (!read(first)) io::fail_format("holds no frame");
      has_first = true;
      info = source->info;
      info.size = first.frame.size();
    });
  }

  bool next(VideoFrame& frame) {
    if (std::exchange(has_first, false)) {
      std::swap(frame, first);
      first = {};
      return true;
    }
    return io::naming(name, [&] { return read(frame); });
  }

  bool read(VideoFrame& frame) {
    if (std::exchange(ended, true)) return false;
    try {
      if (!source->next(frame)) return false;
    } catch (const Error& error) {
      if (source->names_frames) throw;
      fail(error.code(), "frame ", count + 1, ": ", error.what());
    }
    const Size size = frame.frame.size();
    if (count > 0 && size != info.size)
      io::fail_format("frame ", count + 1, ": has ", size.width, "x", size.height, " pixels, those before ",
                      info.size.width, "x", info.size.height);
    frame.index = count++;
    ended = false;
    return true;
  }

  std::filesystem::path name;
  std::unique_ptr<video::Source> source;
  VideoInfo info;
  VideoFrame first;
  bool has_first = false, ended = false;
  std::int64_t count = 0;
};

VideoReader::VideoReader(const std::string& input, const VideoReaderOptions& options)
    : impl_(std::make_unique<Impl>(input, options)) {}
VideoReader::~VideoReader() = default;
VideoReader::VideoReader(VideoReader&&) noexcept = default;
VideoReader& VideoReader::operator=(VideoReader&&) noexcept = default;

const VideoInfo& VideoReader::info() const { return impl_->info; }
bool VideoReader::next(VideoFrame& frame) { return impl_->next(frame); }
std::optional<VideoFrame> VideoReader::next() {
  std::optional<VideoFrame> frame(std::in_place);
  if (!next(*frame)) frame.reset();
  return frame;
}

}  // namespace parafield
