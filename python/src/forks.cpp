// SPDX-License-Identifier: MIT
#include "forks.hpp"

#include <pthread.h>

#include <atomic>

namespace parafield::python {

/// Linked list of every ForkMutex.
struct ForkMutexes {
  static inline ForkMutex* first = nullptr;

  static void lock() {
    for (ForkMutex* mutex = first; mutex; mutex = mutex->next_) mutex->lock();
  }
  static void unlock() {
    for (ForkMutex* mutex = first; mutex; mutex = mutex->next_) mutex->unlock();
  }
};

namespace {

std::atomic<int> fork_count = 0;

void after_fork_in_child() {
  ++fork_count;
  ForkMutexes::unlock();
}

[[maybe_unused]] const int watches_forks =
    pthread_atfork(&ForkMutexes::lock, &ForkMutexes::unlock, &after_fork_in_child);

}  // namespace

int forks() { return fork_count; }

ForkMutex::ForkMutex() : next_(ForkMutexes::first) { ForkMutexes::first = this; }

}  // namespace parafield::python
