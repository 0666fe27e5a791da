// SPDX-License-Identifier: MIT
// parafield stereo, end to end, on a texture that is shifted.
#include <cmath>
#include <random>

#include "command/run_command.hpp"
#include "same.hpp"
#include "support.hpp"

namespace parafield::test {
namespace {

class StereoCommand : public CommandTest {
 protected:
  static constexpr int width = 60, height = 40, shift = 6;

  void SetUp() override {
    CommandTest::SetUp();
    std::mt19937 random(7);
    std::vector<std::uint8_t> left(width * height), right(left), truth(left.size(), 4 * shift), mask(left);
    for (auto& value : left) value = std::uint8_t(random());
    for (auto& value : right) value = std::uint8_t(random());
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        if (x >= shift) right[std::size_t(y * width + x - shift)] = left[std::size_t(y * width + x)];
        mask[std::size_t(y * width + x)] = x >= 2 * shift && x < width - shift ? 255 : 0;
      }
    write("left.png", left);
    write("right.png", right);
    write("truth.png", truth);
    write("mask.png", mask);
  }

  void write(const std::string& name, const std::vector<std::uint8_t>& values) const {
    write_frame(path(name), {values.data(), width, height, 0, PixelFormat::gray_u8});
  }

  /// `parafield stereo` with the pair and more words.
  Words stereo(Words more = {}) const {
    const Words words = {"stereo", path("left.png"), path("right.png"), "-d", "cpu", "--disparities", "16"};
    more.insert(more.begin(), words.begin(), words.end());
    return more;
  }
  auto json(Words more) const {
    more.push_back("--json");
    return run_well(stereo(more)).json();
  }
};

TEST_F(StereoCommand, WritesDisparitiesAndPicturesAndScores) {
  const auto report = json({"-o", path("out.pfm"), "--color", path("out.png"), "--valid", path("valid.png"),
                            "--gt", path("truth.png"), "--gt-scale", "4", "--mask", path("mask.png"),
                            "--repeat", "2", "--confidence", path("confidence.pfm")});
  EXPECT_EQ(report["method"], "belief-propagation");
  EXPECT_EQ(report["parameters"]["disparities"], 16);
  EXPECT_EQ(report["parameters"]["data"], "mix");
  EXPECT_EQ(report["parameters"]["lr_check"], 1);
  EXPECT_EQ(report["parameters"]["speckle"], 0);
  EXPECT_EQ(report["parameters"]["fill"], true);
  EXPECT_EQ(report["parameters"]["final_median"], 3);
  EXPECT_FALSE(report.contains("lr_check")) << "it is a parameter of the method";
  EXPECT_EQ(report["disparities_found"], false);
  EXPECT_EQ(report["warnings"], Words{});
  EXPECT_EQ(report["device"], "cpu");
  EXPECT_EQ(report["width"], width);
  EXPECT_EQ(report["height"], height);
  EXPECT_EQ(report["repeats"], 2);
  EXPECT_GT(report["milliseconds"], 0);
  EXPECT_GT(report["valid"], 0.8);
  EXPECT_LE(report["least_disparity"], shift);
  EXPECT_GE(report["largest_disparity"], shift);
  EXPECT_EQ(report["files"],
            (Words{path("out.pfm"), path("valid.png"), path("confidence.pfm"), path("out.png")}));
  EXPECT_FALSE(report.contains("energy"));
  EXPECT_EQ(report["bad_1"], 0);
  EXPECT_EQ(report["pixels"], (width - 3 * shift) * height);
  EXPECT_EQ(report["all"]["pixels"], width * height);
  const DisparityField out = read_disparity(path("out.pfm"));
  ASSERT_EQ(out.size(), (Size{width, height}));
  EXPECT_EQ(out.d(30, 20), shift);
  EXPECT_EQ(read_frame(path("out.png")).format(), PixelFormat::rgb_u8);
  EXPECT_EQ(read_mask(path("valid.png"))(30, 20), 1);
  const auto eval = run_well({"eval", path("out.pfm"), path("truth.png"), "--gt-scale", "4", "--mask",
                              path("mask.png"), "--confidence", path("confidence.pfm"), "--json"})
                        .json();
  for (const char* key : {"bad_0_5", "bad_1", "average", "rms", "auc", "auc_best", "d1_all", "pixels"}) {
    EXPECT_EQ(report[key], eval[key]) << key;
    EXPECT_EQ(report["all"][key], eval["all"][key]) << key;
    EXPECT_TRUE(report["all"][key].is_number()) << key;
  }
}

TEST_F(StereoCommand, PutsTheLeftImageBesideThePicture) {
  run_well(stereo({"--color", path("out.png"), "--beside", "-q"}));
  EXPECT_EQ(read_frame(path("out.png")).size(), (Size{2 * width, height}));
  expect_failure(2, stereo({"--beside"}), {"--beside", "--color"});
}

TEST_F(StereoCommand, DisparitiesAreWrittenByExtension) {
  run_well(stereo({"-o", path("out.pfm"), "-q"}));
  run_well(stereo({"-o", path("out.npy"), "-q"}));
  run_well(stereo({"-o", path("kitti.png"), "-q"}));
  run_well(stereo({"-o", path("four.PNG"), "--scale", "4", "-q"}));
  expect_same(read_disparity(path("out.pfm")), read_disparity(path("out.npy")));
  EXPECT_EQ(read_disparity(path("kitti.png"), 256).d(30, 20), shift);
  EXPECT_EQ(read_disparity(path("four.PNG"), 4).d(30, 20), shift);
}

TEST_F(StereoCommand, EveryMethodFindsTheShift) {
  for (const Words& method :
       {Words{"belief-propagation"}, Words{"winner-takes-all"}, Words{"icm", "--sweeps", "3"},
        Words{"annealing", "--sweeps", "30", "--seed", "2"}}) {
    Words words = {"--gt", path("truth.png"), "--gt-scale", "4", "--mask", path("mask.png"), "-m"};
    words.insert(words.end(), method.begin(), method.end());
    const auto report = json(words);
    EXPECT_EQ(report["method"], method[0]);
    EXPECT_LT(report["bad_1"], 0.01) << method[0];
  }
}

TEST_F(StereoCommand, ReportsEnergies) {
  const auto result = json({"-m", "icm", "--sweeps", "4", "--beta", "40", "--energy", "result"})["energy"];
  const auto sweeps = json({"-m", "icm", "--sweeps", "4", "--beta", "40", "--energy", "sweeps"})["energy"];
  ASSERT_TRUE(result.is_number());
  ASSERT_EQ(sweeps.size(), 5u);
  EXPECT_EQ(sweeps[4], result);
  const auto colored =
      json({"-m", "icm", "--order", "colored", "--beta", "40", "--energy", "sweeps"})["energy"];
  for (std::size_t i = 1; i < colored.size(); ++i) EXPECT_LE(colored[i], colored[i - 1]);
  EXPECT_EQ(json({"-m", "winner-takes-all", "--energy", "sweeps"})["energy"].size(), 1u);
  EXPECT_NE(run_well(stereo({"--energy", "result"})).out.find("\nenergy "), std::string::npos);
  EXPECT_NE(run_well(stereo({"-m", "icm", "--energy", "sweeps"})).out.find("energies, step by step: "),
            std::string::npos);
}

TEST_F(StereoCommand, WritesDepths) {
  run_well(stereo({"-o", path("out.pfm"), "--valid", path("valid.png"), "--depth", path("depth.pfm"),
                   "--focal", "500", "--baseline", "0.16", "--doffs", "2", "--no-fill", "-q"}));
  const DisparityField field = read_disparity(path("out.pfm"));
  const auto valid = read_mask(path("valid.png"));
  const FrameBuffer depth = read_frame(path("depth.pfm"));
  ASSERT_EQ(depth.format(), PixelFormat::gray_f32);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      if (const float z = static_cast<const float*>(depth.row(y))[x]; valid(x, y))
        ASSERT_FLOAT_EQ(z, float(500 * 0.16 / (field.d(x, y) + 2.0)));
      else
        ASSERT_TRUE(std::isinf(z));
}

TEST_F(StereoCommand, RefinesTheResult) {
  const double plain = json({"-m", "winner-takes-all", "--preset", "paper"})["valid"];
  const auto report = json({"-m", "winner-takes-all", "--lr-check", "1", "--speckle", "20", "--fill",
                            "--final-median", "3", "-o", path("filled.png"), "--valid", path("valid.png")});
  EXPECT_EQ(report["parameters"]["lr_check"], 1);
  EXPECT_EQ(report["parameters"]["speckle"], 20);
  EXPECT_EQ(report["parameters"]["fill"], true);
  EXPECT_EQ(report["parameters"]["final_median"], 3);
  EXPECT_LT(report["valid"], plain) << "the left border is not seen in the right image";
  EXPECT_EQ(read_mask(path("valid.png"))(0, 20), 0);
  EXPECT_EQ(read_disparity(path("filled.png"), 256).d(0, 20), shift) << "filled, so it is written";
}

TEST_F(StereoCommand, ReportsInText) {
  const std::string text = run_well(stereo({"--gt", path("truth.png"), "--gt-scale", "4"})).out;
  for (const char* word : {"belief-propagation on cpu", "60x40", " ms", "are valid", "error above 0.5 px"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
  EXPECT_EQ(text.find("inside the mask"), std::string::npos);
  EXPECT_EQ(run_well(stereo({"-q"})).out, "");
}

TEST_F(StereoCommand, RefusesWhatIsNotUnderstood) {
  const std::string out = path("out.pfm"), depth = path("depth.pfm"), truth = path("truth.png");
  expect_failure(2, {"stereo", path("left.png")}, {"RIGHT"});
  expect_failure(2, stereo({"-o", path("out.flo")}), {"-o", ".pfm or .png or .npy"});
  expect_failure(2, stereo({"--color", path("out.pfm")}), {"--color", ".png"});
  expect_failure(2, stereo({"--depth", path("out.jpg"), "--focal", "1", "--baseline", "1"}),
                 {"--depth", ".pfm or .npy or .png"});
  expect_failure(2, stereo({"-o", out, "--color", path("a.png"), "--valid", path("a.png")}),
                 {"the same file"});
  expect_failure(2, stereo({"--depth", depth}), {"--depth", "--focal"});
  expect_failure(2, stereo({"--depth", depth, "--focal", "500"}), {"--depth", "--baseline"});
  expect_failure(2, stereo({"--focal", "500"}), {"--focal", "--depth"});
  for (const char* bad : {"0", "-1", "nan", "inf", "far"}) {
    expect_failure(2, stereo({"--depth", depth, "--baseline", "1", "--focal", bad}), {"--focal"});
    expect_failure(2, stereo({"--depth", depth, "--focal", "1", "--baseline", bad}), {"--baseline"});
  }
  expect_failure(2, stereo({"--depth", depth, "--focal", "1", "--baseline", "1", "--doffs", "inf"}),
                 {"--doffs"});
  expect_failure(2, stereo({"-o", out, "--scale", "4"}), {"--scale", out});
  expect_failure(2, stereo({"--scale", "4"}), {"--scale", "--output"});
  expect_failure(2, stereo({"-o", path("out.png"), "--scale", "0"}), {"--scale"});
  expect_failure(2, stereo({"--gt-scale", "4"}), {"--gt-scale", "--gt"});
  expect_failure(2, stereo({"--gt", truth}), {truth, "8 bits need a scale", "--gt-scale"});
  expect_failure(2, stereo({"--mask", truth}), {"--mask", "--gt"});
  expect_failure(2, {"stereo", path("left.png"), path("right.png"), "--disparities", "-1"},
                 {"disparities cannot be -1", "0 to 4096"});
  expect_failure(2, stereo({"--data", "color"}), {"data", "color", "census"});
  expect_failure(2, stereo({"-m", "annealing", "--order", "colored"}), {"annealing", "--order", "icm"});
  expect_failure(2, stereo({"-m", "lucas-kanade"}),
                 {"lucas-kanade", "belief-propagation, winner-takes-all, icm, annealing"});
  expect_failure(2, stereo({"--preset", "best"}), {"best", "quality", "paper"});
  expect_failure(2, stereo({"-m", "icm", "--preset", "fast"}), {"fast", "default, accurate, paper"});
  expect_failure(2, stereo({"--final-median", "4"}), {"final_median cannot be 4", "0, 3, 5"});
  expect_failure(2, stereo({"--lr-check", "-1"}), {"lr_check cannot be -1"});
  expect_failure(2, stereo({"--speckle", "-1"}), {"speckle cannot be -1"});
  expect_failure(2, stereo({"--energy", "all"}), {"--energy", "sweeps"});
}

TEST_F(StereoCommand, RefusesImagesThatDoNotFit) {
  const std::vector<std::uint8_t> pixels(50, 0);
  write_frame(path("small.png"), {pixels.data(), 10, 5, 0, PixelFormat::gray_u8});
  const std::string small = path("small.png"), left = path("left.png");
  expect_failure(1, {"stereo", left, small, "-d", "cpu", "-o", path("out.pfm")},
                 {left, small, "60x40", "10x5"});
  expect_failure(1, stereo({"-o", path("out.pfm"), "--gt", small, "--gt-scale", "4"}), {small, "10x5"});
  expect_failure(1, stereo({"--gt", path("truth.png"), "--gt-scale", "4", "--mask", small}), {small, "10x5"});
  expect_failure(
      1, {"stereo", left, path("right.png"), "-d", "cpu", "--disparities", "61", "-o", path("out.pfm")},
      {"0 to 60", "60 px wide"});
  expect_failure(1, stereo({"--min-disparity", "50"}), {"50 to 65", "60 px wide"});
  expect_failure(1, stereo({"--min-disparity", "-70"}), {"-70", "60 px wide"});
  expect_failure(2, stereo({"--min-disparity", "-5", "-o", path("d.png")}), {"d.png", "-5", ".pfm"});
  expect_failure(1, stereo({"-o", left}), {left, "is an input"});
  expect_failure(1, stereo({"-o", path("none/out.pfm")}), {path("none/out.pfm")});
}

TEST_F(StereoCommand, ScoresMiddleburysPair) {
  PARAFIELD_DATA_OR_SKIP(folder, "middlebury-stereo/tsukuba");
  const auto report = run_well({"stereo", folder / "left.png", folder / "right.png", "-d", "cpu",
                                "--disparities", "16", "--gt", folder / "disp_left.png", "--gt-scale", "16",
                                "--mask", folder / "nonocc_derived.png", "--json"})
                          .json();
  EXPECT_LT(report["bad_1"], 0.021);
  EXPECT_GT(report["all"]["pixels"], report["pixels"]);
}

TEST_F(StereoCommand, TakesTheTimeOfOneSolve) {
  if (tests_sanitized_command()) GTEST_SKIP() << takes_minutes;
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto report = json({"-m", "annealing", "--sweeps", "8000", "--threads", "1", "--energy", "result"});
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  EXPECT_LT(seconds, 1.1 * double(report["milliseconds"]) / 1000 + 0.2) << report["milliseconds"];
  EXPECT_EQ(report["repeats"], 0);
}

/// Progress is shown only at a terminal and for long work, and is erased at the end.
TEST_F(StereoCommand, ShowsHowFarALongRunIs) {
  if (tests_sanitized_command()) GTEST_SKIP() << takes_minutes;
  const Words long_run = stereo({"-m", "annealing", "--sweeps", "20000", "--threads", "1"});
  const Outcome interrupted = run_at_terminal(long_run, "s left");
  EXPECT_EQ(interrupted.code, 130);
  EXPECT_NE(interrupted.err.find("\restimating: "), std::string::npos) << interrupted.err;

  const Outcome run = run_at_terminal(stereo({"-m", "annealing", "--sweeps", "12000", "--json"}));
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.json()["method"], "annealing");
  EXPECT_TRUE(run.err.empty() || run.err.ends_with(" \r")) << run.err;

  for (const Words& quick : {stereo(), stereo({"-m", "icm"}), stereo({"-m", "belief-propagation"}),
                             stereo({"-m", "annealing", "--sweeps", "3000", "--quiet"})}) {
    const Outcome silent = run_at_terminal(quick);
    EXPECT_EQ(silent.code, 0);
    EXPECT_EQ(silent.err, "");
  }
}

TEST_F(StereoCommand, SaysHowManyLevelsThereIsRoomFor) {
  const auto propagation = [&](Words more) {
    more.insert(more.begin(), {"-m", "belief-propagation", "--iterations", "1"});
    return stereo(more);
  };
  const auto expect = [&](const Words& more, int levels, const std::string& note) {
    Words json = more;
    json.push_back("--json");
    Outcome outcome = run(propagation(json));
    EXPECT_EQ(outcome.err, note);
    EXPECT_EQ(outcome.json()["levels_used"], levels);
    outcome = run(propagation(more));
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, note);
    EXPECT_EQ(outcome.out.find("note"), std::string::npos);
    json.push_back("--quiet");
    EXPECT_EQ(run_well(propagation(json)).json()["levels_used"], levels);
  };
  expect({}, 6, "");
  expect({"--levels", "5"}, 5, "");
  expect({"--levels", "8"}, 6, "parafield: note: 6 levels instead of 8: more do not fit at 60x40 pixels\n");
  expect({"--blocks", "6", "--levels", "5"}, 5, "");
  expect({"--blocks", "24"}, 4,
         "parafield: note: 4 levels instead of 6: more do not fit in blocks of 10x10 pixels\n");
  expect({"--blocks", "24", "--block-overlap", "4", "--levels", "5"}, 5, "");
  expect({"--blocks", "2400"}, 1,
         "parafield: note: 1 level instead of 6: more do not fit in blocks of 1x1 pixels\n");
  EXPECT_FALSE(json({"-m", "icm"}).contains("levels_used"));
}

}  // namespace
}  // namespace parafield::test
