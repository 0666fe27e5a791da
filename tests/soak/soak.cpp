// SPDX-License-Identifier: MIT
// Uses the library at random on several threads, for as long as asked:
//   soak MINUTES [--seed N]
// A case is a task, a method with parameters, a size, a pixel format and frames. Its seed draws all of them.
// The cases have the seeds N (1 if not given), N + 1 and so on. Each case is used many times: on any device,
// with any number of threads, in any Use. It must give the same bits each time. First comes a warm-up, in
// which every case runs in every place: on the CPU, on CUDA with host frames, on CUDA with device frames.
// Work is done in rounds. When a round ends, its threads end and no estimator lives. The process may then
// hold little more memory, files and threads than it did after the warm-up.
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "core/backend.hpp"
#include "soak/cases.hpp"

namespace parafield {
namespace {

using Clock = std::chrono::steady_clock;

/// A resource that the process holds. Its value may grow by at most `may_grow` after the warm-up.
///
/// The limits have reasons. The allocator has at most 8 arenas for each processor; it keeps 128 KB at the end
/// of each, and parts of pages. On CUDA, pinned blocks are kept for reuse: at most 7 MB for each thread,
/// reached once every thread needs the largest block of each size at the same time. The device gives memory
/// in blocks of 2 MB, and it loads a kernel when it is first used.
struct Held {
  const char* name;
  double value, may_grow;
};

/// The resources that the process holds now.
std::array<Held, 4> held_now(unsigned threads) {
  const auto entries = [](const char* folder) {
    return double(std::distance(std::filesystem::directory_iterator(folder), {}));
  };
  double pages = 0, device = 0, pinned = 0;
#ifdef PARAFIELD_HAS_CUDA
  if (why_no_cuda().empty()) {
    pinned = 8.0 * threads;
    device = double(describe_device(Device::cuda()).memory - Cuda(Device::cuda(), {}).free_memory());
  }
#endif
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // threads that have ended are still listed
  malloc_trim(0);
  std::ifstream("/proc/self/statm") >> pages >> pages;
  constexpr double mb = 1 << 20;
  return {{{"MB resident", pages * double(sysconf(_SC_PAGESIZE)) / mb, 8 + 2.0 * threads + pinned},
           {"MB of the device", device / mb, 64},
           {"open files", entries("/proc/self/fd"), 0},
           {"threads", entries("/proc/self/task"), 0}}};
}

/// The cases, and the threads that run them.
class Soak {
 public:
  explicit Soak(unsigned seed) : seed_(seed), cases_(case_count) {
    for (unsigned i = 0; i < case_count; ++i) draw(cases_[i], seed + i);
  }

  /// Runs cases for that long. Returns whether all went well.
  bool run(double minutes) {
    using Seconds = std::chrono::duration<double>;
    const auto begin = Clock::now();
    const auto elapsed = [&] { return Seconds(Clock::now() - begin).count(); };
    const double end = 60 * minutes, interval = std::clamp(end / 30, 2.0, 60.0);
    std::optional<std::array<Held, 4>> warm;
    int rounds = 0;  // after the warm-up
    while (elapsed() < end && !failed_) {
      const double round = elapsed();
      const unsigned before = runs_;
      run_round(begin +
                std::chrono::duration_cast<Clock::duration>(Seconds(std::min(end, round + interval))));
      const double rate = (runs_ - before) / (elapsed() - round);
      const auto now = held_now(thread_count_);
      std::printf("%.0f s, %u runs of %u cases, %.0f runs a second", elapsed(), +runs_,
                  std::min(case_count, +runs_), rate);
      for (const Held& held : now) std::printf(", %.*f %s", held.may_grow > 0, held.value, held.name);
      std::printf("%s\n", warm ? "" : " (warm-up)");
      std::fflush(stdout);
      for (std::size_t i = 0; warm && i < now.size(); ++i)
        if (now[i].value > (*warm)[i].value + now[i].may_grow)
          fail(text((*warm)[i].value, " ", now[i].name, " after the warm-up, now ", now[i].value,
                    "; allowed: ", now[i].may_grow, " more"));
      rounds += warm.has_value();
      if (!warm && runs_ >= warm_up_) warm = now;
    }
    if (rounds == 0) fail(text("too short: the warm-up takes ", warm_up_, " runs, and there were ", runs_));
    std::printf("soak: %u runs in %.0f s on %u threads, %s: %s\n", +runs_, elapsed(), thread_count_,
                places_ > 1 ? "CPU and CUDA" : "CPU", failed_ ? "failed" : "the same bits, nothing grew");
    return !failed_;
  }

