// SPDX-License-Identifier: MIT
#include "video/ffmpeg_demuxer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "io/formats.hpp"
#include "video/ffmpeg_pixels.hpp"
#include "video/names.hpp"

namespace parafield::video {
namespace {

/// Lets FFmpeg read a stream of bytes, without seeking. Free the result's buffer, then the result.
AVIOContext* io_of(io::ByteStream& bytes) {
  constexpr auto receive = [](void* from, std::uint8_t* to, int most) {
    try {
      const std::size_t got = static_cast<io::ByteStream*>(from)->read_some(to, std::size_t(most));
      return got > 0 ? int(got) : AVERROR_EOF;
    } catch (const std::exception&) {
      return AVERROR(EIO);
    }
  };
  constexpr int size = 1 << 16;
  auto* const buffer = static_cast<unsigned char*>(allocated(av_malloc(size)));
  return allocated(avio_alloc_context(buffer, size, 0, &bytes, receive, nullptr, nullptr));
}

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

}  // namespace

Demuxer::Demuxer(const std::string& input, std::unique_ptr<io::ByteStream> bytes,
                 const FrameSourceOptions& options)
    : bytes_(std::move(bytes)) {
  begin_ffmpeg();
  const AVInputFormat* const format = input_format(input, options.format);
  std::string url = input;
  AVFormatContext* context = allocated(avformat_alloc_context());
  if (bytes_) {
    bytes_io_.reset(io_of(*bytes_));
    context->pb = bytes_io_.get();
    url.clear();
  } else if (std::error_code error; std::filesystem::is_regular_file(input, error)) {
    url = "file:" + input;
  }
  if (url.starts_with("file:")) file_ = input;
  // FFmpeg frees the context on failure.
  const int failed = avformat_open_input(&context, url.c_str(), format, nullptr);
  if (failed == AVERROR_INVALIDDATA || failed == AVERROR_EOF) {
    const std::string missing = missing_part(file_);
    if (failed == AVERROR_INVALIDDATA || !missing.empty())
      io::fail_format(missing.empty() ? "no video or picture that is known, or damaged at its start"
                                      : missing);
  }
  if (failed < 0) fail(code_of(failed), "cannot be read: ", av_reason(failed));
  context_.reset(context);
  const int without_info = avformat_find_stream_info(context_.get(), nullptr);
  if (without_info < 0) fail(code_of(without_info), "cannot be read: ", av_reason(without_info));
  choose_stream();
}

void Demuxer::choose_stream() {
  stream_ = av_find_best_stream(context_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, &codec_, 0);
  if (stream_ < 0)
    if (const std::string missing = missing_part(file_); !missing.empty()) io::fail_format(missing);
  if (stream_ == AVERROR_DECODER_NOT_FOUND)
    fail(ErrorCode::unsupported, "this FFmpeg lacks the decoder of the video");
  if (stream_ < 0) io::fail_format("holds no video");
  for (unsigned i = 0; i < context_->nb_streams; ++i)
    context_->streams[i]->discard = int(i) == stream_ ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
}

int Demuxer::videos() const {
  return int(std::count_if(context_->streams, context_->streams + context_->nb_streams, [](auto* stream) {
    return stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
           (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) == 0;
  }));
}

VideoInfo Demuxer::info(const std::string& input) const {
  VideoInfo info;
  const AVRational rate = av_guess_frame_rate(context_.get(), context_->streams[stream_], nullptr);
  info.rate = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0;
  info.frames = stream().nb_frames;
  if (stream().duration > 0)
    info.duration = double(stream().duration) * av_q2d(stream().time_base);
  else if (context_->duration > 0)
    info.duration = double(context_->duration) / AV_TIME_BASE;
  info.format = name_of(*context_->iformat, input);
  info.codec = avcodec_get_name(stream().codecpar->codec_id);
  return info;
}

int Demuxer::orientation() const {
  const std::int32_t* const matrix = display_matrix(stream());
  return matrix ? orientation_of(matrix) : 1;
}

bool Demuxer::may_begin_anywhere() const {
  return (context_->iformat->flags & (AVFMT_TS_DISCONT | AVFMT_NOTIMESTAMPS | AVFMT_NOFILE)) != 0;
}

bool Demuxer::is_raw() const { return has_format({"h264", "hevc"}); }

bool Demuxer::is_live() const {
  return (context_->iformat->flags & AVFMT_NOFILE) != 0 || (file_.empty() && !bytes_);
}

bool Demuxer::has_format(std::initializer_list<std::string_view> names) const {
  return std::ranges::find(names, std::string_view(context_->iformat->name)) != names.end();
}

bool Demuxer::passes_over_damage() const {
  return has_format({"matroska,webm", "ogg", "asf", "flv", "mxf", "ivf", "mpeg", "mpegts"});
}

bool Demuxer::shows_damage() const {
  return !file_.empty() && has_format({"matroska,webm", "ogg", "asf", "flv", "ivf", "mpegts"});
}

bool Demuxer::lacks_beginning() const {
  constexpr std::string_view containers[] = {".mp4", ".mov", ".3gp", ".mkv", ".webm", ".avi",
                                             ".wmv", ".asf", ".flv", ".mxf", ".ogv"};
  const bool is_raw = (context_->iformat->flags & AVFMT_NOTIMESTAMPS) != 0 || has_format({"h263", "m4v"}) ||
                      std::string_view(context_->iformat->name).ends_with("_pipe");
  return is_raw && std::ranges::find(containers, extension_of(file_.string())) != std::end(containers);
}

int Demuxer::read(AVPacket& packet) {
  while (true) {
    av_packet_unref(&packet);
    const int got = av_read_frame(context_.get(), &packet);
    if (got == AVERROR(EAGAIN)) ::usleep(1000);
    if (got == AVERROR(EAGAIN) || got == AVERROR(EINTR)) continue;
    if (got < 0) return got;
    if (packet.stream_index != stream_) continue;
    ++packets_;
    awaits_key_ = awaits_key_ && (packet.flags & AV_PKT_FLAG_KEY) == 0;
    if (awaits_key_) continue;
    if (packet.pts != AV_NOPTS_VALUE) end_ = std::max(end_, packet.pts + packet.duration);
    if (packet.pts != AV_NOPTS_VALUE && packet.size > 0 && (packet.flags & AV_PKT_FLAG_DISCARD) == 0)
      last_pts_ = std::max(last_pts_.value_or(packet.pts), packet.pts);
    return 0;
  }
}

/// The number of frames that the container records; 0 = unknown.
std::int64_t Demuxer::recorded_frames() const {
  const std::string_view format = context_->iformat->name;
  // The index of an AVI file is read at its begin, and grows by the packets that follow.
  if (format.starts_with("mov,") || format == "avi")
    return avformat_index_get_entries_count(context_->streams[stream_]);
  return counts_frames() ? std::max<std::int64_t>(stream().duration, 0) : 0;
}

bool Demuxer::counts_frames() const {
  const std::string_view format = context_->iformat->name;
  const AVRational rate = stream().avg_frame_rate.num > 0 ? stream().avg_frame_rate : stream().r_frame_rate;
  return format == "mxf" && rate.num == stream().time_base.den && rate.den == stream().time_base.num;
}

std::string Demuxer::missing() const {
  const std::int64_t recorded = recorded_frames();
  if (std::string_view(context_->iformat->name).starts_with("mov,") && packets_ < recorded)
    return text("the file ends after ", packets_, " of ", recorded, " frames");
  if (!file_.empty())
    if (std::string part = missing_part(file_); !part.empty() || shows_damage()) return part;
  if (packets_ < recorded)
    return text("it has ", packets_, " of its ", recorded, " frames: data are missing or damaged");
  if (end_ == 0) return "";  // it has no times
  const double lasts = recorded_end(), ended = double(end_) * av_q2d(stream().time_base);
  constexpr int tolerated = 4;  // frames, because the last one's duration may count or not
  const double spacing = ended / double(std::max<std::int64_t>(packets_, 1));
  if (!passes_over_damage() || ended + tolerated * spacing >= lasts) return "";
  return text("its frames end at ", detail::text_of(float(ended)), " s of ", detail::text_of(float(lasts)),
              " s: data are missing or damaged");
}

/// The end of the video as the container records it, s; 0 = unknown.
double Demuxer::recorded_end() const {
  const bool is_own = std::string_view(context_->iformat->name) != "asf" || context_->nb_streams == 1;
  if (is_own && stream().duration > 0) return double(stream().duration) * av_q2d(stream().time_base);
  int hours = 0, minutes = 0;
  double seconds = 0;
  // A tag of Matroska.
  const AVDictionaryEntry* const tag = av_dict_get(stream().metadata, "DURATION", nullptr, 0);
  if (tag && std::sscanf(tag->value, "%d:%d:%lf", &hours, &minutes, &seconds) == 3)
    return 3600.0 * hours + 60.0 * minutes + seconds;
  return context_->nb_streams == 1 ? double(context_->duration) / AV_TIME_BASE : 0;
}

}  // namespace parafield::video
