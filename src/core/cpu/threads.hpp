// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

namespace parafield {

/// A group of threads, including the caller, that share the parts of a loop.
///
/// Each thread has a share: neighboring parts, the same in every loop with equally many parts, so a thread
/// finds what it wrote in the previous loop in its cache. A thread that finishes its share takes parts from
/// the ends of other threads' shares. The caller therefore waits only for parts that another thread has
/// already begun, and on a busy machine a thread that gets no processor delays nothing. After a loop, a
/// thread spins briefly, because the next one often follows immediately, and then sleeps.
class Threads {
 public:
  static constexpr int most_parts = 4095;

  explicit Threads(int count);  ///< `count` includes the caller
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const;

  /// Calls part(data, i, thread) for each i in [0, parts), where `thread`, in [0, count), is the thread that
  /// makes the call. Returns when all calls have ended. `parts` must be at most most_parts, and `part` must
  /// not throw. Two threads must not call this at the same time.
  void run(int parts, void (*part)(const void* data, int i, int thread), const void* data);

 private:
  void end();

  struct Pool;
  Pool* pool_;
};

}  // namespace parafield
