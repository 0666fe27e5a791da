// SPDX-License-Identifier: MIT
#pragma once
#include <mutex>

namespace parafield::python {

/// How many forks made this process from that which loaded the module.
int forks();

/// A mutex for what all threads of the process share. A fork waits until nobody holds it, so no child finds
/// it locked, or what it guards half changed. It is made while the module is loaded, and lives to the end of
/// the process. A thread that holds it may wait neither for Python's lock nor for another mutex.
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
