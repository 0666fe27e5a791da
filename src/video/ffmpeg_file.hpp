// SPDX-License-Identifier: MIT
#pragma once
#include "io/file.hpp"
#include "video/ffmpeg_common.hpp"

namespace parafield::video {

/// A file that FFmpeg writes and that replaces the target at the end. It keeps disk space reserved for the
/// file's trailer, without which many formats cannot be read at all.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  AVIOContext* context() { return context_; }
  /// Makes sure that a file of `bytes` bytes, some of which FFmpeg may still buffer, can be written, followed
  /// by `for_end` bytes. Throws Error(file).
  void make_room(std::uint64_t bytes, std::uint64_t for_end);
  /// Throws Error(file) if a write has failed since the last call.
  void check();
  /// Gives the file its name. Throws like check().
  void take_place();

 private:
  static int send(void* file, std::uint8_t* bytes, int count);
  static std::int64_t seek(void* file, std::int64_t offset, int whence);

  io::NewFile file_;
  AVIOContext* context_ = nullptr;
  std::int64_t position_ = 0, size_ = 0, room_ = 0;
  int error_ = 0;  // errno; 0 = no error
};

}  // namespace parafield::video
