// SPDX-License-Identifier: MIT
// parafield flow with the methods that start from features, end to end.
#include "command/run_command.hpp"
#include "same.hpp"

namespace parafield::test {
namespace {

class GuidedCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    render();
  }

  Words flow(Words more = {}) const {
    const Words words = {"flow", frame0(), frame1(), "-d", "cpu"};
    more.insert(more.begin(), words.begin(), words.end());
    return more;
  }
  Words interpolated(Words more = {}) const {
    more.insert(more.begin(), {"-m", "direct-interpolation"});
    return flow(more);
  }

  FlowField estimated(const FlowMethod& method, const FlowInput& given = {}) const {
    const FrameBuffer held[] = {read_frame(frame0()), read_frame(frame1())};
    const Frame frames[] = {held[0], held[1]};
    FlowInput input = given;
    input.frames = frames;
    FlowEstimator estimator(method, held[0].size(), {.device = Device::cpu()});
    return estimator(input).to(Memory::host());
  }
};

TEST_F(GuidedCommand, FindsItsOwnFeatures) {
  for (const char* method : {"direct-interpolation", "multi-hypothesis"}) {
    const auto json = run_well(flow({"-m", method, "--gt", truth(), "-o", path("flow.flo"), "--max-features",
                                     "300", "--json"}))
                          .json();
    EXPECT_EQ(json["method"], method);
    EXPECT_EQ(json["parameters"]["max_features"], 300);
    EXPECT_FALSE(json.contains("tracks"));
    EXPECT_LT(json["epe"], 0.5) << method;
  }
  expect_same_motion(read_flow(path("flow.flo")),
                     estimated(MultiHypothesis{.tracking = {.max_features = 300}}));
  const auto accurate = run_well(interpolated({"--preset", "accurate", "--gt", truth(), "--json"})).json();
  EXPECT_EQ(accurate["parameters"]["resampled"], 6000);
  EXPECT_LT(accurate["epe"], 0.3);
}

TEST_F(GuidedCommand, InterpolatesByAffineModels) {
  const auto json = run_well(interpolated({"--features", "matches", "--model", "affine", "--gt", truth(),
                                           "-o", path("flow.flo"), "--json"}))
                        .json();
  EXPECT_EQ(json["parameters"]["model"], "affine");
  EXPECT_LT(json["epe"], 0.6);
  const DirectInterpolation method{.tracking = {.features = FeatureChoice::matches},
                                   .model = MotionModel::affine};
  expect_same_motion(read_flow(path("flow.flo")), estimated(method));
  expect_failure(2, interpolated({"--model", "affine"}),
                 {"features cannot be even", "matches, as model is affine"});
  expect_failure(2, interpolated({"--model", "linear"}), {"model cannot be linear", "constant, affine"});
}

TEST_F(GuidedCommand, TakesTracks) {
  run_well(
      {"tracks", frame0(), frame1(), "-d", "cpu", "--max-features", "200", "-o", path("tracks.csv"), "-q"});
  const std::vector<Track> tracks = read_tracks(path("tracks.csv"));
  const auto json = run_well(interpolated({"--tracks", path("tracks.csv"), "--max-features", "5", "-o",
                                           path("flow.flo"), "--gt", truth(), "--json"}))
                        .json();
  EXPECT_EQ(json["tracks"], tracks.size());
  EXPECT_LT(json["epe"], 0.5);
  expect_same_motion(read_flow(path("flow.flo")),
                     estimated(DirectInterpolation{}, {.frames = {}, .tracks = tracks}));

  // Tracks outside the frame are ignored.
  std::ofstream(path("outside.csv")) << "-5,3,9,9\n10,64.5,9,9\n96,2,9,9\n20,30,1.5,-2\n";
  run_well(
      interpolated({"--tracks", path("outside.csv"), "--resampled", "0", "-o", path("outside.flo"), "-q"}));
  const FlowField one = read_flow(path("outside.flo"));
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 96; ++x) {
      ASSERT_EQ(one.u(x, y), 1.5f);
      ASSERT_EQ(one.v(x, y), -2);
    }
  run_well(flow({"-m", "multi-hypothesis", "--tracks", path("tracks.csv"), "-q"}));
}

TEST_F(GuidedCommand, ARotationHasThreeNumbers) {
  for (const char* bad : {"0,0,0,", "0,0", ",0,0", "0,,0", "0,0,0,0"})
    expect_failure(2, flow({"-m", "multi-hypothesis", "--rotation", bad, "--intrinsics", "50,50,48,32"}),
                   {"--rotation", "3 numbers"});
}

TEST_F(GuidedCommand, LeavesOutTracksThatCannotBeUsed) {
  std::ofstream(path("tracks.csv")) << "20,30,1.5,-2\n20,nan,1,1\n30,20,inf,1\n95.5,3,1,1\n";
  const Outcome outcome = run(interpolated({"--tracks", path("tracks.csv"), "--json"}));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.json()["tracks"], 1);
  EXPECT_EQ(outcome.err, "parafield: note: " + path("tracks.csv") +
                             ": 1 of 4 tracks can be used: 2 not finite, 1 outside the frame of 96x64 px\n");
  EXPECT_EQ(run(interpolated({"--tracks", path("tracks.csv"), "-q"})).err, "");
}

