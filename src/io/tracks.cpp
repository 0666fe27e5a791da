// Tracks as text: x,y,u,v in each line.
#include <charconv>
#include <cmath>
#include <string_view>

#include "core/fail.hpp"
#include "io/formats.hpp"
#include "parafield/io.hpp"

namespace parafield {
namespace io {
namespace {

constexpr std::string_view names[] = {"x", "y", "u", "v"};
constexpr std::size_t values = std::size(names);

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_separator(char c) { return c == ',' || c == ';'; }

std::string_view trimmed(std::string_view line) {
  line = line.substr(0, line.find('#'));
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

/// The text as messages show it: short and in one line.
std::string quoted(std::string_view what) {
  constexpr std::size_t most = 40;
  std::string said = "'";
  for (const char c : what.substr(0, most)) said += c < 32 || c == 127 ? '?' : c;
  return said + (what.size() > most ? "...'" : "'");
}

/// The words of a line that is not empty, at most one more than expected.
struct Fields {
  std::string_view word[values + 1];
  std::size_t count = 0;
};

Fields fields_of(std::string_view line) {
  Fields fields;
  while (fields.count <= values) {
    std::size_t end = 0;
    while (end < line.size() && !is_blank(line[end]) && !is_separator(line[end])) ++end;
    fields.word[fields.count++] = line.substr(0, end);
    while (end < line.size() && is_blank(line[end])) ++end;
    if (end == line.size()) break;
    const bool separated = is_separator(line[end]);
    line.remove_prefix(separated ? end + 1 : end);
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  }
  return fields;
}

bool is_header(const Fields& fields) {
  if (fields.count != values) return false;
  for (std::size_t i = 0; i < values; ++i)
    if (fields.word[i] != names[i]) return false;
  return true;
}

bool read_number(std::string_view word, float& value) {
  const char *const begin = word.data(), *const end = begin + word.size();
  const auto is_read = [&](auto& number) {
    const auto [last, error] = std::from_chars(begin, end, number);
    return error == std::errc{} && last == end;
  };
  if (is_read(value)) return true;
  double wide;  // for a value outside the range of a float
  if (!is_read(wide)) return false;
  value = float(wide);
  return true;
}

Track track_of(const Fields& fields, std::string_view line, std::size_t number) {
  if (fields.count != values)
    fail(ErrorCode::format, "line ", number, " has ", fields.count > values ? "more than " : "",
         fields.count > values ? values : fields.count, " value", fields.count == 1 ? "" : "s",
         ", not the four x, y, u and v: ", quoted(line));
  float value[values];
  for (std::size_t i = 0; i < values; ++i)
    if (!read_number(fields.word[i], value[i]))
      fail(ErrorCode::format, "line ", number, ": ", names[i], " is not a number: ", quoted(fields.word[i]));
  return {value[0], value[1], value[2], value[3]};
}

}  // namespace

std::vector<Track> decode_tracks(ByteSpan bytes) {
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // as spreadsheets write
  if (rest.starts_with(byte_order_mark)) rest.remove_prefix(byte_order_mark.size());
  std::vector<Track> tracks;
  bool is_first = true;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty()) continue;
    const Fields fields = fields_of(line);
    if (!is_first || !is_header(fields)) tracks.push_back(track_of(fields, line, number));
    is_first = false;
  }
  return tracks;
}

Bytes encode_tracks(std::span<const Track> tracks) {
  std::string text = "x,y,u,v\n";
  const auto append = [&](float value, char after) {
    char digits[32];
    if (std::isnan(value)) value = std::abs(value);  // always "nan", never "-nan"
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    text += after;
  };
  for (const Track& track : tracks) {
    append(track.x, ',');
    append(track.y, ',');
    append(track.u, ',');
    append(track.v, '\n');
  }
  return {text.begin(), text.end()};
}

}  // namespace io

std::vector<Track> read_tracks(const std::filesystem::path& path) {
  return io::naming(path, [&] {
    const io::InputFile file(path);
    return io::decode_tracks(file.first(file.size()));
  });
}

void write_tracks(const std::filesystem::path& path, std::span<const Track> tracks) {
  io::naming(path, [&] { io::write_file(path, io::encode_tracks(tracks)); });
}

}  // namespace parafield
