#pragma once
#include <chrono>
#include <functional>
#include <string>

/// How far a long run is, for somebody who waits at a terminal.
namespace parafield::command {

/// A line on stderr, of work that takes longer than a second; erased when the work is done. None where stderr is no
/// terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted);
  ~ProgressLine() { end(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Work begins; "estimating".
  void begin(const std::string& work);
  /// So much of it is done. By one thread at a time.
  void update(double share);
  /// Calls update until the work ends, afterwards nothing; empty where there is no line.
  std::function<void(double)> callback();
  /// Work begins that says nothing of itself, and takes about so many seconds.
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
  std::string work_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace parafield::command
