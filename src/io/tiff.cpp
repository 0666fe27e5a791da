// SPDX-License-Identifier: MIT
// TIFF 6.0 and BigTIFF through libtiff: gray, palette, RGB, YCbCr and CMYK, in strips or tiles.
#include "io/formats.hpp"

#ifdef PARAFIELD_HAS_TIFF
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "io/pixels.hpp"
#include "io/tiff_layout.hpp"
#endif

namespace parafield::io {

bool is_tiff(ByteSpan bytes) {
  using namespace std::string_view_literals;
  return starts_with(bytes, "II*\0"sv) || starts_with(bytes, "MM\0*"sv) ||  //
         starts_with(bytes, "II+\0"sv) || starts_with(bytes, "MM\0+"sv);    // BigTIFF
}

#ifdef PARAFIELD_HAS_TIFF
namespace {

using tiff::Layout;
using tiff::Reader;

/// Values of a row by index. Values of fewer than 16 bits are packed, with the highest bit first.
struct PackedRow {
  const std::uint8_t* data;
  std::size_t bytes;
  std::size_t bits;

  std::uint32_t operator()(std::size_t i) const {
    const std::size_t first = i * bits / 8;
    std::uint32_t window = 0;
    for (std::size_t at = first; at < first + 3; ++at) window = window << 8 | (at < bytes ? data[at] : 0);
    return window >> (24 - i * bits % 8 - bits) & ((1u << bits) - 1);
  }
};
/// Values that take whole bytes.
template <class T>
struct PlainRow {
  const std::uint8_t* data;

  T operator()(std::size_t i) const {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return value;
  }
};

/// Reads blocks and stores their values in the frame.
class Decoder {
 public:
  Decoder(Reader& reader, const Layout& layout) : reader_(reader), layout_(layout) {
    if (!layout.becomes_float()) make_tables();
  }

  FrameBuffer decode() {
    for (int plane = 0; plane < (layout_.separate ? layout_.channels() : 1); ++plane)
      read_plane(plane, pixel_format(),
                 [&](const std::uint8_t* data, const Place& to) { put_row(data, to); });
    // Files with this tag are read as floats even if no pixel has the value, so that series have one format.
    const std::optional<double> nodata = tiff::nodata_of(reader_);
    if (!nodata || layout_.is_palette()) return std::move(frame_);
    return tiff::without_nodata(std::move(frame_), frame_value(*nodata));
  }

  /// 255 where the sample after the colors is not 0.
  FrameBuffer decode_alpha() {
    const auto bits = std::size_t(layout_.bits);
    const auto first = std::size_t(layout_.separate ? 0 : layout_.channels());
    const auto put_alpha = [&](const std::uint8_t* data, const Place& to) {
      const PackedRow packed{data, std::size_t(layout_.row_bytes), bits};
      auto* const alpha = static_cast<std::uint8_t*>(frame_.row(to.y)) + to.x;
      for (std::size_t x = 0; x < std::size_t(to.width); ++x) {
        const std::size_t i = x * together() + first;
        const std::uint8_t* const value = data + i * bits / 8;
        const bool any = bits % 8 == 0
                             ? std::any_of(value, value + bits / 8, [](auto byte) { return byte > 0; })
                             : packed(i) > 0;
        alpha[x] = any ? 255 : 0;
      }
    };
    read_plane(layout_.separate ? layout_.channels() : 0, PixelFormat::gray_u8, put_alpha);
    return std::move(frame_);
  }

 private:
  /// Part of a row of the frame, and the channel to write if planes are separate.
  struct Place {
    int x, y, width, plane;
  };

  /// Calls put(data, place) for each row of each block of a plane, with a frame of the format.
  void read_plane(int plane, PixelFormat format, const auto& put) {
    const auto [width, height] = layout_.size;
    // calloc gives memory that is not touched yet: a damaged file fails before most of it is used.
    if (!block_) block_.reset(static_cast<std::uint8_t*>(std::calloc(std::size_t(layout_.block_bytes), 1)));
    if (!block_) throw std::bad_alloc();
    for (int y = 0; y < height; y += layout_.block.height)
      for (int x = 0; x < width; x += layout_.block.width) {
        const int rows = std::min(layout_.block.height, height - y);
        read_block(x, y, rows, plane);
        // The first block must decode before the frame is allocated.
        if (frame_.size() == Size{}) frame_ = FrameBuffer(layout_.size, format);
        for (int row = 0; row < rows; ++row)
          put(block_.get() + std::uint64_t(row) * layout_.row_bytes,
              Place{x, y + row, std::min(layout_.block.width, width - x), plane});
      }
  }

