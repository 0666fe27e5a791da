// SPDX-License-Identifier: MIT
// Writes video files with FFmpeg.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/views.hpp"
#include "io/formats.hpp"
#include "parafield/detail/text.hpp"
#include "video/ffmpeg_file.hpp"
#include "video/sink.hpp"

namespace parafield::video {
namespace {

struct FreeMuxer {
  void operator()(AVFormatContext* muxer) const { avformat_free_context(muxer); }
};
using Muxer = std::unique_ptr<AVFormatContext, FreeMuxer>;

AVPixelFormat format_of(PixelFormat format) {
  return format == PixelFormat::gray_u8    ? AV_PIX_FMT_GRAY8
         : format == PixelFormat::gray_u16 ? AV_PIX_FMT_GRAY16
         : format == PixelFormat::rgb_u16  ? AV_PIX_FMT_RGB48
                                           : AV_PIX_FMT_RGB24;
}

const AVCodec* encoder_of(const std::string& extension, const std::string& name) {
  if (!name.empty()) {
    const AVCodec* codec = avcodec_find_encoder_by_name(name.c_str());
    const AVCodecDescriptor* const kind = codec ? nullptr : avcodec_descriptor_get_by_name(name.c_str());
    if (kind) codec = avcodec_find_encoder(kind->id);
    if (codec && codec->type == AVMEDIA_TYPE_VIDEO) return codec;
    fail(ErrorCode::unsupported, "this FFmpeg has no encoder ", detail::value_text(name));
  }
  const bool webm = extension == ".webm";
  for (const char* known : {webm ? "libvpx-vp9" : "libx264", webm ? "libvpx" : "mpeg4"})
    if (const AVCodec* codec = avcodec_find_encoder_by_name(known)) return codec;
  fail(ErrorCode::unsupported, "this FFmpeg has no encoder for ", extension, " files");
}

/// 4:2:0 if the encoder is lossy anyway, otherwise the format that keeps the frame's values.
AVPixelFormat encoded_format(const AVCodec& codec, PixelFormat frame) {
  const AVCodecDescriptor* const kind = avcodec_descriptor_get(codec.id);
  const bool lossless =
      kind && (kind->props & AV_CODEC_PROP_LOSSLESS) != 0 && (kind->props & AV_CODEC_PROP_LOSSY) == 0;
  if (codec.id == AV_CODEC_ID_MJPEG) return AV_PIX_FMT_YUVJ420P;  // JPEG uses full range
  const AVPixelFormat wanted = lossless ? format_of(frame) : AV_PIX_FMT_YUV420P;
  if (!codec.pix_fmts) return wanted;
  return avcodec_find_best_pix_fmt_of_list(codec.pix_fmts, wanted, 0, nullptr);
}

class FfmpegSink : public Sink {
 public:
  FfmpegSink(const std::string& output, const std::string& extension, Size size,
             const VideoWriterOptions& options)
      : size_(size), options_(options), is_avi_(extension == ".avi") {
    begin_ffmpeg();
    codec_ = encoder_of(extension, options.codec);
    AVFormatContext* muxer = nullptr;
    const int failed = avformat_alloc_output_context2(&muxer, nullptr, nullptr, ("x" + extension).c_str());
    if (failed < 0) fail(ErrorCode::unsupported, "this FFmpeg writes no ", extension, " files");
    muxer_.reset(muxer);
    counts_milliseconds_ = extension == ".mkv" || extension == ".webm";
    if (avformat_query_codec(muxer_->oformat, codec_->id, FF_COMPLIANCE_NORMAL) == 0)
      fail(ErrorCode::invalid_argument, "a ", extension, " file holds no ", avcodec_get_name(codec_->id));
    file_.emplace(output);
  }

  void write(const Frame& frame, std::optional<double> time) override {
    try {
      if (!encoder_) start(frame.format, time.has_value());
      fill(frame);
      const std::int64_t at = time ? std::llround(*time / av_q2d(encoder_->time_base)) : last_ + 1;
      picture_->pts = last_ = std::max(at, last_ + 1);
      picture_->quality = encoder_->global_quality;
      picture_->pict_type = AV_PICTURE_TYPE_NONE;
      ++pictures_;
      encode(picture_.get());
    } catch (const Error&) {
      failed_ = true;
      throw;
    }
  }

  void finish() override { finish(most_packets); }
  std::int64_t finish_early() override {
    finish(packets_ > 0 ? 0 : 1);  // a video without frames could not be played
    return std::int64_t(pictures_ - packets_);
  }

 private:
  static constexpr int most_packets = 1 << 30;

