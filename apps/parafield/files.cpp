// SPDX-License-Identifier: MIT
#include "files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <system_error>

#include "interrupt.hpp"
#include "options.hpp"
#include "parafield/video.hpp"

namespace parafield::command {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail_file(const Path& path, const std::string& why) {
  throw Error(ErrorCode::file, path.string() + ": " + why);
}

/// Returns the absolute path with links resolved, also of a file that does not exist yet.
Path resolved(const Path& path) {
  std::error_code error;
  const Path real = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path : real;
}

bool same_file(const Path& a, const Path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) || resolved(a) == resolved(b);
}

bool not_asked_for(const Output& output) { return output.path.empty(); }

/// Follows links and returns the file that a new one would replace. Throws Error(file) if the path is
/// invalid, or is a folder, a pipe or a file without write permission.
Path checked_target(const Path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none) fail_file(path, "cannot be written: " + error.message());
  if (fs::is_directory(status)) fail_file(path, "cannot be written: it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status))
    fail_file(path, "cannot be written: it is not a regular file, and a file is replaced whole");
  if (fs::exists(status) && access(path.c_str(), W_OK) != 0)
    fail_file(path, fmt::format("cannot be written: {}", std::strerror(errno)));
  if (!fs::is_symlink(path, error)) return path;
  const Path target = fs::canonical(path, error);
  if (error) fail_file(path, "cannot be written: the link leads nowhere");
  return target;
}

/// Folders that the destructor removes: the temporary one, and those in `made` unless that list is cleared.
struct Unfinished {
  Path beside;
  std::vector<Path> made = {};  // folders made for this series, deepest first

  ~Unfinished() {
    std::error_code ignored;
    fs::remove_all(beside, ignored);
    for (const Path& path : made) fs::remove(path, ignored);
  }
};

/// A printf pattern: the text before and after the number, and the width of the number.
struct Pattern {
  std::string before, width, after;
};

std::optional<Pattern> pattern_of(const std::string& name) {
  static const std::regex one_number("([^%]*)%(0?[1-9])?d([^%]*)");
  std::smatch parts;
  if (!std::regex_match(name, parts, one_number)) return {};
  return Pattern{parts[1], parts[2], parts[3]};
}

/// Returns how many number placeholders the text has, including invalid ones.
std::ptrdiff_t places_in(const std::string& text) {
  static const std::regex number("%[0-9]*d");
  return std::distance(std::sregex_iterator(text.begin(), text.end(), number), {});
}

/// Throws UsageError if the name is not a valid pattern.
void check_pattern(const Output& output) {
  const std::string name = output.path.filename().string();
  if (pattern_of(name)) return;
  const auto places = places_in(name);
  std::string problem = "the name of a series needs the place of a number";
  if (places > 1)
    problem = fmt::format("the name of a series has one place of a number, not {}", places);
  else if (places == 1)
    problem = "the number of a series is %d, or %1d to %09d, and the name has no other %";
  else if (places_in(output.path.string()) > 0)
    problem = "the name of the file needs the place of a number, not that of its folder";
  throw UsageError(fmt::format("{} {}: {}, like name%04d{}", output.option, output.path.string(), problem,
                               output.path.extension().string()));
}

void check_extension(const Output& output) {
  if (!output.extensions.empty() && !has_one_of(output.path, output.extensions))
    throw UsageError(fmt::format("{} {}: the name should end in {}", output.option, output.path.string(),
                                 fmt::join(output.extensions, " or ")));
}

}  // namespace

Path folder_of(const Path& path) { return path.has_parent_path() ? path.parent_path() : Path("."); }

bool has_extension(const Path& path, std::string_view extension) {
  const auto lower = [](unsigned char c) { return char(std::tolower(c)); };
  return std::ranges::equal(path.extension().string(), extension, {}, lower);
}
bool has_one_of(const Path& path, const std::vector<std::string_view>& extensions) {
  return std::ranges::any_of(extensions,
                             [&](std::string_view extension) { return has_extension(path, extension); });
}

bool has_wildcards(const std::string& name) {
  std::error_code error;
  return name.find_first_of("*?[") != name.npos && !fs::exists(name, error);
}

void expand_names(std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names)
    for (std::string& file : expand_wildcards(name)) all.push_back(std::move(file));
  names = std::move(all);
}

