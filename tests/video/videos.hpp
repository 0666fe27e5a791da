// SPDX-License-Identifier: MIT
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "core/views.hpp"
#include "io/folder.hpp"
#include "parafield/scenes.hpp"
#include "parafield/video.hpp"

/// Videos for tests, made by VideoWriter or by the program ffmpeg.
namespace parafield::test {

#ifdef PARAFIELD_HAS_FFMPEG
inline constexpr bool has_ffmpeg = true;
#else
inline constexpr bool has_ffmpeg = false;
#endif
#define NEEDS_FFMPEG() \
  if (!has_ffmpeg) GTEST_SKIP() << "skipped without FFmpeg's libraries"
/// Skips the test without the program ffmpeg, which some distributions package apart from the libraries.
#define NEEDS_FFMPEG_PROGRAM()                                            \
  if (!has_ffmpeg || std::system("ffmpeg -version >/dev/null 2>&1") != 0) \
  GTEST_SKIP() << "skipped without ffmpeg"

/// Runs the program. Its paths have no spaces.
inline bool ffmpeg(const std::string& arguments) {
  return std::system(("ffmpeg -nostdin -v error -y " + arguments).c_str()) == 0;
}

inline void write_bytes(const std::filesystem::path& path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
}

inline std::vector<FrameBuffer> scene_frames(Size size, int count, bool color = true) {
  return render_scene("translation", {.size = size, .frames = count, .color = color}).frames;
}

inline void write_video(const std::string& path, const std::vector<FrameBuffer>& frames,
                        const VideoWriterOptions& options = {}) {
  VideoWriter writer(path, frames.at(0).size(), options);
  for (const FrameBuffer& frame : frames) writer.write(frame);
  writer.finish();
}

/// The frames of a video and the message of its error; empty if it has none.
struct Video {
  VideoInfo info;
  std::vector<VideoFrame> frames;
  std::string error;
  std::vector<std::string> notes = {};
};
inline Video read_video(const std::string& path, const FrameSourceOptions& options = {}) {
  Video video;
  try {
    FrameSource reader(path, options);
    video.info = reader.info();
    while (auto frame = reader.next()) video.frames.push_back(std::move(*frame));
    EXPECT_FALSE(reader.next());
    video.notes = reader.take_notes();
  } catch (const Error& error) {
    video.error = error.what();
    EXPECT_TRUE(video.error.starts_with(path)) << video.error;
  }
  return video;
}

/// Peak signal-to-noise ratio of the pixels that both frames have, dB.
inline double psnr(const FrameBuffer& a, const FrameBuffer& b) {
  EXPECT_EQ(a.format(), b.format());
  const View<const std::uint8_t> p = values_of<std::uint8_t>(a.frame()),
                                 q = values_of<std::uint8_t>(b.frame());
  const int width = std::min(p.width, q.width), height = std::min(p.height, q.height);
  double sum = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) sum += std::pow(double(p(x, y)) - q(x, y), 2);
  return sum == 0 ? 99 : 10 * std::log10(255.0 * 255 * width * height / sum);
}

inline bool same_pixels(const FrameBuffer& a, const FrameBuffer& b) {
  if (a.size() != b.size() || a.format() != b.format()) return false;
  for (int y = 0; y < a.size().height; ++y)
    if (std::memcmp(a.row(y), b.row(y), std::size_t(row_bytes(a.frame()))) != 0) return false;
  return true;
}

/// A frame of one color.
inline FrameBuffer flat(Size size, int red, int green, int blue) {
  FrameBuffer frame(size, PixelFormat::rgb_u8);
  const View<std::uint8_t> values = values_of<std::uint8_t>(frame);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      values(3 * x, y) = std::uint8_t(red);
      values(3 * x + 1, y) = std::uint8_t(green);
      values(3 * x + 2, y) = std::uint8_t(blue);
    }
  return frame;
}
/// Color of the middle.
inline std::vector<int> middle(const FrameBuffer& frame) {
  const View<const std::uint8_t> values = values_of<std::uint8_t>(frame.frame());
  const int count = channels(frame.format()), x = frame.size().width / 2 * count;
  std::vector<int> color;
  for (int c = 0; c < count; ++c) color.push_back(values(x + c, values.height / 2));
  return color;
}
inline void expect_near(const std::vector<int>& color, const std::vector<int>& expected, int tolerance) {
  ASSERT_EQ(color.size(), expected.size());
  for (std::size_t i = 0; i < color.size(); ++i)
    EXPECT_LE(std::abs(color[i] - expected[i]), tolerance) << ::testing::PrintToString(color);
}

}  // namespace parafield::test
