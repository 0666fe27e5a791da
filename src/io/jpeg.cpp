// SPDX-License-Identifier: MIT
// JPEG (ITU-T T.81) through libjpeg. It reads baseline and progressive files, gray, color or CMYK of 8 bits,
// and writes baseline files.
#include "io/formats.hpp"

#ifdef PARAFIELD_HAS_JPEG
#include <cstddef>
#include <cstdio>
// libjpeg's header needs the two above.
#include <jpeglib.h>
// The numbers of the errors depend on the version that it defines.
#include <jerror.h>

#include <algorithm>
#include <csetjmp>
#include <new>
#include <utility>
#endif

namespace parafield::io {

namespace {

/// Whether another JPEG file follows the end of the first one. The previews that cameras append do not count; a
/// segment MPF announces them.
bool has_more_images(ByteSpan bytes) {
  constexpr int app2 = 0xe2, scan = 0xda, end = 0xd9;
  for (std::size_t at = 2; at + 4 <= bytes.size();) {
    const int marker = bytes[at + 1];
    if (bytes[at] != 0xff) return false;
    if (marker == end) return starts_with(bytes.subspan(at + 2), "\xff\xd8\xff");
    if (marker == 0xff) {
      ++at;
      continue;
    }
    if (marker == app2 && starts_with(bytes.subspan(at + 4), "MPF")) return false;
    at += 2 + (std::size_t(bytes[at + 2]) << 8 | bytes[at + 3]);
    if (marker != scan) continue;
    // Inside a scan, 0xff is followed by 0, a restart marker or another 0xff.
    const auto is_data = [&](int next) {
      return next == 0 || (next >= 0xd0 && next <= 0xd7) || next == 0xff;
    };
    while (at + 1 < bytes.size() && (bytes[at] != 0xff || is_data(bytes[at + 1]))) ++at;
  }
  return false;
}

}  // namespace

std::string note_jpeg(ByteSpan bytes) {
  if (has_more_images(bytes)) return "more images follow the first one in it and are not read";
  // Inside a scan, 0xff is followed by 0 or a restart marker. Before the last scan, a thumbnail may have end
  // markers of its own.
  constexpr std::string_view scan("\xff\xda", 2), end("\xff\xd9", 2);
  const std::string_view text = text_of(bytes);
  const std::size_t last_scan = text.rfind(scan);
  if (text.find(end, last_scan == text.npos ? 0 : last_scan) != text.npos) return {};
  return "its end marker (EOI) is missing; all pixels are there";
}

#ifdef PARAFIELD_HAS_JPEG

// libjpeg reports errors by longjmp, like libpng (see png.cpp). Each sequence of libjpeg calls is therefore
// in a function of its own, which sets the target of the jump, uses only trivial types, and returns false
// after a jump.
namespace {

/// Limit against small files that take long to decode: a scan of a progressive file visits every block, but
/// may have only a few bytes. Encoders write about ten scans.
constexpr int most_scans = 100;

struct Codec {
  jpeg_error_mgr errors = {};
  std::jmp_buf target;
  int code = 0;
  char message[JMSG_LENGTH_MAX] = "";

  Codec() = default;
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;
};

struct Reader : Codec {
  jpeg_decompress_struct jpeg = {};
  jpeg_progress_mgr progress = {};
  ByteSpan bytes;
  bool ended = false;  // the file has no end marker
  bool too_many_scans = false;

  explicit Reader(ByteSpan b) : bytes(b) {}
  ~Reader() { jpeg_destroy_decompress(&jpeg); }

  [[noreturn]] void fail_damaged() const {
    if (ended || code == JWRN_JPEG_EOF)
      fail_format("damaged JPEG file: it ends at byte ", bytes.size(), ", before the end of its image");
    if (too_many_scans) fail_unsupported("a JPEG file of more than ", most_scans, " scans is not supported");
    if (code == JERR_OUT_OF_MEMORY) throw std::bad_alloc();
    bool other_kind = code == JERR_BAD_PRECISION || code == JERR_SOF_UNSUPPORTED;
#if JPEG_LIB_VERSION < 70  // later versions read arithmetic coding
    other_kind = other_kind || code == JERR_ARITH_NOTIMPL;
#endif
    fail(other_kind ? ErrorCode::unsupported : ErrorCode::format,
         other_kind ? "a JPEG file of a kind that is not supported: " : "damaged JPEG file: ", message);
  }
};

struct Writer : Codec {
  jpeg_compress_struct jpeg = {};
  MemoryFile file;

