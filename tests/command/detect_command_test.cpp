// SPDX-License-Identifier: MIT
// parafield detect, end to end, on a square that moves before noise.
#include <random>

#include "command/run_command.hpp"
#include "io/folder.hpp"
#include "support.hpp"

namespace parafield::test {
namespace {

class DetectCommand : public CommandTest {
 protected:
  static constexpr int width = 48, height = 36, frames = 4;

  void SetUp() override {
    CommandTest::SetUp();
    std::mt19937 random(5);
    for (int i = 0; i < frames; ++i) {
      std::vector<std::uint8_t> frame(width * height), labels(frame.size());
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          const std::size_t at = std::size_t(y * width + x);
          const bool here = in_square(x, y, i), moves = i > 0 && here != in_square(x, y, i - 1);
          frame[at] = std::uint8_t((here ? 200 : 90) + random() % 5);
          labels[at] = moves ? 255 : y == 0 ? 170 : 0;
        }
      write(frame_name(i), frame);
      write("label" + std::to_string(i) + ".png", labels);
    }
  }

  /// The square appears in the second frame and moves.
  static bool in_square(int x, int y, int i) {
    return i > 0 && x >= 12 * (i - 1) && x < 12 * i && y >= 10 && y < 24;
  }
  static std::string frame_name(int i) { return "frame" + std::to_string(i) + ".png"; }
  std::string label(int i) const { return path("label" + std::to_string(i) + ".png"); }
  void write(const std::string& name, const std::vector<std::uint8_t>& values, Size size = {width, height}) {
    write_frame(path(name), {values.data(), size.width, size.height, 0, PixelFormat::gray_u8});
  }

  /// `parafield detect` with the first `count` frames and more words.
  Words detect(int count, Words more = {}) const {
    Words words = {"detect"};
    for (int i = 0; i < count; ++i) words.push_back(path(frame_name(i)));
    words.insert(words.end(), {"-d", "cpu"});
    more.insert(more.begin(), words.begin(), words.end());
    return more;
  }

