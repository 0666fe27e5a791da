// SPDX-License-Identifier: MIT
#include "interrupt.hpp"

#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>
#include <future>
#include <thread>

namespace nb = nanobind;

namespace parafield::python {
namespace {

/// Whether this is Python's main thread, the only one that handles signals.
bool on_main_thread() {
  const nb::module_ threading = nb::module_::import_("threading");
  return threading.attr("get_ident")().equal(threading.attr("main_thread")().attr("ident"));
}

/// Waits for work on another thread, and meanwhile lets Python handle signals. Returns false if a handler has
/// raised an exception.
bool await(const std::future<void>& done) {
  for (;;) {
    {
      const nb::gil_scoped_release released;
      if (done.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready) return true;
    }
    if (PyErr_CheckSignals() != 0) return false;
  }
}

}  // namespace

void run_without_lock(bool slow, const std::function<void()>& work, const std::function<void()>& cancel) {
  if (!slow || !on_main_thread()) {
    const nb::gil_scoped_release released;
    work();
    return;
  }
  std::packaged_task<void()> task(work);
  std::future<void> done = task.get_future();
  std::thread worker(std::move(task));
  const bool interrupted = !await(done);
  if (interrupted) cancel();
  {
    const nb::gil_scoped_release released;
    worker.join();
  }
  if (interrupted) throw nb::python_error();
  done.get();
}

void wait_without_lock(std::function<void()> work) {
  if (!on_main_thread()) {
    const nb::gil_scoped_release released;
    return work();
  }
  std::packaged_task<void()> task(std::move(work));
  std::future<void> done = task.get_future();
  std::thread(std::move(task)).detach();
  if (!await(done)) throw nb::python_error();
  done.get();
}

}  // namespace parafield::python
