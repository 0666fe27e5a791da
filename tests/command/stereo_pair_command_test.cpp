// SPDX-License-Identifier: MIT
// The properties of a pair that parafield stereo detects by itself, and the checks of its presets.
#include <algorithm>
#include <array>

#include "command/run_command.hpp"
#include "same.hpp"

namespace parafield::test {
namespace {

/// A rendered pair, and its truth.
class StereoPair : public CommandTest {
 protected:
  float most = 0;  ///< largest disparity

  void SetUp() override {
    CommandTest::SetUp();
    const Size size{240, 180};
    const Scene scene = render_scene("stereo", {.size = size, .seed = 4});
    write_frame(path("left.png"), scene.frames[0]);
    write_frame(path("right.png"), scene.frames[1]);
    write_disparity(path("truth.pfm"), scene.disparity[0]);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) most = std::max(most, scene.disparity[0].d(x, y));
  }

  Outcome stereo(Words more) const {
    const Words words = {"stereo", path("left.png"), path("right.png"), "-d", "cpu"};
    more.insert(more.begin(), words.begin(), words.end());
    return run_well(more);
  }
  auto json(Words more) const {
    more.push_back("--json");
    return stereo(more).json();
  }
};

TEST_F(StereoPair, PresetsHaveTheirChecks) {
  const auto checks_of = [&](Words more) {
    const auto parameters = json(more)["parameters"];
    return std::array<int, 3>{parameters["lr_check"], bool(parameters["fill"]), parameters["final_median"]};
  };
  constexpr std::array<int, 3> none = {0, 0, 0}, all = {1, 1, 3}, wide = {1, 1, 5};
  EXPECT_EQ(checks_of({}), all);
  EXPECT_EQ(checks_of({"--preset", "fast"}), all);
  EXPECT_EQ(checks_of({"--preset", "paper"}), none);
  EXPECT_EQ(checks_of({"--lr-check", "0", "--no-fill", "--final-median", "0"}), none);
  for (const char* method : {"winner-takes-all", "icm"}) {
    EXPECT_EQ(checks_of({"-m", method}), wide) << method;
    EXPECT_EQ(checks_of({"-m", method, "--preset", "accurate"}), wide) << method;
    EXPECT_EQ(checks_of({"-m", method, "--preset", "paper"}), none) << method;
  }
  EXPECT_LT(json({})["valid"], json({"--lr-check", "0"})["valid"]);
}

TEST_F(StereoPair, FindsTheNumberOfDisparities) {
  const auto report = json({"--gt", path("truth.pfm")});
  const int number = report["parameters"]["disparities"];
  EXPECT_EQ(report["disparities_found"], true);
  EXPECT_GT(number, most);
  EXPECT_LE(number, 2 * most + 16);
  EXPECT_EQ(report["warnings"], Words{});
  EXPECT_LT(report["bad_1"], 0.05);
  EXPECT_EQ(json({"--disparities", "0"})["parameters"], report["parameters"]);
  const std::string line = std::to_string(number) + " disparities from 0 on, found in the images\n";
  EXPECT_NE(stereo({}).out.find(line), std::string::npos);

  const std::string given = std::to_string(number);
  EXPECT_EQ(json({"--disparities", given})["disparities_found"], false);
  EXPECT_EQ(stereo({"--disparities", given}).out.find("found in the images"), std::string::npos);
  stereo({"-q", "-o", path("found.pfm")});
  stereo({"-q", "-o", path("given.pfm"), "--disparities", given});
  expect_same(read_disparity(path("found.pfm")), read_disparity(path("given.pfm")));

  const int below = json({"--min-disparity", "-20"})["parameters"]["disparities"];
  EXPECT_GT(below - 20, most) << "the number counts from the least disparity";
}

TEST_F(StereoPair, WarnsOfWhatIsWrong) {
  const auto expect = [&](const Words& words, const std::string& warning) {
    Words json = words;
    json.push_back("--json");
    Outcome outcome = run(json);
    EXPECT_EQ(outcome.code, 0);
    const auto warnings = outcome.json()["warnings"];
    ASSERT_EQ(warnings.size(), 1u) << outcome.out;
    const std::string text = warnings[0], note = "parafield: note: " + text + "\n";
    EXPECT_NE(text.find(warning), std::string::npos) << text;
    EXPECT_EQ(outcome.err, note);
    EXPECT_EQ(run(words).err, note) << "in text, too";
    json.push_back("-q");
    outcome = run(json);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.json()["warnings"], warnings);
  };
  const std::string left = path("left.png"), right = path("right.png");
  expect({"stereo", right, left, "-d", "cpu"}, "the views seem to be swapped");
  expect({"stereo", right, left, "-d", "cpu", "--disparities", "16"}, "the views seem to be swapped");
  expect({"stereo", left, right, "-d", "cpu", "--disparities", "4", "-m", "winner-takes-all"},
         "4 disparities seem to be too few: the pair needs about ");
  EXPECT_EQ(stereo({}).err, "");
  EXPECT_EQ(stereo({"--disparities", std::to_string(int(most) + 2)}).err, "");
}

}  // namespace
}  // namespace parafield::test
