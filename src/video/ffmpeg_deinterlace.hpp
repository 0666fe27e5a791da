// SPDX-License-Identifier: MIT
#pragma once
#include "video/ffmpeg_common.hpp"

namespace parafield::video {

/// Marks a picture as not interlaced. Returns whether it was.
bool mark_progressive(AVFrame& picture);

/// Turns interlaced pictures, whose even and odd rows are of different times, into pictures of one time, as
/// many as there were: FFmpeg's filter bwdif. Other pictures stay as they are.
class Deinterlacer {
 public:
  /// It uses `threads` threads; 0 = all.
  explicit Deinterlacer(int threads) : threads_(threads) {}

  /// Takes a picture, and leaves `picture` empty. Call it only after pull() has returned false.
  void push(AVFrame& picture);
  /// Says that no more pictures will come, or none that continues the last one.
  void end();
  /// Returns whether there is a picture, which it moves to `picture`.
  bool pull(AVFrame& picture);
  /// A note on the treatment of interlaced pictures; empty if there were none.
  const std::string& note() const { return note_; }

 private:
  void begin(const AVFrame& picture);
  bool fits(const AVFrame& picture) const;

  struct FreeGraph {
    void operator()(AVFilterGraph* graph) const { avfilter_graph_free(&graph); }
  };

  const int threads_;
  std::unique_ptr<AVFilterGraph, FreeGraph> graph_;
  AVFilterContext *source_ = nullptr, *sink_ = nullptr;  // of the graph
  int width_ = 0, height_ = 0, format_ = -1;             // of the graph's pictures
  PictureFrame waiting_;  // a picture that is not interlaced, or that the next graph begins with
  bool has_waiting_ = false, ended_ = false, impossible_ = false;
  std::string note_;
};

}  // namespace parafield::video
