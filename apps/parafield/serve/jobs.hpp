// SPDX-License-Identifier: MIT
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "parameters.hpp"

/// The requests that a server works on: how many there are, whose turn it is, how far it is, and its
/// cancellation.
namespace parafield::command {

/// Thrown for a request that comes while too many are worked on.
struct Busy {
  std::string message;
};

class ServeJobs {
 public:
  /// Requests that are worked on at once, those that wait for their turn included.
  static constexpr int most = 4;

  /// A request, from its first byte to its answer. One thread uses it, but for ServeJobs.
  class Job {
   public:
    /// `name`: the page's name of it; empty = none. Throws Busy, and Error(invalid_argument) for a name that
    /// is no short word or is in use.
    Job(ServeJobs& jobs, const std::string& name);
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    /// Says what the request does, and which share of that is done.
    void say(const char* doing, double share = 0);
    /// Throws Error(cancelled) if the request is cancelled.
    void check();
    /// Waits for the turn, which ends with the job: one job computes at a time. Throws Error(cancelled).
    void await_turn();
    /// Calls work() so that a cancellation calls stop().
    template <class Stop, class Work>
    void stoppable(Stop stop, Work work) {
      set_stop(stop);
      try {
        work();
      } catch (...) {
        set_stop({});
        throw;
      }
      set_stop({});
    }

   private:
    friend class ServeJobs;
    void set_stop(std::function<void()> stop);

    ServeJobs& jobs_;
    const std::string name_;
    const char* doing_ = "reading";
    double share_ = 0;
    bool has_turn_ = false, cancelled_ = false;
    std::function<void()> stop_;
  };

  /// {"doing": "solving", "share": 0.25}; null for a name that no job has.
  Json progress(const std::string& name);
  /// Cancels the job of that name. False if there is none.
  bool cancel(const std::string& name);

 private:
  Job* find(const std::string& name) const;

  std::mutex mutex_;
  std::condition_variable turn_;
  std::vector<Job*> jobs_;
  bool taken_ = false;  // somebody has the turn
};

}  // namespace parafield::command
