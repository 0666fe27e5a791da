// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "core/views.hpp"
#include "io/file.hpp"
#include "parafield/io.hpp"

/// Encoders and decoders of the formats, in memory. A decoder takes all bytes of a file; a reader takes as
/// many bytes of a stream as it needs. Both check every size against the number of bytes before they
/// allocate, and throw Error(format) without the name of the file. An encoder returns the bytes of a file;
/// its arguments must satisfy the checks below.
namespace parafield::io {

class ByteStream;

/// Largest width and height. A header with larger values is damaged; below this limit, sizes in bytes cannot
/// overflow.
inline constexpr int max_side = 1'000'000;

enum class Content { png, jpeg, tiff, bmp, webp, exr, netcdf, pnm, pfm, y4m, flo, npy, npz, unknown };

/// A kind of content.
struct Format {
  Content content;
  const char *name, *kind;
  bool (*starts)(ByteSpan bytes);                   ///< whether bytes are the start of such a file
  FrameBuffer (*decode)(ByteSpan bytes) = nullptr;  ///< of a format whose files hold one image
  /// A note on what is unusual about a decoded file; empty if nothing is.
  std::string (*note)(ByteSpan bytes) = nullptr;
};
/// The format of a content; null if it is unknown.
const Format* format_of(Content content);
/// Detects the content of a file from its first bytes; `recognized_by` bytes are enough.
PARAFIELD_API Content content_of(ByteSpan bytes);
inline constexpr std::size_t recognized_by = 64;

/// Throws Error(format) for a file or stream (`what`) that does not hold `wanted`. `formats` lists the
/// formats that would be read.
[[noreturn]] void fail_content(ByteSpan bytes, const char* wanted, const char* formats,
                               const char* what = "file");

/// Decode a file of any supported format. Throw Error(format) if the file holds something else.
FrameBuffer decode_frame(ByteSpan bytes);
FlowField decode_flow(ByteSpan bytes);
DisparityField decode_disparity(ByteSpan bytes, float scale);

/// The first chunk of a PNG file.
struct PngHeader {
  Size size;
  int bit_depth = 0;
  int color_type = 0;  ///< 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGB and alpha

