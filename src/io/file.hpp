// SPDX-License-Identifier: MIT
#pragma once
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "core/fail.hpp"
#include "parafield/detail/text.hpp"

/// Files as bytes, and numbers in them. The byte order is the file's, not the machine's. Errors thrown here
/// do not name the file; `naming` adds the name to every message.
namespace parafield::io {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

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

inline std::uint16_t load_u16(const std::uint8_t* p, std::endian order = std::endian::little) {
  return std::uint16_t(order == std::endian::little ? p[0] | p[1] << 8 : p[1] | p[0] << 8);
}
/// The value of a half-precision float (IEEE 754 binary16).
inline float float_of_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16, magnitude = half & 0x7fffu;
  // The power of two moves the exponent to its place, also for subnormal numbers.
  const float value = magnitude < 0x7c00 ? std::bit_cast<float>(magnitude << 13) * 0x1p112f
                                         : std::bit_cast<float>(0x7f800000 | (magnitude & 0x3ff) << 13);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

/// Reads a number that takes up the whole text, with a decimal point in every locale. Returns whether it is
/// one.
template <class T>
bool read_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

/// Writes a number, little-endian. Returns the position after it.
inline std::uint8_t* store_u32(std::uint8_t* p, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) *p++ = std::uint8_t(value >> shift);
  return p;
}
inline std::uint8_t* store_float(std::uint8_t* p, float value) {
  return store_u32(p, std::bit_cast<std::uint32_t>(value));
}

/// Returns the first `most` bytes of a regular file. Pipes and devices are rejected because they have no
/// size and may never end. Throws Error(file).
Bytes read_file(const std::filesystem::path& path, std::uint64_t most = UINT64_MAX);

/// A file that will replace the file at `path`. Until then it has a temporary name in the same folder; the
/// destructor removes it if take_place() has not succeeded.
class PARAFIELD_API NewFile {
 public:
  /// Throws Error(file) for a path that cannot be written or is not a regular file.
  explicit NewFile(const std::filesystem::path& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::filesystem::path& path() const { return path_; }  ///< path of the temporary file
  void write(ByteSpan bytes);
  int descriptor() const { return descriptor_; }
  /// Closes the file and renames it. Throws Error(file).
  void take_place();

 private:
  std::filesystem::path target_, path_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

/// A file in memory, for libraries that write to a FILE.
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::FILE* file() const { return file_; }
  Bytes bytes();  ///< what was written. Throws std::bad_alloc if it did not fit into memory

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_;
};

/// Writes a temporary file in the folder of `path` and renames it. On failure, the temporary file is removed
/// and the file at `path` is unchanged. Throws Error(file).
void write_file(const std::filesystem::path& path, ByteSpan bytes);

[[noreturn]] void fail_reading(const auto&... why) { fail(ErrorCode::file, "cannot be read: ", why...); }
[[noreturn]] void fail_writing(const auto&... why) { fail(ErrorCode::file, "cannot be written: ", why...); }
/// Describes an error number of the system.
PARAFIELD_API std::string reason(int error);

/// The path as shown in messages.
inline std::string shown(const std::filesystem::path& path) { return detail::printable(path.string()); }

/// Calls `work`. If it throws, the name of the file is prepended to the message.
template <class Work>
auto naming(const std::filesystem::path& path, Work work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(error.code(), shown(path) + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::memory, shown(path) + ": not enough memory");
  }
}

}  // namespace parafield::io
