// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

#include "io/file.hpp"

struct iovec;

namespace parafield::io {

/// Where pixels go: rows of memory, one after the other.
struct Rows {
  std::uint8_t* first;
  std::size_t row_bytes;
  int count;
  std::ptrdiff_t step;  ///< bytes from one row to the next; below 0 if the lowest row comes first

  std::uint64_t bytes() const { return std::uint64_t(row_bytes) * std::uint64_t(count); }
};

/// Bytes that come one after the other: from a file, a pipe, a socket, a device or memory. Few of them are
/// kept; large reads go straight to where they are wanted. Errors do not name the file. Reading throws
/// Error(file).
class PARAFIELD_API ByteStream {
 public:
  /// Opens a file; - is standard input. Throws Error(file).
  explicit ByteStream(const std::filesystem::path& path);
  /// Reads memory, which has to outlive the stream. Without `sized` it behaves as a pipe.
  explicit ByteStream(ByteSpan bytes, bool sized = true);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Number of bytes read so far.
  std::uint64_t position() const { return taken_ - kept(); }
  /// Number of bytes up to the end. A pipe does not know it.
  std::optional<std::uint64_t> left() const;
  /// The word for it in messages.
  const char* what() const { return sized_ ? "file" : "stream"; }

  /// The next byte, which is not taken; -1 at the end.
  int look() { return next_ != end_ || refill() ? *next_ : -1; }
  /// Takes the byte that look() has returned.
  void advance() { ++next_; }
  /// The next `count` bytes, fewer at the end. They are not taken. `count` is at most `most_peeked`.
  ByteSpan peek(std::size_t count);
  static constexpr std::size_t most_peeked = 4096;

  /// How many of the next `count` bytes come. A pipe tells only whether the first ones are missing. It is
  /// asked before memory for many bytes is allocated.
  std::uint64_t coming(std::uint64_t count);

  /// Reads into rows. Returns the number of bytes, fewer than wanted at the end only.
  std::uint64_t read(Rows to);
  /// Reads what has come, at least a byte. Returns the number of bytes, 0 at the end.
  std::size_t read_some(std::uint8_t* to, std::size_t most);
  /// All bytes that are left, for a stream that knows their number.
  ByteSpan rest();

 private:
  std::size_t kept() const { return std::size_t(end_ - next_); }
  bool refill();
  /// Reads into parts of memory. Returns the number of bytes, 0 at the end.
  std::size_t receive(const iovec* parts, int count);

  int descriptor_ = -1;  // -1: memory
  bool owned_ = false, sized_ = false, ended_ = false;
  std::uint64_t taken_ = 0;  // from the system, or the size of the memory
  Bytes buffer_, rest_;
  const std::uint8_t *next_ = nullptr, *end_ = nullptr;  // bytes that are kept
};

}  // namespace parafield::io