  /// Converts a value of the file, which may be none that it can hold, to the frame's.
  float frame_value(double value) const {
    if (layout_.is_float()) return float(value);
    const bool held = value >= 0 && value < double(tables_[0].size()) && value == std::floor(value);
    return held ? float(tables_[0][std::size_t(value)]) : -1.0f;
  }

  PixelFormat pixel_format() const {
    if (layout_.becomes_float()) return layout_.is_rgb() ? PixelFormat::rgb_f32 : PixelFormat::gray_f32;
    return integer_format(layout_.is_rgb(), layout_.bits > 8 && !layout_.is_palette());
  }

  /// Makes the tables that map the file's values to the frame's.
  void make_tables() {
    const std::uint32_t largest = (1u << layout_.bits) - 1;
    if (layout_.is_palette()) {
      std::uint16_t* colors[3] = {};
      if (!TIFFGetField(reader_.tiff, TIFFTAG_COLORMAP, &colors[0], &colors[1], &colors[2]))
        fail_format("damaged TIFF file: its palette is missing");
      for (int c = 0; c < 3; ++c) {
        tables_[c].assign(colors[c], colors[c] + largest + 1);
        for (std::uint16_t& value : tables_[c]) value = std::uint16_t(value >> 8);
      }
      return;
    }
    if (layout_.bits > 8) {
      tables_[0] = full_range<std::uint16_t>(largest);
    } else {
      const std::vector<std::uint8_t> scaled = full_range<std::uint8_t>(largest);
      tables_[0].assign(scaled.begin(), scaled.end());
    }
    if (layout_.photometric == PHOTOMETRIC_MINISWHITE) std::ranges::reverse(tables_[0]);
  }

  void read_block(int x, int y, int rows, int plane) {
    TIFF* const tiff = reader_.tiff;
    const auto row = std::uint32_t(y);
    const std::uint64_t wanted =
        layout_.tiled ? layout_.block_bytes : TIFFVStripSize64(tiff, std::uint32_t(rows));
    const auto size = tmsize_t(wanted);
    reader_.failed = false;
    const tmsize_t got =
        layout_.tiled
            ? TIFFReadEncodedTile(tiff, TIFFComputeTile(tiff, std::uint32_t(x), row, 0, std::uint16_t(plane)),
                                  block_.get(), size)
            : TIFFReadEncodedStrip(tiff, TIFFComputeStrip(tiff, row, std::uint16_t(plane)), block_.get(),
                                   size);
    if (reader_.failed) reader_.fail_damaged();
    if (got != size) fail_format("damaged TIFF file: ", got, " of ", wanted, " bytes at row ", y);
  }

  void put_row(const std::uint8_t* data, const Place& to) {
    if (layout_.becomes_float())
      put_floats(data, to);
    else if (layout_.bits == 16)
      put_integers(PlainRow<std::uint16_t>{data}, to);
    else if (layout_.bits == 8)
      put_integers(PlainRow<std::uint8_t>{data}, to);
    else
      put_integers(PackedRow{data, std::size_t(layout_.row_bytes), std::size_t(layout_.bits)}, to);
  }

  void put_floats(const std::uint8_t* data, const Place& to) {
    const auto put_all = [&]<class T>(T) {
      put<float>(PlainRow<T>{data}, to, [](T value) { return float(value); });
    };
    if (layout_.is_float() && layout_.bits == 16)
      put<float>(PlainRow<std::uint16_t>{data}, to, float_of_half);
    else if (layout_.is_float())
      layout_.bits == 64 ? put_all(double()) : put_all(float());
    else if (!layout_.is_signed())
      put_all(std::uint32_t());
    else if (layout_.bits == 32)
      put_all(std::int32_t());
    else
      layout_.bits == 16 ? put_all(std::int16_t()) : put_all(std::int8_t());
  }

  template <class Row>
  void put_integers(const Row& row, const Place& to) {
    if (layout_.is_palette()) {
      auto* p = static_cast<std::uint8_t*>(frame_.row(to.y)) + 3 * std::size_t(to.x);
      for (std::size_t i = 0; i < std::size_t(to.width); ++i)
        for (const std::vector<std::uint16_t>& table : tables_)
          *p++ = std::uint8_t(table[row(i * together())]);
      return;
    }
    const std::uint16_t* const table = tables_[0].data();
    if (layout_.bits > 8)
      put<std::uint16_t>(row, to, [table](std::size_t value) { return table[value]; });
    else
      put<std::uint8_t>(row, to, [table](std::size_t value) { return std::uint8_t(table[value]); });
  }

