// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>

#include <functional>
#include <future>
#include <string>
#include <string_view>

#include "parafield/parafield.hpp"

namespace parafield::command {

/// Rethrows an error that ended a series. Its message then says how many results, which are called `noun`,
/// were written before.
[[noreturn]] inline void fail_after(const Error& error, std::int64_t written, std::string_view noun) {
  if (written == 0) throw error;
  throw Error(error.code(), written == 1 ? fmt::format("{}; the {} before it is written", error.what(), noun)
                                         : fmt::format("{}; the {} {}s before it are written", error.what(),
                                                       written, noun));
}

/// Writes the results of a series in order, each while the next one is estimated. The destructor waits for
/// the last one; whatever write() uses must outlive this object.
template <class Result>
class SeriesWriter {
 public:
  /// `noun`: what a result is called in messages, such as "flow".
  explicit SeriesWriter(std::string_view noun) : noun_(noun) {}

  /// Calls work(), which estimates and passes results to begin(), then waits for the last one to be written.
  /// If an Error is thrown, its message also says how many results were written before.
  template <class Work>
  void during(Work work) {
    try {
      work();
      end();
    } catch (const Error& error) {
      if (writing_.valid()) writing_.wait();
      fail_after(error, written_, noun_);
    }
  }

  /// Returns a result to estimate into, which is not the one being written.
  template <class Task>
  Result& free(const Estimator<Task>& estimator) {
    Result& result = results_[count_ % 2];
    if (result.size() != estimator.size()) result = estimator.new_result();
    return result;
  }

  /// Starts write(result) for the result that free() returned, after the previous one has been written.
  void begin(std::function<void(Result&)> write) {
    end();
    Result& result = results_[count_++ % 2];
    // Without a free thread, the result is written when someone waits for it.
    writing_ =
        std::async(std::launch::async | std::launch::deferred, [this, &result, write = std::move(write)] {
          write(result);
          ++written_;
        });
  }

  int count() const { return count_; }

 private:
  /// Waits for the result that is being written. Rethrows errors of its write().
  void end() {
    if (writing_.valid()) writing_.get();
  }

  const std::string noun_;
  Result results_[2];
  int count_ = 0, written_ = 0;
  std::future<void> writing_;
};

}  // namespace parafield::command
