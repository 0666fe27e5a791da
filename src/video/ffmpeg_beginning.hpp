// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "video/ffmpeg_common.hpp"

namespace parafield::video {

/// The packets before the first picture of a video, which show whether pictures are missing at its beginning.
class Beginning {
 public:
  /// `anywhere`: whether the video may begin without a key frame.
  Beginning(AVCodecID codec, bool anywhere)
      : codec_(codec), awaits_key_(anywhere && (codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_MPEG4)) {}

  /// Notes a packet. Returns whether to decode it. Before the first key frame, the decoders of HEVC and MPEG-4
  /// invent what is missing. In H.264, pictures that follow that frame but are shown before it refer to
  /// missing pictures, and the decoder takes them for damaged.
  bool takes(const AVPacket& packet) {
    const bool is_key = (packet.flags & AV_PKT_FLAG_KEY) != 0,
               is_shown = (packet.flags & AV_PKT_FLAG_DISCARD) == 0;
    if (is_key) in_first_group_ = !has_key_;
    if (is_key) refers_back_ = in_first_group_ && codec_ == AV_CODEC_ID_H264 && !holds_idr(packet);
    if (is_key && !has_key_) key_ = packet.pts;
    has_key_ = has_key_ || is_key;
    if (!has_key_ && is_shown) ++before_key_;
    if (is_shown && stamps_.size() < most) stamps_.push_back(packet.pts);
    if (!has_key_) return !awaits_key_;
    const bool has_times = packet.pts != AV_NOPTS_VALUE && key_ != AV_NOPTS_VALUE;
    return codec_ != AV_CODEC_ID_H264 || !in_first_group_ || !has_times || packet.pts >= key_;
  }

  /// Whether the video begins with a key frame that does not reset the decoder. Up to the next key frame, H.264
  /// may then release frames that come before the beginning, which its decoder takes for damage.
  bool refers_back() const { return refers_back_; }

  /// Notes that the packets so far cannot be decoded.
  void failed() { has_failed_ = true, has_key_ = false; }

  /// What is missing before the first picture; empty if nothing is.
  std::string missing(std::int64_t first) const {
    std::int64_t count = 0;
    for (const std::int64_t stamp : stamps_)
      count += first != AV_NOPTS_VALUE && stamp != AV_NOPTS_VALUE && stamp < first;
    if (first == AV_NOPTS_VALUE) count = before_key_;
    if (count == 0 && !has_failed_) return {};
    return text("its first ", count > 1 ? text(count, " frames are") : "frame is",
                " left out, because of damage or because earlier frames are missing");
  }

 private:
  /// Whether a packet of H.264 may hold an IDR picture, which resets the decoder: a unit of type 5.
  static bool holds_idr(const AVPacket& packet) {
    const std::span bytes(packet.data, std::size_t(std::max(packet.size, 0)));
    constexpr std::array<std::uint8_t, 3> start = {0, 0, 1};
    bool has_start = false;
    for (auto at = bytes.begin();; ++at) {
      at = std::search(at, bytes.end(), start.begin(), start.end());
      if (bytes.end() - at < 4) break;
      has_start = true;
      if ((at[3] & 31) == 5) return true;
    }
    if (has_start) return false;
    // Units after their lengths of 4 bytes.
    for (std::size_t at = 0; at + 4 < bytes.size();) {
      if ((bytes[at + 4] & 31) == 5) return true;
      at += 4 + (std::size_t(bytes[at]) << 24 | std::size_t(bytes[at + 1]) << 16 |
                 std::size_t(bytes[at + 2]) << 8 | bytes[at + 3]);
    }
    return false;
  }

  static constexpr std::size_t most = 10'000;
  const AVCodecID codec_;
  const bool awaits_key_;
  bool in_first_group_ = false;  // before the second key frame
  bool has_key_ = false, has_failed_ = false, refers_back_ = false;
  std::int64_t key_ = AV_NOPTS_VALUE;  // time of the first key frame
  std::int64_t before_key_ = 0;
  std::vector<std::int64_t> stamps_;  // times of the first packets
};

}  // namespace parafield::video