  bool is_flow() const { return bit_depth == 16 && color_type == 2; }
};
PngHeader png_header(ByteSpan bytes);  ///< works without libpng
/// Whether pixels are returned as stored, or turned as the file's EXIF data say.
enum class Orientation { stored, as_viewed };
FrameBuffer decode_png(ByteSpan bytes, Orientation orientation = Orientation::as_viewed);
/// The alpha of a file, 255 where it is not 0, turned as the file says; without data if the file has none. A
/// TIFF file of several images has none.
FrameBuffer decode_png_alpha(ByteSpan bytes);
FrameBuffer decode_tiff_alpha(ByteSpan bytes);
FrameBuffer decode_webp_alpha(ByteSpan bytes);
Bytes encode_png(const Frame& frame);  ///< u8, u16. Throws Error(unsupported) without libpng, like decode_png

/// Notes on a file whose end marker is missing although all pixels are there: see Format.
std::string note_png(ByteSpan bytes);
std::string note_jpeg(ByteSpan bytes);

/// Decodes a frame, turned as its EXIF data say. Throws Error(unsupported) without libjpeg.
FrameBuffer decode_jpeg(ByteSpan bytes);
Bytes encode_jpeg(const Frame& frame);  ///< u8. Throws Error(unsupported) without libjpeg

/// The images of a file, one after the other. After an error of a damaged image, next() returns the one after
/// it.
class Images {
 public:
  virtual ~Images() = default;
  virtual bool has_next() const = 0;
  virtual FrameBuffer next() = 0;
  /// Whether the images after the last error can be found, if there are any.
  virtual bool goes_on() const { return true; }
};

bool is_tiff(ByteSpan bytes);
/// Opens the images of a file in full resolution, turned as the file says. `bytes` must outlive them. Throws
/// Error(unsupported) without libtiff.
std::unique_ptr<Images> open_tiff(ByteSpan bytes);

bool is_bmp(ByteSpan bytes);
FrameBuffer decode_bmp(ByteSpan bytes);

bool is_webp(ByteSpan bytes);
/// Decodes a frame, turned as its EXIF data say. Throws Error(unsupported) if libwebp cannot be loaded.
FrameBuffer decode_webp(ByteSpan bytes);

bool is_exr(ByteSpan bytes);
/// Decodes a frame of f32. Throws Error(unsupported) if OpenEXR's library cannot be loaded.
FrameBuffer decode_exr(ByteSpan bytes);

/// EXIF's orientation, 1 to 8, from a TIFF structure. 1 (as stored) if the structure is damaged or has none.
int exif_orientation(ByteSpan tiff);
/// Turns a frame as a viewer would show it.
FrameBuffer turned(FrameBuffer frame, int exif_orientation);
/// The same into `to`, whose memory is reused if it fits.
PARAFIELD_API void turn(const Frame& frame, int exif_orientation, FrameBuffer& to);
/// Gives a frame a size and a format. Keeps its memory if it already has them.
inline void reserve(FrameBuffer& frame, Size size, PixelFormat format) {
  if (frame.size() != size || frame.format() != format || !frame.frame().memory.on_host())
    frame = FrameBuffer(size, format);
}

bool is_pnm(ByteSpan bytes);
FrameBuffer read_pnm(ByteStream& stream);
Bytes encode_pnm(const Frame& frame);  ///< gray: PGM, rgb: PPM

bool is_flo(ByteSpan bytes);
bool is_pfm(ByteSpan bytes);
bool is_pfm_of_flow(ByteSpan bytes);       ///< three channels, which decode_frame reads as colors
FrameBuffer read_pfm(ByteStream& stream);  ///< f32
FileKind kind_of_npy(ByteSpan bytes);      ///< needs only the header; flow if it is damaged
FrameBuffer decode_npy(ByteSpan bytes);
Bytes encode_pfm_frame(const Frame& frame);  ///< f32; the other encoders of frames take u8 and u16

/// Encode as flo (flow only), pfm or npy.
Bytes encode_flow(Content format, const FlowView& flow, bool mark_invalid);
Bytes encode_disparity(Content format, const DisparityView& disparity, bool mark_invalid);

FlowField decode_kitti(ByteSpan bytes);
Bytes encode_kitti(const FlowView& flow);

/// `scale` is the stored value of 1 px. 0 means KITTI's 256 for 16 bits and throws Error(invalid_argument)
/// for 8 bits.
DisparityField decode_png_disparity(ByteSpan bytes, float scale);
Bytes encode_png_disparity(const DisparityView& disparity, float scale);
Bytes encode_png_depth(View<const float> depth, float scale,
                       DepthLoss& loss);  ///< 0 where the depth is unknown or does not fit

std::vector<Track> decode_tracks(ByteSpan bytes);
Bytes encode_tracks(std::span<const Track> tracks);

[[noreturn]] void fail_format(const auto&... parts) { fail(ErrorCode::format, parts...); }
[[noreturn]] void fail_unsupported(const auto&... parts) { fail(ErrorCode::unsupported, parts...); }

/// Throws Error(format) for a header with a side outside 1 to `max_side`. `file` is a phrase such as "a PNG
/// file".
PARAFIELD_API void check_sides(const char* file, std::int64_t width, std::int64_t height);
/// Throws Error(unsupported) for more than `most_pixels`, because a small compressed file can claim a huge
/// image.
PARAFIELD_API void check_pixels(const char* file, std::int64_t width, std::int64_t height);
/// Throws Error(invalid_argument) unless the frame is gray or rgb and in host memory. Returns it with its
/// actual pitch.
PARAFIELD_API Frame check_frame(const Frame& frame);
/// Throws Error(invalid_argument) for a scale of disparities that is not above 0.
void check_scale(float scale, bool may_be_0);

/// Format of a u8 frame, or a u16 frame if `wide`.
inline PixelFormat integer_format(bool rgb, bool wide) {
  if (rgb) return wide ? PixelFormat::rgb_u16 : PixelFormat::rgb_u8;
  return wide ? PixelFormat::gray_u16 : PixelFormat::gray_u8;
}

/// The text of a file. Throws Error(format) if it contains zero bytes.
std::string_view plain_text(ByteSpan bytes);
/// Removes the next line from the front and returns it.
std::string_view next_line(std::string_view& text);

inline std::string_view text_of(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline bool starts_with(ByteSpan bytes, std::string_view signature) {
  return text_of(bytes).starts_with(signature);
}

}  // namespace parafield::io