  ~Writer() { jpeg_destroy_compress(&jpeg); }
};

Codec& codec_of(j_common_ptr jpeg) { return *static_cast<Codec*>(jpeg->client_data); }
Reader& reader_of(j_common_ptr jpeg) { return static_cast<Reader&>(codec_of(jpeg)); }

[[noreturn]] void leave(j_common_ptr jpeg) {
  Codec& codec = codec_of(jpeg);
  codec.code = jpeg->err->msg_code;
  jpeg->err->format_message(jpeg, codec.message);
  std::longjmp(codec.target, 1);
}

/// libjpeg's warnings (level -1) mean that data are missing or wrong; without this, libjpeg would continue
/// with gray blocks.
void leave_on_warning(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  const jpeg_error_mgr& error = *jpeg->err;
  // These are harmless: an unknown color transform or version, and a few bytes between the last pixel and the
  // end of the image, which many webcams write.
  if (error.msg_code == JWRN_ADOBE_XFORM || error.msg_code == JWRN_JFIF_MAJOR) return;
  constexpr int few = 16, end_of_image = 0xd9;
  if (error.msg_code == JWRN_EXTRANEOUS_DATA && error.msg_parm.i[0] <= few &&
      error.msg_parm.i[1] == end_of_image)
    return;
  // At the end of the file, libjpeg continues with an end marker. If pixels are missing, more warnings
  // follow.
  if (error.msg_code == JWRN_JPEG_EOF && jpeg->is_decompressor && !reader_of(jpeg).ended) {
    reader_of(jpeg).ended = true;
    return;
  }
  leave(jpeg);
}

void count_scans(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= most_scans) return;
  reader_of(jpeg).too_many_scans = true;
  leave(jpeg);
}

bool read_header(Reader& reader) {
  jpeg_decompress_struct& jpeg = reader.jpeg;
  jpeg.err = jpeg_std_error(&reader.errors);
  reader.errors.error_exit = leave;
  reader.errors.emit_message = leave_on_warning;
  reader.errors.output_message = [](j_common_ptr) {};
  jpeg.client_data = static_cast<Codec*>(&reader);
  if (setjmp(reader.target)) return false;
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, reader.bytes.data(), static_cast<unsigned long>(reader.bytes.size()));
  reader.progress.progress_monitor = count_scans;
  jpeg.progress = &reader.progress;
  jpeg_save_markers(&jpeg, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(&jpeg, TRUE);
  return true;
}

/// Whether the scans read so far have every bit of the image. Call it only for a file without an end marker.
bool has_all_scans(jpeg_decompress_struct& jpeg) {
  if (!jpeg_has_multiple_scans(&jpeg)) return true;
  if (!jpeg.progressive_mode) return jpeg.input_scan_number >= jpeg.num_components;
  for (int c = 0; c < jpeg.num_components; ++c)
    if (std::any_of(jpeg.coef_bits[c], jpeg.coef_bits[c] + DCTSIZE2, [](int bits) { return bits != 0; }))
      return false;  // -1: no scan has the coefficient; above 0: so many of its bits are missing
  return true;
}

/// Converts a row of cyan, magenta, yellow and black. Adobe's programs store the light that is left of each,
/// others store the ink.
void convert_cmyk(const std::uint8_t* cmyk, bool stores_light, int width, std::uint8_t* rgb) {
  const int flip = stores_light ? 0 : 255;
  for (int x = 0; x < width; ++x, cmyk += 4)
    for (int c = 0; c < 3; ++c) *rgb++ = std::uint8_t(((cmyk[c] ^ flip) * (cmyk[3] ^ flip) + 127) / 255);
}

/// `cmyk` holds a row of four colors, if the file has them.
bool read_pixels(Reader& reader, View<std::uint8_t> rows, std::uint8_t* cmyk) {
  jpeg_decompress_struct& jpeg = reader.jpeg;
  if (setjmp(reader.target)) return false;
  jpeg.out_color_space = jpeg.num_components == 1   ? JCS_GRAYSCALE
                         : jpeg.num_components == 4 ? JCS_CMYK
                                                    : JCS_RGB;
  jpeg_start_decompress(&jpeg);
  while (jpeg.output_scanline < jpeg.output_height) {
    const int y = int(jpeg.output_scanline);
    JSAMPROW row = cmyk ? cmyk : rows.row(y);
    jpeg_read_scanlines(&jpeg, &row, 1);
    if (cmyk) convert_cmyk(cmyk, jpeg.saw_Adobe_marker, int(jpeg.output_width), rows.row(y));
  }
  if (reader.ended && !has_all_scans(jpeg)) return false;
  jpeg_finish_decompress(&jpeg);
  return true;
}

/// Rejects images that are not supported or cannot fit into the file, before memory of the image's size is
/// allocated.
void check_header(const jpeg_decompress_struct& jpeg, std::size_t file_bytes) {
  const bool gray = jpeg.num_components == 1 && jpeg.jpeg_color_space == JCS_GRAYSCALE,
             color = jpeg.num_components == 3 &&
                     (jpeg.jpeg_color_space == JCS_YCbCr || jpeg.jpeg_color_space == JCS_RGB),
             cmyk = jpeg.num_components == 4 &&
                    (jpeg.jpeg_color_space == JCS_YCCK || jpeg.jpeg_color_space == JCS_CMYK);
  if (!gray && !color && !cmyk)
    fail_unsupported("a JPEG file of ", jpeg.num_components, " channels of unknown color is not supported");
  if (jpeg.data_precision != 8)
    fail_unsupported("a JPEG file of ", jpeg.data_precision, " bits is not supported; 8 bits are");
  if (jpeg.arith_code) fail_unsupported("a JPEG file with arithmetic coding is not supported");
  const auto width = std::int64_t(jpeg.image_width), height = std::int64_t(jpeg.image_height);
  // A block of 64 pixels takes at least one bit of Huffman code.
  if (width * height > 512 * std::int64_t(file_bytes))
    fail_format("damaged JPEG file: ", width, "x", height, " pixels do not fit into its ", file_bytes,
                " bytes");
  check_pixels("a JPEG file", width, height);
}

bool write_image(Writer& writer, const Frame& frame) {
  jpeg_compress_struct& jpeg = writer.jpeg;
  jpeg.err = jpeg_std_error(&writer.errors);
  writer.errors.error_exit = leave;
  writer.errors.output_message = [](j_common_ptr) {};
  jpeg.client_data = static_cast<Codec*>(&writer);
  if (setjmp(writer.target)) return false;
  jpeg_create_compress(&jpeg);
  jpeg_stdio_dest(&jpeg, writer.file.file());
  const bool rgb = channels(frame.format) == 3;
  jpeg.image_width = JDIMENSION(frame.width);
  jpeg.image_height = JDIMENSION(frame.height);
  jpeg.input_components = rgb ? 3 : 1;
  jpeg.in_color_space = rgb ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 95, TRUE);
  // 4:4:4: chroma is not subsampled.
  for (int c = 0; c < jpeg.num_components; ++c)
    jpeg.comp_info[c].h_samp_factor = jpeg.comp_info[c].v_samp_factor = 1;
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    // libjpeg does not modify it.
    auto* row = const_cast<JSAMPROW>(static_cast<const JSAMPLE*>(frame.data) +
                                     std::ptrdiff_t(jpeg.next_scanline) * frame.pitch);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  return true;
}

