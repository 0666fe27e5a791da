// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>

#include "io/formats.hpp"

#ifdef PARAFIELD_HAS_PNG
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>
#endif

namespace parafield::io {

PngHeader png_header(ByteSpan bytes) {
  if (bytes.size() < 33) fail_format("the header of a PNG file has 33 bytes, the file has ", bytes.size());
  constexpr std::string_view first_chunk("\0\0\0\rIHDR", 8);
  if (!starts_with(bytes.subspan(8), first_chunk))
    fail_format("damaged PNG file: it does not begin with a header");
  const std::uint32_t width = load_u32(&bytes[16], std::endian::big),
                      height = load_u32(&bytes[20], std::endian::big);
  check_sides("a PNG file", width, height);
  const int depth = bytes[24];
  if (depth > 16 || !std::has_single_bit(unsigned(depth)))
    fail_format("damaged PNG file: ", depth, " bits a channel; allowed: 1, 2, 4, 8, 16");
  return {{int(width), int(height)}, depth, bytes[25]};
}

std::string note_png(ByteSpan bytes) {
  constexpr std::size_t signature = 8, frame_bytes = 12;  // of a chunk: length, type and checksum
  for (std::size_t at = signature; at + frame_bytes <= bytes.size();) {
    if (starts_with(bytes.subspan(at + 4), "acTL"))
      return "it is an animation, of which only one image is read";
    if (starts_with(bytes.subspan(at), std::string_view("\0\0\0\0IEND", 8)))
      return starts_with(bytes.subspan(at + frame_bytes), "\x89PNG")
                 ? "more images follow the first one in it and are not read"
                 : "";
    at += frame_bytes + load_u32(&bytes[at], std::endian::big);
  }
  return "its end marker (IEND) is missing; all pixels are there";
}

#ifdef PARAFIELD_HAS_PNG

// libpng reports errors by longjmp, which must not skip destructors. Each sequence of libpng calls is
// therefore in a function of its own, which sets the target of the jump, uses only trivial types, and returns
// false after a jump. C++ exceptions never pass through libpng.
namespace {

struct Codec {
  png_structp png = nullptr;
  png_infop info = nullptr;
  char message[200] = "";

  Codec() = default;
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;

  void check() const {
    if (!info) fail_unsupported("libpng cannot be used: ", *message ? message : "out of memory");
  }
};

void keep_message(png_structp png, png_const_charp message) {
  auto* codec = static_cast<Codec*>(png_get_error_ptr(png));
  std::snprintf(codec->message, sizeof codec->message, "%s", message);
  png_longjmp(png, 1);
}
void ignore_warning(png_structp, png_const_charp) {}

struct Reader : Codec {
  ByteSpan bytes;
  std::size_t at = 0;
  bool ended = false;
  int passes = 1;
  int orientation = 1;  // EXIF's

  explicit Reader(ByteSpan b) : bytes(b) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, keep_message, ignore_warning);
    if (png) info = png_create_info_struct(png);
  }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }

  [[noreturn]] void fail_damaged() const {
    if (ended)
      fail_format("damaged PNG file: it ends at byte ", bytes.size(), ", before the end of its image");
    fail_format("damaged PNG file: ", message);
  }
};

void next_bytes(png_structp png, png_bytep to, std::size_t count) {
  auto* reader = static_cast<Reader*>(png_get_io_ptr(png));
  if (reader->bytes.size() - reader->at < count) {
    reader->ended = true;
    png_error(png, "the file ends early");
  }
  std::memcpy(to, reader->bytes.data() + reader->at, count);
  reader->at += count;
}

/// Reads up to the first row. Rows will be gray or RGB of 8 or 16 bits, with alpha if `keep_alpha`, in native
/// byte order.
bool start_reading(Reader& reader, bool keep_alpha) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  png_set_read_fn(reader.png, &reader, next_bytes);
  // Do not read text, time, color profiles and similar chunks.
  png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
#ifdef PNG_READ_eXIf_SUPPORTED
  constexpr png_byte exif[] = "eXIf";
  png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_AS_DEFAULT, exif, 1);
#endif
  png_read_info(reader.png, reader.info);
  png_set_expand_gray_1_2_4_to_8(reader.png);
  if (png_get_color_type(reader.png, reader.info) == PNG_COLOR_TYPE_PALETTE)
    png_set_palette_to_rgb(reader.png);
  if (keep_alpha) {
    if (png_get_valid(reader.png, reader.info, PNG_INFO_tRNS)) png_set_tRNS_to_alpha(reader.png);
  } else {
    png_set_strip_alpha(reader.png);
  }
  if (std::endian::native == std::endian::little) png_set_swap(reader.png);
  reader.passes = png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  return true;
}

void read_passes(png_structp png, int passes, View<std::uint8_t> rows) {
  for (int pass = 0; pass < passes; ++pass)
    for (int y = 0; y < rows.height; ++y) png_read_row(png, rows.row(y), nullptr);
}

/// Reads what follows the pixels. A file that ends there has all pixels, but lacks its end marker: see
/// note_png.
bool read_end(Reader& reader) {
  if (setjmp(png_jmpbuf(reader.png))) return reader.ended;
  png_read_end(reader.png, reader.info);
  return true;
}

bool read_rows(Reader& reader, View<std::uint8_t> rows) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  read_passes(reader.png, reader.passes, rows);
  if (!read_end(reader)) return false;
