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
    constexpr std::size_t page = 4096;
    if (at >= size) return {};
    if (at < window_at_ || at + count > window_at_ + window_.size()) {
      window_.resize(std::size_t(std::min<std::uint64_t>(std::max(count, page), size - at)));
      window_at_ = at;
      file_.clear();
      file_.seekg(std::streamoff(at));
      file_.read(window_.data(), std::streamsize(window_.size()));
      window_.resize(std::size_t(file_.gcount()));
    }
    return window_.substr(std::size_t(at - window_at_), count);
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
  std::string window_;  // the bytes read last, from window_at_ on
  std::uint64_t window_at_ = 0;
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

/// The checksum of a page of Ogg, whose own field counts as 0.
std::uint32_t ogg_checksum(std::string page) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> sums;
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t sum = i << 24;
      for (int bit = 0; bit < 8; ++bit) sum = sum << 1 ^ (sum >> 31 ? 0x04c11db7u : 0u);
      sums[i] = sum;
    }
    return sums;
  }();
  std::fill_n(page.begin() + 22, 4, '\0');
  std::uint32_t sum = 0;
  for (const char byte : page) sum = sum << 8 ^ table[sum >> 24 ^ std::uint8_t(byte)];
  return sum;
}

/// Ogg (RFC 3533): pages with checksums; the last page of a stream is marked.
std::string missing_of_ogg(FileBytes& file) {
  constexpr std::size_t header = 27;
  bool ends = false;
  for (std::uint64_t at = 0; at < file.size;) {
    const std::string start = file.read(at, header);
    if (!start.starts_with(std::string_view("OggS").substr(0, start.size())))
      return text("it is damaged at byte ", at);
    if (start.size() < header) return cut(file);
    const std::string lengths = file.read(at + header, std::uint8_t(start[26]));
    std::size_t size = header + std::uint8_t(start[26]);
    for (const char length : lengths) size += std::uint8_t(length);
    if (size > file.size - at) return cut(file);
    if (ogg_checksum(file.read(at, size)) != file.number(at + 22, 4, std::endian::little))
      return text("it is damaged at byte ", at);
    constexpr int end_of_stream = 4;
    ends = (start[5] & end_of_stream) != 0;
    at += size;
  }
  return ends ? "" : cut(file);
}

/// GIF: a header, pictures and extensions, each with blocks of a size, then a semicolon.
std::string missing_of_gif(FileBytes& file) {
  const auto colors = [](std::uint64_t flags) { return flags & 0x80 ? 3ull << ((flags & 7) + 1) : 0; };
  for (std::uint64_t at = 13 + colors(file.number(10, 1)); at < file.size;) {
    constexpr std::uint64_t picture = 0x2c, extension = 0x21, end = 0x3b;
    const std::uint64_t kind = file.number(at, 1);
    if (kind == end) return {};
    if (kind != picture && kind != extension) return text("it is damaged at byte ", at);
    at += kind == extension ? 2 : 11 + colors(file.number(at + 9, 1));
    std::uint64_t length = 0;
    do {
      if (at >= file.size) return cut(file);
      length = file.number(at, 1);
      at += 1 + length;
    } while (length > 0);
  }
  return cut(file);
}

/// FLV: tags, each followed by its size, which some programs leave 0.
std::string missing_of_flv(FileBytes& file) {
  constexpr std::uint64_t header = 9, size_bytes = 4, tag_header = 11;
  for (std::uint64_t at = header + size_bytes; at < file.size;) {
    const std::uint64_t type = file.number(at, 1) & 0x1f, size = tag_header + file.number(at + 1, 3),
                        next = at + size + size_bytes;
    if (type != 8 && type != 9 && type != 18) return text("it is damaged at byte ", at);
    if (next > file.size) return cut(file);
    const std::uint64_t last = file.number(at + size, 4);
    if (last != size && last != 0) return text("it is damaged at byte ", at);
    at = next;
  }
  return {};
}

/// MPEG-TS: packets of 188 bytes, in M2TS with 4 more before each; the first of the others is 0x47.
int ts_packet_bytes(std::string_view start) {
  for (const std::size_t before : {0, 4})
    if (const std::size_t size = 188 + before; start.size() > 2 * size && start[before] == 0x47 &&
                                               start[before + size] == 0x47 &&
                                               start[before + 2 * size] == 0x47)
      return int(size);
  return 0;
}

/// ASF, such as WMV: objects of a name of 16 bytes and a size; the first one's objects record the file's
/// size.
constexpr std::string_view asf_start("\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa", 12);
std::string missing_of_asf(FileBytes& file) {
  constexpr std::string_view properties("\xa1\xdc\xab\x8c\x47\xa9\xcf\x11\x8e\xe4\x00\xc0", 12);
  constexpr auto little = std::endian::little;
  std::uint64_t at = 30;
  for (std::uint64_t left = file.number(24, 4, little); left > 0 && at < file.size; --left) {
    if (file.read(at, 12) == properties) {
      const std::uint64_t end = file.number(at + 40, 8, little);
      const bool is_broadcast = (file.number(at + 88, 4, little) & 1) != 0;
      return !is_broadcast && end > file.size ? cut(file, end) : "";
    }
    const std::uint64_t length = file.number(at + 16, 8, little);
    if (length < 24 || length > file.size - at) break;
    at += length;
  }
  return {};
}

/// MXF (SMPTE 377-1): the first partition records where the last one begins.
constexpr std::string_view mxf_start("\x06\x0e\x2b\x34\x02\x05\x01\x01\x0d\x01\x02\x01", 12);
std::string missing_of_mxf(FileBytes& file) {
  const std::uint64_t length = file.number(16, 1), value = 17 + (length >= 0x80 ? length - 0x80 : 0);
  return file.number(value + 24, 8) > file.size ? cut(file) : "";
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
  if (start.starts_with("FLV")) return missing_of_flv(file);
  if (start == asf_start) return missing_of_asf(file);
  if (start == mxf_start) return missing_of_mxf(file);
  if (const int packet = ts_packet_bytes(file.read(0, 1024));
      packet > 0 && file.size % std::uint64_t(packet) != 0)
    return text("the file was cut off: it ends at byte ", file.size, ", inside a packet of ", packet,
                " bytes");
  return {};
}

}  // namespace parafield
