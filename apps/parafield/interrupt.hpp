#pragma once

/// Ctrl-C (and SIGTERM): the program ends at once, unless it is writing files; then when they are whole, or
/// removed.
namespace parafield::command {

/// Exit code: 128 + the signal's number, 130 for Ctrl-C.
void end_on_interrupt();

/// While one exists, an interrupt waits; the last one ends the program where one came.
class WhileWriting {
 public:
  WhileWriting();
  ~WhileWriting();
  WhileWriting(const WhileWriting&) = delete;
  WhileWriting& operator=(const WhileWriting&) = delete;

  /// Between the files of a long series: whether to give it up.
  static bool interrupted();
};

/// Thrown to give up a series of files; the program ends as for the interrupt once what was written is
/// removed.
struct Interrupted {};

}  // namespace parafield::command
