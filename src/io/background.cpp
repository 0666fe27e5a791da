// SPDX-License-Identifier: MIT
// A learned background: lines of text, an empty line, and the method's state. The lines are
//   parafield background 3
//   method icm-background
//   size 320x240
//   range 0 0
//   bytes 1234567
//   checksum 0123456789abcdef
#include <cstdio>
#include <limits>

#include "io/formats.hpp"
#include "parafield/io.hpp"

namespace parafield {
namespace {

constexpr std::string_view title = "parafield background ";
constexpr int version = 3;
constexpr int longest_side = 500000;

/// FNV-1a, 64 bits.
std::uint64_t checksum_of(io::ByteSpan bytes) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const std::uint8_t byte : bytes) sum = (sum ^ byte) * 0x100000001b3;
  return sum;
}
std::string hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

std::string text_of(float number) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

/// Reads the lines of a header one by one.
class Header {
 public:
  explicit Header(std::string_view text) : rest_(text) {}

  /// Returns what follows `start` on the next line, which must begin with it.
  std::string_view after(std::string_view start) {
    const std::size_t end = rest_.substr(0, 200).find('\n');
    const std::string_view line = rest_.substr(0, end == rest_.npos ? 0 : end);
    if (end == rest_.npos || !line.starts_with(start))
      io::fail_format("the header is damaged: there is no line ", detail::quoted(start));
    rest_.remove_prefix(end + 1);
    return line.substr(start.size());
  }
  /// Two numbers, separated by `between`.
  template <class T>
  std::pair<T, T> two(std::string_view start, char between) {
    const std::string_view text = after(start);
    const std::size_t middle = text.find(between);
    std::pair<T, T> numbers;
    if (middle == text.npos || !io::read_number(text.substr(0, middle), numbers.first) ||
        !io::read_number(text.substr(middle + 1), numbers.second))
      io::fail_format("the header is damaged: ", start, "cannot be ", detail::quoted(text));
    return numbers;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

LearnedBackground decode(io::ByteSpan bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(title)) io::fail_format("it is not a background that parafield has learned");
  Header header(text);
  if (const std::string_view number = header.after(title); number != std::to_string(version))
    io::fail_format("its version is ", detail::quoted(number), "; this program reads version ", version,
                    ": learn it again");
  LearnedBackground background;
  background.method = header.after("method ");
  const auto [width, height] = header.two<int>("size ", 'x');
  if (width < 1 || height < 1 || width > longest_side || height > longest_side)
    io::fail_format("the header is damaged: the size is ", width, "x", height);
  background.size = {width, height};
  const auto [black, white] = header.two<float>("range ", ' ');
  background.range = {black, white};
  const std::string_view bytes_text = header.after("bytes ");
  std::uint64_t expected = 0;
  if (!io::read_number(bytes_text, expected))
    io::fail_format("the header is damaged: bytes cannot be ", detail::quoted(bytes_text));
  const std::string checksum(header.after("checksum "));
  if (!header.after("").empty()) io::fail_format("the header is damaged: there is no empty line after it");
  const std::size_t there = header.rest().size();
  if (there != expected) io::fail_format("it has ", there, " bytes after the header, not ", expected);
  const io::ByteSpan state = bytes.last(there);
  if (hexadecimal(checksum_of(state)) != checksum)
    io::fail_format("it is damaged: its checksum is ", hexadecimal(checksum_of(state)), ", not ",
                    detail::quoted(checksum));
  background.state.assign(state.begin(), state.end());
  return background;
}

}  // namespace

LearnedBackground read_background(const std::filesystem::path& path) {
  return io::naming(path, [&] { return decode(io::read_file(path)); });
}

void write_background(const std::filesystem::path& path, const LearnedBackground& background) {
  io::naming(path, [&] {
    if (background.state.empty())
      fail(ErrorCode::invalid_argument, "the background is empty; MotionDetector::background() returns one");
    std::string header(title);
    header += std::to_string(version) + "\nmethod " + background.method + "\nsize " +
              std::to_string(background.size.width) + "x" + std::to_string(background.size.height) +
              "\nrange " + text_of(background.range.black) + " " + text_of(background.range.white) +
              "\nbytes " + std::to_string(background.state.size()) + "\nchecksum " +
              hexadecimal(checksum_of(background.state)) + "\n\n";
    io::Bytes bytes(header.begin(), header.end());
    bytes.insert(bytes.end(), background.state.begin(), background.state.end());
    io::write_file(path, bytes);
  });
}

}  // namespace parafield
