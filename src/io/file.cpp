// SPDX-License-Identifier: MIT
#include "io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace parafield::io {
namespace fs = std::filesystem;
namespace {

/// The file that a write to `path` replaces, with links resolved.
fs::path followed(const fs::path& path) {
  if (path.filename().empty()) fail(ErrorCode::file, "the path names no file");
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const fs::path target = fs::canonical(path, error);
  if (error) fail_writing("the link leads nowhere: ", error.message());
  return target;
}

}  // namespace

Bytes read_file(const fs::path& path, std::uint64_t most) {
  struct File {
    int descriptor;
    ~File() {
      if (descriptor >= 0) ::close(descriptor);
    }
  };
  // Without O_NONBLOCK, opening a pipe that has no writer would block forever.
  const File file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  struct stat status = {};
  if (file.descriptor < 0 || ::fstat(file.descriptor, &status) != 0) fail_reading(reason(errno));
  if (!S_ISREG(status.st_mode))
    fail_reading(S_ISDIR(status.st_mode) ? "it is a directory" : "not a regular file");
  Bytes bytes(std::min(most, std::uint64_t(status.st_size)));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(file.descriptor, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_reading(reason(errno));
    if (got == 0) break;  // the file was truncated meanwhile; the reader of its format reports it
    done += std::size_t(got);
  }
  bytes.resize(done);
  return bytes;
}

NewFile::NewFile(const fs::path& path) : target_(followed(path)) {
  struct stat old = {};
  const bool replaces = ::stat(target_.c_str(), &old) == 0;
  if (replaces && S_ISDIR(old.st_mode)) fail_writing("it is a directory");
  if (replaces && !S_ISREG(old.st_mode)) fail_writing("not a regular file, and a file is replaced whole");
  // Renaming would silently replace a write-protected file.
  if (replaces && ::access(target_.c_str(), W_OK) != 0) fail_writing(reason(errno));

  static std::atomic<unsigned> count = 0;
  int error = EEXIST;
  for (int attempt = 0; attempt < 1000 && error == EEXIST; ++attempt) {
    // The name is short so that it is valid even if the target has the longest name that the file system
    // allows.
    path_ = target_.parent_path() / text(".parafield-", ::getpid(), "-", count++, ".part");
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    error = descriptor_ < 0 ? errno : 0;
  }
  const fs::path folder = target_.parent_path().empty() ? "." : target_.parent_path();
  if (error) fail_writing("cannot create a file in the folder ", shown(folder), ": ", reason(error));
  // Keep the old file's permissions if the system allows it.
  if (replaces) (void)!::fchmod(descriptor_, old.st_mode & 07777);
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!renamed_) ::unlink(path_.c_str());
}

void NewFile::write(ByteSpan bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t put = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_writing(reason(errno), " after ", done, " of ", bytes.size(), " bytes");
    done += std::size_t(put);
  }
}

void NewFile::take_place() {
  // Some file systems report a full disk only on close.
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0 || ::rename(path_.c_str(), target_.c_str()) != 0) fail_writing(reason(errno));
  renamed_ = true;
}

MemoryFile::MemoryFile() : file_(::open_memstream(&data_, &size_)) {
  if (!file_) throw std::bad_alloc();
}

MemoryFile::~MemoryFile() {
  std::fclose(file_);
  std::free(data_);
}

Bytes MemoryFile::bytes() {
  if (std::fflush(file_) != 0 || std::ferror(file_)) throw std::bad_alloc();
  return {data_, data_ + size_};
}

void write_file(const fs::path& path, ByteSpan bytes) {
  NewFile file(path);
  file.write(bytes);
  file.take_place();
}

std::string reason(int error) { return std::generic_category().message(error); }

}  // namespace parafield::io
