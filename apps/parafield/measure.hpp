// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "parafield/device.hpp"
#include "parafield/image.hpp"

/// Shared by all programs that measure: timing and its statistics, the conditions of a run, tables. The
/// command and the studies of bench/ use it; bench/common/measuring.py writes the same JSON.
namespace parafield::command {

/// Number of timed calls: `fixed`, or if that is 0, as many as fit in `seconds`, from `least` to `most`.
struct Repeats {
  int fixed = 0;
  double seconds = 1.5;
  int least = 10, most = 2000;
};

/// Returns quantile q, 0..1, of sorted values, interpolated linearly.
inline double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * double(sorted.size() - 1);
  const std::size_t below = std::size_t(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - double(below));
}

struct Times {
  double median = 0, p10 = 0, p90 = 0, min = 0;  ///< milliseconds
  int repeats = 0;                               ///< number of calls; 0: the time of a first call
};

/// Time of a first call, which includes allocations and, on CUDA, recording the graph.
inline Times time_of_first(double milliseconds) {
  return {milliseconds, milliseconds, milliseconds, milliseconds};
}

/// Statistics of the times of one or more calls, in milliseconds.
inline Times times_of(std::vector<double> milliseconds) {
  std::ranges::sort(milliseconds);
  const auto at = [&](double q) { return quantile(milliseconds, q); };
  return {at(0.5), at(0.1), at(0.9), milliseconds.front(), int(milliseconds.size())};
}

/// Calls call(i) for i = 0, 1, 2, ...; call(i) returns its time in milliseconds.
template <class Call>
Times measure(const Repeats& repeats, Call call) {
  std::vector<double> times;
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto enough = [&] {
    const int count = int(times.size());
    if (repeats.fixed > 0) return count >= repeats.fixed;
    const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
    return count >= repeats.most || (count >= repeats.least && elapsed >= repeats.seconds);
  };
  while (!enough()) times.push_back(call(int(times.size())));
  return times_of(std::move(times));
}

/// The same for a call that returns nothing and is timed by `timer`.
template <class Timer, class Call>
Times measure(const Repeats& repeats, Timer& timer, Call call) {
  return measure(repeats, [&](int i) {
    timer.start();
    call(i);
    return timer.stop();
  });
}

/// Returns the memory that the device reads fastest.
inline Memory memory_of(const Device& device) {
  return device.kind == Device::Kind::cuda ? Memory::cuda(device.index) : Memory::host();
}

inline std::vector<FrameBuffer> copied(const std::vector<FrameBuffer>& frames, Memory memory) {
  std::vector<FrameBuffer> there;
  for (const FrameBuffer& frame : frames) there.push_back(frame.to(memory));
  return there;
}

nlohmann::ordered_json times_json(const Times& times);

/// Returns the JSON of a device: device, device_name, instruction_set and, on a CPU, threads.
nlohmann::ordered_json device_json(const DeviceInfo& info);

/// Measures the bandwidth of a copy within a device's memory, in bytes per second, loads and stores both
/// counted: the median of several copies of up to 4 GiB on a GPU, and of 128 MiB by the device's threads on a
/// CPU. On the CPU each thread copies its share several times, because otherwise starting threads would take
/// a large part of the time.
double copy_bandwidth(const DeviceInfo& info);

/// Returns a line of text about a device, for example "cpu: AMD EPYC, v4, 2 threads".
std::string device_text(const DeviceInfo& info);

/// Returns today's date, for example "2026-11-26".
std::string today();

/// Measures the load of other processes while it lives.
class Quietness {
 public:
  Quietness();
  /// Returns for example "load average 0.1 at the start; other processes had 2 % of the processors' time",
  /// with a warning above 5 %. "unknown" on systems without /proc/stat.
  std::string text() const;

 private:
  double load_ = 0, busy_ = 0, total_ = 0, own_ = 0;
};

/// Returns a table as Markdown. The first `left` columns are aligned to the left; rows may be shorter.
std::string markdown_table(const std::vector<std::string>& columns,
                           const std::vector<std::vector<std::string>>& rows, std::size_t left = 1);

}  // namespace parafield::command
