// SPDX-License-Identifier: MIT
// parafield synth, end to end.
#include "command/run_command.hpp"
#include "same.hpp"
#include "support.hpp"

namespace parafield::test {
namespace {

class SynthCommand : public CommandTest {};

TEST_F(SynthCommand, WritesAWholeSequence) {
  run_well({"synth", "layers", "-o", path("new/scene"), "--size", "40x30", "--frames", "3", "--texture",
            "smooth"});
  const Words files = {"frame0000.png", "frame0001.png",    "frame0002.png",   "flow0000.flo",
                       "flow0001.flo",  "occluded0000.png", "occluded0001.png"};
  for (const std::string& file : files)
    EXPECT_TRUE(std::filesystem::exists(path("new/scene/" + file))) << file;
  EXPECT_EQ(contents().size(), files.size() + 2);
  EXPECT_EQ(read_frame(path("new/scene/frame0002.png")).size(), (Size{40, 30}));
  EXPECT_EQ(read_flow(path("new/scene/flow0001.flo")).size(), (Size{40, 30}));
}

TEST_F(SynthCommand, WritesMotionOfAnotherPace) {
  run_well({"synth", "layers", "-o", path("scene"), "--size", "40x30", "--frames", "3", "--pace", "shaking"});
  const Scene scene = render_scene("layers", {.size = {40, 30}, .frames = 3, .pace = Pace::shaking});
  expect_same_motion(read_flow(path("scene/flow0001.flo")), scene.flow[1]);
}

TEST_F(SynthCommand, WritesDepthWhereTheSceneHasSome) {
  run_well({"synth", "flythrough", "-o", path("scene"), "--size", "40x30", "--frames", "2", "--seed", "4"});
  const Scene scene = render_scene("flythrough", {.size = {40, 30}, .seed = 4});
  ASSERT_EQ(scene.depth.size(), 2u);
  EXPECT_EQ(contents().size(), 1 + 2 + 1 + 1 + scene.depth.size());
  for (std::size_t i = 0; i < scene.depth.size(); ++i) {
    const FrameBuffer depth = read_frame(path("scene/depth000" + std::to_string(i) + ".pfm"));
    ASSERT_EQ(depth.size(), (Size{40, 30}));
    ASSERT_EQ(depth.format(), PixelFormat::gray_f32);
    for (int y = 0; y < 30; ++y)
      for (int x = 0; x < 40; ++x)
        ASSERT_EQ(static_cast<const float*>(depth.row(y))[x], scene.depth[i](x, y));
  }
}

TEST_F(SynthCommand, WritesDisparitiesAndMasks) {
  run_well({"synth", "stereo", "-o", path("pair"), "--size", "40x30", "--frames", "4"});
  const Scene stereo = render_scene("stereo", {.size = {40, 30}, .frames = 4});
  const DisparityField disparity = read_disparity(path("pair/disparity0002.pfm"));
  EXPECT_TRUE(std::filesystem::exists(path("pair/disparity0000.pfm")));
  EXPECT_FALSE(std::filesystem::exists(path("pair/disparity0001.pfm")));
  run_well({"synth", "balloons", "-o", path("still"), "--size", "40x30", "--frames", "3"});
  const Scene balloons = render_scene("balloons", {.size = {40, 30}, .frames = 3});
  EXPECT_FALSE(std::filesystem::exists(path("still/moving0000.png")));
  const auto moving = read_mask(path("still/moving0002.png"));
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x) {
      ASSERT_EQ(disparity.d(x, y), stereo.disparity[1].d(x, y));
      ASSERT_EQ(moving(x, y), balloons.moving[1](x, y));
    }
}

TEST_F(SynthCommand, WritesASquareUnderConditions) {
  run_well(
      {"synth", "square", "-o", path("square"), "--size", "40x30", "--frames", "3", "--conditions", "noisy"});
  const Scene scene =
      render_scene("square", {.size = {40, 30}, .frames = 3, .conditions = Conditions::noisy});
  const FrameBuffer frame = read_frame(path("square/frame0002.png"));
  for (int y = 0; y < 30; ++y) EXPECT_EQ(std::memcmp(frame.row(y), scene.frames[2].row(y), 40), 0) << y;
  EXPECT_TRUE(std::filesystem::exists(path("square/moving0002.png")));
  EXPECT_FALSE(std::filesystem::exists(path("square/flow0000.flo")));
}

TEST_F(SynthCommand, WritesFramesInColor) {
  run_well({"synth", "poles", "-o", path("scene"), "--size", "40x30", "--rgb"});
  const Scene scene = render_scene("poles", {.size = {40, 30}, .color = true});
  const FrameBuffer frame = read_frame(path("scene/frame0001.png"));
  ASSERT_EQ(frame.format(), PixelFormat::rgb_u8);
  for (int y = 0; y < 30; ++y) EXPECT_EQ(std::memcmp(frame.row(y), scene.frames[1].row(y), 3 * 40), 0) << y;
}

TEST_F(SynthCommand, IsTheSameForTheSameSeed) {
  for (const char* folder : {"a", "b"})
    run_well({"synth", "affine", "-o", path(folder), "--size", "40x30", "--seed", "5"});
  run_well({"synth", "affine", "-o", path("c"), "--size", "40x30", "--seed", "6"});
  EXPECT_EQ(read_text(path("a/frame0000.png")), read_text(path("b/frame0000.png")));
  EXPECT_NE(read_text(path("a/frame0000.png")), read_text(path("c/frame0000.png")));
}

TEST_F(SynthCommand, SaysWhatItWrote) {
  const Words words = {"synth", "flythrough", "-o", path("new"), "--size", "8x8", "--frames", "3"};
  EXPECT_EQ(run_well(words).out,
            "wrote into " + path("new") +
                ": frame0000.png to frame0002.png, flow0000.flo to flow0001.flo, occluded0000.png to "
                "occluded0001.png, depth0000.pfm to depth0002.pfm\n");
  EXPECT_EQ(run_well({"synth", "zoom", "-o", path("one"), "--size", "8x8", "--frames", "1"}).out,
            "wrote into " + path("one") + ": frame0000.png\n");
  EXPECT_EQ(run_well({"synth", "zoom", "-o", path("one"), "--size", "8x8", "-q"}).out, "");
}

TEST_F(SynthCommand, ShowsProgressOfLongRuns) {
  if (tests_sanitized_command()) GTEST_SKIP() << takes_minutes;
  const Words many = {"synth", "flythrough", "-o", path("new"), "--frames", "300"};
  const Outcome interrupted = run_at_terminal(many, "s left");
  EXPECT_EQ(interrupted.code, 130);
  EXPECT_NE(interrupted.err.find("rendering: "), std::string::npos) << interrupted.err;
  EXPECT_TRUE(contents().empty());
  const Words large = {"synth", "flythrough", "-o", path("new"), "--size", "6000x6000"};
  EXPECT_NE(run_at_terminal(large, "s left").err.find("rendering: "), std::string::npos);
}

TEST_F(SynthCommand, NamesThatAreNoFilesAreKept) {
  std::filesystem::create_directories(path("scene/frame0001.png"));
  expect_failure(1, {"synth", "zoom", "-o", path("scene"), "--size", "8x8"},
                 {path("scene/frame0001.png"), "it is a folder"});
}

TEST_F(SynthCommand, AddsToAFolderThatIsThere) {
  std::filesystem::create_directory(path("scene"));
  std::ofstream(path("scene/note.txt")) << "kept";
  render();
  EXPECT_EQ(read_text(path("scene/note.txt")), "kept");
  EXPECT_EQ(contents().size(), 6u);  // the folder, the note, two frames, flow, occlusion
}

}  // namespace
}  // namespace parafield::test
