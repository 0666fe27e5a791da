// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parafield/fields.hpp"
#include "parafield/rectification.hpp"
#include "parafield/tracks.hpp"

/// Files of frames, fields, masks, tracks, calibrations, depths and points.
///
/// Readers go by the content of a file, never by its name. They check every size against the file before they
/// allocate, and return host memory. They throw Error(file) for a file that is missing or cannot be read,
/// Error(format) for one that is damaged or holds something else, and Error(unsupported) for a format that
/// this build lacks. Frames and masks are also read from pipes, sockets and standard input (-, or
/// /dev/stdin); the other readers need regular files.
///
/// Writers go by the extension of the name and take host memory. They write a temporary file beside the named
/// one and rename it, so that no file is ever half written. They throw Error(file) for a path that cannot be
/// written or is no regular file (a pipe, a device), and Error(invalid_argument) for an extension or a value
/// that the format does not hold. Every message starts with the name of the file.
namespace parafield {

/// Reads a frame, gray or rgb, u8, u16 or f32:
/// - PNG: 1 to 16 bit, gray, palette or RGB. Alpha is dropped; read_alpha reads it.
/// - JPEG: 8 bit, gray or color, baseline or progressive. CMYK is Error(unsupported).
/// - TIFF and BigTIFF: gray or RGB of 1 to 16 bit, float32 or float64 (read as f32, values as they are),
///   palette, YCbCr of 8 bit; strips or tiles, every compression of the installed libtiff. Alpha is dropped.
///   CMYK and a file of several images are Error(unsupported); overviews and masks do not count.
/// - PGM and PPM, plain or raw. Values are scaled to 0..255 or 0..65535 if the file's maximum is another one.
/// - PFM: f32, values as they are. The absolute value of the file's scale is ignored.
/// - .npy: a NumPy array of uint8, uint16, float32 or float64 (read as f32), in either byte order, height x
///   width, height x width x 1 or height x width x 3, in C order. Values as they are.
/// - NetCDF (classic or NetCDF-4, where the netCDF library is: see netcdf.hpp): a variable of rows and
///   columns, or of time, rows and columns. Values are unpacked to f32; missing ones are NaN. Where the rows'
///   coordinate is a latitude or a projection's y, the northernmost row comes first. Where coordinates tell
///   another order of dimensions, it is Error(unsupported).
/// - Y4M (YUV4MPEG2): mono, 4:2:0, 4:2:2 or 4:4:4 of 8 to 16 bit. Mono is gray, values as they are. Color
///   becomes rgb by BT.601, of limited range unless the header says XCOLORRANGE=FULL. More than 8 bit become
///   u16. 4:1:1 and alpha are Error(unsupported). Interlaced frames are read as they are stored.
///
/// A pipe takes PGM, PPM, PFM and Y4M; the other formats are Error(unsupported) there. A file or pipe that
/// holds more than one frame is Error(format): see FrameReader.
///
/// A PNG, JPEG or TIFF file with an orientation (EXIF's, in PNG and JPEG) is turned as a viewer shows it; its
/// width may be the stored height.
PARAFIELD_API FrameBuffer read_frame(const std::filesystem::path& path);

/// Reads frames one after the other from a file, a pipe, a socket or standard input, in the formats of
/// read_frame. It keeps one frame at most, so a stream may be endless.
///
/// PGM, PPM and PFM may follow one another, with or without white space between, and each has a size and a
/// format of its own. A Y4M stream has one header and any number of frames, and another stream may follow. A
/// NetCDF file, which is read whole, gives its images. A file of another format gives one frame.
class PARAFIELD_API FrameReader {
 public:
  /// Opens a file; - is standard input. `variable` names the one of NetCDF files that holds the images; it is
  /// needed where several may. Throws Error(file).
  explicit FrameReader(const std::filesystem::path& path, const std::string& variable = {});
  ~FrameReader();
  FrameReader(FrameReader&&) noexcept;
  FrameReader& operator=(FrameReader&&) noexcept;

