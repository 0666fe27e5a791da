// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace parafield::python {

/// Runs `work` with the GIL released. If `slow` is set and this is Python's main thread, another thread does
/// the work while this one polls for signals, so that Ctrl-C can interrupt it. If a signal handler raises an
/// exception, as Ctrl-C's handler does, this function calls cancel(), waits for the work to end and throws
/// the exception. The caller must hold the GIL. Throws what `work` throws.
void run_without_lock(bool slow, const std::function<void()>& work, const std::function<void()>& cancel);

/// Does work that cannot be cancelled, such as reading a pipe, with the GIL released. On Python's main
/// thread, Ctrl-C leaves the work to a thread of its own, so it must own all that it uses. Throws what `work`
/// throws.
void wait_without_lock(std::function<void()> work);

/// Returns what `work` returns.
template <class Work>
auto wait_for_result(Work work) {
  const auto result = std::make_shared<std::optional<decltype(work())>>();
  wait_without_lock([result, work = std::move(work)] { result->emplace(work()); });
  return std::move(**result);
}

}  // namespace parafield::python
