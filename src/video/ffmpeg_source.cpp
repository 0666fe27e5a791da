// SPDX-License-Identifier: MIT
// Reads videos and cameras with FFmpeg.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "io/formats.hpp"
#include "video/ffmpeg_beginning.hpp"
#include "video/ffmpeg_deinterlace.hpp"
#include "video/ffmpeg_demuxer.hpp"
#include "video/ffmpeg_ffv1.hpp"
#include "video/ffmpeg_picture_numbers.hpp"
#include "video/ffmpeg_pixels.hpp"
#include "video/names.hpp"
#include "video/source.hpp"

namespace parafield::video {
namespace {

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

/// Damage is an error and is not concealed.
constexpr int errors_noticed = AV_EF_EXPLODE | AV_EF_CRCCHECK;

/// Single fields are solved as frames.
static const std::string note_on_fields =
    "it is interlaced, and each of its fields is read as a frame of half the height";

/// The steps of the times of frames, which show where frames are missing.
class TimeSteps {
 public:
  /// Whether frames seem to be missing before the time, s. `usual` is the step that the file records, 0 =
  /// unknown. Files may vary their frame rate; even steps double where a single frame is missing.
  bool is_gap(double time, double usual) const {
    constexpr double even = 1.75, uneven = 3.5;
    if (steps_ < 2) return steps_ >= 0 && usual > 0 && time - last_ > uneven * usual;
    return time - last_ > (most_ < 1.5 * least_ ? even : uneven) * mean();
  }
  double mean() const { return steps_ > 0 ? sum_ / steps_ : 0; }
  void add(double time) {
    if (const double step = time - last_; steps_ >= 0) {
      least_ = steps_ == 0 ? step : std::min(least_, step);
      most_ = steps_ == 0 ? step : std::max(most_, step);
      sum_ += step;
    }
    last_ = time;
    ++steps_;
  }

 private:
  int steps_ = -1;  // no time was added
  double last_ = 0, least_ = 0, most_ = 0, sum_ = 0;
};

class FfmpegSource : public Source {
 public:
  FfmpegSource(const std::string& input, std::unique_ptr<io::ByteStream> bytes,
               const FrameSourceOptions& options)
      : demuxer_(input, std::move(bytes), options),
        threads_(options.threads),
        pixels_(options.gray, options.threads),
        deinterlacer_(options.threads),
        beginning_(demuxer_.codec().id, demuxer_.may_begin_anywhere()),
        orientation_(demuxer_.orientation()) {
    goes_on = options.skip_damaged;
    info = demuxer_.info(input);
    open_decoder(options.threads, thread_types(demuxer_.codec().id));
    if (demuxer_.videos() > 1)
      notes.push_back(text("it holds ", demuxer_.videos(), " videos, of which the one of ",
                           Size{decoder_->width, decoder_->height}, " is read"));
    if (demuxer_.is_raw() && !demuxer_.is_live()) numbers_.emplace(demuxer_.stream());
    if (demuxer_.lacks_beginning())
      notes.push_back(text("it has no beginning of a ", extension_of(input), " file, and is read as raw ",
                           info.codec, ": frames may be missing there"));
  }

