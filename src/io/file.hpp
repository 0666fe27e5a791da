// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "core/fail.hpp"
#include "parafield/detail/text.hpp"

/// Files as bytes. Errors thrown here do not name the file; `naming` adds the name to every message.
namespace parafield::io {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

/// A regular file that is open for reading. Pipes and devices are rejected because they have no size and may
/// never end.
class InputFile {
 public:
  /// Throws Error(file).
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::uint64_t size() const { return size_; }
  /// Returns the first `count` bytes of the file, or all if it has fewer. Throws Error(file).
  Bytes first(std::uint64_t count) const;

 private:
  explicit InputFile(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
  std::uint64_t size_ = 0;
};

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
