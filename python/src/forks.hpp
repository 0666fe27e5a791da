// SPDX-License-Identifier: MIT
#pragma once
#include <mutex>

namespace parafield::python {

/// Returns the number of forks between the process that loaded the module and this process.
int forks();

/// A mutex for global state. fork() waits until no thread holds it, so that a child process never finds it
/// locked or the guarded state half changed. A ForkMutex must be constructed while the module is loaded and
/// must never be destroyed. A thread that holds it must not wait for the GIL or for another mutex.
class ForkMutex {
 public:
  ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend struct ForkMutexes;
  std::mutex mutex_;
  ForkMutex* next_;
};

}  // namespace parafield::python
