// SPDX-License-Identifier: MIT
#include "core/cpu/threads.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "core/fail.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace parafield {
namespace {

void pause_processor() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // waits for tens of cycles, like x86's pause; `yield` does nothing on most cores
#else
  std::this_thread::yield();
#endif
}

/// Waits until ready() is true, for at most about 0.3 ms. Returns whether it is true. After 0.03 ms, it
/// yields the processor to other threads between checks.
template <class Ready>
bool spin(Ready ready) {
  using namespace std::chrono;
  const auto begin = steady_clock::now();
  for (;;) {
    for (int i = 0; i < 20; ++i) {
      if (ready()) return true;
      pause_processor();
    }
    const auto waited = steady_clock::now() - begin;
    if (waited > microseconds(300)) return false;
    if (waited > microseconds(30)) std::this_thread::yield();
  }
}

/// A loop's number and two part numbers are packed into one 64-bit value: the loop's number in the high bits,
/// each part number in part_bits.
constexpr int part_bits = 12, loop_shift = 2 * part_bits;
constexpr std::uint64_t part_mask = (1 << part_bits) - 1;
static_assert(Threads::most_parts == part_mask);

/// The parts of one thread's share that no thread has taken yet: `next` to `end` - 1, packed into `state`
/// with the loop's number. Each share has its own cache line.
struct alignas(64) Share {
  std::atomic<std::uint64_t> state{0};

  static constexpr std::uint64_t pack(std::uint64_t loop, int next, int end) {
    return loop << loop_shift | std::uint64_t(next) << part_bits | std::uint64_t(end);
  }
};

}  // namespace

struct Threads::Pool {
  using Part = void (*)(const void*, int, int);

  explicit Pool(int threads) : count(threads), shares(new Share[std::size_t(threads)]) {}

  const int count;
  const std::unique_ptr<Share[]> shares;
  // The running loop. These values do not change while it still has parts to take. A thread that arrives late
  // may see them change, but then it finds no part to take.
  std::atomic<std::uint64_t> order{0};  // packs the loop's number and its number of parts
  std::atomic<Part> part{nullptr};
  std::atomic<const void*> data{nullptr};
  std::atomic<bool> ending{false};
  alignas(64) std::atomic<std::uint32_t> begun{0};  // low bits of the loop's number, for sleeping threads
  alignas(64) std::atomic<int> done{0};
  std::vector<std::thread> threads;

  /// Begins the next loop.
  void begin(int parts) {
    const std::uint64_t loop = (order.load(std::memory_order_relaxed) >> loop_shift) + 1;
    order.store(Share::pack(loop, 0, parts), std::memory_order_release);
    begun.store(std::uint32_t(loop), std::memory_order_seq_cst);
    begun.notify_all();
  }

  /// Takes a part of `owner`'s share of a loop: the first remaining part if the share is the caller's `own`,
  /// otherwise the last. Returns -1 if none remains.
  int take(std::uint64_t loop, int parts, int owner, bool own) {
    std::atomic<std::uint64_t>& state = shares[std::size_t(owner)].state;
    std::uint64_t seen = state.load(std::memory_order_acquire);
    for (;;) {
      if (seen >> loop_shift > loop) return -1;
      const bool fresh = seen >> loop_shift < loop;  // no part of this share is taken in this loop
      const int next = fresh ? parts * owner / count : int(seen >> part_bits & part_mask);
      const int end = fresh ? parts * (owner + 1) / count : int(seen & part_mask);
      if (next >= end) return -1;
      const std::uint64_t rest = own ? Share::pack(loop, next + 1, end) : Share::pack(loop, next, end - 1);
      if (state.compare_exchange_weak(seen, rest, std::memory_order_acq_rel, std::memory_order_acquire))
        return own ? next : end - 1;
    }
  }

  /// Adds `some` to the number of finished parts. Wakes the caller of `run` when all are finished.
  void add_done(int some, int parts) {
    if (some > 0 && done.fetch_add(some, std::memory_order_acq_rel) + some == parts) done.notify_one();
  }

  /// Takes parts of the loop until none remains, beginning with the thread's own share. Returns the loop's
  /// number.
  std::uint64_t take_parts(int thread) {
    const std::uint64_t seen = order.load(std::memory_order_acquire), loop = seen >> loop_shift;
    const int parts = int(seen & part_mask);
    const Part function = part.load(std::memory_order_relaxed);
    const void* const argument = data.load(std::memory_order_relaxed);
    for (int k = 0; k < count; ++k) {
      const int owner = (thread + k) % count;
      int some = 0;
      for (int i; (i = take(loop, parts, owner, k == 0)) >= 0; ++some) function(argument, i, thread);
      add_done(some, parts);
    }
    return loop;
  }

  /// Works on loop after loop until the pool ends.
  void work(int thread) {
    for (std::uint64_t last = 0; !ending.load(std::memory_order_acquire); last = take_parts(thread)) {
      const auto ready = [&] { return order.load(std::memory_order_acquire) >> loop_shift != last; };
      while (!spin(ready) && !ready()) begun.wait(std::uint32_t(last), std::memory_order_acquire);
    }
  }
};

Threads::Threads(int count) : pool_(new Pool(count)) {
  try {
    pool_->threads.reserve(std::size_t(count - 1));
    for (int i = 1; i < count; ++i) pool_->threads.emplace_back([pool = pool_, i] { pool->work(i); });
  } catch (const std::system_error& error) {
    end();
    fail(ErrorCode::device, "cannot start a thread: ", error.code().message());
  } catch (...) {
    end();
    throw;
  }
}

Threads::~Threads() { end(); }

void Threads::end() {
  pool_->ending.store(true, std::memory_order_relaxed);
  pool_->begin(0);
  for (std::thread& thread : pool_->threads) thread.join();
  delete pool_;
}

int Threads::count() const { return pool_->count; }

void Threads::run(int parts, void (*part)(const void*, int, int), const void* data) {
  if (parts <= 0) return;
  if (pool_->threads.empty() || parts == 1) {
    for (int i = 0; i < parts; ++i) part(data, i, 0);
    return;
  }
  pool_->part.store(part, std::memory_order_relaxed);
  pool_->data.store(data, std::memory_order_relaxed);
  pool_->done.store(0, std::memory_order_relaxed);
  pool_->begin(parts);
  pool_->take_parts(0);
  const auto all_done = [&] { return pool_->done.load(std::memory_order_acquire) == parts; };
  if (spin(all_done)) return;
  for (int done; (done = pool_->done.load(std::memory_order_acquire)) != parts;)
    pool_->done.wait(done, std::memory_order_acquire);
}

}  // namespace parafield
