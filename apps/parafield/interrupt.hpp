// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <thread>

/// Handling of Ctrl-C, SIGTERM and other signals that end a program. They end it at once or, if it is writing
/// files, as soon as these are complete or removed.
namespace parafield::command {

/// Makes these signals end the program with the exit code 128 + the signal's number (130 for Ctrl-C).
void end_on_interrupt();

/// Holds signals back while any object of this class exists. If a signal came meanwhile, the destructor of
/// the last object ends the program.
class WhileWriting {
 public:
  WhileWriting();
  ~WhileWriting();
  WhileWriting(const WhileWriting&) = delete;
  WhileWriting& operator=(const WhileWriting&) = delete;

  /// Throws Interrupted if a signal is pending. Call it between the files of a long series.
  static void check();
  /// Returns whether a signal is pending.
  static bool interrupted();
  /// Ends the program at once if a signal is pending. Only for a thread that knows that all files are
  /// complete.
  static void end_now();
};

/// While an object exists, calls cancel() if a signal is pending, so that a long call does not delay the end
/// of the program. Objects of WhileWriting must exist only while files are incomplete.
class EndOnInterrupt {
 public:
  explicit EndOnInterrupt(std::function<void()> cancel);

 private:
  std::jthread watch_;
};

/// Thrown to abandon a series of files. The program ends once the files written so far have been removed.
struct Interrupted {};

}  // namespace parafield::command
