// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "video/ffmpeg_common.hpp"

namespace parafield::video {

/// The picture order counts of raw H.264 and HEVC, which have no times: in a whole video they have no gaps.
class PictureNumbers {
 public:
  explicit PictureNumbers(const AVStream& stream)
      : context_(allocated(avcodec_alloc_context3(nullptr))),
        parser_(av_parser_init(stream.codecpar->codec_id)) {
    if (avcodec_parameters_to_context(context_.get(), stream.codecpar) < 0) parser_.reset();
    if (parser_) parser_->flags |= PARSER_FLAG_COMPLETE_FRAMES;
  }

  void add(const AVPacket& packet) {
    if (!parser_ || packet.size <= 0) return;
    std::uint8_t* out = nullptr;
    int size = 0;
    av_parser_parse2(parser_.get(), context_.get(), &out, &size, packet.data, packet.size, packet.pts,
                     packet.dts, packet.pos);
    const int number = parser_->output_picture_number;
    if ((packet.flags & AV_PKT_FLAG_KEY) != 0 && number == 0) ++sequence_;
    numbers_.emplace_back(sequence_, number);
  }

  /// How many pictures seem to be missing after the first key frame. Numbers that come twice mean that a key
  /// frame is missing between them.
  std::int64_t missing() {
    std::ranges::sort(numbers_);
    const auto end = std::unique(numbers_.begin(), numbers_.end());
    std::int64_t step = std::numeric_limits<std::int64_t>::max(), all = end != numbers_.end();
    for (int round = 0; round < 2; ++round)
      for (auto at = numbers_.begin() + 1; numbers_.size() > 1 && at < end; ++at) {
        const std::int64_t further = std::int64_t(at->second) - (at - 1)->second;
        if (at->first != (at - 1)->first || at->first == 0) continue;
        if (round == 0) step = std::min(step, further);
        if (round == 1) all += further / step - 1;
      }
    return all;
  }

 private:
  struct CloseParser {
    void operator()(AVCodecParserContext* parser) const { av_parser_close(parser); }
  };
  CodecContext context_;
  std::unique_ptr<AVCodecParserContext, CloseParser> parser_;
  std::int64_t sequence_ = 0;
  std::vector<std::pair<std::int64_t, int>> numbers_;  // of a sequence that begins with a key frame
};

}  // namespace parafield::video
