#pragma once
#include <filesystem>

#include "parafield/flow.hpp"
#include "parafield/stereo.hpp"
#include "parafield/tracks.hpp"

/// Files. Readers check every size against the file before they allocate; a damaged file is Error(format), a missing
/// one Error(file), a format that this build lacks Error(unsupported), each with the file's name. Writers write
/// beside and rename: never half a file, and a path that is no regular file (a pipe, a device) is Error(file).
namespace parafield {

/// PNG (1 to 16 bit, gray, palette or RGB; alpha is dropped), JPEG (8 bit, gray or color, baseline or progressive;
/// CMYK is Error(unsupported)), PGM, PPM (plain or raw; a maximum other than 255 or 65535 is scaled to the next of
/// them). The content decides, not the name. Where a PNG or JPEG file has an EXIF orientation, the frame is turned as a
/// viewer would show it, so its width may be the stored height. PFM (f32, values as they are; the size of its scale is
/// not used). The frame is in host memory: gray or rgb, u8, u16 or f32.
PARAFIELD_API FrameBuffer read_frame(const std::filesystem::path& path);

/// By extension: .png (u8, u16; gray or rgb), .pgm (u8, u16; gray), .ppm (u8, u16; rgb), .pfm (f32; gray as one
/// channel, rgb as three; values as they are, infinity and NaN, too). Host memory.
PARAFIELD_API void write_frame(const std::filesystem::path& path, const Frame& frame);

/// Middlebury .flo; PFM of three channels (PF: u, v and one that is not used; either byte order); .npy (a NumPy array of
/// little-endian float32 or float64, height x width x 2, C order); KITTI's 16-bit RGB PNG (u, v = (value - 32768) / 64,
/// third channel = valid). In all but KITTI's, |u| or |v| > 1e9 or NaN is unknown: valid 0. The content decides.
PARAFIELD_API FlowField read_flow(const std::filesystem::path& path);

/// By extension: .flo, .pfm or .npy (float32) with every pixel's flow (validity is not stored, unless `mark_invalid`:
/// then invalid pixels are written as unknown, 1e10), or .png (KITTI; flow is rounded to 1/64 px, and valid flow beyond
/// -512 .. 511.98 px is an Error(invalid_argument); unknown flow is not valid, and what does not fit there is written as
/// 0). Host memory.
PARAFIELD_API void write_flow(const std::filesystem::path& path, const FlowView& flow, bool mark_invalid = false);

/// PFM of one channel (Pf) and .npy (little-endian float32 or float64, height x width, C order): values as they are, px;
/// infinite or NaN is unknown. Gray PNG of 8 or 16 bit: value / `scale`, 0 is unknown. `scale` is the file's value of
/// 1 px, which no PNG says itself: KITTI's 16 bit have 256, which 0 stands for; of 8 bit there is no usual one, and 0 is
/// an Error(invalid_argument) (Middlebury: tsukuba 16, venus 8, cones 4, art and aloe 3). Unknown disparities are
/// infinite, or NaN where the file says so, and their valid is 0. The content decides, not the name.
PARAFIELD_API DisparityField read_disparity(const std::filesystem::path& path, float scale = 0);

/// By extension: .pfm or .npy (float32) with every pixel's disparity (validity is not stored, unless `mark_invalid`:
/// then invalid pixels are written as infinity), or .png (16 bit, the disparity * `scale`, rounded; KITTI has 256).
/// There 0 says unknown or not valid, so a valid disparity is written as 1 at least; one that is below 0 or above
/// 65535 / scale is an Error(invalid_argument). Host memory.
PARAFIELD_API void write_disparity(const std::filesystem::path& path, const DisparityView& disparity, float scale = 256,
                     bool mark_invalid = false);

/// A mask: pixels with a gray value (of color: any channel) above 0 become 1, others 0. Any file that read_frame reads.
PARAFIELD_API Image<std::uint8_t> read_mask(const std::filesystem::path& path);

/// 255 where the mask is not 0, otherwise 0. By extension: .png or .pgm. Host memory; pitch 0 = rows touch.
PARAFIELD_API void write_mask(const std::filesystem::path& path, View<const std::uint8_t> mask);

/// Tracks as text, one a line: x, y, u and v, px, separated by commas, semicolons, tabs or spaces, whatever the locale; nan and
/// inf are values, too. A first line may name them (x,y,u,v); empty lines and what follows a # are passed over. What is no such
/// line is an Error(format) with its number.
PARAFIELD_API std::vector<Track> read_tracks(const std::filesystem::path& path);

/// A line x,y,u,v, then one for each track, with as many digits as give the same floats when they are read.
PARAFIELD_API void write_tracks(const std::filesystem::path& path, std::span<const Track> tracks);

enum class FileKind { frame, flow, disparity, unknown };

/// What a file holds, judged by its first bytes; a 16-bit RGB PNG, a PFM of three channels and .npy count as flow, a
/// PFM of one channel and .npy of two sides as disparity. A gray PNG may be disparity, too, but counts as a frame.
/// Throws Error(file).
PARAFIELD_API FileKind file_kind(const std::filesystem::path& path);

}  // namespace parafield
