// SPDX-License-Identifier: MIT
// Reads videos and cameras with FFmpeg.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string_view>
#include <utility>

#include "io/formats.hpp"
#include "video/containers.hpp"
#include "video/ffmpeg_deinterlace.hpp"
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
      : pixels_(options.gray, options.threads), deinterlacer_(options.threads) {
    begin_ffmpeg();
    goes_on = options.skip_damaged;
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
    if (!take()) {
      if (problem_.empty() && delivered_ == 0) problem_ = first_problem_;
      if (problem_.empty()) return false;
      const std::string problem = problem_;
      if (goes_on) restart();
      fail(problem_code_, problem);
    }
    if (!deinterlacer_.note().empty() && !std::exchange(noted_, true)) notes.push_back(deinterlacer_.note());
    const double time = next_time();
    frame.skipped = std::exchange(skips_, false) ? frames_before(time) : 0;
    if (frame.skipped == 0) note_gap(time);
    if (delivered_ == 0)
      if (const auto* side = av_frame_get_side_data(picture_.get(), AV_FRAME_DATA_DISPLAYMATRIX))
        orientation_ = orientation_of(reinterpret_cast<const std::int32_t*>(side->data));
    pixels_.read(*picture_, orientation_, frame.frame);
    frame.time = last_time_ = time;
    ++delivered_;
    counted_ += frame.skipped + 1;
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
    if (url.starts_with("file:")) file_ = input;
    // FFmpeg frees the context on failure.
    const int failed = avformat_open_input(&context, url.c_str(), format, nullptr);
    if (failed == AVERROR_INVALIDDATA) {
      const std::string missing = missing_part(file_);
      io::fail_format(missing.empty() ? "no video or picture that is known, or damaged at its start"
                                      : missing);
    }
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
    decoder_->err_recognition =
        AV_EF_EXPLODE | AV_EF_CRCCHECK;  // report damage as an error; do not conceal it
    if (failed >= 0) failed = avcodec_open2(decoder_.get(), codec, nullptr);
    if (failed < 0) fail(code_of(failed), "its ", codec->name, " cannot be decoded: ", av_reason(failed));
    if (const std::int32_t* matrix = display_matrix(stream)) orientation_ = orientation_of(matrix);
    picture_.reset(allocated(av_frame_alloc()));
    packet_.reset(allocated(av_packet_alloc()));
  }

  /// Takes the next picture, deinterlaced. Returns false at the end, and after an error once all pictures
  /// before the damage have been returned.
  bool take() {
    av_frame_unref(picture_.get());
    while (!deinterlacer_.pull(*picture_)) {
      if (ended_) return false;
      ended_ = !receive() || !is_sound(*picture_);
      if (!ended_) {
        deinterlacer_.push(*picture_);
      } else {
        av_frame_unref(picture_.get());
        deinterlacer_.end();
      }
    }
    return true;
  }

  /// Whether a decoded picture is undamaged. If not, the problem is noted.
  bool is_sound(const AVFrame& picture) {
    if (!problem_.empty() && (picture.pts == AV_NOPTS_VALUE || picture.pts >= sound_before_)) return false;
    if (is_damaged(picture)) {
      note(AVERROR_INVALIDDATA, "damaged data");
      return false;
    }
    io::check_sides("a video", picture.width, picture.height);
    io::check_pixels("a video", picture.width, picture.height);
    return true;
  }

  /// Goes on after damaged data, from the next key frame, unless the rest of the file is missing.
  void restart() {
    goes_on = !cut_off_;
    problem_.clear();
    if (file_ended_) return first_problem_.clear();  // it is said once
    avcodec_flush_buffers(decoder_.get());
    sound_before_ = std::numeric_limits<std::int64_t>::max();
    draining_ = ended_ = false;
    skips_ = awaits_key_ = true;
  }

  /// Whether FFmpeg passes over damaged parts of the container without an error.
  bool passes_over_damage() const {
    const std::string_view format = demuxer_->iformat->name;
    return format.starts_with("matroska") || format == "ogg";
  }

  /// Notes the first gap in the times of such a container.
  void note_gap(double time) {
    constexpr double usual = 3.5;  // frames, because a frame rate may vary
    if (counted_ < 3 || has_gap_ || time - last_time_ < usual * spacing() || !passes_over_damage()) return;
    has_gap_ = true;
    notes.push_back(text("frame ", counted_ + 1, " comes ", detail::text_of(float(time - last_time_)),
                         " s after the frame before it, others after ", detail::text_of(float(spacing())),
                         " s on average: frames may be missing there"));
  }

  /// The mean time between the frames so far; there must be two. Some files record no frame rate.
  double spacing() const { return last_time_ / double(counted_ - 1); }

  /// The number of frames between the last one and a time, at least 1.
  std::int64_t frames_before(double time) const {
    if (counted_ < 2) return 1;
    return std::max<std::int64_t>(std::llround((time - last_time_) / spacing()) - 1, 1);
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
             (got >= 0 && (packet_->stream_index != stream_ || is_before_key(*packet_))));
    if (got >= 0) {
      if (packet_->pts != AV_NOPTS_VALUE) end_ = std::max(end_, packet_->pts + packet_->duration);
      stamps_[std::size_t(packets_++) % stamps_.size()] = packet_->pts;
      const int sent = avcodec_send_packet(decoder_.get(), packet_.get());
      if (sent < 0) decoding_failed(sent);
      return;
    }
    file_ended_ = true;
    cut_off_ = got != AVERROR_EOF || (stream_input_ && stream_input_->context()->error < 0);
    if (got != AVERROR_EOF)
      note(got, stream_input_ ? "cannot be read without going back: give it as a file" : "cannot be read");
    else if (stream_input_ && stream_input_->context()->error < 0)
      note(stream_input_->context()->error, "cannot be read");
    else
      check_complete();
    drain();
  }

  /// Whether the packet belongs to the skipped frames after damaged data.
  bool is_before_key(const AVPacket& packet) {
    awaits_key_ = awaits_key_ && (packet.flags & AV_PKT_FLAG_KEY) == 0;
    packets_ += awaits_key_;
    return awaits_key_;
  }

  /// Detects a file that lacks frames: by the list of packets of an MP4 file, the size that the container
  /// records, or the duration.
  void check_complete() {
    const std::string_view format = demuxer_->iformat->name;
    const AVStream& stream = *demuxer_->streams[stream_];
    const int listed =
        format.starts_with("mov,") ? avformat_index_get_entries_count(demuxer_->streams[stream_]) : 0;
    if (packets_ < listed)
      return note_missing(text("the file ends after ", packets_, " of ", listed, " frames"));
    if (!file_.empty())
      if (const std::string missing = missing_part(file_); !missing.empty()) return note_missing(missing);
    const double lasts = recorded_end(stream), ended = double(end_) * av_q2d(stream.time_base);
    constexpr int tolerated = 4;  // frames, because the last one's duration may count or not
    const double spacing = ended / double(std::max<std::int64_t>(packets_, 1));
    if (passes_over_damage() && ended + tolerated * spacing < lasts)
      note_missing(text("its frames end at ", detail::text_of(float(ended)), " s of ",
                        detail::text_of(float(lasts)), " s: data are missing or damaged"));
  }

  void note_missing(const std::string& what) {
    problem_ = what;
    problem_code_ = ErrorCode::format;
    cut_off_ = true;
  }

  /// The end of the stream as the container records it, s; 0 = unknown.
  double recorded_end(const AVStream& stream) const {
    if (stream.duration > 0) return double(stream.duration) * av_q2d(stream.time_base);
    int hours = 0, minutes = 0;
    double seconds = 0;
    // A tag of Matroska.
    const AVDictionaryEntry* const tag = av_dict_get(stream.metadata, "DURATION", nullptr, 0);
    if (tag && std::sscanf(tag->value, "%d:%d:%lf", &hours, &minutes, &seconds) == 3)
      return 3600.0 * hours + 60.0 * minutes + seconds;
    return demuxer_->nb_streams == 1 ? double(demuxer_->duration) / AV_TIME_BASE : 0;
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
  Deinterlacer deinterlacer_;
  std::filesystem::path file_;  // the input, if it is a regular file
  int stream_ = -1, orientation_ = 1;
  std::array<std::int64_t, 64> stamps_ = {};                              // time stamps of the last packets
  std::int64_t sound_before_ = std::numeric_limits<std::int64_t>::max();  // undamaged before it
  std::int64_t packets_ = 0, delivered_ = 0, first_stamp_ = AV_NOPTS_VALUE;
  std::int64_t counted_ = 0;  // frames delivered or skipped
  std::int64_t end_ = 0;      // of the last packet, in the stream's time base
  double last_time_ = 0;
  bool draining_ = false, ended_ = false, file_ended_ = false, noted_ = false;
  bool cut_off_ = false;                     // the rest of the file is missing or cannot be read
  bool awaits_key_ = false, skips_ = false;  // after damaged data, if the source goes on
  bool has_gap_ = false;                     // a gap in the times has been noted
  std::string problem_;                      // thrown after the pictures before it have been returned
  std::string first_problem_;                // thrown if there are no pictures
  ErrorCode problem_code_ = ErrorCode::format;
};

}  // namespace

std::unique_ptr<Source> open_ffmpeg(const std::string& input, std::unique_ptr<io::ByteStream> bytes,
                                    const FrameSourceOptions& options) {
  return std::make_unique<FfmpegSource>(input, std::move(bytes), options);
}

}  // namespace parafield::video
