// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace parafield::io {

/// A cyclic redundancy check of 32 bits.
class Crc {
 public:
  /// `lowest_first`: the order of the bits, also of the polynomial's.
  constexpr Crc(std::uint32_t polynomial, bool lowest_first) : lowest_first_(lowest_first) {
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t sum = lowest_first ? i : i << 24;
      for (int bit = 0; bit < 8; ++bit)
        sum = lowest_first ? sum >> 1 ^ (sum & 1 ? polynomial : 0) : sum << 1 ^ (sum >> 31 ? polynomial : 0);
      sums_[i] = sum;
    }
  }
  std::uint32_t add(std::uint32_t sum, std::string_view bytes) const {
    for (const char byte : bytes)
      sum = lowest_first_ ? sum >> 8 ^ sums_[(sum ^ std::uint8_t(byte)) & 255]
                          : sum << 8 ^ sums_[sum >> 24 ^ std::uint8_t(byte)];
    return sum;
  }

 private:
  std::array<std::uint32_t, 256> sums_ = {};
  bool lowest_first_;
};

/// CRC-32 of ZIP, PNG and Matroska, which begins with ~0 and ends inverted.
inline constexpr Crc zip_crc(0xedb88320, true);

}  // namespace parafield::io
