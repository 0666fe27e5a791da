// SPDX-License-Identifier: MIT
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "parameters.hpp"

/// The requests that a server is working on: their number, turns, progress and cancellation.
namespace parafield::command {

/// Thrown for a request that arrives while too many others are in progress.
struct Busy {
  std::string message;
};

class ServeJobs {
 public:
  /// Maximum number of requests in progress, including those waiting for their turn.
  static constexpr int most = 4;

  /// A request, from its first byte to its answer. Apart from ServeJobs, only one thread uses it.
  class Job {
   public:
    /// `name`: the page's name for the request; empty = none. Throws Busy, and Error(invalid_argument) if the
    /// name is not a short word or is in use.
    Job(ServeJobs& jobs, const std::string& name);
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    /// Sets what the request is doing, and the completed share of it.
    void say(const char* doing, double share = 0);
    /// Throws Error(cancelled) if the request has been cancelled.
    void check();
    /// Waits for this job's turn to compute, because only one job computes at a time. The turn ends with the
    /// job. Throws Error(cancelled).
    void await_turn();
    /// Calls work(). A cancellation meanwhile calls stop().
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

  /// Returns {"doing": "solving", "share": 0.25}, or null if no job has that name.
  Json progress(const std::string& name);
  /// Cancels the job of that name. Returns false if there is none.
  bool cancel(const std::string& name);

 private:
  Job* find(const std::string& name) const;

  std::mutex mutex_;
  std::condition_variable turn_;
  std::vector<Job*> jobs_;
  bool taken_ = false;  // a job has the turn
};

}  // namespace parafield::command
