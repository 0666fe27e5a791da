#pragma once
#include <cstdint>
#include <filesystem>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "parafield/error.hpp"

/// Files as bytes. Errors here do not name the file: the public functions put its name before every message.
namespace parafield::io {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

/// A regular file, open for reading. Pipes and devices are refused: their size is unknown and they may never
/// end.
class InputFile {
 public:
  /// Throws Error(file).
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::uint64_t size() const { return size_; }
  /// The file's first bytes: `count` of them, or as many as there are. Throws Error(file).
  Bytes first(std::uint64_t count) const;

 private:
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// Writes a temporary file beside `path` and renames it. On any failure it is removed, and what was at `path`
/// is untouched. Throws Error(file).
void write_file(const std::filesystem::path& path, ByteSpan bytes);

/// The path as messages show it: one line.
std::string shown(const std::filesystem::path& path);

/// Calls `work` and puts the file's name before the message of what it throws.
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
