// SPDX-License-Identifier: MIT
// parafield video: its inputs and outputs, and how it continues an earlier run.
#include "command/video_files.hpp"

namespace parafield::test {
namespace {

TEST_F(VideoCommand, WritesThatOfEachPairOfFrames) {
  const nlohmann::json report =
      run_well(video({pattern()}, {"-o", path("out.y4m"), "--flow-dir", path("flows"), "--json"})).json();
  EXPECT_EQ(report["command"], "video");
  EXPECT_EQ(report["method"], "lucas-kanade");
  EXPECT_EQ(report["frames"], count);
  EXPECT_EQ(report["flows"], count - 1);
  ASSERT_EQ(report["videos"].size(), 1u);
  EXPECT_EQ(report["videos"][0]["width"], 64);
  EXPECT_EQ(report["videos"][0]["files"], (Words{path("out.y4m"), path("flows")}));
  EXPECT_GT(report["videos"][0]["compute_milliseconds"], 0.0);
  EXPECT_EQ(frames_of(path("out.y4m")), count - 1);
  // The same result as `flow`: the method starts from the flow of the pair before.
  Words frames;
  for (int i = 0; i < count; ++i) frames.push_back(path("scene/frame000" + std::to_string(i) + ".png"));
  run_well(
      join(join({"flow", "-d", "cpu", "--threads", "1", "-m", "lucas-kanade", "--levels", "2", "-q"}, frames),
           {"-o", path("f%d.flo")}));
  EXPECT_EQ(names_in("flows").size(), std::size_t(count - 1));
  for (int i = 1; i < count; ++i)
    EXPECT_TRUE(read_text(path("f" + std::to_string(i) + ".flo")) ==
                read_text(path("flows/flow_0000" + std::to_string(i) + ".flo")))
        << i;
  const std::string text = run_well(video({pattern()}, {"-o", path("out.y4m")})).out;
  EXPECT_NE(text.find("5 flows of 6 frames in"), std::string::npos) << text;
  EXPECT_EQ(run_well(video({pattern()}, {"-o", path("out.y4m"), "-q"})).out, "");
}

TEST_F(VideoCommand, AFolderIsAVideoToo) {
  run_well({"synth", "layers", "-o", path("more"), "--size", "64x48", "--frames", "3", "-q"});
  for (const char* file : {"flow0000.flo", "flow0001.flo", "occluded0000.png", "occluded0001.png"})
    fs::remove(path("more/" + std::string(file)));
  const auto report = run_well(video({path("more")}, {"--flow-dir", path("flows"), "--json"})).json();
  EXPECT_EQ(report["frames"], 3);
  EXPECT_EQ(names_in("flows"), (std::set<std::string>{"flow_00001.flo", "flow_00002.flo"}));
}

TEST_F(VideoCommand, FormatsOfFlow) {
  for (const auto& [format, extension] : {std::pair("flo", "flo"), std::pair("kitti", "png"),
                                          std::pair("npy", "npy"), std::pair("pfm", "pfm")}) {
    run_well(video({pattern()}, {"--flow-dir", path(format), "--flow-format", format, "-q"}));
    EXPECT_EQ(read_flow(path(std::string(format) + "/flow_00005." + extension)).size(), size) << format;
  }
  const FlowField flow = read_flow(path("flo/flow_00003.flo"));
  for (const char* format : {"png", "jpg"}) {
    run_well(
        video({pattern()}, {"--flow-dir", path("bytes"), "--flow-format", format, "--bound", "8", "-q"}));
    const std::string extension = std::string("_00003.") + format;
    const FrameBuffer x = read_frame(path("bytes/flow_x" + extension)),
                      y = read_frame(path("bytes/flow_y" + extension));
    EXPECT_EQ(x.format(), PixelFormat::gray_u8);
    for (const auto& [plane, bytes] : {std::pair(&flow.u, &x), std::pair(&flow.v, &y)}) {
      double wrong = 0;
      for (int row = 0; row < size.height; ++row)
        for (int column = 0; column < size.width; ++column) {
          const double value = static_cast<const std::uint8_t*>(bytes->row(row))[column] * 16 / 255.0 - 8;
          wrong += std::abs(value - std::clamp((*plane)(column, row), -8.0f, 8.0f));
        }
      EXPECT_LT(wrong / (size.width * size.height), std::string(format) == "png" ? 0.02 : 0.1) << format;
    }
  }
  EXPECT_EQ(names_in("bytes").size(), 4u * (count - 1));
}

TEST_F(VideoCommand, Views) {
  // A scale so large that hardly any pixel has a color.
  const auto picture = [&](const std::string& view, const Words& more = {}) {
    run_well(video({pattern()}, join({"-o", path("view%02d.png"), "--view", view, "-q"}, more)));
    return read_frame(path("view00.png"));
  };
  const FrameBuffer frame = read_frame(path("scene/frame0000.png"));
  const FrameBuffer white = picture("color", {"--max-motion", "100000"});
  EXPECT_EQ(white.size(), size);
  EXPECT_EQ(pixel(white, 30, 20), (std::array{255, 255, 255}));
  EXPECT_EQ(pixel(picture("overlay", {"--max-motion", "100000"}), 30, 20), pixel(frame, 30, 20));
  const FrameBuffer both = picture("side-by-side");
  EXPECT_EQ(both.size(), (Size{128, 48}));
  EXPECT_EQ(pixel(both, 30, 20), pixel(frame, 30, 20));
  EXPECT_EQ(pixel(both, 64 + 30, 20), pixel(picture("color"), 30, 20));
  const FrameBuffer arrows = picture("arrows", {"--step", "12"});
  EXPECT_EQ(arrows.size(), size);
  int yellow = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const auto [r, g, b] = pixel(arrows, x, y);
      yellow += r > 200 && g > 180 && b < 80;
    }
  EXPECT_GT(yellow, 20);
  EXPECT_FALSE(fs::exists(path("view05.png")));
}

TEST_F(VideoCommand, ColorsAreThoseOfTheCommandColor) {
  run_well(
      video({pattern()}, {"-o", path("seen%d.png"), "--flow-dir", path("flows"), "--max-motion", "4", "-q"}));
  run_well({"color", path("flows/flow_00002.flo"), "--max-motion", "4", "-o", path("color.png")});
  const FrameBuffer seen = read_frame(path("seen1.png")), color = read_frame(path("color.png"));
  int most = 0;
  for (int y = 0; y < size.height; ++y)
    for (int i = 0; i < 3 * size.width; ++i) {
      const auto at = [&](const FrameBuffer& picture) {
        return int(static_cast<const std::uint8_t*>(picture.row(y))[i]);
      };
      if (const int beside = std::abs(at(seen) - at(color)); beside < 60)
        most = std::max(most, beside);  // but for the rim
    }
  EXPECT_LE(most, 6);
}

TEST_F(VideoCommand, TheScaleIsSteady) {
  // The motion doubles, but the scale stays near the first flow's.
  std::ofstream file(path("jump.y4m"), std::ios::binary);
  file << "YUV4MPEG2 W64 H48 F25:1 Cmono\n";
  for (int i = 0; i < 3; ++i) file << frame_of_film(i);
  for (int i = 0; i < 3; ++i) file << frame_of_film(2 + i % 2);
  file.close();
  run_well(video({path("jump.y4m")}, {"-o", path("s%d.png"), "--flow-dir", path("flows"), "-q"}));
  const FlowField flow = read_flow(path("flows/flow_00001.flo"));
  run_well({"color", path("flows/flow_00001.flo"), "--max-motion",
            std::to_string(std::max(color_scale(flow), 2.0f)), "-o", path("color.png")});
  const auto a = pixel(read_frame(path("s0.png")), 20, 20), b = pixel(read_frame(path("color.png")), 20, 20);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(a[i], b[i], 40) << i;
}

TEST_F(VideoCommand, EveryAndMaxFramesAndRate) {
  const std::string long_film = film("film.y4m", 12);
  auto report = run_well(video({long_film}, {"-o", path("a.y4m"), "--every", "3", "--json"})).json();
  EXPECT_EQ(report["frames"], 4);
  EXPECT_EQ(report["flows"], 3);
  const std::string head = read_text(path("a.y4m")).substr(0, 60);
  double over = 0, under = 1;
  std::sscanf(head.c_str(), "YUV4MPEG2 W64 H48 F%lf:%lf", &over, &under);
  EXPECT_NEAR(over / under, 25.0 / 3, 1e-4) << head;
  report = run_well(video({long_film}, {"-o", path("b.y4m"), "--max-frames", "5", "--rate", "50", "--json"}))
               .json();
  EXPECT_EQ(report["frames"], 5);
  EXPECT_NE(read_text(path("b.y4m")).find(" F50:1"), std::string::npos)
      << read_text(path("b.y4m")).substr(0, 60);
}

TEST_F(VideoCommand, PipesInAndOut) {
  set_input(film("in.y4m", 5));
  const Outcome outcome = run(video({"-"}, {"-o", "-", "-q"}));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  std::ofstream(path("out.y4m"), std::ios::binary) << outcome.out;
  EXPECT_EQ(frames_of(path("out.y4m")), 4);
  const Outcome told = run(video({"-"}, {"-o", "-"}));
  EXPECT_NE(told.err.find("standard input: 4 flows of 5 frames"), std::string::npos) << told.err;
  EXPECT_TRUE(told.out == outcome.out);
}

TEST_F(VideoCommand, SeveralInputsAtOnce) {
  const std::string a = film("a.y4m", 5), b = film("b.y4m", 7);
  const auto report = run_well(video({a, b}, {"--flow-dir", path("flows"), "--jobs", "2", "--json"})).json();
  EXPECT_EQ(report["frames"], 12);
  EXPECT_EQ(report["videos"][1]["flows"], 6);
  EXPECT_EQ(names_in("flows/a").size(), 4u);
  EXPECT_EQ(names_in("flows/b").size(), 6u);
  run_well(video({b}, {"--flow-dir", path("alone"), "-q"}));
  EXPECT_TRUE(read_text(path("alone/flow_00006.flo")) == read_text(path("flows/b/flow_00006.flo")));
}

TEST_F(VideoCommand, GoesOnWhereItEnded) {
  const std::string input = film("film.y4m", 6);
  const Words words = video({input}, {"--flow-dir", path("flows"), "--resume", "--json"});
  run_well(words);
  const std::string third = read_text(path("flows/flow_00003.flo"));
  fs::remove(path("flows/flow_00003.flo"));
  fs::remove(path("flows/flow_00005.flo"));
  const auto before = fs::last_write_time(path("flows/flow_00002.flo"));
  auto report = run_well(join(words, {"--no-temporal"})).json();
  EXPECT_EQ(report["videos"][0]["skipped"], 2);
  EXPECT_EQ(report["flows"], 3);
  EXPECT_EQ(names_in("flows").size(), 5u);
  EXPECT_EQ(fs::last_write_time(path("flows/flow_00002.flo")), before);
  EXPECT_EQ(read_flow(path("flows/flow_00003.flo")).size(), size);
  report = run_well(words).json();
  EXPECT_EQ(report["videos"][0]["skipped"], 5);
  EXPECT_EQ(report["flows"], 0);

  // An existing video is complete.
  run_well(video({input}, {"-o", path("out.y4m"), "-q"}));
  const auto written = fs::last_write_time(path("out.y4m"));
  EXPECT_NE(run_well(video({input}, {"-o", path("out.y4m"), "--resume"})).out.find("all was there"),
            std::string::npos);
  EXPECT_EQ(fs::last_write_time(path("out.y4m")), written);
}

TEST_F(VideoCommand, TellsHowFarItIs) {
  set_input(film("film.y4m", 3000));
  const Outcome outcome = run_at_terminal({"video", "-d", "cpu", "-m", "lucas-kanade", "--iterations", "60",
                                           "--jobs", "1", "-", "-o", path("x.y4m")},
                                          "flows, ");
  EXPECT_EQ(outcome.code, 130);
  EXPECT_NE(outcome.err.find("a second"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("interrupted"), std::string::npos) << outcome.err;
  EXPECT_GT(frames_of(path("x.y4m")), 0);
}

TEST_F(VideoCommand, VideoFiles) {
  NEEDS_FFMPEG;
  const std::string clip = path("clip.mp4");
  run_well(video({pattern()}, {"-o", clip, "--view", "overlay", "--rate", "30", "-q"}));
  auto report = run_well(video({clip}, {"-o", path("flow.mkv"), "--view", "side-by-side", "--json"})).json();
  EXPECT_EQ(report["frames"], count - 1);
  EXPECT_NEAR(report["videos"][0]["rate"].get<double>(), 30, 1e-6);
  EXPECT_EQ(report["videos"][0]["codec"], "h264");
  report = run_well(video({path("flow.mkv")}, {"-o", path("seen.y4m"), "--json"})).json();
  EXPECT_EQ(report["videos"][0]["width"], 128);
  EXPECT_EQ(report["frames"], count - 2);

  // Results in a folder are named after the inputs; a second run continues the first.
  fs::create_directory(path("videos"));
  run_well(video({clip, path("flow.mkv")}, {"-o", path("videos"), "-q"}));
  EXPECT_EQ(names_in("videos"), (std::set<std::string>{"clip.mp4", "flow.mp4"}));
  const std::string all = run_well(video({clip, path("flow.mkv")}, {"-o", path("videos"), "--resume"})).out;
  EXPECT_NE(all.find("clip.mp4: all was there"), std::string::npos) << all;
  run_well(video({clip}, {"-o", path("videos/flow.mp4"), "--max-frames", "2", "-q"}));
  report = run_well(video({path("flow.mkv")}, {"-o", path("videos"), "--resume", "--json"})).json();
  EXPECT_EQ(report["flows"], count - 3);
}

}  // namespace
}  // namespace parafield::test
