// SPDX-License-Identifier: MIT
// The outermost structure of video files, which shows whether a file is whole. FFmpeg reads a file that was
// cut off to its end without an error.
#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <fstream>
#include <optional>
#include <string_view>

#include "core/fail.hpp"
#include "parafield/io.hpp"

namespace parafield {
namespace {

/// The bytes of a file.
class FileBytes {
 public:
  explicit FileBytes(const std::filesystem::path& path) : file_(path, std::ios::binary) {
    std::error_code error;
    size = std::filesystem::file_size(path, error);
    if (error) size = 0;
  }

  /// Returns `count` bytes from `at` on, fewer at the end.
  std::string read(std::uint64_t at, std::size_t count) {
    std::string bytes(std::size_t(std::min<std::uint64_t>(count, size - std::min(at, size))), '\0');
    file_.clear();
    file_.seekg(std::streamoff(at));
    file_.read(bytes.data(), std::streamsize(bytes.size()));
    bytes.resize(std::size_t(file_.gcount()));
    return bytes;
  }
  /// Returns the number in `count` bytes from `at` on.
  std::uint64_t number(std::uint64_t at, int count, std::endian order = std::endian::big) {
    std::string bytes = read(at, std::size_t(count));
    if (order == std::endian::little) std::ranges::reverse(bytes);
    std::uint64_t value = 0;
    for (const char byte : bytes) value = value << 8 | std::uint8_t(byte);
    return value;
  }

  std::uint64_t size = 0;

 private:
  std::ifstream file_;
};

/// `part`: " inside its index" or the like.
std::string cut(const FileBytes& file, std::uint64_t end, const char* part = "") {
  return text("the file was cut off: it ends at byte ", file.size, " of ", end, part);
}
std::string cut(const FileBytes& file) { return text("the file was cut off: it ends at byte ", file.size); }

/// MP4 and MOV (ISO/IEC 14496-12): boxes of a size, which includes these numbers, and a type.
std::string missing_of_mp4(FileBytes& file) {
  bool has_index = false;
  for (std::uint64_t at = 0; at < file.size;) {
    const std::string type = file.read(at + 4, 4);
    if (!std::ranges::all_of(type, [](unsigned char c) { return std::isprint(c) || c == 0xa9; })) return {};
    std::uint64_t size = file.number(at, 4);
    if (type.size() == 4 && size == 1) size = file.number(at + 8, 8);
    if (type.size() == 4 && size == 0) size = file.size - at;  // to the end of the file
    has_index = has_index || type == "moov";
    if (type.size() == 4 && size < 8) return {};
    if (type.size() < 4 || size > file.size - at) {
      const std::uint64_t end = at + std::max<std::uint64_t>(size, 8);
      if (type == "moov") return cut(file, end, ", inside its index (moov)");
      if (has_index) return cut(file, end);
      break;
    }
    at += size;
  }
  if (has_index) return {};
  return "an MP4 or MOV file without its index (moov), which is written last: the recording did not end, or "
         "the file "
         "was cut off; tools such as untrunc may restore it";
}

/// A number of Matroska (RFC 8794): the zeros before its first bit say how many bytes it has.
struct EbmlNumber {
  int bytes = 0;
  std::uint64_t value = 0;
  bool unknown = false;  // all bits are set
};
std::optional<EbmlNumber> ebml_number(FileBytes& file, std::uint64_t at, bool keep_marker) {
  const std::string first = file.read(at, 1);
  if (first.empty() || first[0] == 0) return {};
  const int bytes = std::countl_zero(std::uint8_t(first[0])) + 1;
  if (file.size - at < std::uint64_t(bytes)) return {};
  const std::uint64_t all = file.number(at, bytes), marker = std::uint64_t(1) << 7 * bytes;
  return EbmlNumber{bytes, keep_marker ? all : all - marker, all == 2 * marker - 1};
}

/// Matroska and WebM: a header and a segment. If the segment's size is unknown, as in a stream, so may be the
/// sizes of its clusters.
std::string missing_of_matroska(FileBytes& file) {
  constexpr std::uint64_t segment = 0x18538067, cluster = 0x1f43b675;
  for (std::uint64_t at = 0; at < file.size;) {
    const auto id = ebml_number(file, at, true);
    const auto size = id ? ebml_number(file, at + std::uint64_t(id->bytes), false) : std::nullopt;
    if (!size) return file.size - at < 12 && file.read(at, 1) != std::string(1, '\0') ? cut(file) : "";
    at += std::uint64_t(id->bytes + size->bytes);
    if (size->unknown && id->value != segment && id->value != cluster) return {};
    if (size->unknown) continue;
    if (size->value > file.size - at) return cut(file, at + size->value);
    at += size->value;
    if (id->value == segment) return {};
  }
  return {};
}

/// AVI: chunks RIFF, each with its size.
std::string missing_of_avi(FileBytes& file) {
  for (std::uint64_t at = 0; file.read(at, 4) == "RIFF";) {
    const std::uint64_t size = file.number(at + 4, 4, std::endian::little);
    if (size == 0 || size == 0xffffffff) return {};  // never filled in
    at += 8 + size;
    if (at > file.size) return cut(file, at);
    at += size % 2;
  }
  return {};
}

/// Ogg (RFC 3533): pages; the last page of a stream is marked.
std::string missing_of_ogg(FileBytes& file) {
  constexpr std::uint64_t longest_page = 65307;
  const std::uint64_t from = file.size - std::min(file.size, 2 * longest_page);
  const std::string end = file.read(from, std::size_t(2 * longest_page));
  const std::size_t page = end.rfind("OggS");
  if (page == end.npos || page + 27 > end.size()) return cut(file);
  const std::size_t segments = std::uint8_t(end[page + 26]);
  std::size_t length = 27 + segments;
  if (page + length > end.size()) return cut(file);
  for (std::size_t i = 0; i < segments; ++i) length += std::uint8_t(end[page + 27 + i]);
  constexpr int end_of_stream = 4;
  return page + length > end.size() || (end[page + 5] & end_of_stream) == 0 ? cut(file) : "";
}

/// GIF: blocks, then a semicolon.
std::string missing_of_gif(FileBytes& file) {
  std::string end = file.read(file.size - std::min<std::uint64_t>(file.size, 64), 64);
  end.erase(end.find_last_not_of('\0') + 1);
  return end.ends_with(';') ? "" : cut(file);
}

}  // namespace

std::string missing_part(const std::filesystem::path& path) {
  FileBytes file(path);
  const std::string start = file.read(0, 12), type = start.size() < 8 ? "" : start.substr(4, 4);
  constexpr std::array<std::string_view, 6> boxes = {"ftyp", "moov", "mdat", "wide", "free", "skip"};
  if (std::ranges::find(boxes, type) != boxes.end()) return missing_of_mp4(file);
  if (start.starts_with("\x1a\x45\xdf\xa3")) return missing_of_matroska(file);
  if (start.starts_with("RIFF") && start.ends_with("AVI ")) return missing_of_avi(file);
  if (start.starts_with("OggS")) return missing_of_ogg(file);
  if (start.starts_with("GIF8")) return missing_of_gif(file);
  return {};
}

}  // namespace parafield
