// SPDX-License-Identifier: MIT
// Reads videos and cameras with FFmpeg.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string_view>

#include "io/formats.hpp"
#include "video/ffmpeg_pixels.hpp"
#include "video/names.hpp"
#include "video/source.hpp"

namespace parafield::video {
namespace {

/// Lets FFmpeg read a stream of bytes, without seeking.
class StreamInput {
 public:
  explicit StreamInput(std::unique_ptr<io::ByteStream> bytes) : bytes_(std::move(bytes)) {
    constexpr int size = 1 << 16;
    auto* const buffer = static_cast<unsigned char*>(allocated(av_malloc(size)));
    context_ = allocated(avio_alloc_context(buffer, size, 0, bytes_.get(), receive, nullptr, nullptr));
  }
  ~StreamInput() {
    av_freep(&context_->buffer);
    avio_context_free(&context_);
  }
  StreamInput(const StreamInput&) = delete;
  StreamInput& operator=(const StreamInput&) = delete;

  AVIOContext* context() { return context_; }

 private:
  static int receive(void* bytes, std::uint8_t* to, int most) {
    try {
      const std::size_t got = static_cast<io::ByteStream*>(bytes)->read_some(to, std::size_t(most));
      return got > 0 ? int(got) : AVERROR_EOF;
    } catch (const std::exception&) {
      return AVERROR(EIO);
    }
  }

  std::unique_ptr<io::ByteStream> bytes_;
  AVIOContext* context_ = nullptr;
};

using Demuxer = std::unique_ptr<AVFormatContext, Release<&avformat_close_input>>;

const AVInputFormat* input_format(const std::string& input, const std::string& name) {
  const bool is_camera = name.empty() && input.starts_with("/dev/video");
  if (name.empty() && !is_camera) return nullptr;
  register_devices();
  const AVInputFormat* const format = av_find_input_format(is_camera ? "v4l2" : name.c_str());
  if (!format && is_camera) fail(ErrorCode::unsupported, "this FFmpeg reads no cameras (v4l2)");
  if (!format) fail(ErrorCode::invalid_argument, "FFmpeg has no input format ", detail::value_text(name));
  return format;
}

/// The format's name. If several formats share a reader, it is the one that matches the file's extension, or
/// the first.
std::string name_of(const AVInputFormat& format, const std::string& input) {
  const std::string names = format.name, extension = extension_of(input);
  const std::string listed = text(',', names, ','),
                    wanted = text(',', extension.substr(extension.empty() ? 0 : 1), ',');
  if (wanted.size() > 2 && listed.find(wanted) != listed.npos) return extension.substr(1);
  return names.substr(0, names.find(','));
}

/// The kinds of threads that may decode the codec. If frames are decoded in parallel, a damaged frame makes
/// some decoders (MPEG-4 part 2, for example) abort the process by an assertion. Therefore only the decoders
/// of the most common codecs, which withstand damage, and of codecs whose frames are independent use frame
/// threads.
int thread_types(AVCodecID codec) {
  constexpr AVCodecID sturdy[] = {AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_VP8, AV_CODEC_ID_VP9,
                                  AV_CODEC_ID_AV1};
  const AVCodecDescriptor* const kind = avcodec_descriptor_get(codec);
  const bool independent = kind && (kind->props & AV_CODEC_PROP_INTRA_ONLY) != 0;
  const bool parallel = independent || std::ranges::find(sturdy, codec) != std::end(sturdy);
  return parallel ? FF_THREAD_FRAME | FF_THREAD_SLICE : FF_THREAD_SLICE;
}

const std::int32_t* display_matrix(const AVStream& stream) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
  const AVPacketSideData* const data = av_packet_side_data_get(
      stream.codecpar->coded_side_data, stream.codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
  const std::uint8_t* const bytes = data && data->size >= 36 ? data->data : nullptr;
#else
  std::size_t size = 0;
  const std::uint8_t* bytes = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
  if (size < 36) bytes = nullptr;
#endif
  return reinterpret_cast<const std::int32_t*>(bytes);
}

class FfmpegSource : public Source {
 public:
  FfmpegSource(const std::string& input, std::unique_ptr<io::ByteStream> bytes,
               const FrameSourceOptions& options)
      : pixels_(options.gray, options.threads) {
    begin_ffmpeg();
    open(input, std::move(bytes), options);
    choose_stream(options);
    const AVStream& stream = *demuxer_->streams[stream_];
    const AVRational rate = av_guess_frame_rate(demuxer_.get(), demuxer_->streams[stream_], nullptr);
    info.rate = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0;
    info.frames = stream.nb_frames;
    if (stream.duration > 0)
      info.duration = double(stream.duration) * av_q2d(stream.time_base);
    else if (demuxer_->duration > 0)
      info.duration = double(demuxer_->duration) / AV_TIME_BASE;
    info.format = name_of(*demuxer_->iformat, input);
    info.codec = avcodec_get_name(stream.codecpar->codec_id);
  }

