// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "parafield/parafield.hpp"

/// Checks of file names before anything is written, and writing of whole series.
namespace parafield::command {

using Path = std::filesystem::path;

struct Output {
  std::string option;                        ///< "-o"
  Path path;                                 ///< empty = not asked for
  std::vector<std::string_view> extensions;  ///< empty = any
};

/// Formats of frames that are read, for help.
inline constexpr std::string_view frame_formats = "PNG, JPEG, TIFF, PGM, PPM, PFM, .npy or Y4M";

/// Extensions of pictures, and the same for help.
inline const std::vector<std::string_view> picture_extensions = {".png", ".jpg", ".jpeg", ".ppm"};
inline constexpr std::string_view picture_formats = ".png, .jpg or .ppm";

/// Extensions of videos.
inline const std::vector<std::string_view> video_extensions = {".mp4", ".mkv",  ".mov",
                                                               ".avi", ".webm", ".y4m"};

/// Whether the name ends in the extension (".png"), in upper or lower case.
bool has_extension(const Path& path, std::string_view extension);
/// Whether it ends in one of them.
bool has_one_of(const Path& path, const std::vector<std::string_view>& extensions);

/// Throws UsageError for an extension that cannot be written or two outputs of one name, and Error(file) for
/// an output that would replace an input, is a folder or lies in none.
void check_outputs(std::vector<Output> outputs, const std::vector<Path>& inputs);

/// Whether the name of a file is meant as that of a series: it has a %d, %4d or the like.
bool has_number(const Path& name);

/// The pattern with the number in its place. The pattern has one %d, %4d or %04d.
Path numbered(const Path& pattern, int number);

/// Like check_outputs, for patterns: checks the files with numbers 1 to `count`. Throws UsageError for a name
/// that is no pattern.
void check_series(std::vector<Output> outputs, std::size_t count, const std::vector<Path>& inputs);

/// Folder of a file.
Path folder_of(const Path& path);

/// Throws Error(invalid_argument) with both names and sizes if the sizes differ.
void check_same_size(const Path& a, Size size_a, const Path& b, Size size_b);

/// Calls f. If it throws an Error, the name of the file is put before the message.
template <class F>
auto naming(const std::string& file, F f) {
  try {
    return f();
  } catch (const Error& problem) {
    throw Error(problem.code(), file + ": " + problem.what());
  }
}

/// read(file); no name gives nothing. Throws if its size is not that of the file `other`.
template <class Read>
auto read_like(const std::string& file, const Path& other, Size size, Read read) -> decltype(read(file)) {
  if (file.empty()) return {};
  auto field = read(file);
  check_same_size(other, size, file, field.size());
  return field;
}

/// Writes a temporary file and renames it, so that no file is half written. Throws Error(file).
void write_text(const Path& path, const std::string& text);

/// Writes a series of files into a folder, which is made if it is missing. write(to) writes them into a
/// temporary folder on the same disk; then they are moved. If it throws, nothing is left behind. A file is not
/// moved over a folder, a pipe or the like: that is an error before any is moved.
void write_series(const Path& folder, const std::function<void(const Path& to)>& write);

}  // namespace parafield::command
