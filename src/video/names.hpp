// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Names of pictures: patterns, folders, and the order of files.
namespace parafield::video {

/// A printf pattern: the folder, the name's text before and after the number, and the printf format of the
/// number.
struct Pattern {
  std::filesystem::path folder;
  std::string before, number, after;

  std::filesystem::path file(std::int64_t number) const;
};

/// Parses a path as a pattern: its file name must contain exactly one %d, %4d or %04d. Returns nothing for a
/// name without %. Throws Error(invalid_argument) for any other use of %.
std::optional<Pattern> pattern_of(const std::filesystem::path& path);

/// The smallest and the largest number among the existing files. Throws Error(file) if there are none.
std::pair<std::int64_t, std::int64_t> numbers_of(const Pattern& pattern);

/// Whether the name has the extension of a readable picture format.
bool is_picture_name(const std::filesystem::path& path);

/// The pictures of a folder, by their extensions, in natural order. If their names differ in more than
/// numbers, they are the pictures of the only name that several have, and `note` says which others are left
/// out, or where the numbers have a gap. Throws Error(file) for a folder without pictures, and if several
/// names have several pictures.
std::vector<std::filesystem::path> pictures_in(const std::filesystem::path& folder, std::string& note);

/// Unusual properties of the order of pictures that were named one by one: numbers that do not ascend or have
/// a gap, or numbered pictures of several names. Empty if nothing is.
std::string note_of_order(const std::vector<std::string>& files);

/// Whether the path is a folder; false if that cannot be determined.
bool is_folder(const std::filesystem::path& path);

/// The extension in lower case, including its dot.
std::string extension_of(const std::filesystem::path& path);

}  // namespace parafield::video
