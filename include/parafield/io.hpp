// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parafield/background.hpp"
#include "parafield/fields.hpp"
#include "parafield/rectification.hpp"
#include "parafield/tracks.hpp"

/// Files of frames, fields, masks, tracks, backgrounds, calibrations, depths and points.
///
/// Readers detect the format from the content of a file, never from its name. They check every size against
/// the file before they allocate, and return host memory. They throw Error(file) for a file that is missing
/// or cannot be read, Error(format) for a file that is damaged or holds something else, and
/// Error(unsupported) for a format that this build lacks. Frames and masks can also be read from pipes,
/// sockets and standard input (-, or /dev/stdin); the other readers need regular files.
///
/// Writers choose the format by the extension of the name and take host memory. They write a temporary file
/// in the same folder and rename it, which is why a file is never left half written. They throw Error(file)
/// for a path that cannot be written or is not a regular file (a pipe, a device), and Error(invalid_argument)
/// for an extension or a value that the format cannot hold. Every message starts with the name of the file.
namespace parafield {

/// Reads a frame, gray or rgb, u8, u16 or f32:
/// - PNG: 1 to 16 bits, gray, palette or RGB. Alpha is dropped here and below; read_alpha reads it.
/// - JPEG: 8 bits, gray or color, baseline or progressive. CMYK becomes rgb, without a color profile.
/// - TIFF and BigTIFF: gray or RGB of 1 to 16 bits; signed integers of 8 to 32 bits, unsigned ones of 32 bits
///   and floats of 16 to 64 bits (read as f32, values unchanged); palette, YCbCr and CMYK of 8 bits; strips
///   or tiles, with every compression that the installed libtiff supports. Overviews and masks do not count
///   as images. Files with the tag GDAL_NODATA are read as f32, with NaN where a pixel has its value.
/// - BMP: 1 to 32 bits, 4 and 8 bits also with run lengths.
/// - WebP: single images, as rgb. EXR: one flat image of R, G and B, of Y, or of one channel, as f32 in the
///   size of its display window, black outside its data. Each needs its library at run time, and throws
///   Error(unsupported) without: libwebp and OpenEXR.
/// - PGM and PPM, plain or raw. Values are scaled to 0..255 or 0..65535 if the file has another maximum.
/// - PFM: f32, values unchanged. The absolute value of the file's scale is ignored.
/// - .npy: a NumPy array, height x width, height x width x 1 or height x width x 3, in C order and either
///   byte order: uint8, uint16, or int16, int32, uint32, float16, float32 or float64, which are read as f32.
///   Values are unchanged.
/// - NetCDF (classic or NetCDF-4, if the netCDF library is available: see netcdf.hpp): a variable with the
///   dimensions rows and columns, and possibly time, in any order. Values are unpacked to f32; missing values
///   are NaN. If the coordinate of the rows is a latitude or a projection's y, the northernmost row comes
///   first.
/// - Y4M (YUV4MPEG2): mono, 4:2:0, 4:2:2 or 4:4:4 of 8 to 16 bits. Mono becomes gray; values of 9 to 15 bits
///   are scaled to 0..65535, other values are unchanged. Color becomes rgb by BT.601, in limited range unless
///   the header says XCOLORRANGE=FULL. More than 8 bits become u16. 4:1:1 and alpha throw Error(unsupported).
///   Interlaced frames are read as they are stored.
///
/// From a pipe, PGM, PPM, PFM and Y4M can be read; other formats throw Error(unsupported). A file or pipe
/// that holds more than one frame throws Error(format); use FrameSource (video.hpp) for it.
///
/// A PNG, JPEG, WebP or TIFF file with an orientation (except for TIFF, in its EXIF data) is turned as
/// an image viewer shows it, which is why the frame's width may be the stored height.
///
/// A PNG or JPEG file that lacks only its end marker is read. `note`, if it is not null, receives what is
/// unusual about the file, starting with its name; empty if nothing is.
PARAFIELD_API FrameBuffer read_frame(const std::filesystem::path& path, std::string* note = nullptr);

/// Writes a frame: .png (u8, u16; gray or rgb), .jpg or .jpeg (u8; gray or rgb; quality 95 without chroma
/// subsampling, at most 65500x65500), .pgm (u8, u16; gray), .ppm (u8, u16; rgb) or .pfm (f32; one channel for
/// gray, three for rgb; values unchanged, including infinity and NaN).
PARAFIELD_API void write_frame(const std::filesystem::path& path, const In<Frame>& frame);

/// Reads a flow field, px, without confidence:
/// - Middlebury's .flo, in either byte order.
/// - PFM of three channels (PF), in either byte order: u, v and a channel that is ignored.
/// - .npy: a NumPy array of float16, float32 or float64, height x width x 2, in C order.
/// - .npz of one field: arrays u and v, height x width, or flow, height x width x 2, and perhaps valid
///   (bool). FlowReader reads files of several.
/// - KITTI's RGB PNG of 16 bits: u, v = (value - 32768) / 64, the third channel is `valid`. Three zeros
///   become NaN.
///
/// In all but the last format, flow with |u| or |v| > 1e9 or NaN is unknown, and its `valid` is 0.
PARAFIELD_API FlowField read_flow(const std::filesystem::path& path);

/// Reads the flow fields of a file in any order. A .npz file, as written by parafield-extract, may hold
/// several: u and v are fields x height x width there. The others hold one.
class PARAFIELD_API FlowReader {
 public:
  /// Reads the file into memory. Throws like read_flow.
  explicit FlowReader(const std::filesystem::path& path);
  ~FlowReader();
  FlowReader(FlowReader&&) noexcept;
  FlowReader& operator=(FlowReader&&) noexcept;

