// SPDX-License-Identifier: MIT
#ifdef PARAFIELD_HAS_TIFF
#include "io/tiff_layout.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace parafield::io::tiff {
namespace {

Reader& reader_of(void* data) { return *static_cast<Reader*>(data); }

int keep_message(TIFF*, void* data, const char*, const char* format, std::va_list values) {
  Reader& reader = reader_of(data);
  if (!std::exchange(reader.failed, true))
    std::vsnprintf(reader.message, sizeof reader.message, format, values);
  return 1;
}

tmsize_t next_bytes(thandle_t data, void* to, tmsize_t count) {
  Reader& reader = reader_of(data);
  const std::uint64_t left = reader.bytes.size() - std::min<std::uint64_t>(reader.at, reader.bytes.size());
  const auto given = std::size_t(std::min<std::uint64_t>(left, std::uint64_t(std::max<tmsize_t>(count, 0))));
  if (given > 0) std::memcpy(to, reader.bytes.data() + reader.at, given);
  reader.at += given;
  return tmsize_t(given);
}

toff_t seek(thandle_t data, toff_t offset, int from) {
  Reader& reader = reader_of(data);
  reader.at = offset + (from == SEEK_CUR ? reader.at : from == SEEK_END ? reader.bytes.size() : 0);
  return reader.at;
}

/// Limit of libtiff's single allocations: strips, tiles, tables.
constexpr std::int64_t most_block_bytes = std::int64_t(1) << 30;

/// Whether the current directory is an image in full resolution, neither an overview nor a mask of another
/// image.
bool is_image(TIFF* tiff) {
  std::uint32_t kind = 0;
  std::uint16_t old_kind = 0;
  if (TIFFGetField(tiff, TIFFTAG_SUBFILETYPE, &kind) && (kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)))
    return false;
  return !TIFFGetField(tiff, TIFFTAG_OSUBFILETYPE, &old_kind) || old_kind != OFILETYPE_REDUCEDIMAGE;
}

Layout layout_of(const Reader& reader) {
  TIFF* const tiff = reader.tiff;
  const auto u16 = [&](std::uint32_t tag) { return reader.field<std::uint16_t>(tag); };
  const auto u32 = [&](std::uint32_t tag) { return reader.field<std::uint32_t>(tag); };
  Layout layout = {};
  const std::int64_t width = u32(TIFFTAG_IMAGEWIDTH), height = u32(TIFFTAG_IMAGELENGTH);
  check_sides("a TIFF file", width, height);
  layout.size = {int(width), int(height)};
  layout.bits = u16(TIFFTAG_BITSPERSAMPLE);
  layout.samples = u16(TIFFTAG_SAMPLESPERPIXEL);
  layout.format = u16(TIFFTAG_SAMPLEFORMAT);
  layout.photometric = u16(TIFFTAG_PHOTOMETRIC);
  layout.compression = u16(TIFFTAG_COMPRESSION);
  layout.orientation = u16(TIFFTAG_ORIENTATION);
  layout.separate = layout.samples > 1 && u16(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
  layout.tiled = TIFFIsTiled(tiff);
  const std::int64_t across = layout.tiled ? u32(TIFFTAG_TILEWIDTH) : width,
                     down = layout.tiled ? u32(TIFFTAG_TILELENGTH)
                                         : std::min<std::int64_t>(u32(TIFFTAG_ROWSPERSTRIP), height);
  check_sides("a TIFF file with tiles", across, down);
  layout.block = {int(across), int(down)};
  layout.row_bytes = layout.tiled ? TIFFTileRowSize64(tiff) : TIFFScanlineSize64(tiff);
  layout.block_bytes =
      layout.tiled ? TIFFTileSize64(tiff) : TIFFVStripSize64(tiff, std::uint32_t(layout.block.height));
  return layout;
}

void check_kind(const Layout& layout) {
  const int kind = layout.photometric, colors = layout.is_ycbcr()  ? 3
                                                : layout.is_cmyk() ? 4
                                                                   : layout.channels();
  const bool white_is_0 = kind == PHOTOMETRIC_MINISWHITE;
  if (kind != PHOTOMETRIC_MINISBLACK && !white_is_0 && !layout.is_rgb())
    fail_kind("with colors of the kind ", kind);
  if (layout.samples < colors || layout.samples > colors + 1) fail_kind("of ", layout.samples, " channels");
  if (layout.format != SAMPLEFORMAT_UINT && layout.format != SAMPLEFORMAT_VOID && !layout.is_float() &&
      !layout.is_signed())
    fail_kind("of complex numbers");
  const int bits = layout.bits;
  const bool whole = bits == 8 || bits == 16 || bits == 32;
  const bool known = layout.is_converted() ? bits == 8 && !layout.becomes_float()
                     : layout.is_float()   ? bits == 16 || bits == 32 || bits == 64
                     : layout.is_signed()  ? whole
                                           : (bits >= 1 && bits <= 16) || bits == 32;
  if (!known || (layout.becomes_float() && (white_is_0 || layout.is_palette())))
    fail_kind(layout.is_cmyk() ? "with CMYK colors of " : "of ", bits,
              layout.is_float()    ? "-bit floats"
              : layout.is_signed() ? "-bit signed integers"
                                   : " bits",
              white_is_0 ? " where 0 is white" : "");
  if (!TIFFIsCODECConfigured(layout.compression)) {
    const TIFFCodec* const codec = TIFFFindCODEC(layout.compression);
    fail_unsupported("a TIFF file with the compression ", layout.compression,
                     codec ? text(" (", codec->name, ")") : "", " is not supported by this libtiff");
  }
}

/// The most bytes to which a compression can expand one byte; 0 = unlimited.
std::uint64_t most_expanded(std::uint16_t compression) {
  if (compression == COMPRESSION_NONE) return 1;
  if (compression == COMPRESSION_PACKBITS) return 64;
  if (compression == COMPRESSION_LZW) return 4096;
  if (compression == COMPRESSION_DEFLATE || compression == COMPRESSION_ADOBE_DEFLATE) return 1032;
  if (compression == COMPRESSION_JPEG || compression == COMPRESSION_OJPEG) return 3 * 512;
  return 0;
}

/// Rejects images that cannot fit into the file or are too large, before memory of their size is allocated.
void check_size(const Layout& layout, std::uint64_t file_bytes) {
  const auto [width, height] = layout.size;
  // YCbCr may have fewer chroma values than pixels.
  const int values = layout.is_ycbcr() ? 1 : layout.samples;
  const std::uint64_t bytes =
      (std::uint64_t(width) * std::uint64_t(layout.bits * values) + 7) / 8 * std::uint64_t(height);
  const std::uint64_t most = most_expanded(layout.compression);
  if (most > 0 && std::max(bytes, layout.block_bytes) > most * file_bytes)
    fail_format("damaged TIFF file: ", width, "x", height, " pixels of ", layout.bits * values,
                " bits do not fit into its ", file_bytes, " bytes");
  check_pixels("a TIFF file", width, height);
  if (layout.block_bytes > std::uint64_t(most_block_bytes))
    fail_unsupported("a TIFF file with ", layout.tiled ? "tiles" : "strips", " of ", layout.block_bytes,
                     " bytes is not supported; at most ", most_block_bytes);
  const std::uint64_t least_bytes =
      std::uint64_t(layout.block.width) * std::uint64_t(layout.bits) * std::uint64_t(layout.together()) / 8;
  if (!layout.is_ycbcr() && layout.row_bytes < least_bytes)
    fail_format("damaged TIFF file: rows of ", layout.row_bytes, " bytes do not hold ", layout.block.width,
                " pixels of ", layout.bits * layout.together(), " bits");
}

}  // namespace

