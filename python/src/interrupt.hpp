// SPDX-License-Identifier: MIT
#pragma once
#include <functional>

namespace parafield::python {

/// Runs `work` without Python's lock. If `slow`, Ctrl-C is heard meanwhile: on Python's main thread another
/// thread does the work, and this one looks for signals. If a signal's handler raises an exception (as that
/// of Ctrl-C does), it calls cancel(), waits for the work to end and throws the exception. Needs the lock.
/// Throws what `work` throws.
void run_without_lock(bool slow, const std::function<void()>& work, const std::function<void()>& cancel);

}  // namespace parafield::python
