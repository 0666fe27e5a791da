#include "core/cpu/threads.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace parafield {
namespace {

void pause_processor() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

/// Spins for a while until ready() holds; returns whether it does.
template <class Ready>
bool spin(Ready ready) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(30);
  do {
    for (int i = 0; i < 50; ++i) {
      if (ready()) return true;
      pause_processor();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

/// One loop at a time. `ticket` holds the loop's number in its upper half and its next free part in the lower, so that a
/// thread that comes late can never take a part of another loop than the one that it read.
struct Threads::Pool {
  using Part = void (*)(const void*, int, int);
  static constexpr int number_shift = 32;

  std::atomic<std::uint64_t> ticket{0};
  std::atomic<int> parts{0};
  std::atomic<Part> part{nullptr};
  std::atomic<const void*> data{nullptr};
  std::atomic<int> done{0};
  std::atomic<std::uint32_t> loops{0};  // counts loops begun; threads wait for it to change
  std::atomic<bool> ending{false};
  std::vector<std::thread> threads;

  /// Takes parts of the loop of that number until none is left.
  void take_parts(std::uint32_t number, int thread) {
    for (;;) {
      std::uint64_t seen = ticket.load(std::memory_order_acquire);
      const int count = parts.load(std::memory_order_acquire);
      const Part function = part.load(std::memory_order_acquire);
      const void* const argument = data.load(std::memory_order_acquire);
      if (std::uint32_t(seen >> number_shift) != number || int(std::uint32_t(seen)) >= count) return;
      if (!ticket.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel)) continue;
      function(argument, int(std::uint32_t(seen)), thread);
      if (done.fetch_add(1, std::memory_order_acq_rel) + 1 == count) done.notify_one();
    }
  }

  void work(int thread) {
    std::uint32_t last = 0;
    for (;;) {
      if (!spin([&] { return loops.load(std::memory_order_acquire) != last; }))
        loops.wait(last, std::memory_order_acquire);
      if (ending.load(std::memory_order_acquire)) return;
      const std::uint32_t now = loops.load(std::memory_order_acquire);
      if (now == last) continue;
      last = now;
      take_parts(now, thread);
    }
  }
};

Threads::Threads(int count) : pool_(new Pool) {
  try {
    pool_->threads.reserve(std::size_t(count - 1));
    for (int i = 1; i < count; ++i) pool_->threads.emplace_back([pool = pool_, i] { pool->work(i); });
  } catch (...) {
    end();
    throw;
  }
}

Threads::~Threads() { end(); }

void Threads::end() {
  pool_->ending.store(true, std::memory_order_release);
  pool_->loops.fetch_add(1, std::memory_order_release);
  pool_->loops.notify_all();
  for (std::thread& thread : pool_->threads) thread.join();
  delete pool_;
}

int Threads::count() const { return int(pool_->threads.size()) + 1; }

void Threads::run(int parts, void (*part)(const void*, int, int), const void* data) {
  if (parts <= 0) return;
  if (pool_->threads.empty() || parts == 1) {
    for (int i = 0; i < parts; ++i) part(data, i, 0);
    return;
  }
  // All parts of the last loop are done. A late thread that sees anything of the new one also sees the ticket changed,
  // and takes nothing.
  const std::uint32_t number = pool_->loops.load(std::memory_order_relaxed) + 1;
  pool_->ticket.store(std::uint64_t(number) << Pool::number_shift | 0xffffffffu,
                      std::memory_order_release);  // closed
  pool_->parts.store(parts, std::memory_order_release);
  pool_->part.store(part, std::memory_order_release);
  pool_->data.store(data, std::memory_order_release);
  pool_->done.store(0, std::memory_order_relaxed);
  pool_->ticket.store(std::uint64_t(number) << Pool::number_shift, std::memory_order_release);
  pool_->loops.store(number, std::memory_order_release);
  pool_->loops.notify_all();
  pool_->take_parts(number, 0);
  if (spin([&] { return pool_->done.load(std::memory_order_acquire) == parts; })) return;
  for (int done = pool_->done.load(std::memory_order_acquire); done != parts;
       done = pool_->done.load(std::memory_order_acquire))
    pool_->done.wait(done, std::memory_order_acquire);
}

}  // namespace parafield
