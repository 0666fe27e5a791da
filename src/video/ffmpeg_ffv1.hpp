// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <span>

#include "video/ffmpeg_common.hpp"

namespace parafield::video {

/// Tests the checksums of FFV1 (RFC 9043), whose decoder conceals damage that they show. Each slice ends with
/// its size in 3 bytes; with checksums, a byte of flags and 4 bytes that make the slice's checksum 0 follow.
class Ffv1Checksums {
 public:
  /// Whether the packet is undamaged. The first packets show whether there are checksums.
  bool are_right(const AVPacket& packet) {
    const std::span bytes(packet.data, std::size_t(packet.size > 0 ? packet.size : 0));
    if (bytes.empty() || state_ == State::none) return true;
    constexpr int most_tried = 10;
    const bool right = all_right(bytes);
    if (state_ == State::there) return right;
    if (right) state_ = State::there;
    if (!right && ++wrong_ == most_tried) state_ = State::none;
    return !right || wrong_ == 0;
  }

 private:
  static bool all_right(std::span<const std::uint8_t> bytes) {
    constexpr std::size_t footer = 8;
    const AVCRC* const crc = av_crc_get_table(AV_CRC_32_IEEE);
    for (std::size_t end = bytes.size(); end > 0;) {
      if (end < footer) return false;
      const std::size_t size =
          footer + (std::size_t(bytes[end - 8]) << 16 | std::size_t(bytes[end - 7]) << 8 | bytes[end - 6]);
      if (size > end || av_crc(crc, 0, &bytes[end - size], size) != 0) return false;
      end -= size;
    }
    return true;
  }

  enum class State { unknown, none, there } state_ = State::unknown;
  int wrong_ = 0;  // packets before it was known
};

}  // namespace parafield::video