TEST_F(GuidedCommand, NoTrackAtAllIsAnError) {
  const auto with = [&](const std::string& text, Words more = {}) {
    std::ofstream(path("tracks.csv")) << text;
    more.insert(more.begin(), {"--tracks", path("tracks.csv"), "-o", path("out.flo")});
    return interpolated(more);
  };
  for (const char* text : {"", "x,y,u,v\n", "# none\n"})
    expect_failure(1, with(text), {"tracks.csv: no track can be used: the file has none"});
  expect_failure(1, with("-1,3,0,0\n1e9,3,0,0\n"), {"no track can be used: 2 outside the frame of 96x64 px"});
  expect_failure(1, with("nan,3,0,0\n1e9,3,0,0\n"), {"1 not finite, 1 outside the frame"});
  // The rotation is left.
  const Outcome outcome =
      run(with("", {"--rotation", "0,0,0.01", "--intrinsics", "80,80,47.5,31.5", "--json"}));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.json()["tracks"], 0);
  EXPECT_EQ(outcome.err,
            "parafield: note: " + path("tracks.csv") + ": 0 of 0 tracks can be used: the file has none\n");
}

TEST_F(GuidedCommand, TakesARotation) {
  for (const char* method : {"direct-interpolation", "multi-hypothesis"})
    run_well(flow({"-m", method, "--rotation", "0,0.02,-0.01", "--intrinsics", "80,80,47.5,31.5", "-q"}));
  run_well(interpolated(
      {"--rotation", "0.03,0.02,-0.01", "--intrinsics", "80,90,47.5,31.5", "-o", path("flow.flo"), "-q"}));
  expect_same_motion(
      read_flow(path("flow.flo")),
      estimated(DirectInterpolation{},
                {.frames = {}, .rotation = CameraRotation{0.03f, 0.02f, -0.01f, 80, 90, 47.5f, 31.5f}}));
}

TEST_F(GuidedCommand, Errors) {
  std::ofstream(path("tracks.csv")) << "20,30,1.5,-2\n";
  std::ofstream(path("bad.csv")) << "x,y,u,v\n20,30,1.5\n";
  const auto turned = [&](const std::string& rotation, const std::string& intrinsics) {
    return interpolated({"--rotation=" + rotation, "--intrinsics=" + intrinsics, "-o", path("out.flo")});
  };
  expect_failure(2, interpolated({"--rotation", "0,0,0.1"}), {"--rotation", "--intrinsics"});
  expect_failure(2, interpolated({"--intrinsics", "80,80,47.5,31.5"}), {"--intrinsics", "--rotation"});
  for (const char* bad : {"0,0", "0,0,0,0", "0,0,x", "0,,0", "", "0;0;0"})
    expect_failure(2, turned(bad, "80,80,47.5,31.5"), {"--rotation"});
  for (const char* bad : {"80,80,47.5", "80,80,47.5,31.5,1", "80,80,47.5,wide", "80"})
    expect_failure(2, turned("0,0,0.1", bad), {"--intrinsics"});
  expect_failure(2, turned("0,0,0.1", "0,80,47.5,31.5"), {"focal lengths 0, 80 px"});
  expect_failure(2, turned("0,0,4", "80,80,47.5,31.5"), {"turn by (0, 0, 4)", "pi"});
  for (const char* method : {"lucas-kanade", "adaptive-ridge", "icm"}) {
    expect_failure(2, flow({"-m", method, "--tracks", path("tracks.csv")}),
                   {"--tracks", method, "does not use it"});
    expect_failure(2, flow({"-m", method, "--rotation", "0,0,0.1", "--intrinsics", "80,80,47.5,31.5"}),
                   {"--rotation", method, "does not use it"});
  }
  expect_failure(1, interpolated({"--tracks", path("missing.csv")}), {"missing.csv"});
  expect_failure(1, interpolated({"--tracks", path("bad.csv")}), {"bad.csv", "2"});
  expect_failure(1, interpolated({"--tracks", frame0()}), {"frame0000.png"});
  expect_failure(2, interpolated({"--max-features", "0"}), {"max_features cannot be 0", "1 to 65536"});
  expect_failure(2, interpolated({"--change-window", "2"}), {"change_window cannot be 2", "1, 3, 5"});
  expect_failure(2, interpolated({"--label-step", "2"}),
                 {"direct-interpolation has no parameter --label-step"});
  std::ofstream many(path("many.csv"));
  for (int i = 0; i < 65537; ++i) many << "1,1,0,0\n";
  many.close();
  expect_failure(1, interpolated({"--tracks", path("many.csv")}),
                 {"many.csv: 65537 tracks; at most 65536 can be used"});
}

}  // namespace
}  // namespace parafield::test