 private:
  /// Prints the first failure and makes all threads end.
  void fail(const std::string& why) {
    if (!failed_.exchange(true)) std::printf("soak: FAILED: %s\n", why.c_str());
  }

  /// Runs cases on all threads until `end`. Ends the program if a run still goes on 5 minutes later.
  void run_round(Clock::time_point end) {
    std::vector<std::future<void>> threads;
    for (std::string& doing : doing_)
      threads.push_back(std::async(std::launch::async, [this, end, &doing] {
        while (!failed_ && Clock::now() < end) run_next(doing);
      }));
    for (const auto& thread : threads) {
      if (thread.wait_until(end + std::chrono::minutes(5)) == std::future_status::ready) continue;
      const std::lock_guard lock(mutex_);
      std::string all = "a run hangs; the threads' last runs:";
      for (const std::string& doing : doing_) all += "\n" + doing;
      fail(all);
      std::fflush(stdout);
      std::_Exit(1);
    }
  }

  /// Runs one case. `doing` then says which, and how.
  void run_next(std::string& doing) {
    const unsigned number = runs_++, round = number / case_count;
    std::mt19937 random(seed_ + 2654435761u * number);
    const bool warms = number < warm_up_;  // runs each case in each place, by calls and by pushes
    const unsigned which = (warms ? number : unsigned(random())) % case_count;
    const unsigned place = (warms ? round : unsigned(random())) % places_;
    Case& c = cases_[which];
    const bool pushes = c.streams && (warms ? round >= places_ : random() % 2);
    const Device device = place > 0 ? Device::cuda() : Device::cpu(1 + int(random() % 4));
    const Way way{device, place == 2, pushes, Use(random() % std::size(use_names)), unsigned(random())};
    const std::string what = text("  --seed ", seed_ + which, ": ", c.name, "\n  ", way.name());
    {
      const std::lock_guard lock(mutex_);
      doing = what;
    }
    try {
      const std::uint64_t hash = c.run(way);
      std::uint64_t first = 0;
      if (c.hashes[pushes].compare_exchange_strong(first, hash) || first == hash) return;
      fail("other results than the first time\n" + what);
    } catch (const std::exception& error) {
      fail(text(error.what(), "\n", what));
    }
  }

  const unsigned seed_, thread_count_ = std::max(4u, std::thread::hardware_concurrency());
  const unsigned places_ = why_no_cuda().empty() ? 3 : 1;  // CPU; CUDA with host frames, with device frames
  const unsigned warm_up_ = 2 * places_ * case_count;      // number of runs in the warm-up
  std::vector<Case> cases_;
  std::atomic<unsigned> runs_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::vector<std::string> doing_ = std::vector<std::string>(thread_count_);
};

}  // namespace
}  // namespace parafield

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool is_seeded = arguments.size() == 3 && arguments[1] == "--seed";
  const double minutes = arguments.size() == 1 || is_seeded ? std::atof(argv[1]) : 0;
  if (!(minutes > 0)) {
    std::fprintf(stderr, "usage: soak MINUTES [--seed N]\n");
    return 2;
  }
  // Sets the allocator's threshold to its default, because a threshold that is set does not adapt any more.
  // This way the memory of images goes back to the system when they are gone.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  return parafield::Soak(is_seeded ? unsigned(std::atol(argv[3])) : 1).run(minutes) ? 0 : 1;
}
