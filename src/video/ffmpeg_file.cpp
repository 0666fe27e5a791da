// SPDX-License-Identifier: MIT
#include "video/ffmpeg_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace parafield::video {

OutputFile::OutputFile(const std::filesystem::path& path) : file_(path) {
  constexpr int size = 1 << 16;
  auto* const buffer = static_cast<unsigned char*>(allocated(av_malloc(size)));
#if LIBAVFORMAT_VERSION_MAJOR >= 61
  const auto sender = [](void* file, const std::uint8_t* bytes, int count) {
    return send(file, const_cast<std::uint8_t*>(bytes), count);
  };
#else
  const auto sender = send;
#endif
  context_ = allocated(avio_alloc_context(buffer, size, 1, this, nullptr, sender, seek));
}

OutputFile::~OutputFile() {
  av_freep(&context_->buffer);
  avio_context_free(&context_);
}

int OutputFile::send(void* opaque, std::uint8_t* bytes, int count) {
  auto& file = *static_cast<OutputFile*>(opaque);
  for (int done = 0; done < count;) {
    const ssize_t put =
        ::pwrite(file.file_.descriptor(), bytes + done, std::size_t(count - done), off_t(file.position_));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      file.error_ = errno;
      return AVERROR(errno);
    }
    done += int(put);
    file.position_ += put;
    file.size_ = std::max(file.size_, file.position_);
  }
  return count;
}

std::int64_t OutputFile::seek(void* opaque, std::int64_t offset, int whence) {
  auto& file = *static_cast<OutputFile*>(opaque);
  if (whence == AVSEEK_SIZE) return file.size_;
  if (whence == SEEK_CUR) offset += file.position_;
  if (whence == SEEK_END) offset += file.size_;
  if (offset < 0) return AVERROR(EINVAL);
  return file.position_ = offset;
}

void OutputFile::make_room(std::uint64_t bytes, std::uint64_t for_end) {
  check();
  const std::int64_t needed =
      std::max(avio_seek(context_, 0, SEEK_CUR), std::int64_t(bytes)) + std::int64_t(for_end);
  rlimit limit = {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      std::uint64_t(needed) > std::uint64_t(limit.rlim_cur))
    error_ = EFBIG;
#ifdef FALLOC_FL_KEEP_SIZE
  // Reserve in large steps, because each call takes time.
  constexpr std::int64_t step = 4 << 20;
  const auto reserve = [&](std::int64_t end) {
    const int failed = ::fallocate(file_.descriptor(), FALLOC_FL_KEEP_SIZE, off_t(size_), off_t(end - size_));
    if (failed == 0) room_ = end;
    return failed == 0 || errno != ENOSPC;  // some file systems cannot reserve space
  };
  if (needed > room_ && !error_ && !reserve(needed + step) && !reserve(needed)) error_ = ENOSPC;
#endif
  check();
}

void OutputFile::check() {
  if (const int error = std::exchange(error_, 0)) io::fail_writing(io::reason(error));
}

void OutputFile::take_place() {
  avio_flush(context_);
  // Free the reserved space.
  if (!error_ && ::ftruncate(file_.descriptor(), off_t(size_)) != 0) error_ = errno;
  file_.take_place();
  check();
}

}  // namespace parafield::video
