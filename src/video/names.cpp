// SPDX-License-Identifier: MIT
#include "video/names.hpp"

#include <glob.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <map>
#include <new>
#include <string_view>
#include <system_error>

#include "io/file.hpp"
#include "parafield/video.hpp"

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

namespace {

/// The name with # for each number: all pictures of a sequence have the same.
std::string without_numbers(std::string_view name) {
  std::string kind;
  for (const char c : name)
    if (!is_digit(c))
      kind += c;
    else if (!kind.ends_with('#'))
      kind += '#';
  return kind;
}

/// How many of the names have which kind.
std::map<std::string, std::size_t> kinds_of(const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> kinds;
  for (const std::string& name : names) ++kinds[without_numbers(name)];
  return kinds;
}

/// The kinds that several names have: their number, all as text, and the most frequent one.
struct Sequences {
  std::size_t count = 0;
  std::string text, largest;
};
Sequences sequences_of(const std::map<std::string, std::size_t>& kinds) {
  constexpr std::size_t most = 4;
  Sequences all;
  for (const auto& [kind, count] : kinds) {
    if (count < 2) continue;
    if (++all.count == 1 || count > kinds.at(all.largest)) all.largest = kind;
    if (all.count <= most)
      all.text += text(all.count == 1 ? "" : ", ", io::shown(kind), " (", count, " files)");
  }
  if (all.count > most) all.text += " ...";
  return all;
}

/// The step from the number in a name to the number in the next one. Returns nothing if another or no number
/// changes, as in names with dates, or if only a clock's minutes or seconds begin anew: 1259, 1300.
std::optional<std::int64_t> step_between(std::string_view before, std::string_view after) {
  const auto numbers_in = [](std::string_view name) {
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < name.size();) {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(name.data() + i, name.data() + name.size(), number);
      const bool found = is_digit(name[i]) && error == std::errc{};
      if (found) numbers.push_back(number);
      i = found ? std::size_t(end - name.data()) : i + 1;
    }
    return numbers;
  };
  const std::vector<std::int64_t> from = numbers_in(before), to = numbers_in(after);
  std::optional<std::int64_t> step;
  for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
    if (from[i] == to[i]) continue;
    if (step || to[i] < from[i] || (to[i] % 100 == 0 && from[i] % 100 >= 30 && to[i] > from[i] + 1))
      return {};
    step = to[i] - from[i];
  }
  return from.size() == to.size() ? step : std::nullopt;
}

/// A note on the first gap in the numbers of names in order; empty if there is none, or no usual step.
std::string note_of_gap(const std::vector<std::string>& names) {
  std::map<std::int64_t, std::size_t> counts;
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (without_numbers(names[i - 1]) != without_numbers(names[i])) return {};
    if (const auto step = step_between(names[i - 1], names[i])) ++counts[*step];
  }
  const auto usual = std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  if (usual == counts.end() || 2 * usual->second <= names.size() - 1) return {};
  for (std::size_t i = 1; i < names.size(); ++i)
    if (const auto step = step_between(names[i - 1], names[i]); step && *step > usual->first)
      return text(io::shown(names[i]), " follows ", io::shown(names[i - 1]),
                  ": pictures may be missing there, because most numbers rise by ", usual->first,
                  "; the motion across the gap is larger");
  return {};
}

}  // namespace

std::vector<fs::path> pictures_in(const fs::path& folder, std::string& note) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : files_of(folder))
    if (is_picture_name(entry.path()) && !entry.path().filename().string().starts_with('.'))
      names.push_back(entry.path().filename().string());
  if (names.empty()) io::fail_reading("the folder holds no picture (.png, .jpg, .tif, .pgm, .ppm ...)");
  std::ranges::sort(names, comes_before);
  const auto kinds = kinds_of(names);
  const Sequences sequences = sequences_of(kinds);
  if (sequences.count > 1) {
    std::string choice = sequences.largest;
    std::ranges::replace(choice, '#', '*');
    io::fail_reading("the folder holds pictures of several sequences: ", sequences.text,
                     "; choose one by a name with wildcards in quotes, like '", io::shown(folder / choice),
                     "'");
  }
  if (sequences.count == 1 && kinds.size() > 1) {
    std::string left_out;
    const auto others = std::erase_if(names, [&](const std::string& name) {
      const bool other = without_numbers(name) != sequences.largest;
      if (other && left_out.empty()) left_out = io::shown(name);
      return other;
    });
    note = text("the frames are ", sequences.text, "; ", others, others == 1 ? " picture" : " pictures",
                " of another name ", others == 1 ? "is" : "are", " left out: ", left_out,
                others == 1 ? "" : " ...");
  }
  if (note.empty()) note = note_of_gap(names);
  std::vector<fs::path> pictures;
  for (const std::string& name : names) pictures.push_back(folder / name);
  return pictures;
}

std::string note_of_order(const std::vector<std::string>& files) {
  // Names without an extension, such as names of descriptors, say nothing about an order.
  if (std::ranges::any_of(files, [](const std::string& file) { return extension_of(file).empty(); }))
    return {};
  for (std::size_t i = 1; i < files.size(); ++i)
    if (const std::string& before = files[i - 1], &after = files[i];
        without_numbers(before) == without_numbers(after) && comes_before(after, before))
      return text(
          io::shown(after), " comes after ", io::shown(before),
          ": the files are taken in the order in which they are named, in which their numbers do not "
          "ascend; a folder, a pattern (%d) or a name with wildcards in quotes is taken in order of numbers");
  if (const Sequences sequences = sequences_of(kinds_of(files)); sequences.count > 1)
    return text("the files have names of several sequences, ", sequences.text, ", and are taken as one");
  return note_of_gap(files);
}

}  // namespace parafield::video

namespace parafield {

std::vector<std::string> expand_wildcards(const std::string& input) {
  std::error_code error;
  if (input.find_first_of("*?[") == input.npos || input.find("://") != input.npos ||
      std::filesystem::exists(input, error))
    return {input};
  struct Matches : glob_t {
    ~Matches() { ::globfree(this); }
  } matches = {};
  const int failed = ::glob(input.c_str(), GLOB_NOSORT, nullptr, &matches);
  if (failed == GLOB_NOSPACE) throw std::bad_alloc();
  if (failed != 0) fail(ErrorCode::file, io::shown(input), ": cannot be read: no file has a name like this");
  std::vector<std::string> files(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  std::ranges::sort(files, video::comes_before);
  return files;
}

}  // namespace parafield
