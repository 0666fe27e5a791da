// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

namespace parafield {

/// A few threads that share the parts of a loop, the caller among them. Each has a share of neighboring parts,
/// the same in every loop of as many parts: it finds in its cache what it wrote in the loop before. A thread
/// whose share is done takes parts from the ends of others' shares. So the caller waits only for parts that
/// others have begun: on a busy machine a thread that gets no processor holds nothing up. A thread without
/// work looks for the next loop for a while, as that often follows at once, and then sleeps.
class Threads {
 public:
  static constexpr int most_parts = 4095;

  explicit Threads(int count);  ///< the caller included
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const;

  /// part(data, i, thread) for each i in [0, parts), thread in [0, count). `parts`: at most most_parts. Not
  /// from two callers at once.
  void run(int parts, void (*part)(const void* data, int i, int thread), const void* data);

 private:
  void end();

  struct Pool;
  Pool* pool_;
};

}  // namespace parafield
