// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <vector>

/// JPEG files made by hand, without libjpeg, also unusual ones. Each block of 8x8 pixels has one value, so
/// that the decoded pixels are known exactly.
namespace parafield::jpeg_bytes {

using Bytes = std::vector<std::uint8_t>;

struct Header {
  int width = 8, height = 8;
  int channels = 1;          ///< three are red, green and blue; four are cyan, magenta, yellow and black
  bool progressive = false;  ///< the means of all blocks come first
  int subsampling = 1;       ///< 2: half as many blocks of green and blue in each direction
  int refinements = 0;       ///< progressive: number of further scans
  int precision = 8;
  bool adobe = true;  ///< four channels are the light that is left, not the ink
  int kind = 0;       ///< marker of the frame instead of the usual one: 0xc9 is arithmetic coding
};

inline void append(Bytes& bytes, std::initializer_list<int> values) {
  for (const int value : values) bytes.push_back(std::uint8_t(value));
}

inline void append_segment(Bytes& file, int marker, const Bytes& data) {
  append(file, {0xff, marker, int(data.size() + 2) >> 8, int(data.size() + 2) & 255});
  file.insert(file.end(), data.begin(), data.end());
}

/// Writes bits, highest first. A byte 0xff is followed by 0.
class Bits {
 public:
  explicit Bits(Bytes& bytes) : bytes_(bytes) {}
  void put(unsigned value, int count) {
    for (int bit = count - 1; bit >= 0; --bit) {
      byte_ = byte_ << 1 | (value >> bit & 1);
      if (++used_ == 8) flush();
    }
  }
  void pad() {
    while (used_) put(1, 1);
  }

 private:
  void flush() {
    bytes_.push_back(std::uint8_t(byte_));
    if ((byte_ & 255) == 255) bytes_.push_back(0);
    byte_ = 0;
    used_ = 0;
  }
  Bytes& bytes_;
  unsigned byte_ = 0;
  int used_ = 0;
};

/// Writes the difference between a block's mean and the previous block's: four bits with the number of bits
/// that follow, then these.
inline void put_difference(Bits& bits, int difference) {
  int count = 0;
  for (int rest = difference < 0 ? -difference : difference; rest; rest >>= 1) ++count;
  bits.put(unsigned(count), 4);
  bits.put(unsigned(difference < 0 ? difference + (1 << count) - 1 : difference), count);
}

/// A JPEG file. value(block x, block y, channel), 0..255, is the value of all pixels of a block. `segments`
/// come first.
template <class Value>
Bytes file(const Header& header, Value value, const Bytes& segments = {}) {
  Bytes file = {0xff, 0xd8};
  file.insert(file.end(), segments.begin(), segments.end());
  // Adobe's segment: three channels are RGB, not YCbCr.
  if (header.adobe) append_segment(file, 0xee, {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0});
  Bytes quantization(65, 8);  // a step of 8 of the mean in the transform is a step of 1 of the pixels
  quantization[0] = 0;
  append_segment(file, 0xdb, quantization);

  const int n = header.channels, full = header.subsampling;
  Bytes frame;
  append(frame, {header.precision, header.height >> 8, header.height & 255, header.width >> 8,
                 header.width & 255, n});
  for (int c = 0; c < n; ++c) append(frame, {c + 1, c == 0 ? full * 17 : 17, 0});
  append_segment(file, header.kind ? header.kind : header.progressive ? 0xc2 : 0xc0, frame);

  // Codes of the mean: twelve of four bits. Codes of the rest: only 0, the end of a block.
  append_segment(file, 0xc4, {0x00, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0,
                              0,    0, 0, 1, 2,  3, 4, 5, 6, 7, 8, 9, 10, 11});
  append_segment(file, 0xc4, {0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});

  const auto start_scan = [&](int first, int count, int from, int to) {
    Bytes scan;
    append(scan, {count});
    for (int c = first; c < first + count; ++c) append(scan, {c + 1, 0});
    append(scan, {from, to, 0});
    append_segment(file, 0xda, scan);
  };
  start_scan(0, n, 0, header.progressive ? 0 : 63);
  const int side = 8 * full;
  const int columns = (header.width + side - 1) / side, rows = (header.height + side - 1) / side;
  Bits bits(file);
  std::vector<int> before(std::size_t(n), 0);
  // A single channel is not interleaved: its blocks come row by row, here as without subsampling.
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      for (int c = 0; c < n; ++c)
        for (int i = 0; i < (c == 0 ? full * full : 1); ++i) {
          const int size = c == 0 ? full : 1;
          const int mean = value(column * size + i % size, row * size + i / size, c) - 128;
          put_difference(bits, mean - before[std::size_t(c)]);
          before[std::size_t(c)] = mean;
          if (!header.progressive) bits.put(0, 1);
        }
  bits.pad();
  if (header.progressive)
    for (int scan = 0; scan <= header.refinements; ++scan)
      for (int c = 0; c < n; ++c) {
        start_scan(c, 1, 1, 63);
        const int size = c == 0 ? 8 : side;
        const int blocks = ((header.width + size - 1) / size) * ((header.height + size - 1) / size);
        for (int i = 0; i < blocks; ++i) bits.put(0, 1);
        bits.pad();
      }
  append(file, {0xff, 0xd9});
  return file;
}

/// A TIFF structure with an orientation, 1 to 8.
inline Bytes exif(int orientation, bool big_endian) {
  Bytes tiff = {'I', 'I', 42, 0, 8, 0, 0, 0};
  append(tiff, {2, 0});                                        // entries
  append(tiff, {0x0e, 0x01, 2, 0, 2, 0, 0, 0, 'x', 0, 0, 0});  // a description
  append(tiff, {0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0});
  append(tiff, {0, 0, 0, 0});
  if (!big_endian) return tiff;
  Bytes swapped = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 2};
  append(swapped, {0x01, 0x0e, 0, 2, 0, 0, 0, 2, 'x', 0, 0, 0});
  append(swapped, {0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0});
  append(swapped, {0, 0, 0, 0});
  return swapped;
}

/// The JPEG segment of a TIFF structure.
inline Bytes exif_segment(const Bytes& tiff) {
  Bytes data = {'E', 'x', 'i', 'f', 0, 0}, segment;
  data.insert(data.end(), tiff.begin(), tiff.end());
  append_segment(segment, 0xe1, data);
  return segment;
}

}  // namespace parafield::jpeg_bytes