  /// Writes at most `most` of the packets that the encoder still holds.
  void finish(int most) {
    std::optional<Error> problem;
    if (!encoder_ || !started_) fail(ErrorCode::format, "no frame could be written");
    try {
      if (!failed_ && most > 0) encode(nullptr, most);
    } catch (const Error& error) {
      problem = error;
    }
    const int failed = av_write_trailer(muxer_.get());
    file_->take_place();
    if (problem) throw *problem;
    if (failed < 0) io::fail_writing(av_reason(failed));
  }

  /// Starts the encoder and the file. The first frame determines the format and whether frames have times.
  void start(PixelFormat format, bool variable) {
    const AVPixelFormat encoded = encoded_format(*codec_, format);
    const AVPixFmtDescriptor& pixels = *av_pix_fmt_desc_get(encoded);
    const auto even = [](int side, int shift) { return shift ? side + side % 2 : side; };
    padded_ = {even(size_.width, pixels.log2_chroma_w), even(size_.height, pixels.log2_chroma_h)};
    encoder_.reset(allocated(avcodec_alloc_context3(codec_)));
    AVCodecContext& to = *encoder_;
    to.width = padded_.width;
    to.height = padded_.height;
    to.pix_fmt = encoded;
    to.sample_aspect_ratio = {1, 1};
    to.thread_count = options_.threads;
    to.framerate = av_d2q(options_.rate, 60000);
    to.time_base = av_inv_q(to.framerate);
    if (variable && !is_avi_)  // MPEG-4 time bases are at most 65535
      to.time_base = {1, counts_milliseconds_ ? 1000 : codec_->id == AV_CODEC_ID_MPEG4 ? 60000 : 90000};
    if (is_avi_) to.max_b_frames = 0;  // AVI cannot store reordered frames
    if (muxer_->oformat->flags & AVFMT_GLOBALHEADER) to.flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    set_colors(pixels);
    set_quality();
    if (const int failed = avcodec_open2(&to, codec_, nullptr); failed < 0)
      fail(failed == AVERROR(ENOMEM) ? ErrorCode::memory : ErrorCode::unsupported, codec_->name,
           " cannot write ", padded_.width, "x", padded_.height, " pixels at ", options_.rate,
           " frames a second: ", av_reason(failed));

    AVStream& stream = *allocated(avformat_new_stream(muxer_.get(), nullptr));
    stream.time_base = to.time_base;
    stream.sample_aspect_ratio = to.sample_aspect_ratio;
    if (!variable || is_avi_) stream.avg_frame_rate = stream.r_frame_rate = to.framerate;
    muxer_->pb = file_->context();
    muxer_->flags |= AVFMT_FLAG_CUSTOM_IO;
    int failed = avcodec_parameters_from_context(stream.codecpar, &to);
    if (failed >= 0) failed = avformat_write_header(muxer_.get(), nullptr);
    file_->check();
    if (failed < 0) fail(ErrorCode::unsupported, "the file cannot be begun: ", av_reason(failed));
    started_ = true;

    picture_.reset(allocated(av_frame_alloc()));
    packet_.reset(allocated(av_packet_alloc()));
    picture_->width = to.width;
    picture_->height = to.height;
    picture_->format = encoded;
    picture_->color_range = to.color_range;
    picture_->colorspace = to.colorspace;
    if (av_frame_get_buffer(picture_.get(), 0) < 0) throw std::bad_alloc();
    const int matrix = matrix_of(to.colorspace, padded_.width, padded_.height);
    scaler_ = make_scaler(padded_.width, padded_.height, format_of(format), true, SWS_CS_ITU601, encoded,
                          to.color_range == AVCOL_RANGE_JPEG, matrix, options_.threads);
  }

  void set_colors(const AVPixFmtDescriptor& pixels) {
    AVCodecContext& to = *encoder_;
    const bool rgb = (pixels.flags & AV_PIX_FMT_FLAG_RGB) != 0;
    const bool full = rgb || pixels.nb_components < 3 || std::string_view(pixels.name).starts_with("yuvj");
    to.color_range = full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    to.colorspace = rgb                                               ? AVCOL_SPC_RGB
                    : is_hd(size_) && codec_->id != AV_CODEC_ID_MJPEG ? AVCOL_SPC_BT709
                                                                      : AVCOL_SPC_SMPTE170M;
    to.color_primaries = AVCOL_PRI_BT709;
    to.color_trc = AVCOL_TRC_BT709;
    to.chroma_sample_location = AVCHROMA_LOC_LEFT;
  }

