// SPDX-License-Identifier: MIT
// Containers whose structure is a list of packets, without sizes of the whole.
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "io/checksum.hpp"
#include "io/containers.hpp"

namespace parafield::io {
namespace {

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

std::string missing_of_packets(FileBytes& file, std::string_view start) {
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

}  // namespace parafield::io
