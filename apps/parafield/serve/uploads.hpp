// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "parafield/parafield.hpp"

/// Files that a request sends. They exist only in memory: they have no name in the file system, and vanish
/// when the request ends.
namespace parafield::command {

/// Formats of pictures that are accepted, for messages: as for the other commands, except EXR, whose library
/// has no limit of the memory it takes for a damaged file.
inline constexpr std::string_view served_formats = "PNG, JPEG, TIFF, BMP, WebP, PGM, PPM, PFM, .npy or Y4M";

/// A file in memory, which the library's readers can open by path().
class MemoryFile {
 public:
  /// Copies the bytes. Throws Error(memory).
  explicit MemoryFile(std::string_view bytes);
  ~MemoryFile();
  MemoryFile(MemoryFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  MemoryFile& operator=(MemoryFile&&) = delete;

  std::string path() const;

 private:
  int descriptor_;
};

/// A file of a request: the name that the page gave it, which is used only in messages, and its content.
struct Upload {
  std::string name;
  std::string_view bytes;
};

/// Uploads after a check: pictures or videos of accepted formats, with at most the allowed number of pixels
/// as far as their headers tell.
class Uploads {
 public:
  /// Throws Error(format) for other files. `most_pixels` is the limit for a frame.
  Uploads(const std::vector<Upload>& uploads, double most_pixels);

  std::vector<std::string> paths() const;
  std::size_t size() const { return files_.size(); }
  /// FFmpeg's name of a video's format; empty for pictures.
  const std::string& video_format(std::size_t i) const { return formats_[i]; }
  /// Throws Error(invalid_argument) if a frame has more pixels than allowed.
  void check_size(std::size_t i, Size size) const;

  /// Returns the message with the names of the uploads in the place of the memory files' paths.
  std::string with_names(std::string message) const;
  /// Calls f(). In error messages, replaces the paths of the memory files by the names of the uploads.
  template <class F>
  auto naming_files(F f) const {
    try {
      return f();
    } catch (const Error& error) {
      throw Error(error.code(), with_names(error.what()));
    }
  }

 private:
  std::vector<std::string> names_, formats_;
  std::vector<MemoryFile> files_;
  double most_pixels_;
};

}  // namespace parafield::command
