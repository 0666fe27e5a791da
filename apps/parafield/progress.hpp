// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <functional>
#include <string>

/// Progress of long runs, for users at a terminal.
namespace parafield::command {

/// "12 s", "3 min 20 s".
std::string duration_text(double seconds);

/// A line on stderr about work that takes longer than a second. It is erased when the work is done. Without a
/// terminal nothing is shown.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted);
  ~ProgressLine() { end(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Begins work, such as "estimating".
  void begin(const std::string& work);
  /// Shows the share, 0..1, of the work that is done. Not from two threads at once.
  void update(double share);
  /// Shows the number of things that are done, where nobody knows how many will come.
  void count(int done, const char* things);
  /// Shows a text of the caller's about the work.
  void say(const std::string& text);
  /// A function that calls update until the work ends, then does nothing; empty without a line.
  std::function<void(double)> callback();
  /// Shows work that reports no progress and takes about so many seconds.
  void announce(const std::string& work, double seconds);
  /// Seconds since the work began.
  double elapsed() const;
  void end();

 private:
  using Clock = std::chrono::steady_clock;

  void show(const std::string& text);

  const bool wanted_;
  bool works_ = false;
  std::size_t shown_ = 0;  // characters of the line
  double shown_at_ = 0;    // seconds since the work began
  std::string work_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace parafield::command
