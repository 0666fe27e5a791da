// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Names of pictures in series.
namespace parafield::video {

/// A printf pattern: a folder, the name's text before and after the number, and how printf writes the number.
struct Pattern {
  std::filesystem::path folder;
  std::string before, number, after;

  std::filesystem::path file(std::int64_t number) const;
};

/// The pattern that a path is: its file name has one %d, %4d or %04d. Nothing for a name without %. Throws
/// Error(invalid_argument) for one with another %.
std::optional<Pattern> pattern_of(const std::filesystem::path& path);

/// The smallest and the largest number of the files that are there. Throws Error(file) if there are none.
std::pair<std::int64_t, std::int64_t> numbers_of(const Pattern& pattern);

/// The files of a folder with the extension of a picture that is read, in order. Throws Error(file).
std::vector<std::filesystem::path> pictures_in(const std::filesystem::path& folder);

/// Whether it is a folder. False, too, for what cannot be looked at.
bool is_folder(const std::filesystem::path& path);

/// The extension, in lower case, with its point.
std::string extension_of(const std::filesystem::path& path);

}  // namespace parafield::video
