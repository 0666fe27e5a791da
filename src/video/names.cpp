// SPDX-License-Identifier: MIT
#include "video/names.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <system_error>

#include "io/file.hpp"

namespace parafield::video {
namespace fs = std::filesystem;
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The files of a folder.
fs::directory_iterator files_of(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator files(folder.empty() ? "." : folder, error);
  if (error) io::fail_reading("the folder ", io::shown(folder.empty() ? "." : folder), ": ", error.message());
  return files;
}

/// Natural order: whether a comes before b if consecutive digits are compared as a number.
bool comes_before(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  const auto digits = [](std::string_view& text) {
    std::string_view number =
        text.substr(0, std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
    text.remove_prefix(number.size());
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    return number;
  };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const std::string_view m = digits(a), n = digits(b);
      if (m != n) return m.size() != n.size() ? m.size() < n.size() : m < n;
    } else if (a[0] != b[0]) {
      return a[0] < b[0];
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() && b.empty() ? whole_a < whole_b : a.empty();
}

}  // namespace

fs::path Pattern::file(std::int64_t at) const {
  char digits[32];
  std::snprintf(digits, sizeof digits, number.c_str(), static_cast<long long>(at));
  return folder / (before + digits + after);
}

std::optional<Pattern> pattern_of(const fs::path& path) {
  const std::string name = path.filename().string();
  Pattern pattern{path.parent_path(), "", "", ""};
  for (std::size_t i = 0; i < name.size(); ++i) {
    std::string& part = pattern.number.empty() ? pattern.before : pattern.after;
    if (name[i] != '%') {
      part += name[i];
    } else if (i + 1 < name.size() && name[i + 1] == '%') {
      part += name[++i];
    } else {
      const std::size_t digits = i + 1;
      while (++i < name.size() && is_digit(name[i])) {
      }
      if (i == name.size() || name[i] != 'd' || i - digits > 2 || !pattern.number.empty())
        fail(ErrorCode::invalid_argument, "a pattern has one place of a number, like name%04d",
             extension_of(path), "; %% stands for a percent sign");
      pattern.number = text('%', name.substr(digits, i - digits), "lld");
    }
  }
  if (!pattern.number.empty()) return pattern;
  if (name.find('%') == name.npos) return {};
  fail(ErrorCode::invalid_argument, "the pattern has no place of a number, like name%04d",
       extension_of(path));
}

std::pair<std::int64_t, std::int64_t> numbers_of(const Pattern& pattern) {
  std::optional<std::pair<std::int64_t, std::int64_t>> range;
  for (const fs::directory_entry& entry : files_of(pattern.folder)) {
    const std::string name = entry.path().filename().string();
    if (name.size() <= pattern.before.size() + pattern.after.size() || !name.starts_with(pattern.before) ||
        !name.ends_with(pattern.after))
      continue;
    const char *first = name.data() + pattern.before.size(),
               *last = name.data() + name.size() - pattern.after.size();
    while (first != last && *first == ' ') ++first;  // %4d pads with spaces
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(first, last, number);
    if (error != std::errc{} || end != last || number < 0 || pattern.file(number).filename() != name)
      continue;
    if (!range) range = {number, number};
    range = {std::min(range->first, number), std::max(range->second, number)};
  }
  if (!range) io::fail_reading("no file has a name of this pattern");
  return *range;
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::string extension_of(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return extension;
}

bool is_picture_name(const fs::path& path) {
  static constexpr std::string_view extensions[] = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".pgm", ".ppm",
                                                    ".pnm", ".pfm", ".npy",  ".bmp", ".webp", ".exr"};
  return std::ranges::find(extensions, extension_of(path)) != std::end(extensions);
}

std::vector<fs::path> pictures_in(const fs::path& folder) {
  std::vector<fs::path> pictures;
  for (const fs::directory_entry& entry : files_of(folder))
    if (is_picture_name(entry.path()) && !entry.path().filename().string().starts_with('.'))
      pictures.push_back(entry.path());
  if (pictures.empty()) io::fail_reading("the folder holds no picture (.png, .jpg, .tif, .pgm, .ppm ...)");
  std::ranges::sort(pictures, comes_before, [](const fs::path& path) { return path.filename().string(); });
  return pictures;
}

}  // namespace parafield::video
