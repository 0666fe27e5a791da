// SPDX-License-Identifier: MIT
#pragma once
#include <tiffio.h>

#include <optional>

#include "io/formats.hpp"

/// Access to TIFF files through libtiff: the layout of their pixels, before any are read.
namespace parafield::io::tiff {

/// A file in memory. libtiff reads it through callbacks, reports errors to another callback, and opens no
/// other files.
struct Reader {
  ByteSpan bytes;
  std::uint64_t at = 0;
  bool failed = false;
  char message[200] = "";  // first message since `failed` was reset
  TIFF* tiff = nullptr;

  explicit Reader(ByteSpan b);
  ~Reader() {
    if (tiff) TIFFClose(tiff);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[noreturn]] void fail_damaged() const {
    fail_format("damaged TIFF file: ", *message ? shown(message) : "libtiff does not say why");
  }

  /// A field of the directory. libtiff supplies the defaults of most fields.
  template <class T>
  T field(std::uint32_t tag) const {
    T value = {};
    if (!TIFFGetFieldDefaulted(tiff, tag, &value)) fail_format("damaged TIFF file: it has no field ", tag);
    return value;
  }
};

/// The directory's description of the pixels.
struct Layout {
  Size size;
  int bits, samples;  // bits per value; values per pixel, including alpha
  std::uint16_t format, photometric, compression, orientation;
  bool separate, tiled;  // separate planes; tiles instead of strips
  Size block;
  std::uint64_t row_bytes, block_bytes;  // bytes of a block's row and of a block

  bool is_float() const { return format == SAMPLEFORMAT_IEEEFP; }
  bool is_signed() const { return format == SAMPLEFORMAT_INT; }
  /// Whether values are read as f32: floats and integers that no frame of integers can hold.
  bool becomes_float() const { return is_float() || is_signed() || bits == 32; }
  bool is_palette() const { return photometric == PHOTOMETRIC_PALETTE; }
  bool is_ycbcr() const { return photometric == PHOTOMETRIC_YCBCR; }
  bool is_cmyk() const { return photometric == PHOTOMETRIC_SEPARATED; }
  /// Whether libtiff converts the colors to RGB.
  bool is_converted() const { return is_ycbcr() || is_cmyk(); }
  bool is_rgb() const { return photometric == PHOTOMETRIC_RGB || is_palette() || is_converted(); }
  /// Channels of a pixel that are read, without alpha.
  int channels() const { return photometric == PHOTOMETRIC_RGB ? 3 : 1; }
  /// Values of a pixel in a block.
  int together() const { return separate ? 1 : samples; }
};

/// Throws Error(unsupported) for an undamaged file of a kind that is not supported.
[[noreturn]] void fail_kind(const auto&... parts) {
  fail_unsupported("a TIFF file ", parts...,
                   " is not supported; gray, palette and RGB of 1 to 16 bits, 32 bits or float, and YCbCr "
                   "and CMYK of 8 bits are");
}

/// Go to the first or the next full-resolution image of the file. Return false if there is none. Throw
/// Error(format).
bool first_image(Reader& reader);
bool next_image(Reader& reader);
/// Reads the layout of the current image, and checks that its kind is supported and that its size fits the
/// file. Throws Error(format) or Error(unsupported).
Layout layout_of_image(Reader& reader);

/// Whether the current image has alpha that can be read. YCbCr and CMYK have none.
bool has_alpha(const Reader& reader, const Layout& layout);

/// Returns the value of pixels without a value, from the tag GDAL_NODATA of the current image.
std::optional<double> nodata_of(const Reader& reader);

/// Returns the frame as floats, with NaN where all channels of a pixel are `nodata`.
FrameBuffer without_nodata(FrameBuffer frame, float nodata);

}  // namespace parafield::io::tiff
