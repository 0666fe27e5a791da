// SPDX-License-Identifier: MIT
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

/// Shared by the tests: the folder of real sequences.
namespace parafield::test {

/// The folder of real sequences with ground truth, which is not part of the repository: $PARAFIELD_DATA,
/// otherwise ../shared/data next to the source tree. Empty if there is none.
inline std::optional<std::filesystem::path> data_folder() {
  const char* given = std::getenv("PARAFIELD_DATA");
  const std::filesystem::path folder = given && *given
                                           ? std::filesystem::path(given)
                                           : std::filesystem::path(PARAFIELD_SOURCE_DIR) / "../shared/data";
  std::error_code none;
  if (!std::filesystem::is_directory(folder, none)) return {};
  return folder;
}

/// A file or folder of the data folder, by its path there. Empty where it is missing.
inline std::optional<std::filesystem::path> find_data(const std::filesystem::path& path) {
  const auto folder = data_folder();
  std::error_code none;
  if (!folder || !std::filesystem::exists(*folder / path, none)) return {};
  return *folder / path;
}

}  // namespace parafield::test

/// Defines `name`, the path of `data` in the data folder, or skips the test and says what it misses:
///   PARAFIELD_DATA_OR_SKIP(clouds, "yosemite/clouds");
#define PARAFIELD_DATA_OR_SKIP(name, data)                                                                   \
  const auto name##_found = ::parafield::test::find_data(data);                                              \
  if (!name##_found)                                                                                         \
    GTEST_SKIP() << "skipped without " << (data) << " in the data folder; PARAFIELD_DATA names that folder"; \
  const std::filesystem::path name = *name##_found
