// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "core/cpu/threads.hpp"

namespace parafield {

/// Calls f(y) for each row in [0, height), in any order, on all cores: for work outside estimators. When all
/// rows are done, it rethrows the first exception of f. Each call has its own threads, so any number of
/// callers may run concurrently.
template <class RowFunction>
void parallel_rows(int height, const RowFunction& f) {
  if (height < 1) return;
  const int rows = 4 + height / Threads::most_parts;  // per part: few, because rows differ in cost
  const int parts = (height - 1) / rows + 1;
  std::mutex mutex;
  std::exception_ptr error;
  const auto run_part = [&](int part) {
    try {
      for (int y = rows * part; y < std::min(rows * (part + 1), height); ++y) f(y);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  using RunPart = decltype(run_part);
  Threads threads(std::clamp(int(std::thread::hardware_concurrency()), 1, parts));
  threads.run(
      parts, [](const void* data, int part, int) { (*static_cast<const RunPart*>(data))(part); }, &run_part);
  if (error) std::rethrow_exception(error);
}

}  // namespace parafield