  void expect_mask(const std::string& file, const MotionMask& expected) const {
    const FrameBuffer mask = read_frame(path(file));
    ASSERT_EQ(mask.size(), expected.size());
    ASSERT_EQ(mask.format(), PixelFormat::gray_u8);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        ASSERT_EQ(static_cast<const std::uint8_t*>(mask.row(y))[x], expected.moving(x, y) ? 255 : 0);
  }
};

TEST_F(DetectCommand, WritesMaskAndOverlayAndScores) {
  const auto json = run_well(detect(2, {"-o", path("mask.png"), "--overlay", path("overlay.png"), "--gt",
                                        label(1), "--repeat", "2", "--json"}))
                        .json();
  EXPECT_EQ(json["method"], "icm");
  EXPECT_EQ(json["parameters"]["sigma"], 15);
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_EQ(json["width"], width);
  EXPECT_EQ(json["height"], height);
  EXPECT_EQ(json["repeats"], 2);
  EXPECT_EQ(json["frames"], 2);
  EXPECT_GT(json["milliseconds"], 0);
  EXPECT_GT(json["f1"], 0.9);
  EXPECT_EQ(json["unscored"], width);
  EXPECT_NEAR(json["moving"], 12 * 14. / (width * height), 0.02);
  EXPECT_FALSE(json.contains("energy"));
  EXPECT_EQ(read_frame(path("overlay.png")).format(), PixelFormat::rgb_u8);
  expect_mask("mask.png", detect_motion(read_frame(path(frame_name(0))), read_frame(path(frame_name(1))), {},
                                        {.device = Device::cpu()}));
  const auto eval = run_well({"eval", "--task", "mask", path("mask.png"), label(1), "--json"}).json();
  for (const char* key : {"precision", "recall", "f1", "iou", "pwc", "true_positives", "unscored"})
    EXPECT_EQ(json[key], eval[key]) << key;
}

TEST_F(DetectCommand, PutsTheFrameBesideTheOverlay) {
  run_well(detect(3, {"--overlay", path("overlay%d.png"), "--beside", "-q"}));
  EXPECT_EQ(read_frame(path("overlay2.png")).size(), (Size{2 * width, height}));
  expect_failure(2, detect(2, {"--beside"}), {"--beside", "--overlay"});
}

TEST_F(DetectCommand, SeriesUsesTheLastMask) {
  const Words more = {"-o",    path("mask%04d.png"), "--overlay", path("overlay%d.png"), "--temporal", "3",
                      "--json"};
  const auto json = run_well(detect(frames, more)).json();
  EXPECT_EQ(json["frames"], frames);
  EXPECT_EQ(json["repeats"], frames - 1);
  Icm<ChangeEnergy> method;
  method.energy.temporal = 3;
  MotionDetector detector(method, {width, height}, {.device = Device::cpu()});
  for (int i = 0; i < frames; ++i)
    if (const MotionMask* mask = detector.push(read_frame(path(frame_name(i))))) {
      expect_mask("mask000" + std::to_string(i) + ".png", *mask);
      EXPECT_TRUE(std::filesystem::exists(path("overlay" + std::to_string(i) + ".png")));
    }
  EXPECT_EQ(contents().size(), 2u * frames + 2 * (frames - 1)) << "and no other files";
}

TEST_F(DetectCommand, SeriesGoIntoTwoFolders) {
  std::filesystem::create_directory(path("masks"));
  run_well(detect(3, {"-o", path("masks/%3d.pgm"), "--overlay", path("o%02d.ppm"), "-q"}));
  for (const char* file : {"masks/  1.pgm", "masks/  2.pgm", "o01.ppm", "o02.ppm"})
    EXPECT_TRUE(std::filesystem::exists(path(file))) << file;
  run_well(detect(2, {"-o", path("one%d.png"), "-q"}));
  EXPECT_TRUE(std::filesystem::exists(path("one1.png")));
}

TEST_F(DetectCommand, SeriesFollowLinks) {
  std::ofstream(path("real")) << "old";
  std::filesystem::create_symlink(path("real"), path("m2.png"));
  run_well(detect(3, {"-o", path("m%d.png"), "-q"}));
  EXPECT_TRUE(std::filesystem::is_symlink(path("m2.png")));
  EXPECT_EQ(read_frame(path("real")).size(), (Size{width, height}));
}

TEST_F(DetectCommand, ScoresOfASeriesAddUp) {
  const auto json = run_well(detect(frames, {"-o", path("mask%d.png"), "--json", "--gt", label(1), label(2),
                                             label(3), "--mask", path("label1.png")}))
                        .json();
  int right = 0;
  for (int i = 1; i < frames; ++i)
    right += int(run_well({"eval", "--task", "mask", path("mask" + std::to_string(i) + ".png"), label(i),
                           "--mask", path("label1.png"), "--json"})
                     .json()["true_positives"]);
  EXPECT_EQ(json["true_positives"], right);
  EXPECT_GT(right, 0);
}

TEST_F(DetectCommand, ReportsInTextAndEnergies) {
  const std::string text = run_well(detect(2, {"--gt", label(1), "--energy", "result"})).out;
  for (const char* word : {"icm on cpu", "48x36", " ms", "are moving", "\nenergy ", "precision"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
  EXPECT_EQ(run_well(detect(2, {"-q"})).out, "");
  EXPECT_EQ(run_well(detect(2, {"-m", "annealing", "--sweeps", "5", "--energy", "sweeps", "--json"}))
                .json()["energy"]
                .size(),
            6u);
}

TEST_F(DetectCommand, BadOptionsAreErrors) {
  const std::string out = path("mask.png"), series = path("mask%04d.png");
  expect_failure(2, detect(0), {"FRAMES"});
  expect_failure(2, detect(1), {"2 frames, not 1"});
  for (const char* bad : {"mask.png", "%d%d.png", "mask%x.png", "mask%.png", "mask%004d.png"})
    expect_failure(2, detect(3, {"-o", path(bad)}), {"-o", path(bad), "like name%04d.png"});
  for (const int count : {2, 3}) {
    expect_failure(2, detect(count, {"-o", path("%04d%04d.png")}), {"has one place of a number, not 2"});
    expect_failure(2, detect(count, {"-o", path("m%99999d.png")}), {"%d, or %1d to %09d"});
    expect_failure(2, detect(count, {"-o", path("100%%d.png")}), {"no other %"});
  }
  expect_failure(2, detect(3, {"-o", path("d%d/m.png")}), {"not that of its folder"});
  expect_failure(2, detect(3, {"-o", path("m1.jpg")}), {"m1.jpg: the name should end in .png"});
  expect_failure(2, detect(3, {"-o", series, "--overlay", out}), {"--overlay", "like name%04d.png"});
  expect_failure(2, detect(2, {"-o", path("mask.jpg")}), {"-o", ".png"});
  expect_failure(2, detect(3, {"-o", path("mask%d.jpg")}), {"-o", ".png"});
  expect_failure(2, detect(3, {"-o", series, "--overlay", series}), {"-o", "--overlay", "the same file"});
  expect_failure(2, detect(3, {"--gt", label(1)}), {"--gt: 1 file for 2 masks"});
  expect_failure(2, detect(2, {"--mask", label(1)}), {"--mask", "--gt"});
  expect_failure(2, detect(3, {"--repeat", "2"}), {"--repeat", "two frames"});
  expect_failure(2, detect(3, {"--energy", "result"}), {"--energy", "two frames"});
  expect_failure(2, detect(2, {"--sigma", "0"}), {"sigma cannot be 0", "0.01 to 1000"});
  expect_failure(2, detect(2, {"--disparities", "4"}), {"--disparities"});
  expect_failure(2, detect(2, {"-m", "lucas-kanade"}), {"lucas-kanade", "icm, annealing"});
}

TEST_F(DetectCommand, FailuresLeaveNothingUnfinished) {
  write("small.png", std::vector<std::uint8_t>(20), {5, 4});
  write("sevens.png", std::vector<std::uint8_t>(width * height, 7));
  const std::string small = path("small.png"), out = path("mask%d.png");
  expect_failure(1, {"detect", path(frame_name(0)), small, "-d", "cpu", "-o", path("mask.png")},
                 {small, "48x36", "5x4"});
  expect_failure(1, detect(2, {"-o", path("mask.png"), "--gt", small}), {small, "5x4"});
  expect_failure(1, detect(2, {"-o", path("mask.png"), "--gt", path("sevens.png")}),
                 {path("sevens.png"), "label 7"});
  expect_failure(1, detect(4, {"-o", path("frame%d.png")}), {path("frame1.png"), "input"});
  expect_failure(1, detect(3, {"-o", path("label%d.png"), "--gt", path("label0.png"), label(2)}),
                 {path("label2.png"), "input"});
  expect_failure(1, detect(3, {"-o", path("none/mask%d.png")}), {path("none")});
  std::filesystem::create_directory(path("m2.png"));
  expect_failure(1, detect(4, {"-o", path("m%d.png")}), {path("m2.png"), "it is a folder"});
  std::filesystem::create_symlink(path("nowhere"), path("l2.png"));
  expect_failure(1, {"detect", path(frame_name(0)), small, small, "-d", "cpu", "-o", path("l%d.png")},
                 {path("l2.png"), "the link leads nowhere"});  // before frames are read

  // After a failure, a series keeps the masks that were written before it.
  for (const Words& words :
       {Words{"detect", path(frame_name(0)), path(frame_name(1)), small, "-d", "cpu", "-o", out},
        detect(3, {"-o", out, "--gt", label(1), path("sevens.png")})}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find("the mask before it is written"), std::string::npos) << outcome.err;
    EXPECT_TRUE(std::filesystem::exists(path("mask1.png")));
    EXPECT_FALSE(std::filesystem::exists(path("mask2.png")));
    std::filesystem::remove(path("mask1.png"));
  }
}

TEST_F(DetectCommand, FindsCdnetsCars) {
  PARAFIELD_DATA_OR_SKIP(folder, "cdnet/highway_a");
  const auto json = run_well({"detect", folder / "gray/in000861.png", folder / "gray/in000862.png",
                              folder / "gray/in000863.png", "-d", "cpu", "--json", "--gt",
                              folder / "groundtruth/gt000862.png", folder / "groundtruth/gt000863.png"})
                        .json();
  EXPECT_GT(json["f1"], 0.75);
  EXPECT_GT(json["unscored"], 1000);
}

TEST_F(DetectCommand, ABackgroundIsSavedLoadedAndFrozen) {
  const Words to = {"--background", "--background-file", path("learned")};
  const auto with = [&](const Words& more) {
    Words words = to;
    words.insert(words.end(), more.begin(), more.end());
    return detect(frames, words);
  };
  expect_failure(2, with({"--freeze"}), {"there is no such file"});
  run_well(with({}));
  const std::vector<std::uint8_t> learned = bytes_in(path("learned"));
  EXPECT_FALSE(learned.empty());
  run_well(with({"--freeze", "-o", path("mask%d.png")}));
  EXPECT_EQ(bytes_in(path("learned")), learned);
  run_well(with({}));
  EXPECT_NE(bytes_in(path("learned")), learned);
  expect_failure(1, with({"-m", "annealing-background"}), {"was learned by 'icm-background'"});
  expect_failure(2, detect(2, {"--background-file", path("learned")}), {"give --background"});
  expect_failure(2, detect(2, {"--freeze"}), {"give --background"});
  run_well(detect(2, {"--background", "--background-file", path("learned"), "-o", path("one.png")}));
}

TEST_F(DetectCommand, OnlyTheRegionIsDetected) {
  std::vector<std::uint8_t> region(width * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < 10; ++x) region[std::size_t(y * width + x)] = 255;
  write("region.png", region);
  for (const Words& method : {Words{}, Words{"--background"}}) {
    Words words = {"--region", path("region.png"), "-o", path("mask%d.png"), "--boxes", path("boxes.jsonl")};
    words.insert(words.end(), method.begin(), method.end());
    run_well(detect(frames, words));
    const FrameBuffer mask = read_frame(path("mask1.png"));
    int inside = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const bool moves = static_cast<const std::uint8_t*>(mask.row(y))[x] != 0;
        if (x >= 10) {
          EXPECT_FALSE(moves) << x << ", " << y;
        }
        inside += moves;
      }
    EXPECT_GT(inside, 100);
  }
  write("small.png", std::vector<std::uint8_t>(12), {4, 3});
  expect_failure(1, detect(2, {"--region", path("small.png")}), {"small.png is 4x3"});
  write("none.png", std::vector<std::uint8_t>(width * height));
  expect_failure(1, detect(2, {"--region", path("none.png")}), {"no pixel is in the region"});
}

}  // namespace
}  // namespace parafield::test