#ifdef PNG_READ_eXIf_SUPPORTED
  png_uint_32 count = 0;
  png_bytep exif = nullptr;
  if (png_get_eXIf_1(reader.png, reader.info, &count, &exif) && exif)
    reader.orientation = exif_orientation({exif, count});
#endif
  return true;
}

struct Writer : Codec {
  MemoryFile file;

  Writer() {
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, this, keep_message, ignore_warning);
    if (png) info = png_create_info_struct(png);
  }
  ~Writer() { png_destroy_write_struct(&png, &info); }
};

bool write_image(Writer& writer, const Frame& frame, bool rgb, bool wide) {
  if (setjmp(png_jmpbuf(writer.png))) return false;
  png_init_io(writer.png, writer.file.file());
  png_set_IHDR(writer.png, writer.info, png_uint_32(frame.width), png_uint_32(frame.height), wide ? 16 : 8,
               rgb ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  // Run-length encoding of filtered rows: files of video frames are as small as with libpng's default, and
  // take a quarter of the time.
  constexpr int z_rle = 3;
  png_set_compression_level(writer.png, 1);
  png_set_compression_strategy(writer.png, z_rle);
  png_write_info(writer.png, writer.info);
  if (wide && std::endian::native == std::endian::little) png_set_swap(writer.png);
  for (int y = 0; y < frame.height; ++y)
    png_write_row(writer.png, static_cast<png_const_bytep>(frame.data) + y * frame.pitch);
  png_write_end(writer.png, nullptr);
  return true;
}

/// Reads up to the first row. Throws for a header that claims more pixels than the file or the memory can
/// hold.
PngHeader open(Reader& reader, bool keep_alpha) {
  // Deflate expands one byte to at most 1032 bytes. A header that claims more is damaged.
  const std::size_t file_bytes = reader.bytes.size();
  const PngHeader header = png_header(reader.bytes);
  constexpr int channels_of[] = {1, 1, 3, 1, 2, 1, 4};
  const int bits = header.bit_depth * channels_of[std::min(header.color_type, 6)];
  const std::uint64_t packed_row = (std::uint64_t(header.size.width) * std::uint64_t(bits) + 7) / 8;
  if (packed_row * std::uint64_t(header.size.height) > 1032 * std::uint64_t(file_bytes))
    fail_format("damaged PNG file: ", header.size, " pixels of ", bits, " bits do not fit into its ",
                file_bytes, " bytes");
  // A small file of a single color can hold an image that exceeds the memory. No estimator accepts it.
  check_pixels("a PNG file", header.size.width, header.size.height);
  reader.check();
  if (!start_reading(reader, keep_alpha)) reader.fail_damaged();
  return header;
}

}  // namespace

FrameBuffer decode_png(ByteSpan bytes, Orientation orientation) {
  Reader reader(bytes);
  const PngHeader header = open(reader, false);
  const bool rgb = png_get_channels(reader.png, reader.info) == 3,
             wide = png_get_bit_depth(reader.png, reader.info) == 16;
  FrameBuffer frame(header.size, integer_format(rgb, wide));
  const auto expected = std::size_t(row_bytes(frame.frame()));
  if (png_get_rowbytes(reader.png, reader.info) != expected)
    fail_unsupported("libpng gives rows of ", png_get_rowbytes(reader.png, reader.info), " bytes, not ",
                     expected);
  if (!read_rows(reader, values_of<std::uint8_t>(frame))) reader.fail_damaged();
  return orientation == Orientation::stored ? std::move(frame) : turned(std::move(frame), reader.orientation);
}

FrameBuffer decode_png_alpha(ByteSpan bytes) {
  Reader reader(bytes);
  const PngHeader header = open(reader, true);
  const std::size_t channels = png_get_channels(reader.png, reader.info);
  if (channels % 2 != 0) return {};  // gray or RGB without alpha
  const std::size_t bytes_each = png_get_bit_depth(reader.png, reader.info) / 8;
  Image<std::uint8_t> rows({int(png_get_rowbytes(reader.png, reader.info)), header.size.height});
  if (!read_rows(reader, rows)) reader.fail_damaged();
  FrameBuffer alpha(header.size, PixelFormat::gray_u8);
  const View<std::uint8_t> values = values_of<std::uint8_t>(alpha);
  for_each_pixel(values.size(), [&](int x, int y) {
    const std::uint8_t* const end = rows.view().row(y) + (std::size_t(x) + 1) * channels * bytes_each;
    values(x, y) = std::any_of(end - bytes_each, end, [](std::uint8_t byte) { return byte != 0; }) ? 255 : 0;
  });
  return turned(std::move(alpha), reader.orientation);
}

Bytes encode_png(const Frame& frame) {
  const bool rgb = channels(frame.format) == 3;
  Writer writer;
  writer.check();
  if (!write_image(writer, frame, rgb, bytes_per_pixel(frame.format) == (rgb ? 6 : 2))) {
    (void)writer.file.bytes();  // throws if memory ran out
    fail_value("cannot be written as PNG: ", writer.message);
  }
  return writer.file.bytes();
}

#else

FrameBuffer decode_png(ByteSpan, Orientation) {
  fail_unsupported("PNG files cannot be read: parafield was built without libpng");
}
FrameBuffer decode_png_alpha(ByteSpan bytes) { return decode_png(bytes); }
Bytes encode_png(const Frame&) {
  fail_unsupported("PNG files cannot be written: parafield was built without libpng");
}

#endif

}  // namespace parafield::io