void check_outputs(std::vector<Output> outputs, const std::vector<Path>& inputs) {
  std::erase_if(outputs, not_asked_for);
  for (const Output& each : outputs) {
    check_extension(each);
    if (has_number(each.path))
      throw UsageError(
          fmt::format("{} {}: names a series of files, but one is written", each.option, each.path.string()));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (same_file(outputs[i].path, outputs[j].path))
        throw UsageError(fmt::format("{} and {} name the same file, {}", outputs[j].option, outputs[i].option,
                                     outputs[i].path.string()));
  for (const auto& [option, path, extensions] : outputs) {
    checked_target(path);
    for (const Path& input : inputs)
      if (!input.empty() && same_file(path, input))
        fail_file(path, "is an input; " + option + " would replace it");
    const Path folder = folder_of(path);
    std::error_code error;
    if (!fs::is_directory(folder, error))
      fail_file(path, "cannot be written: there is no folder " + folder.string());
    if (access(folder.c_str(), W_OK) != 0)
      fail_file(path, fmt::format("cannot be written into {}: {}", folder.string(), std::strerror(errno)));
  }
}

bool has_number(const Path& name) { return places_in(name.filename().string()) > 0; }

Path numbered(const Path& pattern, int number) {
  const auto [before, width, after] = pattern_of(pattern.filename().string()).value();
  const std::string digits = fmt::format(fmt::runtime("{:" + width + "}"), number);
  return pattern.parent_path() / (before + digits + after);
}

std::vector<Output> numbered(std::vector<Output> outputs, int number) {
  for (Output& output : outputs) output.path = named(output.path.string(), number);
  return outputs;
}

bool is_series(const std::vector<Output>& outputs) {
  return std::ranges::any_of(outputs, [](const Output& output) { return has_number(output.path); });
}

std::vector<std::string> names_of(const std::vector<Output>& outputs) {
  std::vector<std::string> names;
  for (const Output& output : outputs) names.push_back(output.path.string());
  return names;
}

void check_series(std::vector<Output> outputs, std::size_t count, const std::vector<Path>& inputs) {
  std::erase_if(outputs, not_asked_for);
  for (const Output& each : outputs) {
    check_extension(each);
    check_pattern(each);
  }
  check_outputs(numbered(outputs, 1), inputs);
  std::set<Path> taken;
  for (const Path& input : inputs)
    if (!input.empty()) taken.insert(resolved(input));
  for (const auto& [option, path, extensions] : outputs)
    for (std::size_t i = 1; i <= count; ++i) {
      const Path file = numbered(path, int(i));
      checked_target(file);
      if (!taken.insert(resolved(file)).second)
        fail_file(file, "is an input or another output; " + option + " would replace it");
    }
}

void check_same_size(const Path& a, Size size_a, const Path& b, Size size_b) {
  if (size_a == size_b) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("sizes differ: {} is {}x{}, {} is {}x{}", a.string(), size_a.width, size_a.height,
                          b.string(), size_b.width, size_b.height));
}

void write_text(const Path& path, const std::string& text) {
  const WhileWriting whole;
  const Path target = checked_target(path),
             beside = folder_of(target) / fmt::format(".parafield.{}.part", getpid());
  std::ofstream file(beside, std::ios::binary);
  file << text;
  file.close();
  if (file && std::rename(beside.c_str(), target.c_str()) == 0) return;
  const int problem = errno;
  std::remove(beside.c_str());
  fail_file(path, fmt::format("cannot be written: {}", std::strerror(problem)));
}

void write_series(const Path& folder, const std::function<void(const Path& to)>& write) {
  const WhileWriting whole;
  static int count = 0;  // several series may be written at the same time
  Unfinished series{folder / fmt::format(".parafield.{}.{}", getpid(), ++count)};
  try {
    for (Path missing = fs::absolute(folder).lexically_normal(); !fs::exists(missing);
         missing = missing.parent_path()) {
      if (fs::is_symlink(missing)) fail_file(missing, "cannot be written: the link leads nowhere");
      series.made.push_back(missing);
    }
    fs::create_directories(series.beside);
    write(series.beside);
    std::map<Path, Path> moves;
    for (const auto& entry : fs::directory_iterator(series.beside))
      moves[entry.path()] = checked_target(folder / entry.path().filename());
    for (const auto& [from, to] : moves) fs::rename(from, to);
    series.made.clear();
  } catch (const Error& problem) {  // the message names a temporary file
    std::string message = problem.what();
    if (const auto at = message.find(series.beside.string()); at != std::string::npos)
      message.replace(at, series.beside.string().size(), folder.string());
    throw Error(problem.code(), message);
  } catch (const fs::filesystem_error& problem) {
    fail_file(folder, "cannot be written: " + problem.code().message());
  }
}

}  // namespace parafield::command
