// SPDX-License-Identifier: MIT
// parafield detect on videos: masks, overlays and boxes as files and streams.
#include <csignal>

#include "command/run_command.hpp"
#include "parafield/video.hpp"

namespace parafield::test {
namespace {

namespace fs = std::filesystem;

class DetectVideo : public CommandTest {
 protected:
  static constexpr int count = 8;
  static constexpr Size size{160, 120};

  void SetUp() override {
    CommandTest::SetUp();
    run_well({"synth", "square", "-o", path("scene"), "--size", "160x120", "--frames", std::to_string(count),
              "--rgb", "-q"});
  }
  std::string pattern() const { return path("scene/frame%04d.png"); }
  static Words detect(const std::string& input, const Words& more) {
    return join({"detect", input, "-d", "cpu", "--threads", "2"}, more);
  }
  /// The scene's frames, again and again, as a Y4M file of one channel.
  std::string film(const std::string& name, int frames) const {
    std::ofstream file(path(name), std::ios::binary);
    file << "YUV4MPEG2 W160 H120 F25:1 Cmono\n";
    for (int i = 0; i < frames; ++i)
      file << y4m_frame(read_frame(path("scene/frame000" + std::to_string(i % count) + ".png")));
    return path(name);
  }
  std::vector<MotionMask> expected_masks() const {
    MotionDetector detector(Icm<ChangeEnergy>{}, size, {.device = Device::cpu()});
    std::vector<MotionMask> masks;
    for (int i = 0; i < count; ++i)
      if (const MotionMask* mask =
              detector.push(read_frame(path("scene/frame000" + std::to_string(i) + ".png"))))
        masks.push_back(mask->to(Memory::host()));
    return masks;
  }
  static void expect_mask(const FrameBuffer& mask, const MotionMask& expected) {
    ASSERT_EQ(mask.size(), size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        ASSERT_EQ(static_cast<const std::uint8_t*>(mask.row(y))[x], expected.moving(x, y) ? 255 : 0);
  }
  std::vector<nlohmann::json> lines(const std::string& text) const {
    std::vector<nlohmann::json> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.push_back(nlohmann::json::parse(line));
    return all;
  }
  bool has_ffmpeg() const {
    return run(detect(pattern(), {"-o", path("try.mp4"), "-q"})).err.find("FFmpeg") == std::string::npos;
  }
};

TEST_F(DetectVideo, MasksAreThoseOfADetector) {
  const std::vector<MotionMask> expected = expected_masks();
  const auto json = run_well(detect(pattern(), {"-o", path("m%02d.png"), "--json"})).json();
  EXPECT_EQ(json["frames"], count);
  EXPECT_EQ(json["repeats"], count - 1);
  EXPECT_GT(json["fps"], 0);
  run_well(detect(pattern(), {"-o", path("m.y4m"), "-q"}));
  FrameSource video(path("m.y4m"));
  for (int i = 1; i < count; ++i) {
    expect_mask(read_frame(path("m0" + std::to_string(i) + ".png")), expected[std::size_t(i - 1)]);
    std::optional<VideoFrame> frame = video.next();
    ASSERT_TRUE(frame);
    const auto moving = [&](int x, int y) {
      return static_cast<const std::uint8_t*>(frame->frame.row(y))[x] > 127;
    };
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        ASSERT_EQ(moving(x, y), expected[std::size_t(i - 1)].moving(x, y) != 0);
  }
  EXPECT_FALSE(video.next());
  EXPECT_FALSE(fs::exists(path("m00.png")));
}

TEST_F(DetectVideo, ListsAndPatternsGiveTheSame) {
  Words files = {"detect"};
  for (int i = 0; i < count; ++i) files.push_back(path("scene/frame000" + std::to_string(i) + ".png"));
  run_well(join(files, {"-d", "cpu", "-o", path("a.y4m"), "--boxes", path("a.jsonl"), "-q"}));
  run_well(detect(pattern(), {"-o", path("b.y4m"), "--boxes", path("b.jsonl"), "-q"}));
  run_well(join(files, {"-d", "cpu", "-o", path("c%d.png"), "--boxes", path("c.jsonl"), "-q"}));
  EXPECT_EQ(read_text(path("a.y4m")), read_text(path("b.y4m")));
  EXPECT_EQ(read_text(path("a.jsonl")), read_text(path("b.jsonl")));
  const auto a = lines(read_text(path("a.jsonl"))), c = lines(read_text(path("c.jsonl")));
  ASSERT_EQ(a.size(), c.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i]["boxes"], c[i]["boxes"]);
    EXPECT_EQ(a[i]["frame"], c[i]["frame"]);
  }
}

TEST_F(DetectVideo, ListsBoxesOfAtLeastAnArea) {
  const std::vector<MotionMask> expected = expected_masks();
  const std::string out = run_well(detect(pattern(), {"--boxes", "-", "--min-area", "9", "-q"})).out;
  const auto all = lines(out);
  ASSERT_EQ(all.size(), expected.size());
  int boxes = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<Box> found = find_boxes(expected[i].moving, {.min_area = 9});
    EXPECT_EQ(all[i]["frame"], i + 1);
    EXPECT_NEAR(all[i]["time"], 0.04 * double(i + 1), 1e-6);
    ASSERT_EQ(all[i]["boxes"].size(), found.size());
    for (std::size_t j = 0; j < found.size(); ++j)
      EXPECT_EQ(all[i]["boxes"][j], (nlohmann::json{{"x", found[j].x},
                                                    {"y", found[j].y},
                                                    {"width", found[j].width},
                                                    {"height", found[j].height},
                                                    {"area", found[j].area}}));
    boxes += int(found.size());
  }
  EXPECT_GT(boxes, count);
}

