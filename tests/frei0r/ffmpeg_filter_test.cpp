// SPDX-License-Identifier: MIT
// The filters as FFmpeg loads them. Its conversions between RGB and RGBA keep every bit.
// FFmpeg 5.1 gives filters rows with a gap behind them, which frei0r does not allow, unless the width is a
// multiple of 16.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "frei0r/plugin.hpp"

namespace parafield::test {
namespace {

/// Bytes of the film (rgb24) that FFmpeg makes of frames.
std::vector<std::uint8_t> film_by_ffmpeg(const std::vector<FrameBuffer>& frames, const std::string& filter) {
  std::string folder = (std::filesystem::temp_directory_path() / "parafield-frei0r-XXXXXX").string();
  if (!mkdtemp(folder.data())) throw std::runtime_error("no temporary folder");
  for (std::size_t i = 0; i < frames.size(); ++i)
    write_frame(folder + "/frame" + std::to_string(i) + ".ppm", frames[i]);
  const std::string command = "FREI0R_PATH=" PARAFIELD_FREI0R " ffmpeg -nostdin -v error -framerate 25 -i " +
                              folder + "/frame%d.ppm -vf 'frei0r=" + filter +
                              "' -f rawvideo -pix_fmt rgb24 -";
  FILE* pipe = popen(command.c_str(), "r");
  std::vector<std::uint8_t> bytes;
  std::uint8_t block[4096];
  while (const std::size_t count = std::fread(block, 1, sizeof block, pipe))
    bytes.insert(bytes.end(), block, block + count);
  EXPECT_EQ(pclose(pipe), 0) << command;
  std::filesystem::remove_all(folder);
  return bytes;
}

std::vector<std::uint8_t> bytes_of(const FrameBuffer& picture) {
  std::vector<std::uint8_t> bytes;
  for (int y = 0; y < picture.size().height; ++y) {
    const auto* row = static_cast<const std::uint8_t*>(picture.row(y));
    bytes.insert(bytes.end(), row, row + 3 * picture.size().width);
  }
  return bytes;
}

class FfmpegFilter : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("ffmpeg -v error -filters 2>/dev/null | grep -q frei0r") != 0)
      GTEST_SKIP() << "no ffmpeg with frei0r is installed";
  }
};

TEST_F(FfmpegFilter, DrawsFlowBitForBit) {
  const std::vector<FrameBuffer> frames =
      std::move(render_scene("flythrough", {.size = {112, 67}, .frames = 4, .color = true}).frames);
  std::vector<std::uint8_t> colors, arrows;
  FollowedScale scale;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto flow_by = [&](const FlowMethod& method) {
      return i == 0 ? still(frames[0].size()) : arrival(frames[i - 1], frames[i], method);
    };
    const FlowField flow = flow_by({}), fast = flow_by(preset<AdaptiveRidge>("fast"));
    std::ranges::copy(bytes_of(color_flow(flow, {.max_motion = scale.next(flow)})),
                      std::back_inserter(colors));
    const ArrowOptions options{.step = 11, .scale = 11 / float(0.05 * 112)};
    std::ranges::copy(bytes_of(draw_arrows(frames[i], fast, options)), std::back_inserter(arrows));
  }
  EXPECT_EQ(film_by_ffmpeg(frames, "filter_name=parafield_flow"), colors);
  EXPECT_EQ(film_by_ffmpeg(frames, "filter_name=parafield_flow:filter_params=arrows||fast|0.05|0.1"), arrows);
}

TEST_F(FfmpegFilter, TintsWhatMovesBitForBit) {
  const std::vector<FrameBuffer> frames =
      std::move(render_scene("balloons", {.size = {112, 67}, .frames = 4, .color = true}).frames);
  std::vector<std::uint8_t> film;
  MotionDetector detector({}, frames[0].size());
  for (const FrameBuffer& frame : frames) {
    const MotionMask* mask = detector.push(frame);
    const MotionMask nothing(frame.size());
    std::ranges::copy(bytes_of(overlay_mask(frame, mask ? *mask : nothing)), std::back_inserter(film));
  }
  EXPECT_EQ(film_by_ffmpeg(frames, "filter_name=parafield_motion:filter_params=overlay"), film);
}

TEST_F(FfmpegFilter, ShowsFramesAsTheyAreWhereASettingIsWrong) {
  const std::vector<FrameBuffer> frames =
      std::move(render_scene("flythrough", {.size = {48, 30}, .frames = 2, .color = true}).frames);
  std::vector<std::uint8_t> film = bytes_of(frames[0]);
  std::ranges::copy(bytes_of(frames[1]), std::back_inserter(film));
  EXPECT_EQ(film_by_ffmpeg(frames, "filter_name=parafield_flow:filter_params=bogus"), film);
}

}  // namespace
}  // namespace parafield::test