  bool next(VideoFrame& frame) override {
    if (!receive()) {
      if (problem_.empty() && delivered_ == 0) problem_ = first_problem_;
      if (!problem_.empty()) fail(problem_code_, problem_);
      return false;
    }
    const double time = next_time();
    if (!problem_.empty() && (picture_->pts == AV_NOPTS_VALUE || picture_->pts >= sound_before_))
      fail(problem_code_, problem_);
    if (is_damaged(*picture_)) io::fail_format("damaged data");
    if (delivered_ == 0)
      if (const auto* side = av_frame_get_side_data(picture_.get(), AV_FRAME_DATA_DISPLAYMATRIX))
        orientation_ = orientation_of(reinterpret_cast<const std::int32_t*>(side->data));
    io::check_sides("a video", picture_->width, picture_->height);
    io::check_pixels("a video", picture_->width, picture_->height);
    pixels_.read(*picture_, orientation_, frame.frame);
    frame.time = last_time_ = time;
    ++delivered_;
    return true;
  }

 private:
  void open(const std::string& input, std::unique_ptr<io::ByteStream> bytes,
            const FrameSourceOptions& options) {
    const AVInputFormat* const format = input_format(input, options.format);
    std::string url = input;
    AVFormatContext* context = allocated(avformat_alloc_context());
    if (bytes) {
      stream_input_.emplace(std::move(bytes));
      context->pb = stream_input_->context();
      url.clear();
    } else if (std::error_code error; std::filesystem::is_regular_file(input, error)) {
      url = "file:" + input;
    }
    // FFmpeg frees the context on failure.
    const int failed = avformat_open_input(&context, url.c_str(), format, nullptr);
    if (failed == AVERROR_INVALIDDATA)
      io::fail_format("no video or picture that is known, or damaged at its start");
    if (failed < 0) fail(code_of(failed), "cannot be read: ", av_reason(failed));
    demuxer_.reset(context);
    const int without_info = avformat_find_stream_info(demuxer_.get(), nullptr);
    if (without_info < 0) fail(code_of(without_info), "cannot be read: ", av_reason(without_info));
  }

