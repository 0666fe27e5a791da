// SPDX-License-Identifier: MIT
#pragma once
#include "command/run_command.hpp"

namespace parafield::test {

/// Tests of errors, with a rendered scene.
class ErrorTest : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    render();
  }

  void cut(const std::string& from, const std::string& to, std::size_t bytes) const {
    std::ofstream(to, std::ios::binary) << read_text(from).substr(0, bytes);
  }

  /// `parafield flow` with the frames of the scene and more words.
  Words flow(Words more = {}) const {
    const Words words = {"flow", frame0(), frame1(), "-d", "cpu"};
    more.insert(more.begin(), words.begin(), words.end());
    return more;
  }

  /// Runs the command by a shell, in the folder of the test, with the words and redirections of `text`.
  Outcome shell(const std::string& text) const {
    const std::string err = path("shell.err");
    const std::string line = "cd " + path("") + " && " + tested_command() + " " + text;
    const int status = std::system(("(" + line + ") 2> " + err).c_str());
    const Outcome outcome{WEXITSTATUS(status), "", read_text(err)};
    std::filesystem::remove(err);
    return outcome;
  }
};

}  // namespace parafield::test
