// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "io/exr_bytes.hpp"

/// TIFF files made by hand, without libtiff: every depth, layout and byte order, not compressed. The
/// directory comes last.
namespace parafield::tiff_bytes {

using Bytes = std::vector<std::uint8_t>;

struct Header {
  int width = 1, height = 1;
  int bits = 8, samples = 1;
  int format = 1;       ///< 1 unsigned, 2 signed, 3 float
  int photometric = 1;  ///< 0 white is 0, 1 black is 0, 2 RGB, 3 palette
  bool separate = false;
  int tile = 0;            ///< side of tiles; 0 = strips
  int rows_per_strip = 2;  ///< 0 = all
  int orientation = 1;
  int kind = 0;  ///< NewSubfileType: 1 = overview, 2 = page, 4 = mask
  int compression = 1;
  const char* nodata = nullptr;               ///< the text of the tag GDAL_NODATA
  int claimed_width = 0, claimed_height = 0;  ///< in the directory, instead of the true ones
};

class File {
 public:
  explicit File(bool big_endian = false, bool big_tiff = false)
      : big_endian_(big_endian), big_tiff_(big_tiff) {
    bytes_ = big_endian ? Bytes{'M', 'M'} : Bytes{'I', 'I'};
    put(big_tiff ? 43 : 42, 2);
    if (big_tiff) {
      put(8, 2);
      put(0, 2);
    }
    next_directory_ = bytes_.size();
    put(0, offset_bytes());
  }

  /// Adds an image. value(x, y, channel) is a number. `palette` has 16-bit numbers: reds, greens, blues.
  template <class Value>
  File& add(const Header& header, Value value, const std::vector<std::uint16_t>& palette = {}) {
    std::vector<std::uint64_t> offsets, counts;
    const int planes = header.separate ? header.samples : 1;
    const int across = header.tile ? header.tile : header.width, down = header.tile ? header.tile
                                                                        : header.rows_per_strip
                                                                            ? header.rows_per_strip
                                                                            : header.height;
    for (int plane = 0; plane < planes; ++plane)
      for (int y = 0; y < header.height; y += down)
        for (int x = 0; x < header.width; x += across) {
          offsets.push_back(bytes_.size());
          put_block(header, x, y, across, header.tile ? down : std::min(down, header.height - y), plane,
                    value);
          counts.push_back(bytes_.size() - offsets.back());
        }
    if (bytes_.size() % 2) bytes_.push_back(0);

    struct Entry {
      int tag, type_bytes;
      std::vector<std::uint64_t> values;
    };
    const auto times = [&](int number) {
      return std::vector<std::uint64_t>(std::size_t(header.samples), number);
    };
    std::vector<Entry> entries = {
        {254, 4, {std::uint64_t(header.kind)}},
        {256, 4, {std::uint64_t(header.claimed_width ? header.claimed_width : header.width)}},
        {257, 4, {std::uint64_t(header.claimed_height ? header.claimed_height : header.height)}},
        {258, 2, times(header.bits)},
        {259, 2, {std::uint64_t(header.compression)}},
        {262, 2, {std::uint64_t(header.photometric)}}};
    if (!header.tile) entries.push_back({273, 4, offsets});
    entries.push_back({274, 2, {std::uint64_t(header.orientation)}});
    entries.push_back({277, 2, {std::uint64_t(header.samples)}});
    if (!header.tile) {
      entries.push_back({278, 4, {std::uint64_t(down)}});
      entries.push_back({279, 4, counts});
    }
    entries.push_back({284, 2, {header.separate ? 2u : 1u}});
    if (!palette.empty()) entries.push_back({320, 2, {palette.begin(), palette.end()}});
    if (header.tile) {
      entries.push_back({322, 4, {std::uint64_t(across)}});
      entries.push_back({323, 4, {std::uint64_t(down)}});
      entries.push_back({324, 4, offsets});
      entries.push_back({325, 4, counts});
    }
    const int colors = header.photometric == 2 || header.photometric == 6 ? 3
                       : header.photometric == 5                          ? 4
                                                                          : 1;
    if (header.samples > colors)
      entries.push_back({338, 2, std::vector<std::uint64_t>(std::size_t(header.samples - colors), 2)});
    entries.push_back({339, 2, times(header.format)});
    if (header.nodata)
      entries.push_back({42113, 1, {header.nodata, header.nodata + std::strlen(header.nodata) + 1}});

    // Values that do not fit into their entry come first.
    std::vector<std::uint64_t> places;
    for (const Entry& entry : entries) {
      places.push_back(bytes_.size());
      if (entry.values.size() * std::size_t(entry.type_bytes) <= offset_bytes()) continue;
      for (const std::uint64_t number : entry.values) put(number, std::size_t(entry.type_bytes));
    }
    patch(next_directory_, bytes_.size());
    put(entries.size(), big_tiff_ ? 8 : 2);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto& [tag, type_bytes, values] = entries[i];
      put(std::uint64_t(tag), 2);
      put(type_bytes == 1 ? 2 : type_bytes == 2 ? 3 : 4, 2);
      put(values.size(), offset_bytes());
      const std::size_t end = bytes_.size() + offset_bytes();
      if (values.size() * std::size_t(type_bytes) <= offset_bytes())
        for (const std::uint64_t number : values) put(number, std::size_t(type_bytes));
      else
        put(places[i], offset_bytes());
      bytes_.resize(end);
    }
    next_directory_ = bytes_.size();
    put(0, offset_bytes());
    return *this;
  }

  const Bytes& bytes() const { return bytes_; }

 private:
  std::size_t offset_bytes() const { return big_tiff_ ? 8 : 4; }
  void put(std::uint64_t value, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      bytes_.push_back(std::uint8_t(value >> 8 * (big_endian_ ? count - 1 - i : i)));
  }
  void patch(std::size_t at, std::uint64_t value) {
    const std::size_t end = bytes_.size();
    put(value, offset_bytes());
    std::copy(bytes_.begin() + std::ptrdiff_t(end), bytes_.end(), bytes_.begin() + std::ptrdiff_t(at));
    bytes_.resize(end);
  }

  template <class Value>
  void put_block(const Header& header, int x0, int y0, int across, int down, int plane, Value value) {
    for (int y = y0; y < y0 + down; ++y) {
      unsigned packed = 0;
      int held = 0;
      for (int x = x0; x < x0 + across; ++x)
        for (int c = 0; c < (header.separate ? 1 : header.samples); ++c) {
          const bool inside = x < header.width && y < header.height;
          const auto number = inside ? value(x, y, header.separate ? plane : c) : 0;
          if (header.format == 3 && header.bits == 64) {
            put(std::bit_cast<std::uint64_t>(double(number)), 8);
          } else if (header.format == 3 && header.bits == 16) {
            put(exr_bytes::half_of(float(number)), 2);
          } else if (header.format == 3) {
            put(std::bit_cast<std::uint32_t>(float(number)), 4);
          } else if (header.bits % 8 == 0) {
            put(std::uint64_t(std::int64_t(number)), std::size_t(header.bits / 8));
          } else {
            packed = packed << header.bits | unsigned(number);
            for (held += header.bits; held >= 8; held -= 8)
              bytes_.push_back(std::uint8_t(packed >> (held - 8)));
          }
        }
      if (held > 0) bytes_.push_back(std::uint8_t(packed << (8 - held)));
    }
  }

  bool big_endian_, big_tiff_;
  Bytes bytes_;
  std::size_t next_directory_;
};

}  // namespace parafield::tiff_bytes
