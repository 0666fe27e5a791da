#pragma once
#include <filesystem>

#include "parafield/flow.hpp"

/// Files. Readers check every size against the file before they allocate; a damaged file is Error(format), a missing
/// one Error(file), a format that this build lacks Error(unsupported), each with the file's name. Writers write
/// beside and rename: never half a file, and a path that is no regular file (a pipe, a device) is Error(file).
namespace parafield {

/// PNG (1 to 16 bit, gray, palette or RGB; alpha is dropped), JPEG (8 bit, gray or colour, baseline or progressive;
/// CMYK is Error(unsupported)), PGM, PPM (plain or raw; a maximum other than 255 or 65535 is scaled to the next of
/// them). The content decides, not the name. Where a PNG or JPEG file has an EXIF orientation, the frame is turned as a
/// viewer would show it, so its width may be the stored height. The frame is in host memory: gray or rgb, u8 or u16.
FrameBuffer read_frame(const std::filesystem::path& path);

/// By extension: .png (u8, u16; gray or rgb), .pgm (gray), .ppm (rgb). Host frames of u8 or u16.
void write_frame(const std::filesystem::path& path, const Frame& frame);

/// Middlebury .flo (|u| or |v| > 1e9 or NaN = unknown: valid 0) or KITTI's 16-bit RGB PNG (u, v = (value - 32768) / 64,
/// third channel = valid). The content decides.
FlowField read_flow(const std::filesystem::path& path);

/// By extension: .flo (every pixel's flow; validity is not stored, unless `mark_invalid`: then invalid pixels are
/// written as unknown, 1e10) or .png (KITTI; flow is rounded to 1/64 px, and valid flow beyond -512 .. 511.98 px is an
/// Error(invalid_argument); unknown flow is not valid, and what does not fit there is written as 0). Host memory.
void write_flow(const std::filesystem::path& path, const FlowView& flow, bool mark_invalid = false);

/// A mask: pixels with a gray value above 0 become 1, others 0. Any file that read_frame reads.
Image<std::uint8_t> read_mask(const std::filesystem::path& path);

enum class FileKind { frame, flow, unknown };

/// What a file holds, judged by its first bytes; a 16-bit RGB PNG counts as flow. Throws Error(file).
FileKind file_kind(const std::filesystem::path& path);

}  // namespace parafield
