// SPDX-License-Identifier: MIT
// parafield video: wrong arguments and inputs, Ctrl-C, and the files that remain then.
#include <sys/resource.h>
#include <sys/stat.h>

#include "command/video_files.hpp"

namespace parafield::test {
namespace {

class VideoErrors : public VideoCommand {};

TEST_F(VideoErrors, AFailureLeavesTheOthersAlone) {
  const std::string a = film("a.y4m", 5), b = film("b.y4m", 3, frame_of_film(3).substr(0, 1000));
  const Outcome outcome = run(video({a, path("none.mp4"), b}, {"--flow-dir", path("flows"), "-q"}));
  EXPECT_EQ(outcome.code, 1);
  for (const char* says :
       {"2 of 3 videos failed", "none.mp4", "b.y4m: frame 4", "the 2 flows before it are written"})
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
  EXPECT_EQ(names_in("flows/a").size(), 4u);
  EXPECT_EQ(names_in("flows/b").size(), 2u);
}

TEST_F(VideoErrors, CtrlCLeavesWholeFiles) {
  const std::string endless = path("endless");
  ASSERT_EQ(mkfifo(endless.c_str(), 0600), 0);
  std::string head = "YUV4MPEG2 W64 H48 F25:1 Cmono\n", frames;
  for (int i = 0; i < count; ++i) frames += frame_of_film(i);
  // One source never ends; the other stops sending without closing.
  for (const bool flows : {true, false}) {
    const pid_t process = start(video({endless}, {"-o", path("out.y4m"), "--flow-dir", path("flows")}));
    std::atomic<bool> ended = false;
    std::thread writer([&] {
      std::signal(SIGPIPE, SIG_IGN);
      const int pipe = open(endless.c_str(), O_WRONLY);
      const auto give = [&](const std::string& bytes) {
        for (std::size_t at = 0; at < bytes.size();) {
          const ssize_t wrote = write(pipe, bytes.data() + at, bytes.size() - at);
          if (wrote <= 0) return false;
          at += std::size_t(wrote);
        }
        return true;
      };
      if (give(head))
        for (int i = 0; !ended && (flows || i < 3) && give(frames); ++i) {
        }
      while (!ended) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      close(pipe);
    });
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!fs::exists(path("flows/flow_00009.flo")) && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(process, SIGINT);
    const Outcome outcome = finish(process);
    ended = true;
    writer.join();
    EXPECT_EQ(outcome.code, 130);
    const int written = frames_of(path("out.y4m"));
    EXPECT_GE(written, 8);
    EXPECT_EQ(names_in("flows").size(), std::size_t(written));
    EXPECT_EQ(names_in(".").size(), 4u) << "temporary files";  // scene, endless, flows, out.y4m
    fs::remove_all(path("flows"));
    fs::remove(path("out.y4m"));
  }
}

TEST_F(VideoErrors, BadWords) {
  expect_failure(2, video({pattern()}, {}), {"nothing to write", "-o flow.mp4", "--flow-dir"});
  expect_failure(2, {"video"}, {"INPUT"});
  expect_failure(2, video({pattern()}, {"-o", path("x.txt")}), {"-o", ".mp4"});
  expect_failure(2, video({pattern()}, {"-o", path("x%d.mp4")}), {"-o", ".png"});
  expect_failure(2, video({pattern()}, {"-o", path("x.y4m"), "--view", "nice"}), {"--view", "side-by-side"});
  expect_failure(2, video({pattern()}, {"-o", path("x.y4m"), "--flow-format", "nice"}),
                 {"--flow-format", "kitti"});
  expect_failure(2, video({pattern()}, {"-o", path("x.y4m"), "--bound", "0"}), {"--bound"});
  expect_failure(2, video({pattern()}, {"-o", path("x.y4m"), "--max-motion", "-1"}), {"--max-motion"});
  expect_failure(2, video({pattern()}, {"-o", path("x.y4m"), "--every", "0"}), {"--every"});
  expect_failure(2, video({pattern()}, {"-o", path("x.y4m"), "--quality", "52"}), {"--quality"});
  expect_failure(2, video({pattern()}, {"-o", "-", "--json"}), {"--json", "standard output"});
  expect_failure(2, video({"-", "-"}, {"--flow-dir", path("x")}), {"standard input"});
  expect_failure(2, video({pattern(), pattern()}, {"-o", path("x.mp4")}), {"2 inputs", "folder"});
  expect_failure(2, video({frame0(), frame1()}, {"-o", path("x.mp4")}),
                 {"2 inputs", "the pictures of one video are a folder or a pattern, as frame%04d.png"});
  const std::string a = film("a.y4m", 3);
  fs::create_directory(path("sub"));
  fs::copy_file(a, path("sub/a.y4m"));
  expect_failure(2, video({a, path("sub/a.y4m")}, {"--flow-dir", path("flows")}), {"both", "a.y4m"});
  expect_failure(1, video({a}, {"-o", a}), {"is an input"});
  expect_failure(2, join(video({a}, {"-o", path("x.y4m"), "--fb-check", "1", "-m"}), {}), {"-m"});
}

TEST_F(VideoErrors, BadInput) {
  expect_failure(1, video({path("none.mp4")}, {"-o", path("x.y4m")}), {"none.mp4"});
  expect_failure(1, video({path("none%d.png")}, {"-o", path("x.y4m")}), {"none%d.png"});
  expect_failure(1, video({path("none.mp4")}, {"-o", path("made/")}), {"none.mp4"});
  std::ofstream(path("text.mp4")) << "no video";
  expect_failure(1, video({path("text.mp4")}, {"-o", path("x.y4m")}), {"text.mp4"});
  expect_failure(1, {"flow", path("text.mp4"), "-o", path("f%d.flo")}, {"text.mp4"});
  std::ofstream(path("text.png")) << "no picture";
  expect_failure(1, {"flow", path("text.png"), "-o", path("f%d.flo")}, {"text.png: not a PNG"});
  expect_failure(1, video({film("one.y4m", 1)}, {"-o", path("x.y4m")}), {"has 1 frame", "takes 2"});
  expect_failure(1, video({film("two.y4m", 2)}, {"-o", path("none/x.y4m")}), {"x.y4m", "none"});
  EXPECT_FALSE(fs::exists(path("x.y4m")));
}

TEST_F(VideoErrors, WhatCameBeforeAnErrorIsKept) {
  const auto fails = [&](const std::string& input, const Words& says, int kept) {
    const Outcome outcome = run(video({input}, {"-o", path("x.y4m"), "-q"}));
    EXPECT_EQ(outcome.code, 1);
    for (const std::string& word : says) EXPECT_NE(outcome.err.find(word), std::string::npos) << outcome.err;
    EXPECT_EQ(frames_of(path("x.y4m")), kept);
    fs::remove(path("x.y4m"));
  };
  fails(film("cut.y4m", 4, frame_of_film(4).substr(0, 700)),
        {"cut.y4m: frame 5", "the 3 flows before it are written"}, 3);
  std::ofstream(path("scene/frame0003.png")) << "damaged";
  fails(pattern(), {"frame0003.png", "the 2 flows before it are written"}, 2);
  fs::remove(path("scene/frame0003.png"));
  fails(pattern(), {"frame0003.png"}, 2);
  run_well({"synth", "layers", "-o", path("large"), "--size", "80x48", "-q"});
  fs::copy_file(path("large/frame0000.png"), path("scene/frame0003.png"));
  fails(pattern(), {"frame 4", "80x48", "64x48"}, 2);
}

TEST_F(VideoErrors, PicturesOneByOneAreNoVideo) {
  expect_failure(2,
                 video({path("scene/frame0000.png"), path("scene/frame0001.png")}, {"--flow-dir", path("x")}),
                 {"each of the 2 pictures is taken for a video of its own", "'frame*.png'"});
}

TEST_F(VideoErrors, AFullDiskKeepsWhatIsWritten) {
  // A limit of the size of files stands for a full disk.
  const std::string input = film("film.y4m", 40);
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{60000, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const pid_t process = start(video({input}, {"-o", path("x.y4m"), "-q"}));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("x.y4m"), std::string::npos) << outcome.err;
  EXPECT_GE(frames_of(path("x.y4m")), 5);
}

TEST_F(VideoErrors, WhereNothingMayBeWritten) {
  expect_failure(1, video({pattern()}, {"-o", "/proc/x.y4m"}), {"/proc"});
  expect_failure(1, video({pattern()}, {"--flow-dir", "/proc/flows"}), {"/proc/flows"});
  expect_failure(1, video({pattern()}, {"--flow-dir", frame0()}), {frame0()});
  fs::create_directories(path("taken/flow_00001.flo"));
  const Outcome taken = run(video({pattern()}, {"-o", path("out.y4m"), "--flow-dir", path("taken")}));
  EXPECT_EQ(taken.code, 1);
  EXPECT_NE(taken.err.find("flow_00001.flo: cannot be written"), std::string::npos) << taken.err;
  EXPECT_EQ(taken.err.find("before it"), std::string::npos) << "there is none: " << taken.err;
  if (geteuid() == 0) GTEST_SKIP() << "the superuser may write everywhere else";
  fs::create_directory(path("closed"));
  fs::permissions(path("closed"), fs::perms::owner_read | fs::perms::owner_exec);
  expect_failure(1, video({pattern()}, {"-o", path("closed/x.y4m")}), {"closed", "ermission"});
  expect_failure(1, video({pattern()}, {"--flow-dir", path("closed")}), {"closed", "ermission"});
}

TEST_F(VideoErrors, ACutVideoKeepsWhatCameBefore) {
  NEEDS_FFMPEG;
  run_well(video({film("film.y4m", 60)}, {"-o", path("clip.mkv"), "--quality", "1", "-q"}));
  std::string bytes = read_text(path("clip.mkv"));
  std::ofstream(path("cut.mkv"), std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  const Outcome outcome = run(video({path("cut.mkv")}, {"-o", path("x.mp4"), "--json"}));
  if (outcome.code != 0) {
    EXPECT_NE(outcome.err.find("cut.mkv: frame"), std::string::npos) << outcome.err;
  }
  const auto report = run_well(video({path("x.mp4")}, {"--flow-dir", path("flows"), "--json", "-q"})).json();
  EXPECT_GT(report["frames"], 10);
  EXPECT_LT(report["frames"], 58);
}

}  // namespace
}  // namespace parafield::test
