// SPDX-License-Identifier: MIT
// Tracks as text, with x,y,u,v in each line.
#include <algorithm>
#include <cmath>

#include "io/formats.hpp"
#include "parafield/io.hpp"

namespace parafield {
namespace io {
namespace {

constexpr std::string_view names[] = {"x", "y", "u", "v"};
constexpr std::size_t values = std::size(names);

constexpr std::string_view blanks = " \t\r", blanks_and_separators = " \t\r,;";

std::string_view after_blanks(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(blanks), line.size()));
}

std::string_view trimmed(std::string_view line) {
  line = after_blanks(line.substr(0, line.find('#')));
  return line.substr(0, line.find_last_not_of(blanks) + 1);
}

/// The fields of a line that is not empty, at most one more than expected.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (fields.size() <= values) {
    const std::size_t end = std::min(line.find_first_of(blanks_and_separators), line.size());
    fields.push_back(line.substr(0, end));
    line = after_blanks(line.substr(end));
    if (line.empty()) break;
    if (line.front() == ',' || line.front() == ';') line = after_blanks(line.substr(1));
  }
  return fields;
}

Track track_of(std::span<const std::string_view> fields, std::string_view line, std::size_t number) {
  if (fields.size() != values)
    fail_format("line ", number, " has ", fields.size() > values ? "more than " : "",
                std::min(fields.size(), values), " value", fields.size() == 1 ? "" : "s",
                ", not the four x, y, u and v: ", detail::quoted(line));
  float value[values];
  for (std::size_t i = 0; i < values; ++i) {
    if (read_number(fields[i], value[i])) continue;
    double wide;  // for a value outside the range of a float
    if (!read_number(fields[i], wide))
      fail_format("line ", number, ": ", names[i], " is not a number: ", detail::quoted(fields[i]));
    value[i] = float(wide);
  }
  return {value[0], value[1], value[2], value[3]};
}

}  // namespace

std::vector<Track> decode_tracks(ByteSpan bytes) {
  std::string_view rest = plain_text(bytes);
  std::vector<Track> tracks;
  bool is_first = true;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = trimmed(next_line(rest));
    if (line.empty()) continue;
    const auto fields = fields_of(line);
    if (!is_first || !std::ranges::equal(fields, names)) tracks.push_back(track_of(fields, line, number));
    is_first = false;
  }
  return tracks;
}

Bytes encode_tracks(std::span<const Track> tracks) {
  std::string text = "x,y,u,v\n";
  // Always "nan", never "-nan".
  const auto said = [](float value) { return detail::text_of(std::isnan(value) ? std::abs(value) : value); };
  for (const auto& [x, y, u, v] : tracks)
    text += said(x) + ',' + said(y) + ',' + said(u) + ',' + said(v) + '\n';
  return {text.begin(), text.end()};
}

}  // namespace io

std::vector<Track> read_tracks(const std::filesystem::path& path) {
  return io::naming(path, [&] {
    io::plain_text(io::read_file(path, 4096));  // refuses other files before they are read, which may be huge
    return io::decode_tracks(io::read_file(path));
  });
}

void write_tracks(const std::filesystem::path& path, std::span<const Track> tracks) {
  io::naming(path, [&] { io::write_file(path, io::encode_tracks(tracks)); });
}

}  // namespace parafield
