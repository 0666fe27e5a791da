// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <functional>
#include <string>

/// Progress of long runs, for users at a terminal.
namespace parafield::command {

/// Returns a duration as text: "12 s", "3 min 20 s".
std::string duration_text(double seconds);

/// A progress line on stderr for work that takes longer than a second. It is erased when the work is done.
/// Without a terminal nothing is shown.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted);
  ~ProgressLine() { end(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Begins work, such as "estimating".
  void begin(const std::string& work);
  /// Shows the completed share of the work, 0..1. Must not be called from two threads at once.
  void update(double share);
  /// Shows how many things are done, if the total is unknown.
  void count(int done, const char* things);
  /// Shows the caller's own text about the work.
  void say(const std::string& text);
  /// Returns a function that calls update() until the work ends and then does nothing; empty if no line is
  /// wanted.
  std::function<void(double)> callback();
  /// Announces work that reports no progress, with its estimated duration.
  void announce(const std::string& work, double seconds);
  /// Seconds since the work began.
  double elapsed() const;
  void end();

 private:
  using Clock = std::chrono::steady_clock;

  void show(const std::string& text);

  const bool wanted_;
  bool works_ = false;
  std::size_t shown_ = 0;  // length of the line on screen
  double shown_at_ = 0;    // seconds since the work began
  std::string work_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace parafield::command
