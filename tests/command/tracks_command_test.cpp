// SPDX-License-Identifier: MIT
// parafield tracks, end to end.
#include "command/run_command.hpp"

namespace parafield::test {
namespace {

class TracksCommand : public CommandTest {};

TEST_F(TracksCommand, ReportsAndWritesTracks) {
  render();
  const auto json = run_well({"tracks", frame0(), frame1(), "--max-features", "60", "-d", "cpu", "--gt",
                              truth(), "-o", path("tracks.csv"), "--color", path("arrows.png"), "--json"})
                        .json();
  EXPECT_EQ(json["parameters"]["features"], "even");
  EXPECT_EQ(json["parameters"]["max_features"], 60);
  EXPECT_EQ(json["columns"].get<int>() * json["rows"].get<int>(), json["cells"]);
  EXPECT_LE(json["cells"], 60);
  EXPECT_GT(json["kept"], 30);
  EXPECT_EQ(json["known"], json["kept"]);
  EXPECT_LT(json["epe"], 0.2);
  EXPECT_LT(json["epe_median"], 0.1);
  EXPECT_GT(json["milliseconds"], 0);
  EXPECT_EQ(json["width"], 96);
  EXPECT_EQ(json["device"], "cpu");
  const auto tracks = read_tracks(path("tracks.csv"));
  EXPECT_EQ(tracks.size(), json["kept"]);
  const auto expected =
      find_tracks(read_frame(frame0()), read_frame(frame1()), {.max_features = 60}, Device::cpu());
  ASSERT_EQ(tracks.size(), expected.size());
  for (std::size_t i = 0; i < tracks.size(); ++i) EXPECT_EQ(tracks[i].u, expected[i].u);
  EXPECT_EQ(read_frame(path("arrows.png")).size(), (Size{96, 64}));

  const std::string text = run_well({"tracks", frame0(), frame1(), "--features", "corners", "-d", "cpu",
                                     "--gt", truth(), "--repeat", "2"})
                               .out;
  for (const char* word :
       {"tracks on cpu", "96x64", "median of 2", "features (", "are kept", "end point error"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
  EXPECT_EQ(run_well({"tracks", frame0(), frame1(), "-d", "cpu", "-q"}).out, "");
}

TEST_F(TracksCommand, MatchesReachFurtherThanTracking) {
  run_well({"synth", "large", "-o", path("near"), "--size", "320x240", "-q"});
  const Words pair = {"tracks",
                      path("near/frame0000.png"),
                      path("near/frame0001.png"),
                      "--gt",
                      path("near/flow0000.flo"),
                      "-d",
                      "cpu",
                      "--features",
                      "matches",
                      "--json"};
  const auto find = [&](const Words& more) {
    Words all = pair;
    all.insert(all.end(), more.begin(), more.end());
    return run_well(all).json();
  };
  const auto json = find({"--match-stride", "5", "--match-check", "1", "-o", path("matches.csv")});
  EXPECT_EQ(json["parameters"]["features"], "matches");
  EXPECT_EQ(json["parameters"]["match_stride"], 5);
  EXPECT_GT(json["kept"], json["cells"].get<int>() / 2);
  EXPECT_LT(json["epe_median"], 0.6);
  EXPECT_EQ(read_tracks(path("matches.csv")).size(), json["kept"]);
  EXPECT_EQ(find({"--match-region", "65536"})["kept"], 0);
}

TEST_F(TracksCommand, NothingToTrack) {
  write_frame(path("flat.png"), FrameBuffer({40, 30}, PixelFormat::gray_u8));
  const auto json = run_well({"tracks", path("flat.png"), path("flat.png"), "-d", "cpu", "-o",
                              path("tracks.csv"), "--json"})
                        .json();
  EXPECT_EQ(json["kept"], 0);
  EXPECT_FALSE(json.contains("epe"));
  EXPECT_EQ(read_text(path("tracks.csv")), "x,y,u,v\n");
}

TEST_F(TracksCommand, HelpNamesEveryParameter) {
  const std::string help = run_well({"tracks", "--help"}).out;
  for (const char* option : {"--features", "--max-features", "--track-window", "--track-levels",
                             "--track-iterations", "--track-check", "--track-outliers", "--gt", "--color"})
    EXPECT_NE(help.find(option), std::string::npos) << option;
}

TEST_F(TracksCommand, Errors) {
  render();
  const auto with = [&](Words more) {
    more.insert(more.begin(), {"tracks", frame0(), frame1()});
    return more;
  };
  expect_failure(2, {"tracks", frame0()}, {"FRAME1"});
  expect_failure(2, with({"--track-window", "8"}), {"track_window cannot be 8", "9, 11"});
  expect_failure(2, with({"--features", "edges"}), {"edges", "even, corners, matches"});
  expect_failure(2, with({"--features", "matches", "--track-window", "5"}), {"--track-window", "matches"});
  expect_failure(2, with({"--match-stride", "5"}), {"--match-stride", "--features matches", "even"});
  expect_failure(2, with({"--features", "matches", "--match-stride", "1"}),
                 {"match_stride cannot be 1", "2 to 32"});
  expect_failure(2, with({"--max-features", "0"}), {"max_features cannot be 0", "1 to 65536"});
  expect_failure(2, with({"-o", path("tracks.flo")}), {".csv"});
  expect_failure(1, with({"-o", frame0() + "/a.csv"}), {"frame0000.png"});
  expect_failure(1, with({"--gt", path("none.flo")}), {"none.flo", "cannot be read"});
  run_well({"synth", "translation", "-o", path("other"), "--size", "40x30"});
  expect_failure(1, {"tracks", frame0(), path("other/frame0001.png")}, {"96x64", "40x30"});
  expect_failure(1, with({"--gt", path("other/flow0000.flo")}), {"96x64", "40x30"});
}

}  // namespace
}  // namespace parafield::test
