// SPDX-License-Identifier: MIT
#include "video/ffmpeg_deinterlace.hpp"

#include <utility>

namespace parafield::video {
namespace {

bool is_interlaced(const AVFrame& picture) {
#ifdef AV_FRAME_FLAG_INTERLACED
  return (picture.flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
  return picture.interlaced_frame != 0;
#endif
}

}  // namespace

bool mark_progressive(AVFrame& picture) {
  const bool was_interlaced = is_interlaced(picture);
#ifdef AV_FRAME_FLAG_INTERLACED
  picture.flags &= ~AV_FRAME_FLAG_INTERLACED;
#else
  picture.interlaced_frame = 0;
#endif
  return was_interlaced;
}

bool Deinterlacer::fits(const AVFrame& picture) const {
  return picture.width == width_ && picture.height == height_ && picture.format == format_;
}

/// Makes the graph of filters. If that fails, pictures stay as they are.
void Deinterlacer::begin(const AVFrame& picture) {
  width_ = picture.width;
  height_ = picture.height;
  format_ = picture.format;
  impossible_ = true;
  note_ = "it is interlaced, and this FFmpeg cannot deinterlace it: its rows are read as they are stored";
  if (!begin_filters()) return;
  const AVFilter *const buffer = avfilter_get_by_name("buffer"),
                        *const filter = avfilter_get_by_name("bwdif"),
                        *const end = avfilter_get_by_name("buffersink");
  if (!buffer || !filter || !end) return;
  graph_.reset(allocated(avfilter_graph_alloc()));
  graph_->nb_threads = threads_;
  avfilter_graph_set_auto_convert(graph_.get(), unsigned(AVFILTER_AUTO_CONVERT_NONE));
  const std::string kind = text("video_size=", width_, "x", height_, ":pix_fmt=", format_,
                                ":time_base=1/1000000:pixel_aspect=1/1");
  AVFilterContext* bwdif = nullptr;
  const auto make = [&](AVFilterContext*& made, const AVFilter* of, const char* options) {
    return avfilter_graph_create_filter(&made, of, of->name, options, nullptr, graph_.get()) >= 0;
  };
  // One picture for each that comes, and only if it is marked as interlaced.
  if (!make(source_, buffer, kind.c_str()) || !make(bwdif, filter, "mode=send_frame:deint=interlaced") ||
      !make(sink_, end, nullptr) || avfilter_link(source_, 0, bwdif, 0) < 0 ||
      avfilter_link(bwdif, 0, sink_, 0) < 0 || avfilter_graph_config(graph_.get(), nullptr) < 0) {
    graph_.reset();
    return;
  }
  impossible_ = false;
  note_ = "it is interlaced; its frames are deinterlaced";
}

void Deinterlacer::push(AVFrame& picture) {
  ended_ = false;
  if (graph_ && fits(picture)) {
    const int failed = av_buffersrc_add_frame_flags(source_, &picture, 0);
    if (failed < 0) fail(code_of(failed), "it cannot be deinterlaced: ", av_reason(failed));
    return;
  }
  if (!waiting_) waiting_.reset(allocated(av_frame_alloc()));
  av_frame_move_ref(waiting_.get(), &picture);
  has_waiting_ = true;
  if (graph_) (void)av_buffersrc_add_frame_flags(source_, nullptr, 0);  // the last pictures of the other kind
}

void Deinterlacer::end() {
  ended_ = true;
  if (graph_) (void)av_buffersrc_add_frame_flags(source_, nullptr, 0);
}

bool Deinterlacer::pull(AVFrame& picture) {
  if (graph_) {
    const int got = av_buffersink_get_frame(sink_, &picture);
    if (got >= 0) return true;
    const bool failed = got != AVERROR(EAGAIN) && got != AVERROR_EOF;
    if (failed || ended_ || has_waiting_) graph_.reset();
    if (failed) fail(code_of(got), "it cannot be deinterlaced: ", av_reason(got));
  }
  if (!has_waiting_) return false;
  const bool same_failure = impossible_ && fits(*waiting_);
  if (is_interlaced(*waiting_) && !same_failure) {
    begin(*waiting_);
    if (graph_) {
      has_waiting_ = false;
      push(*waiting_);
      return pull(picture);
    }
  }
  has_waiting_ = false;
  av_frame_move_ref(&picture, waiting_.get());
  return true;
}

}  // namespace parafield::video
