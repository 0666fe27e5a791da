// SPDX-License-Identifier: MIT
// The frames that a video file's header describes: their colors and ranges, turned frames, interlaced ones.
#include <algorithm>

#include "video/videos.hpp"

namespace parafield::test {
namespace {

TEST(VideoFrames, ColorsAreThoseThatWereWritten) {
  NEEDS_FFMPEG();
  const Folder folder;
  for (const auto& [name, codec] :
       {std::pair{"a.mp4", ""}, {"a.webm", ""}, {"a.avi", "mpeg4"}, {"a.avi", "mjpeg"}})
    for (const Size size : {Size{64, 48}, Size{1280, 32}})  // BT.601, BT.709
      for (const std::vector<int>& color : {std::vector{255, 255, 255},
                                            {0, 0, 0},
                                            {220, 30, 30},
                                            {30, 200, 40},
                                            {40, 60, 230},
                                            {128, 128, 128}}) {
        SCOPED_TRACE(::testing::Message() << name << codec << size.width);
        std::vector<FrameBuffer> frames;
        frames.push_back(flat(size, color[0], color[1], color[2]));
        write_video(folder / name, frames, {.codec = codec, .quality = 5});
        const Video video = read_video(folder / name);
        ASSERT_EQ(video.frames.size(), 1u) << video.error;
        expect_near(middle(video.frames[0].frame), color, 5);
      }
}

TEST(VideoFrames, RangesAndMatricesOfTheFileHold) {
  NEEDS_FFMPEG_PROGRAM();
  const Folder folder;
  const std::string path = folder / "a.mp4";
  for (const char* matrix : {"bt601", "bt709"})
    for (const char* range : {"limited", "full"}) {
      SCOPED_TRACE(std::string(matrix) + " " + range);
      const bool hd = std::string(matrix) == "bt709", full = std::string(range) == "full";
      const std::string scale = std::string("-vf scale=out_color_matrix=") + matrix + ":out_range=" + range +
                                ",format=yuv420p -color_range " + (full ? "pc" : "tv") + " -colorspace " +
                                (hd ? "bt709" : "smpte170m");
      ASSERT_TRUE(
          ffmpeg("-f lavfi -i color=0xC82828:s=64x48:d=0.2,format=rgb24 " + scale + " -crf 5 " + path));
      const Video video = read_video(path), gray = read_video(path, {.gray = true});
      ASSERT_GT(video.frames.size(), 1u) << video.error;
      expect_near(middle(video.frames[0].frame), {200, 40, 40}, 3);
      const double red = hd ? 0.2126 : 0.299;
      expect_near(middle(gray.frames.at(0).frame), {int(std::lround(red * 200 + (1 - red) * 40))}, 2);
    }
  // 10 bits.
  ASSERT_TRUE(
      ffmpeg("-f lavfi -i color=0xC82828:s=64x48:d=0.2,format=gbrp10 "
             "-vf scale=out_color_matrix=bt709,format=yuv420p10 -colorspace bt709 -crf 5 -c:v libx264 " +
             path));
  const Video video = read_video(path), gray = read_video(path, {.gray = true});
  ASSERT_GT(video.frames.size(), 1u) << video.error;
  ASSERT_EQ(video.frames[0].frame.format(), PixelFormat::rgb_u16);
  EXPECT_NEAR(static_cast<const std::uint16_t*>(video.frames[0].frame.row(24))[96] / 257.0, 200, 2);
  ASSERT_EQ(gray.frames[0].frame.format(), PixelFormat::gray_u16);
  EXPECT_NEAR(static_cast<const std::uint16_t*>(gray.frames[0].frame.row(24))[32] / 257.0, 74, 1);
}

/// Puts a display matrix into an MP4 file: a and b are x' and y' for the stored x, c and d for the stored y.
void turn_file(const std::filesystem::path& path, int a, int b, int c, int d) {
  std::vector<std::uint8_t> bytes = bytes_in(path);
  const std::string type = "tkhd";
  const auto at = std::search(bytes.begin(), bytes.end(), type.begin(), type.end());
  ASSERT_NE(at, bytes.end());
  const auto put = [&](int i, int value) {
    const auto fixed = std::uint32_t(value * 65536);
    for (int byte = 0; byte < 4; ++byte) *(at + 44 + 4 * i + byte) = std::uint8_t(fixed >> (24 - 8 * byte));
  };
  put(0, a);
  put(1, b);
  put(3, c);
  put(4, d);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
}

TEST(VideoFrames, FramesComeTurnedAsThePlayerShowsThem) {
  NEEDS_FFMPEG();
  const Folder folder;
  const auto frames = scene_frames({64, 48}, 3, false);
  write_video(folder / "stored.mp4", frames, {.quality = 5});
  struct Turn {
    int a, b, c, d;
  };
  for (const auto& [a, b, c, d] :
       {Turn{1, 0, 0, 1}, Turn{-1, 0, 0, 1}, Turn{-1, 0, 0, -1}, Turn{1, 0, 0, -1}, Turn{0, 1, 1, 0},
        Turn{0, 1, -1, 0}, Turn{0, -1, -1, 0}, Turn{0, -1, 1, 0}}) {
    SCOPED_TRACE(::testing::Message() << a << b << c << d);
    std::filesystem::copy_file(folder / "stored.mp4", folder / "turned.mp4",
                               std::filesystem::copy_options::overwrite_existing);
    turn_file(folder / "turned.mp4", a, b, c, d);
    for (const bool gray : {true, false}) {
      const Video turned = read_video(folder / "turned.mp4", {.gray = gray});
      const Size size = a ? Size{64, 48} : Size{48, 64};
      EXPECT_EQ(turned.info.size, size);
      ASSERT_EQ(turned.frames.size(), 3u) << turned.error;
      const Video plain = read_video(folder / "stored.mp4", {.gray = gray});
      const int values = gray ? 1 : 3;
      const auto from = values_of<std::uint8_t>(plain.frames[2].frame.frame());
      const auto to = values_of<std::uint8_t>(turned.frames[2].frame.frame());
      int wrong = 0;
      for (int y = 0; y < 48; ++y)
        for (int x = 0; x < 64; ++x) {
          int right = a * x + c * y, down = b * x + d * y;
          right += right < 0 || (right == 0 && (a < 0 || c < 0)) ? size.width - 1 : 0;
          down += down < 0 || (down == 0 && (b < 0 || d < 0)) ? size.height - 1 : 0;
          wrong += to(values * right, down) != from(values * x, y);
        }
      EXPECT_EQ(wrong, 0);
    }
  }
}

/// The mean difference of a pixel from those above and below: high where the rows are of different times.
double combing(const FrameBuffer& frame) {
  const View<const std::uint8_t> values = values_of<std::uint8_t>(frame.frame());
  double sum = 0;
  for (int y = 1; y + 1 < values.height; ++y)
    for (int x = 0; x < values.width; ++x)
      sum += std::abs(values(x, y) - (values(x, y - 1) + values(x, y + 1)) / 2.0);
  return sum / (double(values.width) * (values.height - 2));
}

TEST(VideoFrames, InterlacedOnesAreDeinterlaced) {
  NEEDS_FFMPEG_PROGRAM();
  const Folder folder;
  const auto frames = scene_frames({160, 120}, 24, false);
  write_video(folder / "fields.mkv", frames, {.rate = 50, .codec = "ffv1"});
  for (const char* order : {"top", "bottom"})
    for (const char* name : {"a.mkv", "a.mpg", "a.mp4"}) {
      SCOPED_TRACE(std::string(name) + order);
      const std::string path = folder / name;
      const bool is_mpg = path.ends_with("mpg"), is_mkv = path.ends_with("mkv");
      if (!ffmpeg("-i " + (folder / "fields.mkv").string() + " -vf tinterlace=interleave_" + order +
                  ",setfield=" + (order[0] == 't' ? "tff" : "bff") +
                  " -flags +ilme+ildct -pix_fmt yuv420p -c:v " +
                  (is_mkv   ? "ffv1"
                   : is_mpg ? "mpeg2video -q:v 2"
                            : "mpeg4 -q:v 2") +
                  " " + path))
        continue;
      for (const int threads : {1, 3}) {
        const Video video = read_video(path, {.gray = true, .threads = threads});
        EXPECT_EQ(video.error, "");
        ASSERT_EQ(video.frames.size(), 12u);
        ASSERT_EQ(video.notes.size(), 1u);
        EXPECT_EQ(video.notes[0], path + ": it is interlaced; its frames are deinterlaced");
        for (std::size_t i = 2; i < 10; ++i) {
          EXPECT_LT(combing(video.frames[i].frame), 1.5 * combing(frames[2 * i])) << i;
          EXPECT_NEAR(video.frames[i].time, double(i) / 25, 2e-3);
        }
      }
    }
  EXPECT_TRUE(read_video(folder / "fields.mkv").notes.empty());
  // Y4M is read as it is stored.
  write_video(folder / "a.y4m", frames);
  auto bytes = bytes_in(folder / "a.y4m");
  const std::string header = "YUV4MPEG2 It";
  bytes.erase(bytes.begin(), bytes.begin() + 9);
  bytes.insert(bytes.begin(), header.begin(), header.end());
  const Video video = read_video(folder.with("b.y4m", bytes));
  ASSERT_EQ(video.notes.size(), 1u) << video.error;
  EXPECT_TRUE(video.notes[0].ends_with("it is interlaced; its rows are read as they are stored"));
}

TEST(VideoFrames, FieldsOfHevcAreFrames) {
  NEEDS_FFMPEG_PROGRAM();
  const Folder folder;
  write_video(folder / "a.mkv", scene_frames({160, 120}, 8, false), {.codec = "ffv1"});
  if (!ffmpeg("-i " + (folder / "a.mkv").string() +
              " -pix_fmt yuv420p -c:v libx265 -x265-params interlace=tff:lossless=1:log-level=none " +
              (folder / "b.mkv").string()))
    GTEST_SKIP() << "ffmpeg has no libx265";
  const Video whole = read_video(folder / "a.mkv", {.gray = true}),
              fields = read_video(folder / "b.mkv", {.gray = true});
  ASSERT_EQ(fields.notes.size(), 1u) << fields.error;
  EXPECT_NE(fields.notes[0].find("each of its fields is read as a frame"), std::string::npos);
  ASSERT_EQ(fields.frames.size(), whole.frames.size());
  for (std::size_t i = 0; i < whole.frames.size(); ++i)
    EXPECT_NEAR(combing(fields.frames[i].frame), combing(whole.frames[i].frame), 0.5)
        << "it is not deinterlaced";
}

}  // namespace
}  // namespace parafield::test
