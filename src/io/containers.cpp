// SPDX-License-Identifier: MIT
// The outermost structure of video files, which shows whether a file is whole. FFmpeg reads a file that was
// cut off to its end without an error.
#include "io/containers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <optional>
#include <string_view>

#include "io/checksum.hpp"
#include "parafield/io.hpp"

namespace parafield {
namespace {

using io::cut;
using io::damaged;
using io::FileBytes;

/// Whether these could be the letters of a part's name.
bool is_name(std::string_view letters) {
  return std::ranges::all_of(letters, [](unsigned char c) { return std::isprint(c) || c == 0xa9; });
}

/// MP4 and MOV (ISO/IEC 14496-12): boxes of a size, which includes these numbers, and a type. Only fragments
/// (moof) need the boxes after the index.
std::string missing_of_mp4(FileBytes& file) {
  bool has_index = false, has_fragments = false;
  for (std::uint64_t at = 0; at < file.size;) {
    const std::string type = file.read(at + 4, 4);
    std::uint64_t size = file.number(at, 4);
    if (type.size() == 4 && size == 1) size = file.number(at + 8, 8);
    if (type.size() == 4 && size == 0) size = file.size - at;  // to the end of the file
    if (!is_name(type) || (type.size() == 4 && size < 8)) return has_fragments ? damaged(at) : "";
    has_index = has_index || type == "moov";
    has_fragments = has_fragments || type == "moof";
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

/// Whether the bytes before `end` have the checksum that an element of Matroska at `at` holds.
bool has_matroska_checksum(FileBytes& file, std::uint64_t at, std::uint64_t end) {
  const std::uint64_t expected = file.number(at + 2, 4, std::endian::little);
  std::uint32_t sum = ~0u;
  for (at += 6; at < end;) {
    const std::string part = file.read(at, std::size_t(std::min<std::uint64_t>(end - at, 1 << 16)));
    if (part.empty()) return false;
    sum = io::zip_crc.add(sum, part);
    at += part.size();
  }
  return ~sum == expected;
}

/// Matroska and WebM: a header and a segment of clusters, whose parts are walked through, and whose checksums
/// are tested. If the segment's size is unknown, as in a stream, so may be the sizes of its clusters.
std::string missing_of_matroska(FileBytes& file) {
  constexpr std::uint64_t segment = 0x18538067, cluster = 0x1f43b675;
  // Parts of a file, a segment and a cluster.
  constexpr std::uint64_t known[] = {0x1a45dfa3, segment,    0x114d9b74, 0x1549a966, cluster,
                                     0x1654ae6b, 0x1c53bb6b, 0x1941a469, 0x1043a770, 0x1254c367,
                                     0xe7,       0x5854,     0xa7,       0xab,       0xa3,
                                     0xa0,       0xaf,       0xec,       0xbf,       0x1b538667};
  std::uint64_t end = file.size, cluster_end = 0;
  for (std::uint64_t at = 0; at < end;) {
    const std::uint64_t start = at;
    const auto id = ebml_number(file, at, true);
    const auto size = id ? ebml_number(file, at + std::uint64_t(id->bytes), false) : std::nullopt;
    if (!size)
      return file.size - at < 12 && file.read(at, 1) != std::string(1, '\0') ? cut(file) : damaged(at);
    if (std::ranges::find(known, id->value) == std::end(known)) return damaged(start);
    at += std::uint64_t(id->bytes + size->bytes);
    const bool opens = id->value == segment || id->value == cluster;
    if (size->unknown && !opens) return damaged(start);
    if (!size->unknown && size->value > file.size - at) return cut(file, at + size->value);
    if (size->unknown) continue;
    if (id->value == segment) end = at + size->value;
    if (id->value == cluster) cluster_end = at + size->value;
    const bool has_checksum = id->value == cluster && file.read(at, 2) == "\xbf\x84";
    if (has_checksum && !has_matroska_checksum(file, at, cluster_end)) return damaged(at);
    // A block: the number of the track, two bytes of its time and flags, of which three are reserved.
    if (const auto track = id->value == 0xa3 ? ebml_number(file, at, false) : std::nullopt)
      if (file.number(at + std::uint64_t(track->bytes) + 2, 1) & 0x70) return damaged(at);
    if (!opens) at += size->value;
    if (at > cluster_end && start < cluster_end) return damaged(start);
  }
  return {};
}

/// AVI: chunks RIFF, each with its size and with chunks of a name and a size.
std::string missing_of_avi(FileBytes& file) {
  for (std::uint64_t at = 0; file.read(at, 4) == "RIFF";) {
    const std::uint64_t size = file.number(at + 4, 4, std::endian::little);
    if (size == 0 || size == 0xffffffff) return {};  // never filled in
    const std::uint64_t end = at + 8 + size;
    if (end > file.size) return cut(file, end);
    for (std::uint64_t part = at + 12; part + 8 <= end;) {
      if (!is_name(file.read(part, 4))) return damaged(part);
      const std::uint64_t length = file.number(part + 4, 4, std::endian::little);
      part += 8 + length + length % 2;
    }
    at = end + size % 2;
  }
  return {};
}

}  // namespace

std::string missing_part(const std::filesystem::path& path) {
  io::FileBytes file(path);
  const std::string start = file.read(0, 12), type = start.size() < 8 ? "" : start.substr(4, 4);
  constexpr std::array<std::string_view, 6> boxes = {"ftyp", "moov", "mdat", "wide", "free", "skip"};
  if (std::ranges::find(boxes, type) != boxes.end()) return missing_of_mp4(file);
  if (start.starts_with("\x1a\x45\xdf\xa3")) return missing_of_matroska(file);
  if (start.starts_with("RIFF") && start.ends_with("AVI ")) return missing_of_avi(file);
  return io::missing_of_packets(file, start);
}

}  // namespace parafield
