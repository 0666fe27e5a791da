// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>

#include <functional>
#include <future>
#include <string>
#include <string_view>

#include "parafield/parafield.hpp"

namespace parafield::command {

/// Writes the results of a series in the order in which they come, each while the next one is estimated. Its
/// destructor waits for the last one: what write() uses has to live longer.
template <class Result>
class SeriesWriter {
 public:
  /// `noun`: what a result is, "flow".
  explicit SeriesWriter(std::string_view noun) : noun_(noun) {}

  /// Calls work(), which begins to write results, and waits for the last one. If it throws, the message also says how
  /// many were written before.
  template <class Work>
  void during(Work work) {
    try {
      work();
      end();
    } catch (const Error& error) {
      if (writing_.valid()) writing_.wait();
      if (written_ == 0) throw;
      throw Error(error.code(), fmt::format("{}; the {} {}{} before it {} written", error.what(), written_,
                                            noun_, written_ == 1 ? "" : "s", written_ == 1 ? "is" : "are"));
    }
  }

  /// A result to estimate into; not the one that is being written.
  template <class Task>
  Result& free(const Estimator<Task>& estimator) {
    Result& result = results_[count_ % 2];
    if (result.size() != estimator.size()) result = estimator.new_result();
    return result;
  }

  /// Begins write(result) with the one that free() returned, after the one before.
  void begin(std::function<void(Result&)> write) {
    end();
    Result& result = results_[count_++ % 2];
    // Where the system gives no thread, it is written when somebody waits for it.
    writing_ =
        std::async(std::launch::async | std::launch::deferred, [this, &result, write = std::move(write)] {
          write(result);
          ++written_;
        });
  }

  int count() const { return count_; }

 private:
  /// Waits for what is being written. Throws what that threw.
  void end() {
    if (writing_.valid()) writing_.get();
  }

  const std::string noun_;
  Result results_[2];
  int count_ = 0, written_ = 0;
  std::future<void> writing_;
};

}  // namespace parafield::command
