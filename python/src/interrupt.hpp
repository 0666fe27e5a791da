// SPDX-License-Identifier: MIT
#pragma once
#include <functional>

namespace parafield::python {

/// Runs `work` with the GIL released. If `slow` is set and this is Python's main thread, another thread does
/// the work while this one polls for signals, so that Ctrl-C can interrupt it. If a signal handler raises an
/// exception, as Ctrl-C's handler does, this function calls cancel(), waits for the work to end and throws
/// the exception. The caller must hold the GIL. Throws what `work` throws.
void run_without_lock(bool slow, const std::function<void()>& work, const std::function<void()>& cancel);

}  // namespace parafield::python
