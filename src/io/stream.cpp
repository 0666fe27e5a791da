// SPDX-License-Identifier: MIT
#include "io/stream.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace parafield::io {
namespace {

/// Size of the buffer: enough for headers, and little to copy.
constexpr std::size_t buffer_bytes = 4 * ByteStream::most_peeked;

/// The descriptor that a path names (/dev/stdin, /dev/fd/N), or -1 for other paths.
int named_descriptor(const std::string& path) {
  constexpr std::string_view folder = "/dev/fd/";
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (!path.starts_with(folder)) return -1;
  int number = -1;
  return read_number(std::string_view(path).substr(folder.size()), number) ? number : -1;
}

/// Opens a file. Linux cannot open a socket, or another user's file, through a path like /dev/stdin; in that
/// case the descriptor is duplicated.
int open_file(const std::filesystem::path& path) {
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened >= 0) return opened;
  const int problem = errno, number = named_descriptor(path.string());
  const int copy = number < 0 ? -1 : ::fcntl(number, F_DUPFD_CLOEXEC, 0);
  errno = problem;
  return copy;
}

}  // namespace

ByteStream::ByteStream(const std::filesystem::path& path)
    : buffer_(buffer_bytes), next_(buffer_.data()), end_(buffer_.data()) {
  owned_ = path != "-";
  descriptor_ = owned_ ? open_file(path) : STDIN_FILENO;
  struct stat status = {};
  std::string problem;
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0)
    problem = reason(errno);
  else if (S_ISDIR(status.st_mode))
    problem = "it is a directory";
  else if (::isatty(descriptor_))
    problem = "it is a terminal, which gives no frames";
  if (!problem.empty()) {
    if (owned_ && descriptor_ >= 0) ::close(descriptor_);
    fail_reading(problem);
  }
  sized_ = S_ISREG(status.st_mode);
#ifdef F_SETPIPE_SZ
  // A larger pipe needs fewer switches between the programs. If the system refuses, the default also works.
  if (S_ISFIFO(status.st_mode)) (void)::fcntl(descriptor_, F_SETPIPE_SZ, 1 << 20);
#endif
}

ByteStream::ByteStream(ByteSpan bytes, bool sized)
    : sized_(sized),
      ended_(true),
      taken_(bytes.size()),
      next_(bytes.data()),
      end_(bytes.data() + bytes.size()) {}

ByteStream::~ByteStream() {
  if (mapping_) ::munmap(mapping_, mapped_);
  if (owned_ && descriptor_ >= 0) ::close(descriptor_);
}

std::optional<std::uint64_t> ByteStream::left() const {
  if (!sized_) return {};
  if (descriptor_ < 0) return kept();
  // Asked each time because the file may grow. Standard input may start anywhere in it.
  struct stat status = {};
  const off_t at = ::lseek(descriptor_, 0, SEEK_CUR);
  if (at < 0 || ::fstat(descriptor_, &status) != 0) fail_reading(reason(errno));
  return kept() + std::uint64_t(std::max<off_t>(status.st_size - at, 0));
}

std::size_t ByteStream::receive(const iovec* parts, int count) {
  while (!ended_) {
    const ssize_t got = ::readv(descriptor_, parts, count);
    if (got > 0) {
      taken_ += std::uint64_t(got);
      return std::size_t(got);
    }
    if (got == 0) ended_ = true;
    if (got == 0 || errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) fail_reading(reason(errno));
    // Another process that shares the pipe has made it non-blocking.
    pollfd wait = {descriptor_, POLLIN, 0};
    ::poll(&wait, 1, -1);
  }
  return 0;
}

bool ByteStream::refill() {
  if (ended_) return false;
  const iovec part = {buffer_.data(), buffer_.size()};
  const std::size_t got = receive(&part, 1);
  next_ = buffer_.data();
  end_ = next_ + got;
  return got > 0;
}

ByteSpan ByteStream::peek(std::size_t count) {
  while (kept() < count && !ended_) {
    if (std::size_t(buffer_.data() + buffer_.size() - end_) < count || next_ == end_) {
      const std::size_t keeps = kept();
      std::memmove(buffer_.data(), next_, keeps);
      next_ = buffer_.data();
      end_ = next_ + keeps;
    }
    std::uint8_t* const to = buffer_.data() + (end_ - buffer_.data());
    const iovec part = {to, std::size_t(buffer_.data() + buffer_.size() - to)};
    end_ += receive(&part, 1);
  }
  return {next_, std::min(kept(), count)};
}

std::uint64_t ByteStream::coming(std::uint64_t count) {
  if (const auto known = left()) return std::min(*known, count);
  const auto first = std::size_t(std::min<std::uint64_t>(count, most_peeked));
  const std::size_t came = peek(first).size();
  return came < first ? came : count;
}

std::uint64_t ByteStream::read(Rows to) {
  const std::uint64_t wanted = to.bytes();
  if (to.step == std::ptrdiff_t(to.row_bytes)) to = {to.first, std::size_t(wanted), 1, 0};
  const auto part = [&](std::uint64_t at) {
    const auto row = std::ptrdiff_t(at / to.row_bytes);
    const std::size_t inside = at % to.row_bytes;
    return iovec{to.first + row * to.step + inside, to.row_bytes - inside};
  };
  std::uint64_t done = 0;
  while (done < wanted && kept() > 0) {
    const iovec next = part(done);
    const std::size_t count = std::min(next.iov_len, kept());
    std::memcpy(next.iov_base, next_, count);
    next_ += count;
    done += count;
  }
  while (done < wanted) {
    iovec parts[256];
    int count = 0;
    for (std::uint64_t at = done; at < wanted && count < int(std::size(parts)); ++count) {
      parts[count] = part(at);
      at += parts[count].iov_len;
    }
    const std::size_t got = receive(parts, count);
    if (got == 0) break;
    done += got;
  }
  return done;
}

std::size_t ByteStream::read_some(std::uint8_t* to, std::size_t most) {
  const iovec part = {to, most};
  if (kept() == 0 && most > 0) return receive(&part, 1);
  const std::size_t count = std::min(kept(), most);
  std::memcpy(to, next_, count);
  next_ += count;
  return count;
}

ByteSpan ByteStream::rest() {
  if (descriptor_ < 0) return {std::exchange(next_, end_), end_};
  rest_.resize(std::size_t(left().value()));
  // If the file was truncated meanwhile, the reader of its format reports it.
  rest_.resize(std::size_t(read({rest_.data(), rest_.size(), 1, 0})));
  return rest_;
}

ByteSpan ByteStream::mapped_rest() {
  if (descriptor_ < 0) return rest();
  const std::uint64_t count = left().value();
  const off_t at = ::lseek(descriptor_, 0, SEEK_CUR);
  if (count == 0 || at < 0) return rest();
  const std::size_t begin = std::size_t(at) - kept(), size = begin + std::size_t(count);
  void* const mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (mapping == MAP_FAILED) return rest();
  mapping_ = mapping;
  mapped_ = size;
  next_ = end_;
  ended_ = true;
  return {static_cast<const std::uint8_t*>(mapping) + begin, std::size_t(count)};
}

}  // namespace parafield::io