  int count() const;
  /// Returns the field `index`, from 0. Throws like read_flow.
  FlowField read(int index) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Writes a flow field: .flo, .pfm, .npy (float32) or .png (KITTI). The first three store the flow of every
/// pixel, but not `valid`. With `mark_invalid` they store 1e10 (.flo) or NaN, which readers take as unknown,
/// where `valid` is 0; .flo also stores 1e10 where the flow is NaN. KITTI's PNG stores flow rounded to 1/64
/// px, and `valid`. It stores unknown flow as three zeros, and 0 for flow that is neither valid nor in the
/// range -512..511.98 px. Valid flow outside that range throws Error(invalid_argument).
PARAFIELD_API void write_flow(const std::filesystem::path& path, const In<FlowView>& flow,
                              bool mark_invalid = false);

/// Writes the covariance of a flow field: .npy, float32, height x width x 3: xx, xy and yy, px^2.
PARAFIELD_API void write_covariance(const std::filesystem::path& path,
                                    const Covariance<View<const float>>& covariance);
/// Reads such a file; it may also hold float16 or float64.
PARAFIELD_API Covariance<Image<float>> read_covariance(const std::filesystem::path& path);

/// Reads a disparity field, px, without confidence:
/// - PFM of one channel (Pf) and .npy (float16, float32 or float64, height x width, C order): values
///   unchanged. A disparity that is not finite is unknown.
/// - .npz: an array disparity or d, as in .npy, and perhaps valid (bool).
/// - Gray PNG of 8 or 16 bits: value / `scale`. 0 means unknown and is read as infinity.
///
/// Where the disparity is unknown, `valid` is 0. `scale` is the stored value of 1 px, which a PNG does not
/// record. For 16 bits, 0 means KITTI's 256. For 8 bits there is no usual scale, and 0 throws
/// Error(invalid_argument) (Middlebury: tsukuba 16, venus 8, cones 4, art and aloe 3).
PARAFIELD_API DisparityField read_disparity(const std::filesystem::path& path, float scale = 0);

/// Writes a disparity field: .pfm, .npy (float32) or .png (gray, 16 bits). The first two store the disparity
/// of every pixel, but not `valid`. With `mark_invalid` they store infinity where `valid` is 0. The PNG
/// stores disparity * `scale`, rounded (KITTI: 256), and 0 where the disparity is unknown or not valid; a
/// valid disparity is stored as at least 1. A valid disparity below 0 or above 65535 / scale throws
/// Error(invalid_argument).
PARAFIELD_API void write_disparity(const std::filesystem::path& path, const In<DisparityView>& disparity,
                                   float scale = 256, bool mark_invalid = false);

/// Reads a mask from any file that read_frame can read: 1 where any channel of the pixel is above 0,
/// otherwise 0.
PARAFIELD_API Image<std::uint8_t> read_mask(const std::filesystem::path& path);

/// Reads the alpha channel of a PNG, WebP or TIFF file, rotated like the pixels of read_frame: 0 where alpha
/// is 0, otherwise 1. The result has no data if the file has no alpha, several images, or is a pipe or
/// standard input.
PARAFIELD_API Image<std::uint8_t> read_alpha(const std::filesystem::path& path);

/// Writes a mask as .png or .pgm: 255 where it is not 0, otherwise 0. A pitch of 0 means that rows are
/// contiguous.
PARAFIELD_API void write_mask(const std::filesystem::path& path, View<const std::uint8_t> mask);

/// Reads tracks from text. Each line has x, y, u and v, px, separated by commas, semicolons, tabs or spaces,
/// with a decimal point in every locale; nan and inf are allowed. The first line may name the columns: then
/// x, y, u and v may be in any order, and other columns are ignored. Empty lines and text after # are
/// ignored. Error(format) names the first bad line.
PARAFIELD_API std::vector<Track> read_tracks(const std::filesystem::path& path);

/// Writes tracks as text: a line x,y,u,v, then one line per track, with enough digits to read back the same
/// floats.
PARAFIELD_API void write_tracks(const std::filesystem::path& path, std::span<const Track> tracks);

/// Reads a background that write_background wrote. Error(format) says what is wrong with other files, damaged
/// files and files of another version. The detector checks method, size and range.
PARAFIELD_API LearnedBackground read_background(const std::filesystem::path& path);

/// Writes a learned background, with a checksum. Any extension is allowed.
PARAFIELD_API void write_background(const std::filesystem::path& path, const LearnedBackground& background);

/// Reads the calibration of a stereo camera and detects its format:
/// - OpenCV's YAML, as FileStorage writes it: the matrices K1 or M1, D1 (see set_lenses), K2 or M2, D2, R and
///   T, and optionally the size of the images (image_width and image_height, or imageSize) and the model of
///   the lenses (distortion_model: plumb_bob, rational_polynomial, equidistant or fisheye; or fisheye_model:
///   0 or 1). Other entries are ignored. A `second` file may supply what the first lacks, because OpenCV's
///   sample program writes R and T to extrinsics.yml.
/// - ROS's camera_info in YAML, one file a camera, in any order: camera_matrix, distortion_model,
///   distortion_coefficients, rectification_matrix and projection_matrix, or the fields of the message.
/// - Middlebury's calib.txt: cam0, cam1, baseline, doffs, width and height. These images are already
///   rectified, as are KITTI's.
/// - KITTI's calib.txt: P2 and P3, or without them P0 and P1, in m; calib_cam_to_cam.txt: P_rect_02,
///   P_rect_03, S_rect_02 and S_rect_03, or those of cameras 0 and 1.
///
/// Error(format) names the line. plan_rectification checks the values further.
PARAFIELD_API StereoCalibration read_calibration(const std::filesystem::path& path,
                                                 const std::filesystem::path& second = {});

/// Depths that a file of 16 bits cannot hold.
struct DepthLoss {
  std::int64_t known = 0;  ///< pixels with a depth
  std::int64_t lost = 0;   ///< of these, pixels that are stored as 0, because they round to 0 or exceed 65535
  std::int64_t coarse = 0;  ///< of these, pixels that are stored as 1 to 99, in steps of more than 1 %

