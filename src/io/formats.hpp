#pragma once
#include "io/file.hpp"
#include "parafield/flow.hpp"
#include "parafield/stereo.hpp"
#include "parafield/tracks.hpp"

/// The formats, in memory: decoders take the whole file's bytes, encoders return them. A decoder checks every
/// size against the number of bytes before it allocates, and throws Error(format) that says what is wrong,
/// without the file's name. Encoders take what the checks below let through.
namespace parafield::io {

/// No frame is wider or higher. Above it a header is damaged; below it sizes in bytes cannot overflow.
inline constexpr int max_side = 1'000'000;
/// Nor has it more pixels: no estimator takes them. It bounds what a small file of much compressed pixels can ask for.
inline constexpr std::int64_t most_pixels = std::int64_t(1) << 29;

enum class Content { png, jpeg, pnm, pfm, flo, npy, unknown };

/// Judged by the first bytes; `recognized_by` of them are enough.
Content content_of(ByteSpan bytes);
inline constexpr std::size_t recognized_by = 64;

/// Any frame, any flow field, any disparity field; Error(format) also where the content is something else.
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
/// The pixels as they are stored, or turned as the file's EXIF data says.
enum class Orientation { stored, as_viewed };
FrameBuffer decode_png(ByteSpan bytes, Orientation orientation = Orientation::as_viewed);
Bytes encode_png(const Frame& frame);  ///< Error(unsupported) without libpng, as decode_png

bool is_jpeg(ByteSpan bytes);
FrameBuffer decode_jpeg(
    ByteSpan bytes);  ///< turned as its EXIF data says; Error(unsupported) without libjpeg

/// EXIF's orientation, 1 to 8, of a TIFF structure; 1 (as stored) also where that is damaged or says nothing.
int exif_orientation(ByteSpan tiff);
/// The frame as a viewer would show it.
FrameBuffer turned(FrameBuffer frame, int exif_orientation);

bool is_pnm(ByteSpan bytes);
FrameBuffer decode_pnm(ByteSpan bytes);
Bytes encode_pnm(const Frame& frame);  ///< gray: PGM, rgb: PPM

/// Three channels are flow to decode_flow, and colors to decode_frame.
bool is_pfm(ByteSpan bytes);
bool is_pfm_of_flow(ByteSpan bytes);
FrameBuffer decode_pfm_frame(ByteSpan bytes);
FlowField decode_pfm_flow(ByteSpan bytes);
Bytes encode_pfm_frame(const Frame& frame);  ///< of f32, alone among the encoders of frames
Bytes encode_pfm_flow(const FlowView& flow, bool mark_invalid);

bool is_flo(ByteSpan bytes);
FlowField decode_flo(ByteSpan bytes);
Bytes encode_flo(const FlowView& flow, bool mark_invalid);

bool is_npy(ByteSpan bytes);
bool is_npy_of_disparity(ByteSpan bytes);  ///< the header is enough; false where it is damaged
FlowField decode_npy_flow(ByteSpan bytes);
FrameBuffer decode_npy_plane(ByteSpan bytes);  ///< gray_f32
Bytes encode_npy_flow(const FlowView& flow, bool mark_invalid);
Bytes encode_npy_plane(const Frame& frame);  ///< of gray_f32

FlowField decode_kitti(ByteSpan bytes);
Bytes encode_kitti(const FlowView& flow);

/// `scale`: the file's value of 1 px. 0 = KITTI's 256 for 16 bit, Error(invalid_argument) for 8 bit.
DisparityField decode_png_disparity(ByteSpan bytes, float scale);
DisparityField decode_pfm_disparity(ByteSpan bytes);
DisparityField decode_npy_disparity(ByteSpan bytes);
Bytes encode_png_disparity(const DisparityView& disparity, float scale);
Bytes encode_pfm_disparity(const DisparityView& disparity, bool mark_invalid);
Bytes encode_npy_disparity(const DisparityView& disparity, bool mark_invalid);

/// CSV, of which every line is sound or named in the error.
std::vector<Track> decode_tracks(ByteSpan bytes);
Bytes encode_tracks(std::span<const Track> tracks);

/// Error(invalid_argument) unless it is a host frame, gray or rgb. Returns it with its pitch filled in.
Frame check_frame(const Frame& frame);
void check_flow(const FlowView& flow);
void check_disparity(const DisparityView& disparity);
void check_scale(float scale, bool may_be_0);

/// Fields read from files have no confidence.
FlowField flow_without_confidence(Size size);

/// Middlebury's convention: such a flow is not known.
inline bool unknown(float u, float v) { return !(u >= -1e9f && u <= 1e9f && v >= -1e9f && v <= 1e9f); }

/// A pixel as .flo, PFM and .npy files hold it: without validity, other than by that convention.
inline void set_flow(FlowField& flow, int x, int y, float u, float v) {
  flow.u(x, y) = u;
  flow.v(x, y) = v;
  flow.valid(x, y) = !unknown(u, v);
}
struct Vector {
  float u, v;
};
inline Vector written_flow(const FlowView& flow, int x, int y, bool mark_invalid) {
  if (mark_invalid && flow.valid && !flow.valid(x, y)) return {1e10f, 1e10f};
  return {flow.u(x, y), flow.v(x, y)};
}

}  // namespace parafield::io
