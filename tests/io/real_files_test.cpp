// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "parafield/io.hpp"

// Published files. The expected values come from OpenCV and NumPy. The files are not part of the repository.
namespace parafield {
namespace {

namespace fs = std::filesystem;

/// Folder PARAFIELD_DATA; by default shared/data next to the source folder.
fs::path data() {
  if (const char* folder = std::getenv("PARAFIELD_DATA")) return folder;
  return fs::path(__FILE__).parent_path() / "../../../shared/data";
}

#define SKIP_WITHOUT(path) \
  if (!fs::exists(path)) GTEST_SKIP() << "skipped: no file " << (path) << "; PARAFIELD_DATA names its folder"

template <class T>
std::vector<int> pixel(const FrameBuffer& frame, int x, int y) {
  const int count = channels(frame.format());
  const T* first = static_cast<const T*>(frame.row(y)) + x * count;
  return {first, first + count};
}

[[maybe_unused]] std::int64_t sum(const FrameBuffer& frame) {
  std::int64_t total = 0;
  for (int y = 0; y < frame.size().height; ++y)
    for (int i = 0; i < frame.size().width * channels(frame.format()); ++i)
      total += static_cast<const std::uint8_t*>(frame.row(y))[i];
  return total;
}

std::int64_t count(const Image<std::uint8_t>& mask) {
  std::int64_t total = 0;
  for (int y = 0; y < mask.size().height; ++y)
    for (int x = 0; x < mask.size().width; ++x) total += mask(x, y);
  return total;
}

/// Sum of a component over the valid pixels.
double sum(const FlowField& flow, const Image<float>& component) {
  double total = 0;
  for (int y = 0; y < flow.size().height; ++y)
    for (int x = 0; x < flow.size().width; ++x)
      if (flow.valid(x, y)) total += double(component(x, y));
  return total;
}

TEST(RealFiles, MiddleburyFlow) {
  const fs::path path = data() / "middlebury-flow/RubberWhale/flow10.flo";
  SKIP_WITHOUT(path);
  EXPECT_EQ(file_kind(path), FileKind::flow);
  const FlowField flow = read_flow(path);
  ASSERT_EQ(flow.size(), (Size{584, 388}));
  EXPECT_EQ(flow.valid(0, 0), 0);
  EXPECT_EQ(flow.u(0, 0), 1.6666668e+09f);
  EXPECT_EQ(flow.u(200, 100), 0.5310312f);
  EXPECT_EQ(flow.v(200, 100), -0.6516469f);
  EXPECT_EQ(count(flow.valid), 222970);
  EXPECT_NEAR(sum(flow, flow.u), 14303.27477056, 1e-6);
  EXPECT_NEAR(sum(flow, flow.v), -25890.50867898, 1e-6);
}

TEST(RealFiles, YosemiteFlow) {
  const fs::path path = data() / "yosemite/noclouds/yos08_nosky.flo";
  SKIP_WITHOUT(path);
  const FlowField flow = read_flow(path);
  ASSERT_EQ(flow.size(), (Size{316, 252}));
  EXPECT_EQ(flow.u(200, 100), -0.45681238f);
  EXPECT_EQ(flow.v(200, 100), 0.06390691f);
  EXPECT_EQ(count(flow.valid), 59173);
}

#ifdef PARAFIELD_HAS_PNG

TEST(RealFiles, KittiFlow) {
  const fs::path path = data() / "kitti-flow/k_000010/flow_occ.png";
  SKIP_WITHOUT(path);
  EXPECT_EQ(file_kind(path), FileKind::flow);
  const FlowField flow = read_flow(path);
  ASSERT_EQ(flow.size(), (Size{1242, 375}));
  EXPECT_EQ(flow.valid(0, 0), 0);
  EXPECT_EQ(flow.u(0, 0), 0);
  EXPECT_EQ(flow.valid(926, 250), 1);
  EXPECT_EQ(flow.u(926, 250), 3.1875f);
  EXPECT_EQ(flow.v(926, 250), 0.875f);
  EXPECT_EQ(count(flow.valid), 111664);
}

TEST(RealFiles, GrayFrame) {
  const fs::path path = data() / "yosemite/clouds/yos09.png";
  SKIP_WITHOUT(path);
  EXPECT_EQ(file_kind(path), FileKind::frame);
  const FrameBuffer frame = read_frame(path);
  ASSERT_EQ(frame.size(), (Size{316, 252}));
  ASSERT_EQ(frame.format(), PixelFormat::gray_u8);
  EXPECT_EQ(pixel<std::uint8_t>(frame, 0, 0), std::vector{28});
  EXPECT_EQ(pixel<std::uint8_t>(frame, 105, 126), std::vector{204});
  EXPECT_EQ(sum(frame), 9643019);
}

TEST(RealFiles, ColorFrames) {
  const fs::path path = data() / "middlebury-flow/RubberWhale/frame10.png";
  SKIP_WITHOUT(path);
  FrameBuffer frame = read_frame(path);
  ASSERT_EQ(frame.size(), (Size{584, 388}));
  ASSERT_EQ(frame.format(), PixelFormat::rgb_u8);
  EXPECT_EQ(pixel<std::uint8_t>(frame, 0, 0), (std::vector{14, 13, 14}));
  EXPECT_EQ(pixel<std::uint8_t>(frame, 194, 194), (std::vector{96, 99, 132}));
  EXPECT_EQ(sum(frame), 85549679);

  const fs::path kitti = data() / "kitti-flow/k_000010/frame10.png";
  SKIP_WITHOUT(kitti);
  frame = read_frame(kitti);
  ASSERT_EQ(frame.size(), (Size{1242, 375}));
  EXPECT_EQ(pixel<std::uint8_t>(frame, 1241, 374), (std::vector{16, 20, 31}));
  EXPECT_EQ(sum(frame), 125685744);
}

TEST(RealFiles, PaletteFrame) {
  const fs::path path = data() / "cdnet/highway_a/groundtruth/gt000890.png";
  SKIP_WITHOUT(path);
  const FrameBuffer frame = read_frame(path);
  ASSERT_EQ(frame.size(), (Size{320, 240}));
  ASSERT_EQ(frame.format(), PixelFormat::rgb_u8);
  EXPECT_EQ(sum(frame), 8648820);
  EXPECT_EQ(count(read_mask(path)), 12488);
}

TEST(RealFiles, Mask) {
  const fs::path path = data() / "yosemite/clouds/mask_ground.png";
  SKIP_WITHOUT(path);
  EXPECT_EQ(count(read_mask(path)), 58911);
}

#endif

}  // namespace
}  // namespace parafield
