// SPDX-License-Identifier: MIT
#pragma once
#include "io/file.hpp"
#include "video/ffmpeg_common.hpp"

namespace parafield::video {

/// A file that FFmpeg writes, which takes its place at the end. Room for that end, which many formats need to
/// be read at all, is kept free on the disk.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  AVIOContext* context() { return context_; }
  /// Makes sure that a file of so many bytes, some of which FFmpeg may still hold, can be written, and
  /// `for_end` bytes after them. Throws Error(file).
  void make_room(std::uint64_t bytes, std::uint64_t for_end);
  /// Throws Error(file) if something could not be written since the last call.
  void check();
  /// Gives the file its name, and throws what check() throws.
  void take_place();

 private:
  static int send(void* file, std::uint8_t* bytes, int count);
  static std::int64_t seek(void* file, std::int64_t offset, int whence);

  io::NewFile file_;
  AVIOContext* context_ = nullptr;
  std::int64_t position_ = 0, size_ = 0, room_ = 0;
  int error_ = 0;  // the system's number
};

}  // namespace parafield::video
