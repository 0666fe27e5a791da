#pragma once
#include <algorithm>
#include <string_view>

#include "core/flow_view.hpp"
#include "io/file.hpp"
#include "parafield/fields.hpp"
#include "parafield/tracks.hpp"

/// The formats, in memory. A decoder takes all bytes of a file. It checks every size against the number of
/// bytes before it allocates, and throws Error(format) without the name of the file. An encoder returns the
/// bytes of a file. It expects arguments that the checks below accept.
namespace parafield::io {

/// Largest width and height. A header with more is damaged; sizes in bytes cannot overflow below it.
inline constexpr int max_side = 1'000'000;
/// Largest number of pixels, as of the estimators. It limits the memory that a small compressed file can ask
/// for.
inline constexpr std::int64_t most_pixels = std::int64_t(1) << 29;

enum class Content { png, jpeg, pnm, pfm, flo, npy, unknown };

/// Content of a file, by its first bytes; `recognized_by` of them are enough.
Content content_of(ByteSpan bytes);
inline constexpr std::size_t recognized_by = 64;

/// Decode a file of any format. Error(format) if the file holds something else.
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
bool is_png(ByteSpan bytes);
PngHeader png_header(ByteSpan bytes);  ///< works without libpng
/// Pixels as they are stored, or turned as the EXIF data of the file says.
enum class Orientation { stored, as_viewed };
FrameBuffer decode_png(ByteSpan bytes, Orientation orientation = Orientation::as_viewed);
Bytes encode_png(const Frame& frame);  ///< like decode_png, Error(unsupported) without libpng

bool is_jpeg(ByteSpan bytes);
/// A frame, turned as its EXIF data says. Error(unsupported) without libjpeg.
FrameBuffer decode_jpeg(ByteSpan bytes);

/// EXIF's orientation, 1 to 8, in a TIFF structure. 1 (as stored) if it is damaged or has none.
int exif_orientation(ByteSpan tiff);
/// The frame as a viewer would show it.
FrameBuffer turned(FrameBuffer frame, int exif_orientation);

bool is_pnm(ByteSpan bytes);
FrameBuffer decode_pnm(ByteSpan bytes);
Bytes encode_pnm(const Frame& frame);  ///< gray: PGM, rgb: PPM

bool is_pfm(ByteSpan bytes);
bool is_pfm_of_flow(ByteSpan bytes);  ///< three channels; decode_frame takes them for colors
FrameBuffer decode_pfm_frame(ByteSpan bytes);
FlowField decode_pfm_flow(ByteSpan bytes);
Bytes encode_pfm_frame(const Frame& frame);  ///< f32 only; the other encoders take u8 and u16
Bytes encode_pfm_flow(const FlowView& flow, bool mark_invalid);

bool is_flo(ByteSpan bytes);
FlowField decode_flo(ByteSpan bytes);
Bytes encode_flo(const FlowView& flow, bool mark_invalid);

bool is_npy(ByteSpan bytes);
bool is_npy_of_disparity(ByteSpan bytes);  ///< needs the header only; false if it is damaged
FlowField decode_npy_flow(ByteSpan bytes);
FrameBuffer decode_npy_plane(ByteSpan bytes);  ///< gray_f32
Bytes encode_npy_flow(const FlowView& flow, bool mark_invalid);
Bytes encode_npy_plane(const Frame& frame);  ///< gray_f32 only

FlowField decode_kitti(ByteSpan bytes);
Bytes encode_kitti(const FlowView& flow);

/// `scale` is the file's value of 1 px. 0 = KITTI's 256 for 16 bit, Error(invalid_argument) for 8 bit.
DisparityField decode_png_disparity(ByteSpan bytes, float scale);
DisparityField decode_pfm_disparity(ByteSpan bytes);
DisparityField decode_npy_disparity(ByteSpan bytes);
Bytes encode_png_disparity(const DisparityView& disparity, float scale);
Bytes encode_pfm_disparity(const DisparityView& disparity, bool mark_invalid);
Bytes encode_npy_disparity(const DisparityView& disparity, bool mark_invalid);

std::vector<Track> decode_tracks(ByteSpan bytes);
Bytes encode_tracks(std::span<const Track> tracks);

/// Throws Error(invalid_argument) unless the frame is gray or rgb and in host memory. Returns it with its
/// pitch.
Frame check_frame(const Frame& frame);
void check_flow(const FlowView& flow);
void check_disparity(const DisparityView& disparity);
void check_scale(float scale, bool may_be_0);

inline bool starts_with(ByteSpan bytes, std::string_view signature) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).starts_with(signature);
}

/// A file with its header, and the place of its values.
struct StartedFile {
  Bytes bytes;
  std::uint8_t* values;
};
inline StartedFile start_file(std::string_view header, std::size_t value_bytes) {
  StartedFile file{Bytes(header.size() + value_bytes), nullptr};
  file.values = std::copy(header.begin(), header.end(), file.bytes.data());
  return file;
}

/// Sets a pixel from a .flo, PFM or .npy file, in which large values mean unknown (Middlebury's convention).
inline void set_flow(FlowField& flow, int x, int y, float u, float v) {
  flow.u(x, y) = u;
  flow.v(x, y) = v;
  flow.valid(x, y) = has_value(u, v);
}
struct Vector {
  float u, v;
};
inline Vector written_flow(const FlowView& flow, int x, int y, bool mark_invalid) {
  if (mark_invalid && flow.valid && !flow.valid(x, y)) return {1e10f, 1e10f};
  return {flow.u(x, y), flow.v(x, y)};
}

}  // namespace parafield::io
