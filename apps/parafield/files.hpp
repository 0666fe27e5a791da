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
  Path path;                                 ///< empty = not requested
  std::vector<std::string_view> extensions;  ///< empty = any
};

/// Readable formats of frames, for help texts.
inline constexpr std::string_view frame_formats =
    "PNG, JPEG, TIFF, BMP, WebP, EXR, PGM, PPM, PFM, .npy or Y4M";

/// Extensions of pictures, as a list and for help texts.
inline const std::vector<std::string_view> picture_extensions = {".png", ".jpg", ".jpeg", ".ppm"};
inline constexpr std::string_view picture_formats = ".png, .jpg or .ppm";

/// Extensions of files with a single frame.
inline const std::vector<std::string_view> frame_extensions = {".png", ".jpg",  ".jpeg", ".tif", ".tiff",
                                                               ".bmp", ".webp", ".exr",  ".pgm", ".ppm",
                                                               ".pnm", ".pfm",  ".npy"};

/// Extensions of videos.
inline const std::vector<std::string_view> video_extensions = {".mp4", ".mkv",  ".mov",
                                                               ".avi", ".webm", ".y4m"};

/// Returns whether the name has wildcards and is not an existing file.
bool has_wildcards(const std::string& name);

/// Replaces names with wildcards, which a shell has not expanded, by the files that they match, in natural
/// order. Throws Error(file) if a name matches none.
void expand_names(std::vector<std::string>& names);

/// Returns whether the name ends in the extension (".png"), in upper or lower case.
bool has_extension(const Path& path, std::string_view extension);
/// Returns whether the name ends in one of the extensions.
bool has_one_of(const Path& path, const std::vector<std::string_view>& extensions);

/// Throws UsageError if an extension cannot be written or two outputs have the same name, and Error(file) if
/// an output would replace an input, is a folder or is not in an existing folder.
void check_outputs(std::vector<Output> outputs, const std::vector<Path>& inputs);

/// Returns whether the file name is a pattern for a series: it contains %d, %4d or the like.
bool has_number(const Path& name);

/// Returns the pattern with the number filled in. The pattern must have exactly one %d, %4d or %04d.
Path numbered(const Path& pattern, int number);

/// Returns the name, with the number filled in unless it is 0. An empty name stays empty.
inline Path named(const std::string& name, int number) {
  return name.empty() || number == 0 ? Path(name) : numbered(name, number);
}
/// Fills the number into all patterns.
std::vector<Output> numbered(std::vector<Output> outputs, int number);
/// Returns whether a name is a pattern.
bool is_series(const std::vector<Output>& outputs);
/// Returns the names as the user gave them.
std::vector<std::string> names_of(const std::vector<Output>& outputs);

/// Like check_outputs, for patterns: checks the files with numbers 1 to `count`. Throws UsageError for a name
/// that is not a pattern.
void check_series(std::vector<Output> outputs, std::size_t count, const std::vector<Path>& inputs);

/// Returns the folder of a file.
Path folder_of(const Path& path);

/// Throws Error(invalid_argument) with both names and sizes if the sizes differ.
void check_same_size(const Path& a, Size size_a, const Path& b, Size size_b);

/// Calls f(). If it throws an Error, prefixes the message with the file's name.
template <class F>
auto naming(const std::string& file, F f) {
  try {
    return f();
  } catch (const Error& problem) {
    throw Error(problem.code(), file + ": " + problem.what());
  }
}

/// Returns read(file), or an empty result if the name is empty. Throws if the size differs from `size`, the
/// size of the file `other`.
template <class Read>
auto read_like(const std::string& file, const Path& other, Size size, Read read) -> decltype(read(file)) {
  if (file.empty()) return {};
  auto field = read(file);
  check_same_size(other, size, file, field.size());
  return field;
}

/// Writes a temporary file and renames it, so that no file is ever half written. Throws Error(file).
void write_text(const Path& path, const std::string& text);

/// Writes a series of files into a folder, which is made if it is missing. write(to) must write them into
/// `to`, a temporary folder on the same disk, from which they are then moved. If it throws, nothing is left
/// behind. If a target is a folder, a pipe or the like, this fails before any file is moved.
void write_series(const Path& folder, const std::function<void(const Path& to)>& write);

}  // namespace parafield::command
