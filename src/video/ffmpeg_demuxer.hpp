// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/stream.hpp"
#include "parafield/video.hpp"
#include "video/ffmpeg_common.hpp"

namespace parafield::video {

/// Reads the packets of a video from a file, a device, an address or a stream of bytes.
class Demuxer {
 public:
  /// Opens `input`, or `bytes` if not null, and chooses the video if there are several. Throws Error.
  Demuxer(const std::string& input, std::unique_ptr<io::ByteStream> bytes, const FrameSourceOptions& options);

  const AVStream& stream() const { return *context_->streams[stream_]; }
  const AVCodec& codec() const { return *codec_; }
  int videos() const;  ///< number of videos in the input, without cover pictures
  /// The properties that the container records, except the size. `input` is the name that was opened.
  VideoInfo info(const std::string& input) const;
  /// EXIF orientation of the pictures, 1 to 8.
  int orientation() const;
  /// Whether the first pictures may depend on earlier, missing ones, as in streams and from cameras.
  bool may_begin_anywhere() const;
  /// Whether FFmpeg passes over damaged parts of the container without an error.
  bool passes_over_damage() const;
  /// Whether missing() notices all damage of the container, so that uneven times mean no damage.
  bool shows_damage() const;
  /// Whether a file that is called a container holds a raw video, which is how FFmpeg reads what follows a
  /// damaged beginning.
  bool lacks_beginning() const;
  bool is_raw() const;   ///< H.264 or HEVC without a container
  bool is_live() const;  ///< a camera or a stream from an address, which may begin at any time
  /// Whether the times of the pictures are their numbers, so that none is missing where they are even.
  bool counts_frames() const;

  /// Reads the next packet of the video. Returns FFmpeg's error number, AVERROR_EOF at the end; otherwise 0.
  int read(AVPacket& packet);
  /// Makes read() skip packets up to the next key frame.
  void skip_to_key() { awaits_key_ = true; }
  std::int64_t packets() const { return packets_; }  ///< read or skipped so far
  /// The largest time of the pictures in the packets so far, in the stream's time base.
  std::optional<std::int64_t> last_pts() const { return last_pts_; }
  /// Whether the input is a stream of bytes, which cannot be read again.
  bool is_stream() const { return bytes_ != nullptr; }
  /// The error that ended the stream of bytes; 0 if there was none.
  int stream_error() const { return bytes_io_ ? std::min(bytes_io_->error, 0) : 0; }
  /// A description of what the input lacks after its end; empty if it is complete. It is detected by the list
  /// of packets of an MP4 file, the size that the container records, or the duration.
  std::string missing() const;

 private:
  void choose_stream();
  bool has_format(std::initializer_list<std::string_view> names) const;
  std::int64_t recorded_frames() const;
  double recorded_end() const;

  struct FreeBytesIo {
    void operator()(AVIOContext* input) const {
      av_freep(&input->buffer);
      avio_context_free(&input);
    }
  };

  std::unique_ptr<io::ByteStream> bytes_;
  std::unique_ptr<AVIOContext, FreeBytesIo> bytes_io_;  // before the context, which uses it until its end
  std::unique_ptr<AVFormatContext, Release<&avformat_close_input>> context_;
  std::filesystem::path file_;  // the input, if it is a regular file
  const AVCodec* codec_ = nullptr;
  int stream_ = -1;
  std::int64_t packets_ = 0;
  std::optional<std::int64_t> last_pts_;
  std::int64_t end_ = 0;  // of the last packet, in the stream's time base
  bool awaits_key_ = false;
};

}  // namespace parafield::video