Reader::Reader(ByteSpan b) : bytes(b) {
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(),
                                                                             TIFFOpenOptionsFree);
  if (!options) throw std::bad_alloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_message, this);
  TIFFOpenOptionsSetWarningHandlerExtR(
      options.get(), [](TIFF*, void*, const char*, const char*, std::va_list) { return 1; }, nullptr);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), tmsize_t(most_block_bytes));
  // "m": do not map the file into memory, because damaged data could make libtiff read outside it.
  tiff = TIFFClientOpenExt(
      "TIFF", "rm", this, next_bytes, [](thandle_t, void*, tmsize_t) { return tmsize_t(0); }, seek,
      [](thandle_t) { return 0; }, [](thandle_t data) { return toff_t(reader_of(data).bytes.size()); },
      [](thandle_t, void**, toff_t*) { return 0; }, [](thandle_t, void*, toff_t) {}, options.get());
  if (!tiff) fail_damaged();
}

bool next_image(Reader& reader) {
  reader.failed = false;
  while (TIFFReadDirectory(reader.tiff)) {
    if (is_image(reader.tiff)) return true;
    reader.failed = false;
  }
  if (reader.failed) reader.fail_damaged();
  return false;
}

bool first_image(Reader& reader) { return is_image(reader.tiff) || next_image(reader); }

Layout layout_of_image(Reader& reader) {
  const Layout layout = layout_of(reader);
  check_kind(layout);
  check_size(layout, reader.bytes.size());
  return layout;
}

bool has_alpha(const Reader& reader, const Layout& layout) {
  std::uint16_t count = 0;
  const std::uint16_t* kinds = nullptr;
  if (!TIFFGetField(reader.tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) || count != 1) return false;
  return (kinds[0] == EXTRASAMPLE_ASSOCALPHA || kinds[0] == EXTRASAMPLE_UNASSALPHA) &&
         !layout.is_converted() && layout.samples == layout.channels() + 1;
}

}  // namespace parafield::io::tiff
#endif
