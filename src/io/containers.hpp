// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/fail.hpp"

/// The structure of video files, for missing_part.
namespace parafield::io {

/// The bytes of a file.
class FileBytes {
 public:
  explicit FileBytes(const std::filesystem::path& path) : file_(path, std::ios::binary) {
    std::error_code error;
    size = std::filesystem::file_size(path, error);
    if (error) size = 0;
  }

  /// Returns `count` bytes from `at` on, fewer at the end.
  std::string read(std::uint64_t at, std::size_t count) {
    constexpr std::size_t page = 4096;
    if (at >= size) return {};
    if (at < window_at_ || at + count > window_at_ + window_.size()) {
      window_.resize(std::size_t(std::min<std::uint64_t>(std::max(count, page), size - at)));
      window_at_ = at;
      file_.clear();
      file_.seekg(std::streamoff(at));
      file_.read(window_.data(), std::streamsize(window_.size()));
      window_.resize(std::size_t(file_.gcount()));
    }
    return window_.substr(std::size_t(at - window_at_), count);
  }
  /// Returns the number in `count` bytes from `at` on.
  std::uint64_t number(std::uint64_t at, int count, std::endian order = std::endian::big) {
    std::string bytes = read(at, std::size_t(count));
    if (order == std::endian::little) std::ranges::reverse(bytes);
    std::uint64_t value = 0;
    for (const char byte : bytes) value = value << 8 | std::uint8_t(byte);
    return value;
  }

  std::uint64_t size = 0;

 private:
  std::ifstream file_;
  std::string window_;  // the bytes read last, from window_at_ on
  std::uint64_t window_at_ = 0;
};

/// `part`: " inside its index" or the like.
inline std::string cut(const FileBytes& file, std::uint64_t end, const char* part = "") {
  return text("the file was cut off: it ends at byte ", file.size, " of ", end, part);
}
inline std::string cut(const FileBytes& file) {
  return text("the file was cut off: it ends at byte ", file.size);
}

inline std::string damaged(std::uint64_t at) { return text("it is damaged at byte ", at); }

/// Names what is missing in an Ogg, GIF, FLV, ASF, MXF, IVF or MPEG file that begins with `start`. Empty if
/// nothing is, and for other formats.
std::string missing_of_packets(FileBytes& file, std::string_view start);

}  // namespace parafield::io