  /// The next frame; nothing at the end. It waits for the bytes of this frame only, not for the next one.
  /// Some bytes that follow may be taken, so two readers cannot share a pipe.
  ///
  /// Throws like read_frame, with the number of the frame, from 1: "standard input: frame 17: ends after 300
  /// of 460800 bytes of pixels". After an error there is nothing more.
  std::optional<FrameBuffer> next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Writes a frame: .png (u8, u16; gray or rgb), .jpg or .jpeg (u8; gray or rgb; quality 95, all pixels' color
/// kept, at most 65500x65500), .pgm (u8, u16; gray), .ppm (u8, u16; rgb) or .pfm (f32; gray as one channel,
/// rgb as three; values as they are, also infinity and NaN).
PARAFIELD_API void write_frame(const std::filesystem::path& path, const In<Frame>& frame);

/// Reads a flow field, px, without confidence:
/// - Middlebury's .flo.
/// - PFM of three channels (PF), in either byte order: u, v and a channel that is ignored.
/// - .npy: a NumPy array of little-endian float32 or float64, height x width x 2, in C order.
/// - KITTI's RGB PNG of 16 bit: u, v = (value - 32768) / 64, the third channel is `valid`. Three zeros are
///   NaN.
///
/// In the first three formats flow with |u| or |v| > 1e9 or NaN is unknown, and its `valid` is 0.
PARAFIELD_API FlowField read_flow(const std::filesystem::path& path);

/// Writes a flow field: .flo, .pfm, .npy (float32) or .png (KITTI). The first three hold the flow of every
/// pixel, but not `valid`. With `mark_invalid` they hold 1e10, which readers take for unknown, where `valid`
/// is 0; .flo holds it where the flow is NaN, too. KITTI's PNG holds flow rounded to 1/64 px, and `valid`.
/// Valid flow outside -512..511.98 px is Error(invalid_argument). Unknown flow is three zeros there; where
/// flow is not valid and does not fit, it is 0.
PARAFIELD_API void write_flow(const std::filesystem::path& path, const In<FlowView>& flow,
                              bool mark_invalid = false);

/// Reads a disparity field, px, without confidence:
/// - PFM of one channel (Pf) and .npy (little-endian float32 or float64, height x width, C order): values as
///   they are. A disparity that is not finite is unknown.
/// - Gray PNG of 8 or 16 bit: value / `scale`. 0 is unknown and read as infinity.
///
/// Where the disparity is unknown, `valid` is 0. `scale` is the file's value of 1 px, which a PNG does not
/// say itself. 0 = KITTI's 256 for 16 bit. For 8 bit there is no usual scale, and 0 is
/// Error(invalid_argument) (Middlebury: tsukuba 16, venus 8, cones 4, art and aloe 3).
PARAFIELD_API DisparityField read_disparity(const std::filesystem::path& path, float scale = 0);

/// Writes a disparity field: .pfm, .npy (float32) or .png (gray, 16 bit). The first two hold the disparity of
/// every pixel, but not `valid`. With `mark_invalid` they hold infinity where `valid` is 0. The PNG holds
/// disparity * `scale`, rounded (KITTI: 256), and 0 where the disparity is unknown or not valid; a valid
/// disparity is at least 1 there. A valid one below 0 or above 65535 / scale is Error(invalid_argument).
PARAFIELD_API void write_disparity(const std::filesystem::path& path, const In<DisparityView>& disparity,
                                   float scale = 256, bool mark_invalid = false);

/// Reads a mask from any file that read_frame reads: 1 where a channel of the pixel is above 0, otherwise 0.
PARAFIELD_API Image<std::uint8_t> read_mask(const std::filesystem::path& path);

/// Reads the alpha of a PNG file, turned as read_frame turns its pixels: 0 where it is 0, otherwise 1. No data
/// if the file is no PNG, has no alpha, or is a pipe or standard input.
PARAFIELD_API Image<std::uint8_t> read_alpha(const std::filesystem::path& path);

/// Writes a mask: .png or .pgm, 255 where it is not 0, otherwise 0. A pitch of 0 means that rows touch.
PARAFIELD_API void write_mask(const std::filesystem::path& path, View<const std::uint8_t> mask);

/// Reads tracks from text: x, y, u and v in each line, px, separated by commas, semicolons, tabs or spaces,
/// with a decimal point in every locale. nan and inf are allowed. The first line may name the columns
/// (x,y,u,v). Empty lines and text after # are ignored. Error(format) names the first line that is wrong.
PARAFIELD_API std::vector<Track> read_tracks(const std::filesystem::path& path);

/// Writes tracks as text: a line x,y,u,v, then one line for each track, with as many digits as the reader
/// needs to get the same floats.
PARAFIELD_API void write_tracks(const std::filesystem::path& path, std::span<const Track> tracks);

/// Reads the calibration of a stereo camera, by its content:
/// - OpenCV's YAML, as FileStorage writes it: the matrices K1 or M1, D1 (4, 5 or 8 coefficients), K2 or M2,
///   D2, R and T; the size of the images, if it is there (image_width and image_height, or imageSize). Other
///   entries are ignored. A `second` file may have what the first lacks: OpenCV's sample writes R and T to
///   extrinsics.yml.
/// - Middlebury's calib.txt: cam0, cam1, baseline, doffs, width and height. The images are rectified already.
///
/// Error(format) names the line. Other checks of the values are those of plan_rectification.
PARAFIELD_API StereoCalibration read_calibration(const std::filesystem::path& path,
                                                 const std::filesystem::path& second = {});

/// Writes depths: .pfm or .npy (float32) as they are, infinite where unknown, or .png (gray, 16 bit). The PNG
/// holds depth * `scale`, rounded, and 0 where the depth is unknown or above 65535 / scale.
PARAFIELD_API void write_depth(const std::filesystem::path& path, const View<const float>& depth,
                               float scale = 1);

/// Writes points: .ply, binary and little-endian, with x, y and z (float) and red, green and blue (uchar).
PARAFIELD_API void write_points(const std::filesystem::path& path, std::span<const ColorPoint> points);

/// What a file holds.
enum class FileKind { frame, flow, disparity, unknown };

/// Kind of a regular file, by its first bytes. An RGB PNG of 16 bit, a PFM of three channels and .npy of
/// floats, height x width x 2, are flow. A PFM of one channel and .npy of floats of two dimensions are
/// disparity. A gray PNG may hold disparity, but is called a frame. Throws Error(file), also for a pipe: what
/// is read from it is lost for others.
PARAFIELD_API FileKind file_kind(const std::filesystem::path& path);

}  // namespace parafield