  bool next(VideoFrame& frame) override {
    if (!take()) {
      if (problem_.empty() && delivered_ == 0) problem_ = first_problem_;
      if (problem_.empty() && lacks_last_frames()) problem_ = "its last frames are damaged";
      if (problem_.empty()) return false;
      const std::string problem = problem_;
      if (goes_on) restart();
      fail(problem_code_, problem);
    }
    const std::string& on_fields = has_fields_ ? note_on_fields : deinterlacer_.note();
    if (!on_fields.empty() && !std::exchange(noted_, true)) notes.push_back(on_fields);
    const double time = next_time();
    frame.skipped = std::exchange(skips_, false) ? frames_before(time) : 0;
    if (frame.skipped == 0) note_gap(time);
    if (delivered_ == 0 && !demuxer_.is_live())
      if (const std::string missing = beginning_.missing(first_decoded_); !missing.empty())
        notes.push_back(missing);
    delivered_steps_.add(time);
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
  void open_decoder(int threads, int types) {
    const AVCodec& codec = demuxer_.codec();
    decoder_.reset(allocated(avcodec_alloc_context3(&codec)));
    int failed = avcodec_parameters_to_context(decoder_.get(), demuxer_.stream().codecpar);
    decoder_->pkt_timebase = demuxer_.stream().time_base;
    decoder_->thread_count = threads;
    decoder_->thread_type = types;
    decoder_->err_recognition = errors_noticed;
    if (failed >= 0) failed = avcodec_open2(decoder_.get(), &codec, nullptr);
    if (failed < 0) fail(code_of(failed), "its ", codec.name, " cannot be decoded: ", av_reason(failed));
  }

  /// Takes the next picture, deinterlaced. Returns false at the end, and after an error once all pictures
  /// before the damage have been returned.
  bool take() {
    av_frame_unref(picture_.get());
    while (!deinterlacer_.pull(*picture_)) {
      if (ended_) return false;
      ended_ = !receive() || !is_sound(*picture_);
      if (!ended_) {
        // Interlaced HEVC has one field per picture, which FFmpeg does not weave into frames.
        if (decoder_->codec_id == AV_CODEC_ID_HEVC && mark_progressive(*picture_)) has_fields_ = true;
        deinterlacer_.push(*picture_);
      } else {
        av_frame_unref(picture_.get());
        deinterlacer_.end();
      }
    }
    return true;
  }

  /// Whether a decoded picture is undamaged, and nothing is missing before it. If not, the problem is noted.
  bool is_sound(const AVFrame& picture) {
    const bool has_time = picture.best_effort_timestamp != AV_NOPTS_VALUE;
    if (!problem_.empty() && (picture.pts == AV_NOPTS_VALUE || picture.pts >= sound_before_ ||
                              decoded_steps_.is_gap(seconds(picture), recorded_step())))
      return false;
    if (is_damaged(picture) || leaves_out_pictures(picture)) {
      note(AVERROR_INVALIDDATA, "damaged data");
      return false;
    }
    io::check_sides("a video", picture.width, picture.height);
    io::check_pixels("a video", picture.width, picture.height);
    if (last_decoded_ == AV_NOPTS_VALUE) first_decoded_ = picture.pts;
    if (has_time) decoded_steps_.add(seconds(picture));
    if (picture.pts != AV_NOPTS_VALUE) last_decoded_ = std::max(last_decoded_, picture.pts);
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
    skips_ = has_skipped_ = true;
    expected_.clear();
    decoded_steps_ = {};
    demuxer_.skip_to_key();
  }

  /// Notes the first gap in the times, if FFmpeg passes over damaged parts of the container.
  void note_gap(double time) {
    if (has_gap_ || !demuxer_.passes_over_damage() ||
        !delivered_steps_.is_gap(time, demuxer_.counts_frames() ? recorded_step() : 0))
      return;
    has_gap_ = true;
    std::string& gap = demuxer_.shows_damage() ? possible_gap_ : notes.emplace_back();
    gap = text("frame ", counted_ + 1, " comes ", detail::text_of(float(time - last_time_)),
               " s after the frame before it, others after ",
               detail::text_of(float(counted_ < 3 ? recorded_step() : spacing())),
               " s on average: frames may be missing there");
  }

  /// The mean time between the frames so far; there must be two. Some files record no frame rate.
  double spacing() const { return last_time_ / double(counted_ - 1); }

  /// The number of frames between the last one and a time, at least 1.
  std::int64_t frames_before(double time) const {
    if (counted_ < 2) return 1;
    return std::max<std::int64_t>(std::llround((time - last_time_) / spacing()) - 1, 1);
  }

  /// Whether the last packets gave no pictures, which some decoders do not report. True only once.
  bool lacks_last_frames() {
    if (!file_ended_ || !demuxer_.last_pts() || std::exchange(end_is_checked_, true)) return false;
    const double late = double(*demuxer_.last_pts() - last_decoded_) * av_q2d(demuxer_.stream().time_base);
    return last_decoded_ != AV_NOPTS_VALUE && decoded_steps_.mean() > 0 &&
           late > 0.75 * decoded_steps_.mean();
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
    const int got = demuxer_.read(*packet_);
    if (got == 0) {
      stamps_[std::size_t(demuxer_.packets() - 1) % stamps_.size()] = packet_->pts;
      if ((packet_->flags & AV_PKT_FLAG_CORRUPT) != 0) {
        if (!demuxer_.may_begin_anywhere()) return damaged_since(1, AVERROR_INVALIDDATA);
        // A packet also counts as damaged where two streams were joined.
        if (delivered_ > 0 && !std::exchange(has_gap_, true))
          notes.push_back(
              text("after frame ", counted_,
                   ": packets of the stream are missing; frames may be missing or damaged there"));
      }
      if (numbers_) numbers_->add(*packet_);
      if (!beginning_.takes(*packet_)) return;
      if (decoder_->codec_id == AV_CODEC_ID_FFV1 && !checksums_.are_right(*packet_))
        return damaged_since(1, AVERROR_INVALIDDATA);
      if (is_av1() && (packet_->flags & AV_PKT_FLAG_DISCARD) == 0) expected_.push_back(packet_->pts);
      if (beginning_.refers_back() && (decoder_->active_thread_type & FF_THREAD_FRAME) != 0)
        open_decoder(threads_, FF_THREAD_SLICE);  // frame threads would ignore the next line
      decoder_->err_recognition = beginning_.refers_back() ? AV_EF_CRCCHECK : errors_noticed;
      const int sent = avcodec_send_packet(decoder_.get(), packet_.get());
      if (sent < 0) decoding_failed(sent);
      return;
    }
    file_ended_ = true;
    if (const std::int64_t missing = numbers_ ? numbers_->missing() : 0)
      notes.push_back(text(missing == 1 ? "a frame seems" : text(missing, " frames seem"),
                           " to be missing in it, because the numbers of its pictures have gaps"));
    const int stream_error = demuxer_.stream_error();
    cut_off_ = got != AVERROR_EOF || stream_error < 0;
    if (got != AVERROR_EOF) {
      note(got,
           demuxer_.is_stream() ? "cannot be read without going back: give it as a file" : "cannot be read");
    } else if (stream_error < 0) {
      note(stream_error, "cannot be read");
    } else if (const std::string missing = demuxer_.missing(); !missing.empty()) {
      // Damage that did not keep later frames from being read.
      if (has_skipped_ && missing.starts_with("it is damaged")) return drain();
      problem_ = missing;
      problem_code_ = ErrorCode::format;
      cut_off_ = true;
      if (!possible_gap_.empty()) notes.push_back(possible_gap_);
    }
    drain();
  }

  void decoding_failed(int error) {
    if (delivered_ == 0 && demuxer_.may_begin_anywhere() && error == AVERROR_INVALIDDATA) {
      first_problem_ = "no frame of it can be decoded";
      beginning_.failed();
      avcodec_flush_buffers(decoder_.get());
      if (draining_) drain();
      return;
    }
    // The damaged packet is one of the packets that decoding threads are working on. Frames before those
    // packets are undamaged.
    const bool frame_threads = (decoder_->active_thread_type & FF_THREAD_FRAME) != 0;
    damaged_since(frame_threads ? decoder_->thread_count : 1, error);
  }

  /// Notes that one of the last packets is damaged, and lets the decoder return the pictures before them.
  void damaged_since(std::int64_t in_work, int error) {
    const auto kept = std::int64_t(stamps_.size());
    const std::int64_t packets = demuxer_.packets();
    for (std::int64_t i = std::max<std::int64_t>(packets - in_work, 0); i < packets; ++i)
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

  bool is_av1() const { return decoder_->codec_id == AV_CODEC_ID_AV1; }

  /// Whether pictures are missing between the last one and this one. Decoders of AV1 leave out damaged pictures
  /// without an error, but each packet holds a picture that is shown.
  bool leaves_out_pictures(const AVFrame& picture) {
    if (!is_av1() || picture.pts == AV_NOPTS_VALUE) return false;
    std::int64_t before = 0;
    for (; !expected_.empty() && expected_.front() < picture.pts; expected_.pop_front()) ++before;
    if (!expected_.empty() && expected_.front() == picture.pts) expected_.pop_front();
    return before > 0 && last_decoded_ != AV_NOPTS_VALUE;
  }

  static bool is_damaged(const AVFrame& picture) {
    return (picture.flags & AV_FRAME_FLAG_CORRUPT) != 0 || picture.decode_error_flags != 0;
  }

  double frame_time() const { return 1 / (info.rate > 0 ? info.rate : usual_rate); }
  double recorded_step() const { return info.rate > 0 ? 1 / info.rate : 0; }
  double seconds(const AVFrame& picture) const {
    return double(picture.best_effort_timestamp) * av_q2d(demuxer_.stream().time_base);
  }

  /// Time of the picture since the first one, s. If the stream has no times, it follows from the frame rate.
  double next_time() {
    const std::int64_t stamp = picture_->best_effort_timestamp;
    if (delivered_ == 0) first_stamp_ = stamp;
    if (stamp != AV_NOPTS_VALUE && first_stamp_ != AV_NOPTS_VALUE) {
      const double time = double(stamp - first_stamp_) * av_q2d(demuxer_.stream().time_base);
      if (delivered_ == 0 || time > last_time_) return time;
    }
    return delivered_ == 0 ? 0 : last_time_ + frame_time();
  }

  Demuxer demuxer_;
  const int threads_;
  CodecContext decoder_;
  PictureFrame picture_ = PictureFrame(allocated(av_frame_alloc()));
  Packet packet_ = Packet(allocated(av_packet_alloc()));
  PixelReader pixels_;
  Deinterlacer deinterlacer_;
  Beginning beginning_;
  Ffv1Checksums checksums_;
  std::optional<PictureNumbers> numbers_;
  std::deque<std::int64_t> expected_;  // times of the packets whose pictures have not come yet, of AV1
  int orientation_;
  std::array<std::int64_t, 64> stamps_ = {};                              // time stamps of the last packets
  std::int64_t sound_before_ = std::numeric_limits<std::int64_t>::max();  // undamaged before it
  std::int64_t delivered_ = 0, first_stamp_ = AV_NOPTS_VALUE;
  std::int64_t counted_ = 0;  // frames delivered or skipped
  double last_time_ = 0;
  TimeSteps decoded_steps_, delivered_steps_;
  bool draining_ = false, ended_ = false, file_ended_ = false, noted_ = false;
  bool cut_off_ = false;     // the rest of the file is missing or cannot be read
  bool has_fields_ = false;  // pictures are single fields
  bool skips_ = false;       // after damaged data, if the source goes on
  bool has_skipped_ = false;
  bool end_is_checked_ = false;
  std::int64_t first_decoded_ = AV_NOPTS_VALUE;  // time of the first picture
  std::int64_t last_decoded_ = AV_NOPTS_VALUE;   // the largest time of a picture
  bool has_gap_ = false;                         // a gap in the times has been noted
  std::string possible_gap_;                     // noted if the file turns out to be damaged
  std::string problem_;                          // thrown after the pictures before it have been returned
  std::string first_problem_;                    // thrown if there are no pictures
  ErrorCode problem_code_ = ErrorCode::format;
};

}  // namespace

std::unique_ptr<Source> open_ffmpeg(const std::string& input, std::unique_ptr<io::ByteStream> bytes,
                                    const FrameSourceOptions& options) {
  return std::make_unique<FfmpegSource>(input, std::move(bytes), options);
}

}  // namespace parafield::video