  /// `scaled` converts a value of the file to a value of the frame.
  template <class T>
  void put(const auto& row, const Place& to, const auto& scaled) {
    const auto channels = std::size_t(layout_.channels()), read = layout_.separate ? 1 : channels,
               from_step = together();
    T* p = static_cast<T*>(frame_.row(to.y)) + std::size_t(to.x) * channels + to.plane;
    for (std::size_t i = 0; i < std::size_t(to.width); ++i, p += channels)
      for (std::size_t c = 0; c < read; ++c) p[c] = scaled(row(i * from_step + c));
  }

  std::size_t together() const { return std::size_t(layout_.together()); }

  struct Free {
    void operator()(void* data) const { std::free(data); }
  };

  Reader& reader_;
  const Layout& layout_;
  FrameBuffer frame_;
  std::unique_ptr<std::uint8_t[], Free> block_;
  std::vector<std::uint16_t> tables_[3];  // gray and RGB: one for all channels; palette: one per channel
};

/// libtiff converts YCbCr, whose chroma may be subsampled, and CMYK.
FrameBuffer decode_converted(Reader& reader, const Layout& layout) {
  char why[1024] = "";
  if (!TIFFRGBAImageOK(reader.tiff, why))
    tiff::fail_kind("with colors ", layout.is_cmyk() ? "CMYK" : "YCbCr", " (", shown(std::string(why)), ")");
  const auto [width, height] = layout.size;
  std::vector<std::uint32_t> pixels(std::size_t(width) * std::size_t(height));
  reader.failed = false;
  // Request the file's own orientation so that libtiff does not turn anything.
  if (!TIFFReadRGBAImageOriented(reader.tiff, std::uint32_t(width), std::uint32_t(height), pixels.data(),
                                 layout.orientation, 1) ||
      reader.failed)
    reader.fail_damaged();
  FrameBuffer frame(layout.size, PixelFormat::rgb_u8);
  const std::uint32_t* pixel = pixels.data();
  for (int y = 0; y < height; ++y) {
    auto* to = static_cast<std::uint8_t*>(frame.row(y));
    for (int x = 0; x < width; ++x, ++pixel) {
      *to++ = TIFFGetR(*pixel);
      *to++ = TIFFGetG(*pixel);
      *to++ = TIFFGetB(*pixel);
    }
  }
  return frame;
}

}  // namespace

namespace {

class TiffImages : public Images {
 public:
  explicit TiffImages(ByteSpan bytes) : reader_(bytes), has_next_(tiff::first_image(reader_)) {
    if (!has_next_) fail_format("a TIFF file without an image in full resolution");
  }
  bool has_next() const override { return has_next_; }
  bool goes_on() const override { return !lost_ || has_next_; }
  FrameBuffer next() override {
    if (lost_) {
      has_next_ = false;
      throw *lost_;
    }
    std::optional<FrameBuffer> frame;
    std::optional<Error> damaged;
    try {
      frame = read();
    } catch (const Error& error) {
      damaged = error;
    }
    try {
      has_next_ = tiff::next_image(reader_);
    } catch (const Error& error) {
      lost_ = error;
    }
    if (damaged) throw *damaged;
    return std::move(*frame);
  }

 private:
  FrameBuffer read() {
    const Layout layout = tiff::layout_of_image(reader_);
    return turned(
        layout.is_converted() ? decode_converted(reader_, layout) : Decoder(reader_, layout).decode(),
        layout.orientation);
  }

  Reader reader_;
  bool has_next_;
  std::optional<Error> lost_;  // why the image after the last one cannot be found
};

}  // namespace

std::unique_ptr<Images> open_tiff(ByteSpan bytes) { return std::make_unique<TiffImages>(bytes); }

FrameBuffer decode_tiff_alpha(ByteSpan bytes) {
  Reader reader(bytes);
  if (!tiff::first_image(reader)) return {};
  FrameBuffer alpha;
  if (const Layout layout = tiff::layout_of_image(reader); tiff::has_alpha(reader, layout))
    alpha = turned(Decoder(reader, layout).decode_alpha(), layout.orientation);
  if (alpha.size() == Size{} || tiff::next_image(reader)) return {};
  return alpha;
}

#else

std::unique_ptr<Images> open_tiff(ByteSpan) {
  fail_unsupported("TIFF files cannot be read: parafield was built without libtiff 4.5");
}
FrameBuffer decode_tiff_alpha(ByteSpan) { return {}; }

#endif

}  // namespace parafield::io
