// SPDX-License-Identifier: MIT
// The outermost structure of video files, which shows whether a file is whole. FFmpeg reads a file that was
// cut off to its end without an error.
#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

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

std::string damaged(std::uint64_t at) { return text("it is damaged at byte ", at); }

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

/// A cyclic redundancy check of 32 bits.
class Crc {
 public:
  /// `lowest_first`: the order of the bits, also of the polynomial's.
  constexpr Crc(std::uint32_t polynomial, bool lowest_first) : lowest_first_(lowest_first) {
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t sum = lowest_first ? i : i << 24;
      for (int bit = 0; bit < 8; ++bit)
        sum = lowest_first ? sum >> 1 ^ (sum & 1 ? polynomial : 0) : sum << 1 ^ (sum >> 31 ? polynomial : 0);
      sums_[i] = sum;
    }
  }
  std::uint32_t add(std::uint32_t sum, std::string_view bytes) const {
    for (const char byte : bytes)
      sum = lowest_first_ ? sum >> 8 ^ sums_[(sum ^ std::uint8_t(byte)) & 255]
                          : sum << 8 ^ sums_[sum >> 24 ^ std::uint8_t(byte)];
    return sum;
  }

 private:
  std::array<std::uint32_t, 256> sums_ = {};
  bool lowest_first_;
};

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
  static constexpr Crc crc(0xedb88320, true);
  const std::uint64_t expected = file.number(at + 2, 4, std::endian::little);
  std::uint32_t sum = ~0u;
  for (at += 6; at < end;) {
    const std::string part = file.read(at, std::size_t(std::min<std::uint64_t>(end - at, 1 << 16)));
    if (part.empty()) return false;
    sum = crc.add(sum, part);
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

/// The checksum of a page of Ogg.
std::uint32_t ogg_checksum(std::string page) {
  constexpr Crc crc(0x04c11db7, false);
  std::fill_n(page.begin() + 22, 4, '\0');  // its own field counts as 0
  return crc.add(0, page);
}

/// Ogg (RFC 3533): pages with checksums, numbered for each stream; the last page of a stream is marked.
std::string missing_of_ogg(FileBytes& file) {
  constexpr std::size_t header = 27;
  std::map<std::uint64_t, std::uint64_t> next;  // number of the next page of each stream
  bool ends = false;
  for (std::uint64_t at = 0; at < file.size;) {
    const std::string start = file.read(at, header);
    if (!start.starts_with(std::string_view("OggS").substr(0, start.size()))) return damaged(at);
    if (start.size() < header) return cut(file);
    const std::string lengths = file.read(at + header, std::uint8_t(start[26]));
    std::size_t size = header + std::uint8_t(start[26]);
    for (const char length : lengths) size += std::uint8_t(length);
    if (size > file.size - at) return cut(file);
    if (ogg_checksum(file.read(at, size)) != file.number(at + 22, 4, std::endian::little)) return damaged(at);
    const auto number = [&](std::uint64_t from) { return file.number(at + from, 4, std::endian::little); };
    const auto [stream, is_new] = next.try_emplace(number(14), number(18));
    if (!is_new && stream->second != number(18)) return damaged(at);
    stream->second = number(18) + 1;
    constexpr int end_of_stream = 4;
    ends = (start[5] & end_of_stream) != 0;
    at += size;
  }
  return ends ? "" : cut(file);
}

/// GIF: a header, pictures and extensions, each with blocks of a size, then a semicolon. In a picture, all
/// blocks but the last have one size.
std::string missing_of_gif(FileBytes& file) {
  const auto colors = [](std::uint64_t flags) { return flags & 0x80 ? 3ull << ((flags & 7) + 1) : 0; };
  for (std::uint64_t at = 13 + colors(file.number(10, 1)); at < file.size;) {
    constexpr std::uint64_t picture = 0x2c, extension = 0x21, end = 0x3b;
    const std::uint64_t kind = file.number(at, 1);
    constexpr std::uint64_t most_after_end = 100;
    if (kind == end && file.size - at < most_after_end) return {};
    if (kind != picture && kind != extension) return damaged(at);
    at += kind == extension ? 2 : 11 + colors(file.number(at + 9, 1));
    std::uint64_t length = 0, first = 0, before = 0;
    do {
      if (at >= file.size) return cut(file);
      before = std::exchange(length, file.number(at, 1));
      if (kind == picture && length > 0 && before != first) return damaged(at);
      if (first == 0) first = length;
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
    if (type != 8 && type != 9 && type != 18) return damaged(at);
    if (next > file.size) return cut(file);
    const std::uint64_t last = file.number(at + size, 4);
    if (last != size && last != 0) return damaged(at);
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
std::string missing_of_ts(FileBytes& file, std::uint64_t packet) {
  for (std::uint64_t at = packet - 188; at < file.size; at += packet)
    if (file.number(at, 1) != 0x47) return damaged(at);
  if (file.size % packet == 0) return {};
  return text("the file was cut off: it ends at byte ", file.size, ", inside a packet of ", packet, " bytes");
}

/// MPEG program streams, such as VOB: a start code at the begin of each part.
std::string missing_of_program_stream(FileBytes& file) {
  for (std::uint64_t at = 0; at < file.size;) {
    const std::uint64_t code = file.number(at, 4);
    constexpr std::uint64_t end = 0x1b9, pack = 0x1ba;
    std::uint64_t size = 4;
    if (code == pack)
      size = (file.number(at + 4, 1) & 0xc0) == 0x40 ? 14 + (file.number(at + 13, 1) & 7) : 12;
    else if (code > pack && code <= 0x1ff)
      size = 6 + file.number(at + 4, 2);
    else if (code != end)
      return damaged(at);
    if (size > file.size - at) return cut(file);
    at += size;
  }
  return {};
}

/// IVF: a header and frames, each with its size and its time.
std::string missing_of_ivf(FileBytes& file) {
  constexpr auto little = std::endian::little;
  std::uint64_t last = 0;
  for (std::uint64_t at = file.number(6, 2, little), first = at; at < file.size;) {
    const std::uint64_t size = 12 + file.number(at, 4, little), time = file.number(at + 4, 8, little);
    if (file.size - at < 12 || size > file.size - at) return cut(file);
    if (time < last || (at > first && size == 12)) return damaged(at);
    last = time;
    at += size;
  }
  return {};
}

/// ASF, such as WMV: objects of a name of 16 bytes and a size. One of the header's objects records the file's
/// size and the size of the packets; the next object has the packets, whose first byte counts the bytes of
/// error correction.
constexpr std::string_view asf_start("\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa", 12);
std::string missing_of_asf(FileBytes& file) {
  constexpr std::string_view properties("\xa1\xdc\xab\x8c\x47\xa9\xcf\x11\x8e\xe4\x00\xc0", 12);
  constexpr std::string_view data("\x36\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa", 12);
  constexpr auto little = std::endian::little;
  const std::uint64_t header = file.number(16, 8, little);
  std::uint64_t at = 30, packet = 0;
  for (std::uint64_t left = file.number(24, 4, little); left > 0 && at < file.size; --left) {
    if (file.read(at, 12) == properties) {
      const std::uint64_t end = file.number(at + 40, 8, little);
      const bool is_broadcast = (file.number(at + 88, 4, little) & 1) != 0;
      if (!is_broadcast && end > file.size) return cut(file, end);
      packet = file.number(at + 92, 4, little);
    }
    const std::uint64_t length = file.number(at + 16, 8, little);
    if (length < 24 || length > file.size - at) break;
    at += length;
  }
  if (packet == 0 || header > file.size || file.read(header, 12) != data) return {};
  const std::uint64_t length = file.number(header + 16, 8, little), first = header + 50;
  const std::uint64_t end = length < 50 || length > file.size - header ? file.size : header + length;
  const auto correction = [&](std::uint64_t from) { return file.number(from, 1) & 0x8f; };
  for (at = first; at < end && correction(first) == 0x82; at += packet)
    if (correction(at) != 0x82) return damaged(at);
  return {};
}

/// MXF (SMPTE 377-1): parts of a key of 16 bytes and a size; the first one records where the last one begins.
constexpr std::string_view mxf_start("\x06\x0e\x2b\x34\x02\x05\x01\x01\x0d\x01\x02\x01", 12);
std::string missing_of_mxf(FileBytes& file) {
  for (std::uint64_t at = 0; at < file.size;) {
    if (file.read(at, 4) != mxf_start.substr(0, 4)) return damaged(at);
    std::uint64_t length = file.number(at + 16, 1), value = at + 17;
    if (length >= 0x80) {
      const std::uint64_t bytes = length - 0x80;
      if (bytes == 0 || bytes > 8) return damaged(at);
      length = file.number(value, int(bytes));
      value += bytes;
    }
    if (at == 0 && file.number(value + 24, 8) > file.size) return cut(file);
    if (value > file.size || length > file.size - value) return cut(file);
    at = value + length;
  }
  return {};
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
  if (start.starts_with("DKIF")) return missing_of_ivf(file);
  if (start.starts_with(std::string_view("\0\0\1\xba", 4))) return missing_of_program_stream(file);
  if (const int packet = ts_packet_bytes(file.read(0, 1024)))
    return missing_of_ts(file, std::uint64_t(packet));
  return {};
}

}  // namespace parafield
