// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

#include "io/file.hpp"

struct iovec;

namespace parafield::io {

/// Destination of pixels: consecutive rows of memory.
struct Rows {
  std::uint8_t* first;
  std::size_t row_bytes;
  int count;
  std::ptrdiff_t step;  ///< bytes from one row to the next; negative if the lowest row comes first

  std::uint64_t bytes() const { return std::uint64_t(row_bytes) * std::uint64_t(count); }
};

/// Bytes that are read in order from a file, a pipe, a socket, a device or memory. Only a few of them are
/// buffered; large reads go straight to their destination. Errors do not name the file. Reading throws
/// Error(file).
class PARAFIELD_API ByteStream {
 public:
  /// Opens a file; - is standard input. Throws Error(file).
  explicit ByteStream(const std::filesystem::path& path);
  /// Reads memory, which must outlive the stream. Without `sized`, it behaves like a pipe.
  explicit ByteStream(ByteSpan bytes, bool sized = true);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Number of bytes read so far.
  std::uint64_t position() const { return taken_ - kept(); }
  /// Number of bytes up to the end; empty for a pipe, where it is unknown.
  std::optional<std::uint64_t> left() const;
  /// The word for the stream in messages.
  const char* what() const { return sized_ ? "file" : "stream"; }

  /// Returns the next byte without taking it; -1 at the end.
  int look() { return next_ != end_ || refill() ? *next_ : -1; }
  /// Takes the byte that look() returned.
  void advance() { ++next_; }
  /// Returns the next `count` bytes, or fewer at the end, without taking them. `count` must be at most
  /// `most_peeked`.
  ByteSpan peek(std::size_t count);
  static constexpr std::size_t most_peeked = 4096;

  /// How many of the next `count` bytes will arrive. For a pipe, it detects only whether the first ones are
  /// missing. Call it before allocating memory for many bytes.
  std::uint64_t coming(std::uint64_t count);

  /// Reads into rows. Returns the number of bytes, which is lower than requested only at the end.
  std::uint64_t read(Rows to);
  /// Reads the bytes that have arrived, at least one. Returns their number, 0 at the end.
  std::size_t read_some(std::uint8_t* to, std::size_t most);
  /// Takes all remaining bytes of a stream that knows their number.
  ByteSpan rest();
  /// The same, but a file is mapped: its bytes are read when they are used. It must not be truncated
  /// meanwhile.
  ByteSpan mapped_rest();

 private:
  std::size_t kept() const { return std::size_t(end_ - next_); }
  bool refill();
  /// Reads into parts of memory. Returns the number of bytes, 0 at the end.
  std::size_t receive(const iovec* parts, int count);

  int descriptor_ = -1;  // -1 = memory
  bool owned_ = false, sized_ = false, ended_ = false;
  std::uint64_t taken_ = 0;  // bytes read from the system, or the size of the memory
  Bytes buffer_, rest_;
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;                               // bytes of the mapping
  const std::uint8_t *next_ = nullptr, *end_ = nullptr;  // buffered bytes
};

}  // namespace parafield::io