  void choose_stream(const FrameSourceOptions& options) {
    const AVCodec* codec = nullptr;
    stream_ = av_find_best_stream(demuxer_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    if (stream_ == AVERROR_DECODER_NOT_FOUND)
      fail(ErrorCode::unsupported, "this FFmpeg lacks the decoder of the video");
    if (stream_ < 0) io::fail_format("holds no video");
    for (unsigned i = 0; i < demuxer_->nb_streams; ++i)
      demuxer_->streams[i]->discard = int(i) == stream_ ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    AVStream& stream = *demuxer_->streams[stream_];
    decoder_.reset(allocated(avcodec_alloc_context3(codec)));
    int failed = avcodec_parameters_to_context(decoder_.get(), stream.codecpar);
    decoder_->pkt_timebase = stream.time_base;
    decoder_->thread_count = options.threads;
    decoder_->thread_type = thread_types(codec->id);
    decoder_->err_recognition = AV_EF_EXPLODE;  // report damage as an error; do not conceal it
    if (failed >= 0) failed = avcodec_open2(decoder_.get(), codec, nullptr);
    if (failed < 0) fail(code_of(failed), "its ", codec->name, " cannot be decoded: ", av_reason(failed));
    if (const std::int32_t* matrix = display_matrix(stream)) orientation_ = orientation_of(matrix);
    picture_.reset(allocated(av_frame_alloc()));
    packet_.reset(allocated(av_packet_alloc()));
  }

  /// Decodes the next picture. Returns false at the end, and after an error once all pictures before it have
  /// been returned.
  bool receive() {
    while (true) {
      const int got = avcodec_receive_frame(decoder_.get(), picture_.get());
      if (got == 0) return true;
      if (got == AVERROR_EOF) return false;
      const bool failed = got != AVERROR(EAGAIN);
      if (failed) decoding_failed(got);
      if (failed && (!draining_ || got == AVERROR_INVALIDDATA)) continue;
      if (draining_) return false;
      send();
    }
  }

  /// Sends the next packet of the video to the decoder, or the end.
  void send() {
    int got = 0;
    do {
      av_packet_unref(packet_.get());
      got = av_read_frame(demuxer_.get(), packet_.get());
      if (got == AVERROR(EAGAIN)) ::usleep(1000);
    } while (got == AVERROR(EAGAIN) || got == AVERROR(EINTR) ||
             (got >= 0 && packet_->stream_index != stream_));
    if (got >= 0) {
      stamps_[std::size_t(packets_++) % stamps_.size()] = packet_->pts;
      const int sent = avcodec_send_packet(decoder_.get(), packet_.get());
      if (sent < 0) decoding_failed(sent);
      return;
    }
    if (got != AVERROR_EOF)
      note(got, stream_input_ ? "cannot be read without going back: give it as a file" : "cannot be read");
    else if (stream_input_ && stream_input_->context()->error < 0)
      note(stream_input_->context()->error, "cannot be read");
    else
      check_complete();
    drain();
  }

  /// Detects a truncated MP4 file from its list of packets.
  void check_complete() {
    const int listed = avformat_index_get_entries_count(demuxer_->streams[stream_]);
    if (std::string_view(demuxer_->iformat->name).starts_with("mov,") && packets_ < listed) {
      problem_ = text("the file ends after ", packets_, " of ", listed, " frames");
      problem_code_ = ErrorCode::format;
    }
  }

  void decoding_failed(int error) {
    // Streams and cameras may start with pictures that depend on earlier, missing ones.
    constexpr int begin_anywhere = AVFMT_TS_DISCONT | AVFMT_NOTIMESTAMPS | AVFMT_NOFILE;
    if (delivered_ == 0 && (demuxer_->iformat->flags & begin_anywhere) != 0 && error == AVERROR_INVALIDDATA) {
      first_problem_ = "no frame of it can be decoded";
      avcodec_flush_buffers(decoder_.get());
      if (draining_) drain();
      return;
    }
    // The damaged packet is one of the packets that decoding threads are working on. Frames before those
    // packets are undamaged.
    const bool frame_threads = (decoder_->active_thread_type & FF_THREAD_FRAME) != 0;
    const std::int64_t in_work = frame_threads ? decoder_->thread_count : 1;
    const auto kept = std::int64_t(stamps_.size());
    for (std::int64_t i = std::max<std::int64_t>(packets_ - in_work, 0); i < packets_; ++i)
      sound_before_ =
          in_work > kept ? AV_NOPTS_VALUE : std::min(sound_before_, stamps_[std::size_t(i % kept)]);
    note(error, "damaged data");
    if (!draining_) drain();
  }

  void note(int error, const char* what) {
    if (!problem_.empty()) return;
    problem_code_ = code_of(error);
    problem_ = error == AVERROR_INVALIDDATA ? std::string(what) : text(what, ": ", av_reason(error));
  }

  /// Makes the decoder return its pending pictures.
  void drain() {
    draining_ = true;
    const int sent = avcodec_send_packet(decoder_.get(), nullptr);
    if (sent < 0 && sent != AVERROR_EOF) decoding_failed(sent);
  }

  static bool is_damaged(const AVFrame& picture) {
    return (picture.flags & AV_FRAME_FLAG_CORRUPT) != 0 || picture.decode_error_flags != 0;
  }

  double frame_time() const { return 1 / (info.rate > 0 ? info.rate : usual_rate); }

  /// Time of the picture since the first one, s. If the stream has no times, it follows from the frame rate.
  double next_time() {
    const std::int64_t stamp = picture_->best_effort_timestamp;
    if (delivered_ == 0) first_stamp_ = stamp;
    if (stamp != AV_NOPTS_VALUE && first_stamp_ != AV_NOPTS_VALUE) {
      const double time = double(stamp - first_stamp_) * av_q2d(demuxer_->streams[stream_]->time_base);
      if (delivered_ == 0 || time > last_time_) return time;
    }
    return delivered_ == 0 ? 0 : last_time_ + frame_time();
  }

  std::optional<StreamInput> stream_input_;  // before the demuxer, which uses it: it is destroyed last
  Demuxer demuxer_;
  CodecContext decoder_;
  PictureFrame picture_;
  Packet packet_;
  PixelReader pixels_;
  int stream_ = -1, orientation_ = 1;
  std::array<std::int64_t, 64> stamps_ = {};                              // time stamps of the last packets
  std::int64_t sound_before_ = std::numeric_limits<std::int64_t>::max();  // undamaged before it
  std::int64_t packets_ = 0, delivered_ = 0, first_stamp_ = AV_NOPTS_VALUE;
  double last_time_ = 0;
  bool draining_ = false;
  std::string problem_;        // thrown after the pictures before it have been returned
  std::string first_problem_;  // thrown if there are no pictures
  ErrorCode problem_code_ = ErrorCode::format;
};

}  // namespace

std::unique_ptr<Source> open_ffmpeg(const std::string& input, std::unique_ptr<io::ByteStream> bytes,
                                    const FrameSourceOptions& options) {
  return std::make_unique<FfmpegSource>(input, std::move(bytes), options);
}

}  // namespace parafield::video
