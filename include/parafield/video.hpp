// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parafield/image.hpp"

/// Videos: sequences of frames that are read from files, cameras and pictures, or written to files. They are
/// in the component parafield::video (find_package(parafield COMPONENTS video)).
///
/// Video files and cameras need FFmpeg's libraries; a build without them throws Error(unsupported). Folders,
/// patterns and pictures, and Y4M always work. Every message starts with the name of the file.
namespace parafield {

/// A frame of a video, in host memory.
struct VideoFrame {
  FrameBuffer frame;
  std::int64_t index = 0;    ///< number of the frame, from 0
  double time = 0;           ///< s from the first frame; strictly increasing
  std::int64_t skipped = 0;  ///< number of damaged frames before it that were skipped; `index` counts them
};

/// Properties that are known before the frames are read. 0 or empty = unknown.
struct VideoInfo {
  Size size;                ///< px, as the frames are returned
  double rate = 0;          ///< average frames per second
  std::int64_t frames = 0;  ///< number of frames according to the file
  double duration = 0;      ///< s
  std::string format;       ///< for example "mp4", "matroska", "y4m", "pictures"
  std::string codec;        ///< for example "h264"
};

/// Options of FrameSource.
struct FrameSourceOptions {
  bool gray = false;  ///< return gray frames; this is cheap, since most videos store brightness separately
  int threads = 0;    ///< decoding threads; 0 = as many as the machine has
  /// FFmpeg's name of the input format, for devices and raw files ("v4l2", "h264"). With "pictures", only
  /// the formats of read_frame are read, and never FFmpeg's.
  std::string format = {};
  /// NetCDF: the variable of the images, as "rain" or "group/rain"; required if several could hold images.
  std::string variable = {};
  /// NetCDF, for images with more axes than time: "850" or "level=850,member=2" chooses a value of
  /// each such axis, or its number from 1 if the axis has no coordinate. "step=all" takes the axis for time.
  std::string level = {};
  bool any_size = false;  ///< frames may differ in size
  /// Skip damaged pictures of several, and the damaged frames of a video up to its next key frame, with a
  /// note.
  bool skip_damaged = false;
};

/// Returns the files that a name with wildcards (*, ? and [...], as in a shell) matches, in natural order (a2
/// before a10); `input` itself if it is an existing file, an address or a name without wildcards. Throws
/// Error(file) if no file matches.
PARAFIELD_API std::vector<std::string> expand_wildcards(const std::string& input);

/// Reads a sequence of frames in order, into memory that can be reused. Use it from one thread at a time.
///
/// Interlaced videos are deinterlaced, frame by frame (FFmpeg's filter bwdif); a note says so.
///
/// The frames of pictures have the formats of read_frame. The frames of videos are gray_u8 or rgb_u8, or
/// gray_u16 or rgb_u16 (0..65535) if the video has more than 8 bits. They look as in a player: rotated and
/// mirrored as the file says, converted with the file's matrix (BT.601, BT.709, BT.2020; by default BT.709
/// for 1280 or more columns or more than 576 rows, otherwise BT.601) and range (black and white become 0 and
/// 255). Pixels that are not square stay as they are stored. Gray frames are the video's own brightness, or
/// the BT.601 luma for color pictures and videos stored as RGB.
class PARAFIELD_API FrameSource {
 public:
  /// Opens an input and reads its first frame. `input` is
  /// - a picture of any format of read_frame. PGM, PPM and PFM images may follow one another, each with its
  ///   own format; a Y4M stream has any number of frames, and another stream may follow it; a NetCDF file
  ///   yields its images one by one, in order of time, with the north up and the east to the right, and a
  ///   TIFF file its pages;
  /// - a video file of any format that FFmpeg reads, or an address with :// (rtsp://...);
  /// - a camera (/dev/video0);
  /// - a pipe or socket, or "-" for standard input, with PGM, PPM, PFM, Y4M or a video that FFmpeg can read
  ///   without seeking (MPEG-TS, Matroska). At most one frame is kept, so a stream may be endless;
  /// - a printf pattern of pictures (frame%04d.png, %d; %% is a percent sign): from the smallest existing
  ///   number to the largest;
  /// - a name with wildcards, quoted in a shell ("frame*.png"): see expand_wildcards;
  /// - a folder: its pictures by name, in natural order (a2 before a10). Hidden files and files without a
  ///   picture's extension are skipped. If several names differ in more than their numbers (frame1.png,
  ///   mask1.png), a note says which pictures were left out, or it is an error if the choice is not clear.
  ///
  /// Pictures have 25 frames per second.
  ///
  /// Throws Error(file) for an input that cannot be opened, Error(format) for one that is damaged or has no
  /// frame, Error(unsupported) for formats and codecs that the build lacks.
  explicit FrameSource(const std::string& input, const FrameSourceOptions& options = {});
  /// Reads several inputs, one after the other. A picture is opened while the input before it is read.
  explicit FrameSource(const std::vector<std::string>& inputs, const FrameSourceOptions& options = {});
  ~FrameSource();
  FrameSource(FrameSource&&) noexcept;
  FrameSource& operator=(FrameSource&&) noexcept;

