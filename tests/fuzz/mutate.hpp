// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>

#include "io/png_bytes.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

/// Corrects the checksums of the chunks of a PNG file. Without it nearly every changed PNG file fails at a
/// checksum.
inline void repair_checksums(std::uint8_t* data, std::size_t size) {
  const auto u32 = [&](std::size_t at) {
    return std::uint32_t(data[at]) << 24 | std::uint32_t(data[at + 1]) << 16 |
           std::uint32_t(data[at + 2]) << 8 | data[at + 3];
  };
  if (size < 8 || data[0] != 0x89 || data[1] != 'P') return;
  for (std::size_t at = 8; at + 12 <= size;) {
    const std::size_t length = u32(at);
    if (length > size - at - 12) return;
    const std::uint32_t crc = parafield::png_bytes::crc32(data + at + 4, length + 4);
    for (int i = 0; i < 4; ++i) data[at + 8 + length + std::size_t(i)] = std::uint8_t(crc >> (24 - 8 * i));
    at += length + 12;
  }
}

/// Applies libFuzzer's own changes. Three of four get correct checksums.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  size = LLVMFuzzerMutate(data, size, max_size);
  if (seed % 4 != 0) repair_checksums(data, size);
  return size;
}
