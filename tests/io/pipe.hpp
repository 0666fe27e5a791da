// SPDX-License-Identifier: MIT
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace parafield {

/// Writes bytes. Returns false if the reader has gone.
inline bool write_all(int descriptor, const std::vector<std::uint8_t>& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t put = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (put < 0) return false;
    done += std::size_t(put);
  }
  return true;
}

/// A pipe. Its path names the end to read, like a shell's <(command).
class Pipe {
 public:
  Pipe() {
    std::signal(SIGPIPE, SIG_IGN);
    if (::pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  }
  /// A thread writes the bytes, at most `chunk` at once, and closes the pipe.
  explicit Pipe(std::vector<std::uint8_t> bytes, std::size_t chunk = 1 << 20) : Pipe() {
    writer_ = std::thread([this, chunk, all = std::move(bytes)] {
      for (std::size_t at = 0; at < all.size(); at += chunk)
        if (!write({all.begin() + std::ptrdiff_t(at),
                    all.begin() + std::ptrdiff_t(std::min(at + chunk, all.size()))}))
          break;
      close_writer();
    });
  }
  ~Pipe() {
    close_reader();
    if (writer_.joinable())
      writer_.join();
    else
      close_writer();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reader() const { return ends_[0]; }
  std::filesystem::path path() const { return "/dev/fd/" + std::to_string(ends_[0]); }
  bool write(const std::vector<std::uint8_t>& bytes) const { return write_all(ends_[1], bytes); }
  void close_reader() { close_end(0); }
  void close_writer() { close_end(1); }

 private:
  void close_end(int i) {
    if (ends_[i] >= 0) ::close(ends_[i]);
    ends_[i] = -1;
  }

  int ends_[2] = {-1, -1};
  std::thread writer_;
};

}  // namespace parafield
