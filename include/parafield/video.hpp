// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "parafield/image.hpp"

/// Videos: frames one after the other, from files, cameras and pictures, and into files. The component
/// parafield::video (find_package(parafield COMPONENTS video)) has them.
///
/// Video files and cameras need FFmpeg's libraries, which a build may lack: then they are Error(unsupported).
/// Folders, patterns and pictures, and Y4M, are read and written always. Every message starts with the name
/// of the file.
namespace parafield {

/// A frame of a video, in host memory.
struct VideoFrame {
  FrameBuffer frame;
  std::int64_t index = 0;  ///< from 0
  double time = 0;         ///< s from the first frame; rising
};

/// What is known before the frames are read. 0 or empty = not known.
struct VideoInfo {
  Size size;                ///< px, as the frames come
  double rate = 0;          ///< frames a second, on average
  std::int64_t frames = 0;  ///< number of frames, as the file says it
  double duration = 0;      ///< s
  std::string format;       ///< as "mp4", "matroska", "y4m", "pictures"
  std::string codec;        ///< as "h264"
};

struct VideoReaderOptions {
  bool gray = false;        ///< gray frames: cheap, as most videos store brightness apart
  int threads = 0;          ///< that decode; 0 = as many as the machine has
  std::string format = {};  ///< FFmpeg's name of the input format, for devices and raw files: "v4l2", "h264"
};

/// Reads the frames of a video, one after the other, into memory that may be used again. One thread at a
/// time.
///
/// Frames are gray_u8 or rgb_u8, and gray_u16 or rgb_u16 (0..65535) if the video has more than 8 bits. They
/// come as a player shows them: turned and mirrored as the file says, in the file's matrix (BT.601, BT.709,
/// BT.2020; if it says none, BT.709 for 1280 or more columns or more than 576 rows, otherwise BT.601) and
/// range (black and white become 0 and 255). Pixels that are not square stay as they are stored. Gray frames
/// are the video's own brightness; of a video that stores RGB and of pictures in color they are the BT.601
/// luma.
class PARAFIELD_API VideoReader {
 public:
  /// Opens a video and reads its first frame. `input` is
  /// - a video file of any format that FFmpeg reads, or an address with :// (rtsp://...);
  /// - a camera (/dev/video0);
  /// - a file or pipe of what FrameReader reads: Y4M, or pictures one behind the other;
  /// - "-": standard input, with Y4M, pictures or a video that FFmpeg reads without going back (MPEG-TS,
  ///   Matroska);
  /// - a printf pattern of pictures (frame%04d.png, %d; %% is a percent sign): from the smallest number that
  ///   is there to the largest;
  /// - a folder: its pictures by name, in which numbers count (a2 before a10). Hidden files and those without
  ///   a picture's extension are left out.
  ///
  /// Pictures have 25 frames a second.
  ///
  /// Throws Error(file) for what cannot be opened, Error(format) for what is damaged or holds no frame,
  /// Error(unsupported) for formats and codecs that the build lacks.
  explicit VideoReader(const std::string& input, const VideoReaderOptions& options = {});
  ~VideoReader();
  VideoReader(VideoReader&&) noexcept;
  VideoReader& operator=(VideoReader&&) noexcept;

  const VideoInfo& info() const;

  /// The next frame; nothing at the end.
  ///
  /// Throws Error(format) for a frame that is damaged or of another size than the first, Error(file) for one
  /// that is missing or cannot be read. The message has its number, from 1, as FrameReader's: "clip.mp4:
  /// frame 17: ...". Frames before it have come, but for a few where threads decode: as many as there are
  /// threads. After an error there is nothing more.
  std::optional<VideoFrame> next();
  /// The same into a frame whose memory is used again where it has the size and format: then a video file's
  /// frame allocates no pixels. False at the end.
  bool next(VideoFrame& frame);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct VideoWriterOptions {
  double rate = 25;  ///< frames a second, 0.001 to 1000
  std::string codec =
      {};            ///< FFmpeg's name of an encoder or codec ("libx264", "ffv1"); empty = see VideoWriter
  int quality = 18;  ///< 0 (best) to 51, as x264's constant rate factor; 18 looks like the original
  int threads = 0;   ///< that encode; 0 = as many as the machine has
};

/// Writes a video. One thread at a time.
///
/// A file is written beside the named one and renamed by finish(). `output` is
/// - .mp4, .mov, .mkv, .avi: H.264 where the FFmpeg has it, otherwise MPEG-4;
/// - .webm: VP9, or VP8;
/// - .y4m, or "-" for Y4M on standard output: gray frames as mono, others as 4:2:0, or as 4:4:4 by the codec
///   "444"; u8 or u16; BT.601, limited range;
/// - a printf pattern of pictures (out%04d.png), or a folder (with a / at its end, or one that is there):
///   000000.png in it. Numbers begin at 0. Each picture is written and renamed by itself.
///
/// Videos are 8-bit 4:2:0 in limited range, which plays everywhere, BT.709 for 1280 or more columns or more
/// than 576 rows, otherwise BT.601, and marked so. 4:2:0 needs even sizes: an odd size gets one more column
/// or row, a copy of the last. A codec without loss ("ffv1") keeps size, colors and the 16 bits of u16.
class PARAFIELD_API VideoWriter {
 public:
  /// Throws Error(invalid_argument) for a size, an option or an extension that cannot be used, Error(file)
  /// for a path that cannot be written, Error(unsupported) for a codec that the build lacks.
  VideoWriter(const std::string& output, Size size, const VideoWriterOptions& options = {});
  /// Finishes the file as finish() does, but without its errors. If no frame was written there is no file,
  /// and an older one is kept.
  ~VideoWriter();
  VideoWriter(VideoWriter&&) noexcept;
  VideoWriter& operator=(VideoWriter&&) noexcept;

  /// Writes a frame in host memory, gray or rgb, u8 or u16, of the video's size. All frames are of one
  /// format.
  ///
  /// Throws Error(invalid_argument) for another frame, Error(file) for a full disk. The message has the
  /// frame's number, from 1. A file whose disk is full is finished and renamed at once, with the frames
  /// before, and takes no more.
  void write(const In<Frame>& frame);
  /// The same at a time, s from the first frame, that is above the last one's by 10 us at least. All frames
  /// have a time or none has. .avi has a constant rate: times are rounded to it. Y4M and pictures have no
  /// times.
  void write(const In<Frame>& frame, double time);

  /// Writes what is left, closes the file and gives it its name. Nothing can be written after it, and a
  /// second call does nothing. Throws Error(file), and Error(invalid_argument) if no frame was written.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace parafield
