#pragma once
#include <cstdint>

namespace parafield {

/// A few threads that share the parts of a loop. The caller takes parts too and waits only for parts that others have
/// begun: on a busy machine a thread that gets no processor holds nothing up. Idle threads spin for some microseconds,
/// as the next loop often follows at once, and then sleep.
class Threads {
 public:
  explicit Threads(int count);  ///< the caller included
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const;

  /// part(data, i, thread) for each i in [0, parts), thread in [0, count). Not from two callers at once.
  void run(int parts, void (*part)(const void* data, int i, int thread), const void* data);

 private:
  void end();

  struct Pool;
  Pool* pool_;
};

}  // namespace parafield
