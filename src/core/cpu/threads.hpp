// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

namespace parafield {

/// A few threads, the caller among them, that share the parts of a loop.
///
/// Each thread has a share: neighboring parts, the same ones in every loop with as many parts. So a thread
/// finds in its cache what it wrote in the loop before. A thread that is done with its share takes parts from
/// the ends of others' shares. So the caller waits only for parts that others have begun, and on a busy
/// machine a thread that gets no processor holds nothing up. After a loop a thread looks out for the next one
/// for a while, as that often follows at once. Then it sleeps.
class Threads {
 public:
  static constexpr int most_parts = 4095;

  explicit Threads(int count);  ///< `count` includes the caller
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const;

  /// Calls part(data, i, thread) for each i in [0, parts); `thread`, in [0, count), is the thread that makes
  /// the call. `parts` is at most most_parts. Returns when all are done. Two callers must not call it at
  /// once.
  void run(int parts, void (*part)(const void* data, int i, int thread), const void* data);

 private:
  void end();

  struct Pool;
  Pool* pool_;
};

}  // namespace parafield
