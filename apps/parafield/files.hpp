#pragma once
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "parafield/parafield.hpp"

/// What the commands check about files before anything is written, and how a series of files is written.
namespace parafield::command {

using Path = std::filesystem::path;

struct Output {
  std::string option;                        ///< "-o"
  Path path;                                 ///< empty = not asked for
  std::vector<std::string_view> extensions;  ///< empty = any
};

/// Whether the name ends in that extension, ".png", in letters of any size.
bool has_extension(const Path& path, std::string_view extension);

/// Throws UsageError for an extension that is not written or two outputs of one name, Error(file) for an
/// output that replaced an input, lies in no folder or is one.
void check_outputs(const std::vector<Output>& outputs, const std::vector<Path>& inputs);

/// Whether a file's name is a printf pattern of a series' numbers: has one %d, %4d or %04d.
bool has_number(const Path& pattern);

/// The pattern with that number in its place.
Path numbered(const Path& pattern, int number);

/// As check_outputs, of patterns: of the files with numbers 1 to `count`.
void check_series(const std::vector<Output>& outputs, std::size_t count, const std::vector<Path>& inputs);

/// The folder that a file of this name lies in.
Path folder_of(const Path& path);

bool same_file(const Path& a, const Path& b);

/// Throws Error(invalid_argument) with both names and sizes where they differ.
void check_same_size(const Path& a, Size size_a, const Path& b, Size size_b);

/// Frames of one size. Throws like read_frame, and where sizes differ.
std::vector<FrameBuffer> read_frames(const std::vector<std::string>& files);

/// Writes text beside and renames: never half a file. Throws Error(file).
void write_text(const Path& path, const std::string& text);

/// Files of one series, all in one folder (made where it is missing): `write(to)` writes them into the folder
/// `to`, on the same disk; then they are moved into place. Leaves nothing behind where it throws.
void write_series(const Path& folder, const std::function<void(const Path& to)>& write);

}  // namespace parafield::command
