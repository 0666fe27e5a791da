// SPDX-License-Identifier: MIT
#pragma once
// Runs the built parafield command and checks its output and its files.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "parafield/parafield.hpp"

namespace parafield::test {

using Words = std::vector<std::string>;

struct Outcome {
  int code = -1;  ///< exit code; 128 + signal if a signal ended it
  std::string out, err;

  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The words of a text with one blank after each.
inline std::string one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += word + ' ';
  return line;
}

/// A frame of a Y4M file of one channel: the green of an 8-bit picture, or its only channel.
inline std::string y4m_frame(const FrameBuffer& frame) {
  const int count = channels(frame.format());
  std::string bytes = "FRAME\n";
  for (int y = 0; y < frame.size().height; ++y)
    for (int x = 0; x < frame.size().width; ++x)
      bytes += static_cast<const char*>(frame.row(y))[x * count + count / 2];
  return bytes;
}

/// The command that is tested: this build's, or $PARAFIELD_COMMAND (scripts/test: one built with sanitizers).
inline const char* tested_command() {
  const char* other = std::getenv("PARAFIELD_COMMAND");
  return other ? other : PARAFIELD_COMMAND;
}
/// Whether scripts/test runs the tests again, for a command with sanitizers.
inline bool tests_sanitized_command() { return std::getenv("PARAFIELD_COMMAND"); }

/// Reasons to skip a test of the command with sanitizers.
constexpr const char *takes_minutes =
                         "takes minutes with sanitizers and runs nothing that other tests do not",
                     *compares_builds =
                         "expects the command and this test to be built with the same CUDA support";

/// A test in a temporary folder of its own.
class CommandTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "parafield-command-XXXXXX").string();
    ASSERT_TRUE(mkdtemp(name.data()));
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// The file is standard input of the commands that start from now on.
  void set_input(const std::string& file) { input_ = file; }

  static Words join(Words first, const Words& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// Starts the command. `environment` has "NAME=value", added to the environment of this process. `err`
  /// takes stderr instead of the Outcome.
  pid_t start(Words arguments, Words environment = {}, std::string err = {}) const {
    if (err.empty()) err = err_file();
    arguments.insert(arguments.begin(), tested_command());
    for (char** entry = environ; *entry; ++entry)
      if (const std::string text = *entry; !text.starts_with("PARAFIELD_")) environment.push_back(text);
    const auto pointers = [](Words& words) {
      std::vector<char*> list;
      for (std::string& word : words) list.push_back(word.data());
      list.push_back(nullptr);
      return list;
    };
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, input_.c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out_file().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY, 0600);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t defaults;  // in the background this process ignores SIGINT, and its children would, too
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    pid_t process = -1;
    EXPECT_EQ(posix_spawn(&process, tested_command(), &files, &attributes, pointers(arguments).data(),
                          pointers(environment).data()),
              0);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return process;
  }

  Outcome finish(pid_t process) const {
    int status = 0;
    EXPECT_EQ(waitpid(process, &status, 0), process);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    Outcome outcome{code, read_text(out_file()), read_text(err_file())};
    std::filesystem::remove(out_file());
    std::filesystem::remove(err_file());
    return outcome;
  }

  /// Text that the last started command has printed so far.
  std::string output_so_far() const { return read_text(out_file()); }

  Outcome run(const Words& arguments, const Words& environment = {}) const {
    return finish(start(arguments, environment));
  }

  /// Runs the command with a terminal as stderr; `err` is its text. The command is interrupted when the text
  /// contains `until`.
  Outcome run_at_terminal(const Words& arguments, const std::string& until = {}) const {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_EQ(grantpt(terminal), 0);
    EXPECT_EQ(unlockpt(terminal), 0);
    const std::string name = ptsname(terminal);
    const int other_end =
        open(name.c_str(), O_RDWR | O_NOCTTY);  // keeps the written text readable to its end
    const pid_t process = start(arguments, {}, name);
    std::string said;
    const auto ready = [&](int milliseconds) {
      pollfd waiting{terminal, POLLIN, 0};
      return poll(&waiting, 1, milliseconds) > 0;
    };
    const auto listen = [&] {
      char text[4096];
      if (const ssize_t count = read(terminal, text, sizeof(text)); count > 0)
        said.append(text, std::size_t(count));
    };
    siginfo_t ended{};
    while (waitid(P_PID, id_t(process), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0) {
      if (ready(20)) listen();
      if (!until.empty() && said.find(until) != std::string::npos) kill(process, SIGINT);
    }
    while (ready(0)) listen();
    close(other_end);
    close(terminal);
    Outcome outcome = finish(process);
    outcome.err = said;
    return outcome;
  }

  /// Runs the command and expects that it succeeds.
  Outcome run_well(const Words& arguments, const Words& environment = {}) const {
    const Outcome outcome = run(arguments, environment);
    EXPECT_EQ(outcome.code, 0) << outcome.err << testing::PrintToString(arguments);
    EXPECT_EQ(outcome.err, "");
    return outcome;
  }

  /// All files, with their sizes, and folders of the temporary folder.
  std::set<std::string> contents() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
      names.insert(entry.path().string() + ' ' +
                   std::to_string(entry.is_regular_file() ? entry.file_size() : 0));
    return names;
  }

  /// Expects that the command fails with the code and an error of one line that contains each of `says`, and
  /// that it writes nothing.
  void expect_failure(int code, const Words& arguments, const Words& says,
                      const Words& environment = {}) const {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const auto before = contents();
    const Outcome outcome = run(arguments, environment);
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(outcome.err.starts_with("parafield: error: ")) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    for (const std::string& word : says)
      EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " in: " << outcome.err;
    EXPECT_EQ(contents(), before);
  }

  /// Renders a scene into the folder scene/: frame0000.png, frame0001.png, flow0000.flo and so on.
  void render(const std::string& scene = "translation", const std::string& size = "96x64") const {
    run_well({"synth", scene, "-o", path("scene"), "--size", size, "--seed", "3"});
  }
  std::string frame0() const { return path("scene/frame0000.png"); }
  std::string frame1() const { return path("scene/frame0001.png"); }
  std::string truth() const { return path("scene/flow0000.flo"); }

 private:
  std::string out_file() const { return folder_.string() + ".out"; }
  std::string err_file() const { return folder_.string() + ".err"; }

  std::filesystem::path folder_;
  std::string input_ = "/dev/null";
};

}  // namespace parafield::test
