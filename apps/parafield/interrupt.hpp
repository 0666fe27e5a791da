// SPDX-License-Identifier: MIT
#pragma once

/// Ctrl-C, SIGTERM and other signals that end a program. They end it at once. If it is writing files, it ends when they are whole or
/// removed.
namespace parafield::command {

/// Makes these signals end the program with the exit code 128 + the signal's number, 130 for Ctrl-C.
void end_on_interrupt();

/// While an object exists, a signal waits. The destructor of the last one ends the program if one came.
class WhileWriting {
 public:
  WhileWriting();
  ~WhileWriting();
  WhileWriting(const WhileWriting&) = delete;
  WhileWriting& operator=(const WhileWriting&) = delete;

  /// Throws Interrupted if a signal waits. Called between the files of a long series.
  static void check();
  /// Whether a signal waits.
  static bool interrupted();
  /// Ends the program at once, if a signal waits: for a thread that knows that all files are whole.
  static void end_now();
};

/// Thrown to give up a series of files. The program ends when the files written so far are removed.
struct Interrupted {};

}  // namespace parafield::command