  /// Properties of the first input; with several inputs, `frames` is the number of inputs if it is a picture.
  const VideoInfo& info() const;

  /// Returns the next frame, or nothing at the end. It waits only for the bytes of this frame, not for the
  /// next one, but it may already take some of the bytes that follow, which is why two sources cannot share a
  /// pipe.
  ///
  /// A video that was cut off, or that lacks frames elsewhere, gives the frames that it has, then
  /// Error(format). A note counts the frames at the beginning that are left out because they depend on missing
  /// ones. docs/formats.md says which damage cannot be noticed.
  ///
  /// Throws Error(format) for a frame that is damaged or differs in size from the first, Error(file) for a
  /// frame that is missing or cannot be read. The message has the number of the frame, counted from 1:
  /// "clip.mp4: frame 17: ...". All earlier frames have been returned, except that with several decoding
  /// threads up to that many frames before the damaged one may be lost. After an error, it returns nothing.
  std::optional<VideoFrame> next();
  /// Reads the next frame into `frame` and reuses its memory if size and format match, in which case a frame
  /// of a video file allocates no pixels. Returns false at the end.
  bool next(VideoFrame& frame);

  /// The file of the last frame: its picture in a folder or pattern, otherwise the input.
  const std::filesystem::path& file() const;
  /// Name of the last frame in messages: "a.png", "frame 17 of clip.mp4".
  std::string name() const;
  /// Removes and returns the notes so far, such as "clip.mp4: it is interlaced; its frames are deinterlaced":
  /// what is unusual about the inputs, and which frames were skipped. Each starts with the name of a file.
  std::vector<std::string> take_notes();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Options of VideoWriter.
struct VideoWriterOptions {
  double rate = 25;  ///< frames per second, 0.001 to 1000
  std::string codec =
      {};            ///< FFmpeg's name of an encoder or codec ("libx264", "ffv1"); empty = see VideoWriter
  int quality = 18;  ///< 0 (best) to 51, like x264's constant rate factor; 18 looks like the original
  int threads = 0;   ///< encoding threads; 0 = as many as the machine has
};

/// Writes a video. Use it from one thread at a time.
///
/// A file is written under a temporary name in the same folder and renamed by finish(). `output` is
/// - .mp4, .mov, .mkv, .avi: H.264 if the FFmpeg build has it, otherwise MPEG-4;
/// - .webm: VP9, or VP8;
/// - .y4m, or "-" for Y4M on standard output, BT.601 in limited range: gray frames become mono with unchanged
///   values, color frames 4:2:0, or 4:4:4 if they are u16 or the codec is "444";
/// - a printf pattern of pictures (out%04d.png), or a folder (an existing one, or a name that ends in /), in
///   which they are called 000000.png and so on. Numbers start at 0. Each picture is written and renamed
///   separately.
///
/// Videos are 8-bit 4:2:0 in limited range, which plays everywhere. They use BT.709 for 1280 or more columns
/// or more than 576 rows, otherwise BT.601, and are tagged accordingly. 4:2:0 needs even sizes: an odd size
/// gets one more column or row, a copy of the last one. A lossless codec ("ffv1") keeps size, colors and the
/// 16 bits of u16.
class PARAFIELD_API VideoWriter {
 public:
  /// Throws Error(invalid_argument) for a size, an option or an extension that is not allowed, Error(file)
  /// for a path that cannot be written, Error(unsupported) for a codec that the build lacks.
  VideoWriter(const std::string& output, Size size, const VideoWriterOptions& options = {});
  /// Finishes the file like finish(), but ignores errors. If no frame was written, no file is created, and an
  /// older one is kept.
  ~VideoWriter();
  VideoWriter(VideoWriter&&) noexcept;
  VideoWriter& operator=(VideoWriter&&) noexcept;

  /// Writes a frame in host memory, gray or rgb, u8 or u16, of the video's size. All frames must have the
  /// same format.
  ///
  /// Throws Error(invalid_argument) for any other frame, Error(file) if the disk is full. The message has the
  /// frame's number, counted from 1. After an error while writing, the file is finished and renamed at once
  /// with the frames before, and takes no more frames.
  void write(const In<Frame>& frame);
  /// Writes a frame with a time, s from the first frame, at least 10 us after the last one's. Either all
  /// frames have a time or none has. .avi has a constant rate, to which times are rounded; Y4M and pictures
  /// ignore times.
  void write(const In<Frame>& frame, double time);

  /// Writes pending frames, closes the file and gives it its name. Nothing can be written afterwards, and a
  /// second call does nothing. Throws Error(file), and Error(invalid_argument) if no frame was written.
  void finish();
  /// The same without the last frames, which the encoder still holds, because encoding them may take seconds.
  /// Returns their number.
  std::int64_t finish_early();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace parafield