TEST_F(DetectVideo, DrawsBoxesIntoTheOverlay) {
  const auto yellow = [&](const Words& more) {
    run_well(detect(pattern(), join({"--overlay", path("o%d.png"), "-q"}, more)));
    const FrameBuffer picture = read_frame(path("o3.png"));
    int pixels = 0;
    for (int y = 0; y < picture.size().height; ++y)
      for (int x = 0; x < picture.size().width; ++x) {
        const auto* rgb = static_cast<const std::uint8_t*>(picture.row(y)) + 3 * x;
        pixels += rgb[0] == 255 && rgb[1] == 220 && rgb[2] == 0;
      }
    return pixels;
  };
  EXPECT_EQ(yellow({}), 0);
  EXPECT_GT(yellow({"--min-area", "9"}), 20);
  EXPECT_EQ(yellow({"--min-area", "19200"}), 0);
  run_well(detect(pattern(), {"--overlay", path("o.y4m"), "--beside", "-q"}));
  EXPECT_EQ(FrameSource(path("o.y4m")).info().size, (Size{320, 120}));
}

TEST_F(DetectVideo, ReadsAFilmOnStandardInput) {
  set_input(film("film.y4m", 20));
  const auto json = run_well(detect("-", {"-o", path("out.y4m"), "--json"})).json();
  EXPECT_EQ(json["frames"], 20);
}

TEST_F(DetectVideo, InterruptedFilesAreWhole) {
  const std::string clip = film("film.y4m", 4000);
  const pid_t process =
      start(detect(clip, {"-o", path("out.y4m"), "--boxes", path("b.jsonl"), "-m", "annealing"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  kill(process, SIGINT);
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.code, 130);
  EXPECT_NE(outcome.err.find("interrupted"), std::string::npos) << outcome.err;
  int frames = 0;
  for (FrameSource reader(path("out.y4m")); reader.next();) ++frames;
  EXPECT_GT(frames, 0);
  EXPECT_EQ(lines(read_text(path("b.jsonl"))).size(), std::size_t(frames));
  EXPECT_FALSE(fs::exists(path("b.jsonl.part")));
}

TEST_F(DetectVideo, ErrorsKeepWhatWasWritten) {
  film("film.y4m", 12);
  fs::resize_file(path("film.y4m"), fs::file_size(path("film.y4m")) - 100);
  const auto expect_error = [](const Outcome& outcome, const Words& words) {
    EXPECT_EQ(outcome.code, 1);
    for (const std::string& word : words) EXPECT_NE(outcome.err.find(word), std::string::npos) << outcome.err;
  };
  expect_error(run(detect(path("film.y4m"), {"-o", path("out.y4m"), "--boxes", path("b.jsonl")})),
               {"film.y4m", "frame 12", "the 10 masks before it are written"});
  EXPECT_EQ(lines(read_text(path("b.jsonl"))).size(), 10u);
  int frames = 0;
  for (FrameSource reader(path("out.y4m")); reader.next();) ++frames;
  EXPECT_EQ(frames, 10);
  fs::remove(path("scene/frame0004.png"));
  expect_error(run(detect(pattern(), {"-o", path("m%d.png")})), {"frame0004.png", "the 3 masks"});
  EXPECT_TRUE(fs::exists(path("m3.png")));
}

TEST_F(DetectVideo, BadWordsAreErrors) {
  const std::string in = pattern();
  expect_failure(2, detect(in, {"-o", path("a.y4m"), "--overlay", path("a.y4m")}),
                 {"-o", "--overlay", "same"});
  expect_failure(2, detect(in, {"-o", "-", "--json"}), {"-o -", "--json", "standard output"});
  expect_failure(2, detect(in, {"--boxes", "-", "--json"}), {"--boxes -", "--json"});
  expect_failure(2, detect(in, {"--min-area", "0"}), {"--min-area", "1 to"});
  expect_failure(2, detect(in, {"-o", path("a.y4m"), "--repeat", "2"}), {"--repeat"});
  expect_failure(2, detect(in, {"-o", path("a.y4m"), "--energy", "result"}), {"--energy"});
  expect_failure(2, detect(in, {"-o", path("a.txt")}), {"-o", ".mp4"});
  expect_failure(1, detect(in, {"-o", path("none/a.y4m")}), {path("none")});
  expect_failure(1, detect(in, {"--boxes", path("none/a")}), {path("none")});
  expect_failure(1, detect(path("none.mp4"), {"-o", path("a.y4m")}), {"none.mp4"});
  expect_failure(1, detect(path("scene/none%d.png"), {"-o", path("a.y4m")}), {"none%d.png"});
  film("one.y4m", 1);
  expect_failure(2, detect(path("one.y4m"), {"-o", path("a.y4m")}), {"two frames or more, not 1"});
  EXPECT_FALSE(fs::exists(path("a.y4m")));
}

TEST_F(DetectVideo, VideoFiles) {
  if (!has_ffmpeg()) GTEST_SKIP() << "the command was built without FFmpeg";
  run_well(detect(pattern(), {"--overlay", path("o.mkv"), "-o", path("m.mp4"), "-q"}));
  const auto json = run_well(detect(path("o.mkv"), {"-o", path("n.mp4"), "--json"})).json();
  EXPECT_EQ(json["frames"], count - 1);
  EXPECT_EQ(json["width"], size.width);
}

}  // namespace
}  // namespace parafield::test
