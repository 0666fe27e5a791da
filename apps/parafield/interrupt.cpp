// SPDX-License-Identifier: MIT
#include "interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <initializer_list>
#include <utility>

namespace parafield::command {
namespace {

// Atomic because a signal may be delivered on any thread, including the library's.
std::atomic<int> writing = 0;
std::atomic<int> pending = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void on_interrupt(int signal) {
  if (writing > 0)
    pending = signal;
  else
    _exit(128 + signal);
}

}  // namespace

void end_on_interrupt() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2}) {
    struct sigaction action = {};
    // An ignored signal stays ignored, because shells start background jobs with SIGINT ignored.
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = on_interrupt;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding the file size limit becomes an error of the write
}

WhileWriting::WhileWriting() { ++writing; }

WhileWriting::~WhileWriting() {
  if (--writing == 0 && pending) _exit(128 + pending);
}

bool WhileWriting::interrupted() { return pending != 0; }

void WhileWriting::end_now() {
  if (pending) _exit(128 + pending);
}

EndOnInterrupt::EndOnInterrupt(std::function<void()> cancel)
    : watch_([cancel = std::move(cancel)](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          if (pending) return cancel();
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
      }) {}

void WhileWriting::check() {
  if (pending) throw Interrupted{};
}

}  // namespace parafield::command
