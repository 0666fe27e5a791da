// SPDX-License-Identifier: MIT
// Tracks as text, with x,y,u,v in each line, or with columns that the first line names.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "io/formats.hpp"
#include "parafield/io.hpp"

namespace parafield {
namespace io {
namespace {

constexpr std::string_view names[] = {"x", "y", "u", "v"};
constexpr std::size_t values = std::size(names);

constexpr std::string_view track_blanks = " \t\r", blanks_and_separators = " \t\r,;";

std::string_view after_blanks(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(track_blanks), line.size()));
}

std::string_view trimmed(std::string_view line) {
  line = after_blanks(line.substr(0, line.find('#')));
  return line.substr(0, line.find_last_not_of(track_blanks) + 1);
}

/// The fields of a line that is not empty, at most `most`.
std::vector<std::string_view> fields_of(std::string_view line, std::size_t most) {
  std::vector<std::string_view> fields;
  while (fields.size() < most) {
    const std::size_t end = std::min(line.find_first_of(blanks_and_separators), line.size());
    fields.push_back(line.substr(0, end));
    line = after_blanks(line.substr(end));
    if (line.empty()) break;
    if (line.front() == ',' || line.front() == ';') line = after_blanks(line.substr(1));
  }
  return fields;
}

/// The columns of a file: how many, and where x, y, u and v are.
struct Columns {
  std::size_t count = values;
  std::array<std::size_t, values> places = {0, 1, 2, 3};
};

/// A name without quotes, in lower case.
std::string plain_name(std::string_view field) {
  std::string name;
  for (const char c : field)
    if (c != '"') name += char(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

constexpr std::size_t most_columns = 256;

/// Whether the line has no number.
bool has_words_only(std::string_view line) {
  double value;
  return std::ranges::none_of(fields_of(line, most_columns),
                              [&](std::string_view field) { return read_number(field, value); });
}

/// The columns that a line names. Throws Error(format) unless it names x, y, u and v once each.
Columns columns_of(std::string_view line, std::size_t number) {
  std::vector<std::string> found;
  for (const std::string_view field : fields_of(line, most_columns)) found.push_back(plain_name(field));
  Columns columns{found.size(), {}};
  for (std::size_t i = 0; i < values; ++i) {
    const auto place = std::ranges::find(found, names[i]);
    if (std::ranges::count(found, names[i]) != 1)
      fail_format("line ", number, place == found.end() ? " names no column " : " names two columns ",
                  names[i], "; it should name x, y, u and v: ", detail::quoted(line));
    columns.places[i] = std::size_t(place - found.begin());
  }
  return columns;
}

/// The columns that a comment before the first track names, as NumPy writes them.
std::optional<Columns> columns_of_comment(std::string_view line) {
  line = after_blanks(line);
  if (!line.starts_with('#') || !has_words_only(line = trimmed(line.substr(1))) || line.empty()) return {};
  try {
    return columns_of(line, 0);
  } catch (const Error&) {  // any other comment
    return {};
  }
}

Track track_of(std::string_view line, const Columns& columns, std::size_t number) {
  const auto fields = fields_of(line, columns.count + 1);
  if (fields.size() != columns.count)
    fail_format("line ", number, " has ", fields.size() > columns.count ? "more than " : "",
                std::min(fields.size(), columns.count), " value", fields.size() == 1 ? "" : "s",
                columns.count == values ? ", not the four x, y, u and v: "
                                        : text(", not the ", columns.count, " that the first line names: "),
                detail::quoted(line));
  float value[values];
  for (std::size_t i = 0; i < values; ++i) {
    const std::string_view field = fields[columns.places[i]];
    if (read_number(field, value[i])) continue;
    double wide;  // for a value outside the range of a float
    if (!read_number(field, wide))
      fail_format("line ", number, ": ", names[i], " is not a number: ", detail::quoted(field));
    value[i] = float(wide);
  }
  return {value[0], value[1], value[2], value[3]};
}

}  // namespace

std::vector<Track> decode_tracks(ByteSpan bytes) {
  std::string_view rest = plain_text(bytes);
  std::vector<Track> tracks;
  Columns columns;
  bool is_first = true;
  std::optional<Columns> commented;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::string_view whole = next_line(rest), line = trimmed(whole);
    if (is_first && !commented) commented = columns_of_comment(whole);
    if (line.empty()) continue;
    if (std::exchange(is_first, false)) {
      if (has_words_only(line)) {
        columns = columns_of(line, number);
        continue;
      }
      if (commented && fields_of(line, most_columns).size() == commented->count) columns = *commented;
    }
    tracks.push_back(track_of(line, columns, number));
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
