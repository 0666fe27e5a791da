// SPDX-License-Identifier: MIT
#pragma once
#include <bit>
#include <cstdint>

/// Numbers and characters of files. The byte order is the file's, not the machine's.
namespace parafield::io {

/// White space of text headers, independent of the locale.
inline bool is_space(std::uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

inline std::uint32_t load_u32(const std::uint8_t* p, std::endian order = std::endian::little) {
  return order == std::endian::little
             ? p[0] | std::uint32_t(p[1]) << 8 | std::uint32_t(p[2]) << 16 | std::uint32_t(p[3]) << 24
             : p[3] | std::uint32_t(p[2]) << 8 | std::uint32_t(p[1]) << 16 | std::uint32_t(p[0]) << 24;
}
inline float load_float(const std::uint8_t* p, std::endian order = std::endian::little) {
  return std::bit_cast<float>(load_u32(p, order));
}
inline double load_double(const std::uint8_t* p, std::endian order = std::endian::little) {
  const int low = order == std::endian::little ? 0 : 4;
  return std::bit_cast<double>(load_u32(p + low, order) | std::uint64_t(load_u32(p + 4 - low, order)) << 32);
}

/// Writes a number, little-endian. Returns the position after it.
inline std::uint8_t* store_u32(std::uint8_t* p, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) *p++ = std::uint8_t(value >> shift);
  return p;
}
inline std::uint8_t* store_float(std::uint8_t* p, float value) {
  return store_u32(p, std::bit_cast<std::uint32_t>(value));
}

}  // namespace parafield::io