  DepthLoss& operator+=(const DepthLoss& other) {
    known += other.known, lost += other.lost, coarse += other.coarse;
    return *this;
  }
  bool operator==(const DepthLoss&) const = default;
};

/// The usual scale of depths in a PNG: 1000 for a baseline below 3, which is taken as meters, so that the
/// file holds millimeters; otherwise 1, for a baseline in millimeters or centimeters.
PARAFIELD_API float depth_scale_of(double baseline);

/// Writes depths as .pfm, .npy (float32) or .png (gray, 16 bits). The first two store them unchanged,
/// infinite where unknown. The PNG stores depth * `scale`, rounded, and 0 where the depth is unknown or above
/// 65535 / scale. The default gives millimeters for depths in meters. Returns what the file cannot hold.
PARAFIELD_API DepthLoss write_depth(const std::filesystem::path& path, const View<const float>& depth,
                                    float scale = 1000);

/// Writes points as .ply, binary and little-endian, with x, y and z (float), red, green and blue (uchar), and
/// sigma_z (float) if any point has one.
PARAFIELD_API void write_points(const std::filesystem::path& path, std::span<const ColorPoint> points);

/// What the structure of a video file lacks, in words that follow the file's name: its end, if the file is
/// shorter than its container says, or the index of an MP4 or MOV file; or where it is damaged. Empty for a
/// file that is whole, and for containers and streams whose size is unknown. It reads a few bytes of each
/// part of the file, or all of it if the parts have checksums. It knows MP4 and MOV, Matroska and WebM, AVI,
/// Ogg, GIF, FLV, ASF, MXF, IVF, and MPEG transport and program streams. FFmpeg reads a file that was cut off
/// to its end without an error, and passes over other damage.
PARAFIELD_API std::string missing_part(const std::filesystem::path& path);

/// Content of a file.
enum class FileKind { frame, flow, disparity, unknown };

/// Detects the kind of a regular file from its first bytes. RGB PNG of 16 bits, PFM of three channels and
/// .npy of floats, height x width x 2, are flow. PFM of one channel and two-dimensional .npy of floats are
/// disparity. A gray PNG may hold disparities but is reported as a frame. Throws Error(file), also for a
/// pipe, because bytes read from it would be lost to other readers.
PARAFIELD_API FileKind file_kind(const std::filesystem::path& path);

}  // namespace parafield