  void set_quality() {
    AVCodecContext& to = *encoder_;
    const std::string_view name = codec_->name;
    const auto set = [&](const char* option, const std::string& value) {
      av_opt_set(to.priv_data, option, value.c_str(), 0);
    };
    if (name == "libx264" || name == "libx265") {
      // "ultrafast" takes a fifth of the time of "veryfast", for files that are a third larger and look the
      // same if the deblocking filter, which "ultrafast" omits and which costs little, is on.
      set("preset", "ultrafast");
      if (name == "libx264") set("x264-params", "no-deblock=0");
      set("crf", text(options_.quality));
      if (name == "libx265") set("x265-params", "log-level=none");
    } else if (name.starts_with("libvpx")) {
      set("crf", text(4 + options_.quality * 59 / 51));
      set("deadline", "good");
      set("cpu-used", "5");
      set("lag-in-frames", "0");  // the same file, but the encoder does not hold the last 25 frames
      if (name == "libvpx-vp9") set("row-mt", "1");
      to.bit_rate = name == "libvpx" ? 50'000'000 : 0;  // upper limit for VP8
    } else {
      to.flags |= AV_CODEC_FLAG_QSCALE;
      to.global_quality = FF_QP2LAMBDA * std::clamp(options_.quality / 6, 1, 31);
    }
  }

  /// Converts the frame into `picture_`.
  void fill(const Frame& frame) {
    // swscale reads beyond the last row, so the copy has one more. The last column and row are repeated where
    // the encoder needs an even size.
    io::reserve(staged_, {padded_.width, padded_.height + 1}, frame.format);
    const auto bytes = std::size_t(row_bytes(frame)), pixel = std::size_t(bytes_per_pixel(frame.format));
    for (int y = 0; y < padded_.height; ++y) {
      const auto* const row =
          static_cast<const char*>(frame.data) + std::min(y, size_.height - 1) * frame.pitch;
      auto* const to = static_cast<char*>(staged_.row(y));
      std::memcpy(to, row, bytes);
      if (padded_.width > size_.width) std::memcpy(to + bytes, row + bytes - pixel, pixel);
    }
    const Frame from = staged_.frame();
    if (av_frame_make_writable(picture_.get()) < 0) throw std::bad_alloc();
    convert(scaler_, *borrowed(from.data, from.pitch, padded_, format_of(from.format)), *picture_);
  }

  /// Encodes a picture, or flushes the encoder if `picture` is null, and writes at most `most` of the
  /// resulting packets.
  void encode(const AVFrame* picture, int most = most_packets) {
    int failed = avcodec_send_frame(encoder_.get(), picture);
    AVStream& stream = *muxer_->streams[0];
    for (int count = 0; failed >= 0; ++count) {
      if (count == most) return;
      failed = avcodec_receive_packet(encoder_.get(), packet_.get());
      if (failed == AVERROR(EAGAIN) || failed == AVERROR_EOF) return;
      if (failed < 0) break;
      packet_->stream_index = 0;
      if (packet_->duration == 0)
        packet_->duration =
            std::max<std::int64_t>(1, std::llround(1 / (options_.rate * av_q2d(encoder_->time_base))));
      av_packet_rescale_ts(packet_.get(), encoder_->time_base, stream.time_base);
      // The index at the end of the file takes up to 64 bytes per frame.
      ++packets_;
      bytes_ += std::uint64_t(packet_->size) + 64;
      file_->make_room(bytes_, std::uint64_t(packet_->size) + (1 << 17) + 64 * packets_);
      failed = av_write_frame(muxer_.get(), packet_.get());
      av_packet_unref(packet_.get());
      file_->check();
    }
    fail(failed == AVERROR(ENOMEM) ? ErrorCode::memory : ErrorCode::file,
         "cannot be written: ", av_reason(failed));
  }

  const Size size_;
  const VideoWriterOptions options_;
  const bool is_avi_;
  bool counts_milliseconds_ = false, started_ = false, failed_ = false;
  const AVCodec* codec_ = nullptr;
  std::optional<OutputFile> file_;  // before the muxer, which uses it: it is destroyed last
  Muxer muxer_;
  CodecContext encoder_;
  PictureFrame picture_;
  Packet packet_;
  Scaler scaler_;
  Size padded_;
  FrameBuffer staged_;
  std::int64_t last_ = -1;
  std::uint64_t pictures_ = 0, packets_ = 0, bytes_ = 0;
};

}  // namespace

std::unique_ptr<Sink> open_ffmpeg_sink(const std::string& output, const std::string& extension, Size size,
                                       const VideoWriterOptions& options) {
  return std::make_unique<FfmpegSink>(output, extension, size, options);
}

}  // namespace parafield::video
