// SPDX-License-Identifier: MIT
// The command's notes on the blocks that belief propagation divides images into.
#include <regex>

#include "command/run_command.hpp"

namespace parafield::test {
namespace {

class BlocksCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    const Scene scene = render_scene("stereo", {.size = {160, 120}, .seed = 4});
    write_frame(path("left.png"), scene.frames[0]);
    write_frame(path("right.png"), scene.frames[1]);
  }

  /// parafield COMMAND of the pair by belief propagation with few levels, and with more words.
  Outcome propagate(const std::string& command, const Words& more) const {
    Words words = {command,
                   path("left.png"),
                   path("right.png"),
                   "-d",
                   "cpu",
                   "-m",
                   "belief-propagation",
                   "--levels",
                   "2",
                   "--iterations",
                   "1",
                   "--finest-iterations",
                   "1"};
    words.insert(words.end(), more.begin(), more.end());
    if (command == "stereo") words.insert(words.end(), {"--disparities", "64"});
    return run(words);
  }
};

TEST_F(BlocksCommand, SaysWhenMemoryMakesSeveral) {
  for (const std::string command : {"stereo", "flow"}) {
    if (tests_sanitized_command() && command == "flow") continue;
    const std::string one = propagate(command, {"--blocks", "1", "--memory-limit", "1"}).err;
    std::smatch needed;
    ASSERT_TRUE(std::regex_search(one, needed, std::regex("take ([0-9]+) MiB"))) << one;
    const std::string limit = std::to_string(std::stoi(needed[1]) * 3 / 4);
    const Outcome outcome = propagate(command, {"--memory-limit", limit, "--json"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const std::regex note(
        "parafield: note: memory is short: solved in ([0-9]+) blocks of [0-9]+x[0-9]+ pixels, with margins "
        "of "
        "([0-9]+) px; the result is that of one block\n");
    std::smatch match;
    ASSERT_TRUE(std::regex_search(outcome.err, match, note)) << outcome.err;
    const auto report = outcome.json();
    EXPECT_EQ(report["blocks_used"], std::stoi(match[1]));
    EXPECT_EQ(report["block_margin"], std::stoi(match[2]));
    EXPECT_EQ(report["seamless"], true);
    EXPECT_EQ(report["parameters"]["blocks"], 0);
    EXPECT_EQ(propagate(command, {"--memory-limit", limit, "-q"}).err.find("blocks"), std::string::npos);
    const auto whole = propagate(command, {"--json"});
    EXPECT_EQ(whole.err.find("blocks"), std::string::npos) << whole.err;
    EXPECT_EQ(whole.json()["blocks_used"], 1);
    EXPECT_FALSE(whole.json().contains("seamless"));
    const auto given = propagate(command, {"--blocks", "4", "--json"});
    EXPECT_EQ(given.err.find("memory is short"), std::string::npos) << given.err;
    EXPECT_EQ(given.json()["blocks_used"], 4);
    EXPECT_EQ(given.json()["seamless"], false);
  }
}

TEST_F(BlocksCommand, NoneThatFitAreAnError) {
  const Outcome outcome = propagate("stereo", {"--block-overlap", "4096", "--memory-limit", "1"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(std::regex_search(
      outcome.err,
      std::regex("belief-propagation: data costs and messages of 64 labels at 160x120 px take [0-9]+ "
                 "MiB, in the smallest blocks [0-9]+ MiB; memory_limit allows 1 MiB\n")))
      << outcome.err;
}

}  // namespace
}  // namespace parafield::test