int orientation_of(const jpeg_decompress_struct& jpeg) {
  constexpr std::string_view exif("Exif\0\0", 6);
  for (const jpeg_marker_struct* marker = jpeg.marker_list; marker; marker = marker->next)
    if (const ByteSpan data(marker->data, marker->data_length); starts_with(data, exif))
      return exif_orientation(data.subspan(exif.size()));
  return 1;
}

}  // namespace

FrameBuffer decode_jpeg(ByteSpan bytes) {
  Reader reader(bytes);
  if (!read_header(reader)) reader.fail_damaged();
  check_header(reader.jpeg, bytes.size());
  const int orientation = orientation_of(reader.jpeg);
  FrameBuffer frame({int(reader.jpeg.image_width), int(reader.jpeg.image_height)},
                    integer_format(reader.jpeg.num_components > 1, false));
  Bytes cmyk(reader.jpeg.num_components == 4 ? 4 * std::size_t(frame.size().width) : 0);
  if (!read_pixels(reader, values_of<std::uint8_t>(frame), cmyk.empty() ? nullptr : cmyk.data()))
    reader.fail_damaged();
  return turned(std::move(frame), orientation);
}

Bytes encode_jpeg(const Frame& frame) {
  constexpr int most = 65500;  // libjpeg's limit
  if (frame.width > most || frame.height > most)
    fail_value("a frame of ", frame.size(), " pixels cannot be written as JPEG; each side is at most ", most);
  Writer writer;
  if (!write_image(writer, frame)) {
    if (writer.code == JERR_OUT_OF_MEMORY || writer.code == JERR_FILE_WRITE) throw std::bad_alloc();
    fail_value("cannot be written as JPEG: ", writer.message);
  }
  return writer.file.bytes();
}

#else

FrameBuffer decode_jpeg(ByteSpan) {
  fail_unsupported("JPEG files cannot be read: parafield was built without libjpeg");
}
Bytes encode_jpeg(const Frame&) {
  fail_unsupported("JPEG files cannot be written: parafield was built without libjpeg");
}

#endif

}  // namespace parafield::io
