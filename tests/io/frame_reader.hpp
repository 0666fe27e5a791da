// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "io/frames.hpp"

namespace parafield {

/// Reads the frames of a file one after the other. Errors name it.
class FrameReader {
 public:
  explicit FrameReader(const std::filesystem::path& path, const io::NetcdfChoice& choice = {})
      : name_(path == "-" ? "standard input" : path),
        bytes_(io::naming(name_, [&] { return io::ByteStream(path); })),
        frames_(bytes_, choice) {}

  std::optional<FrameBuffer> next() {
    return io::naming(name_, [&] { return frames_.next(); });
  }

 private:
  const std::filesystem::path name_;
  io::ByteStream bytes_;
  io::FrameStream frames_;
};

}  // namespace parafield
