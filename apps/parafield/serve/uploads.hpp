// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "parafield/parafield.hpp"

/// Files that a request sends. They are bytes in memory: they have no name that the file system knows, and
/// nothing of them stays when the request ends.
namespace parafield::command {

/// Bytes as a file in memory, which the library's readers open by path().
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

/// A file of a request: the name that the page gave it, for messages only, and its content.
struct Upload {
  std::string name;
  std::string_view bytes;
};

/// Uploads that are checked: pictures or videos of formats that are read here, and of no more pixels than
/// allowed, as far as their headers say it.
class Uploads {
 public:
  /// Throws Error(format) for other files. `most_pixels`: of a frame.
  Uploads(const std::vector<Upload>& uploads, double most_pixels);

  std::vector<std::string> paths() const;
  std::size_t size() const { return files_.size(); }
  /// FFmpeg's name of a video's format; empty for pictures.
  const std::string& video_format(std::size_t i) const { return formats_[i]; }
  /// Throws Error(invalid_argument) for a frame of more pixels than allowed.
  void check_size(std::size_t i, Size size) const;

  /// Calls f(). In messages of errors the names of the uploads stand for those of their files.
  template <class F>
  auto naming_files(F f) const {
    try {
      return f();
    } catch (const Error& error) {
      throw Error(error.code(), with_names(error.what()));
    }
  }

 private:
  std::string with_names(std::string message) const;

  std::vector<std::string> names_, formats_;
  std::vector<MemoryFile> files_;
  double most_pixels_;
};

/// Width and height that the header of a PNG, JPEG or TIFF file says, the largest of several images. 0x0 if
/// it says none, or for files of other formats: in these no pixel takes less than a byte.
Size size_in_header(std::string_view bytes);

}  // namespace parafield::command
