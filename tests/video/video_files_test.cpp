// SPDX-License-Identifier: MIT
// Videos that are written and read again: pixels, times, sizes, memory, errors, files that end too early.
#include <sys/mman.h>

#include "video/videos.hpp"

namespace parafield::test {
namespace {

TEST(VideoFiles, GiveBackWhatWasWritten) {
  NEEDS_FFMPEG();
  const Folder folder;
  for (const char* extension : {"mp4", "mov", "mkv", "avi", "webm"})
    for (const bool color : {true, false}) {
      SCOPED_TRACE(std::string(extension) + (color ? " color" : " gray"));
      const auto frames = scene_frames({160, 120}, 12, color);
      const std::string path = folder / (std::string("a.") + extension);
      write_video(path, frames, {.rate = 30000 / 1001.0});
      EXPECT_EQ(folder.files(), 1);
      const Video video = read_video(path, {.gray = !color});
      EXPECT_EQ(video.error, "");
      EXPECT_EQ(video.info.size, (Size{160, 120}));
      EXPECT_NEAR(video.info.rate, 29.97, 0.01);
      EXPECT_NEAR(video.info.duration, 12 / 29.97, 0.05);
      EXPECT_FALSE(video.info.codec.empty());
      ASSERT_EQ(video.frames.size(), 12u);
      // Matroska counts milliseconds.
      const double exact =
          std::string(extension) == "mkv" || std::string(extension) == "webm" ? 0.0011 : 1e-6;
      for (std::size_t i = 0; i < 12; ++i) {
        EXPECT_EQ(video.frames[i].index, std::int64_t(i));
        EXPECT_NEAR(video.frames[i].time, double(i) * 1001 / 30000, exact);
        EXPECT_EQ(video.frames[i].frame.format(), color ? PixelFormat::rgb_u8 : PixelFormat::gray_u8);
        EXPECT_GT(psnr(video.frames[i].frame, frames[i]), color ? 32 : 36) << i;
      }
      std::filesystem::remove(path);
    }
}

/// FFmpeg's conversion of pixels reads beyond the rows that it is given.
TEST(VideoFiles, ReadNothingBeyondTheFrame) {
  NEEDS_FFMPEG();
  const Folder folder;
  for (const PixelFormat format : {PixelFormat::gray_u8, PixelFormat::rgb_u8})
    for (const Size size : {Size{1280, 720}, Size{127, 65}}) {
      constexpr std::size_t page = 4096;
      Frame frame{.width = size.width, .height = size.height, .format = format};
      frame.pitch = size.width * bytes_per_pixel(format);
      const std::size_t bytes = std::size_t(frame.pitch) * std::size_t(size.height),
                        pages = (bytes + page - 1) / page * page;
      void* const memory =
          mmap(nullptr, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      ASSERT_NE(memory, MAP_FAILED);
      ASSERT_EQ(mprotect(static_cast<char*>(memory) + pages, page, PROT_NONE), 0);
      frame.data = static_cast<char*>(memory) + pages - bytes;
      const std::string path = folder / "a.mp4";
      VideoWriter writer(path, size, {});
      for (int i = 0; i < 2; ++i) writer.write(frame);
      EXPECT_NO_THROW(writer.finish());
      munmap(memory, pages + page);
    }
}

TEST(VideoFiles, KeepTimesThatVary) {
  NEEDS_FFMPEG();
  const Folder folder;
  const auto frames = scene_frames({64, 48}, 6, false);
  const double times[] = {0, 0.1, 0.15, 1, 1.0333, 4};
  for (const char* name : {"a.mp4", "a.mov", "a.mkv", "a.webm", "a.avi"})
    for (const char* codec : {"", "mpeg4"}) {
      if (*codec && std::string(name) == "a.webm") continue;
      SCOPED_TRACE(std::string(name) + codec);
      {
        VideoWriter writer(folder / name, {64, 48}, {.rate = 20, .codec = codec});
        for (int i = 0; i < 6; ++i) writer.write(frames[std::size_t(i)], times[i]);
        writer.finish();
      }
      const Video video = read_video(folder / name);
      ASSERT_EQ(video.frames.size(), 6u) << video.error;
      const double exact = std::string(name) == "a.avi"                                    ? 0.0251
                           : std::string(name) == "a.mkv" || std::string(name) == "a.webm" ? 0.00051
                                                                                           : 1e-5;
      for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(video.frames[i].time, times[i], exact);
    }
}

TEST(VideoFiles, AnOddSizeGetsOneColumnOrRow) {
  NEEDS_FFMPEG();
  const Folder folder;
  for (const Size size : {Size{65, 49}, Size{64, 49}, Size{65, 48}, Size{17, 3}}) {
    const auto frames = scene_frames(size, 2);
    write_video(folder / "a.mp4", frames);
    const Video video = read_video(folder / "a.mp4");
    EXPECT_EQ(video.info.size, (Size{size.width + size.width % 2, size.height + size.height % 2}));
    ASSERT_EQ(video.frames.size(), 2u) << video.error;
    EXPECT_GT(psnr(video.frames[1].frame, frames[1]), 30);
  }
}

TEST(VideoFiles, ACodecWithoutLossKeepsAll) {
  NEEDS_FFMPEG();
  const Folder folder;
  for (const PixelFormat format :
       {PixelFormat::gray_u8, PixelFormat::gray_u16, PixelFormat::rgb_u8, PixelFormat::rgb_u16}) {
    SCOPED_TRACE(to_string(format));
    FrameBuffer frame({33, 21}, format);
    for (int y = 0; y < 21; ++y)
      for (int x = 0; x < 33 * bytes_per_pixel(format); ++x)
        static_cast<std::uint8_t*>(frame.row(y))[x] = std::uint8_t(37 * x + 101 * y + x * y);
    VideoWriter writer(folder / "a.mkv", {33, 21}, {.codec = "ffv1"});
    writer.write(frame);
    writer.finish();
    const Video video = read_video(folder / "a.mkv");
    ASSERT_EQ(video.frames.size(), 1u) << video.error;
    EXPECT_TRUE(same_pixels(video.frames[0].frame, frame));
  }
}

TEST(VideoFiles, MemoryIsUsedAgain) {
  NEEDS_FFMPEG();
  const Folder folder;
  write_video(folder / "a.mp4", scene_frames({64, 48}, 8));
  for (const bool gray : {true, false}) {
    FrameSource reader(folder / "a.mp4", {.gray = gray});
    VideoFrame frame;
    ASSERT_TRUE(reader.next(frame));
    ASSERT_TRUE(reader.next(frame));
    const void* const data = frame.frame.row(0);
    while (reader.next(frame)) EXPECT_EQ(frame.frame.row(0), data);
    EXPECT_FALSE(reader.next(frame));
  }
}

TEST(VideoFiles, FramesMayBeKept) {
  const Folder folder;
  for (const char* name : {"a.y4m", "a.mp4"}) {
    if (!has_ffmpeg && std::string(name) == "a.mp4") continue;
    write_video(folder / name, scene_frames({64, 48}, 4, false));
    const Video expected = read_video(folder / name, {.gray = true});
    FrameSource reader(folder / name, {.gray = true});
    VideoFrame frame;
    std::vector<FrameBuffer> kept;
    while (reader.next(frame)) kept.push_back(std::move(frame.frame));
    ASSERT_EQ(kept.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(same_pixels(kept[i], expected.frames.at(i).frame)) << i;
  }
}

TEST(VideoFiles, WrongArgumentsAreNamed) {
  const Folder folder;
  const std::string path = folder / "a.y4m";
  const auto make = [&](const std::string& name, Size size, VideoWriterOptions options = {}) {
    return [=] { VideoWriter(name, size, options); };
  };
  using enum ErrorCode;
  expect_error(invalid_argument, "0x48 pixels", make(path, {0, 48}));
  expect_error(invalid_argument, "rate is 0", make(path, {64, 48}, {.rate = 0}));
  expect_error(invalid_argument, "quality is 52", make(path, {64, 48}, {.quality = 52}));
  expect_error(invalid_argument, "threads is -1", make(path, {64, 48}, {.threads = -1}));
  expect_error(invalid_argument, "'.xyz'", make(folder / "a.xyz", {64, 48}));
  expect_error(file, "cannot create a file in the folder", make(folder / "none/a.y4m", {64, 48}));
  std::filesystem::create_symlink("/dev/full", folder / "full.y4m");
  expect_error(file, "not a regular file", make(folder / "full.y4m", {64, 48}));
  std::filesystem::remove(folder / "full.y4m");
  expect_error(invalid_argument, "threads is -2", [&] { FrameSource(path, {.threads = -2}); });
  expect_error(file, "No such file", [&] { FrameSource{folder / "none.mp4"}; });
  VideoWriter writer(path, {64, 48});
  expect_error(invalid_argument, "has 32x48 pixels, the video 64x48", [&] {
    writer.write(FrameBuffer({32, 48}, PixelFormat::gray_u8));
  });
  expect_error(invalid_argument, "frames of videos are u8 or u16", [&] {
    writer.write(FrameBuffer({64, 48}, PixelFormat::rgb_f32));
  });
  const FrameBuffer gray({64, 48}, PixelFormat::gray_u8);
  expect_error(invalid_argument, "the time of frame 1 is -1", [&] { writer.write(gray, -1); });
  writer.write(gray, 0);
  expect_error(invalid_argument, "frame 2 has no time", [&] { writer.write(gray); });
  expect_error(invalid_argument, "frame 2 is rgb_u8", [&] {
    writer.write(FrameBuffer({64, 48}, PixelFormat::rgb_u8), 1);
  });
  expect_error(invalid_argument, "times should rise", [&] { writer.write(gray, 0); });
  writer.finish();
  writer.finish();
  expect_error(invalid_argument, "finished", [&] { writer.write(gray, 1); });
  VideoWriter empty(folder / "empty.y4m", {64, 48});
  expect_error(invalid_argument, "no frame was written", [&] { empty.finish(); });
  EXPECT_EQ(folder.files(), 1);
  if (!has_ffmpeg) {
    expect_error(unsupported, "no FFmpeg", make(folder / "a.mp4", {64, 48}));
    return;
  }
  expect_error(unsupported, "no encoder nothing", make(folder / "a.mp4", {64, 48}, {.codec = "nothing"}));
  expect_error(invalid_argument, "holds no", make(folder / "a.webm", {64, 48}, {.codec = "mpeg4"}));
  expect_error(invalid_argument, "no input format nothing",
               [&] { FrameSource(path, {.format = "nothing"}); });
  std::ofstream(folder / "text.mp4") << "no video";
  expect_error(format, "no video or picture", [&] { FrameSource{folder / "text.mp4"}; });
}

TEST(VideoFiles, WithoutPermissionAreNamed) {
  if (geteuid() == 0) GTEST_SKIP() << "root may do everything";
  const Folder folder;
  std::filesystem::create_directory(folder / "locked");
  std::filesystem::permissions(folder / "locked", std::filesystem::perms::none);
  for (const char* name : {"locked/a.y4m", "locked/a%d.png", "locked/a.mp4", "locked/"}) {
    if (!has_ffmpeg && std::string(name).ends_with("mp4")) continue;
    expect_error(ErrorCode::file, "Permission denied", [&] {
      VideoWriter writer(folder / name, {8, 6});
      writer.write(FrameBuffer({8, 6}, PixelFormat::gray_u8));
      writer.finish();
    });
    expect_error(ErrorCode::file, "", [&] { FrameSource{folder / name}; });
  }
  std::filesystem::permissions(folder / "locked", std::filesystem::perms::all);
}

/// At most the frames of the encoder's threads are lost, and one frame is there in any case.
TEST(VideoFiles, ThatEndEarlyHaveTheFramesThatAreEncoded) {
  NEEDS_FFMPEG();
  const Folder folder;
  for (const char* name : {"a.webm", "a.mp4", "a.mkv", "a.avi"})
    for (const std::size_t count : {1, 12}) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(count));
      VideoWriter writer(folder / name, {160, 120}, {.threads = 2});
      for (const FrameBuffer& frame : scene_frames({160, 120}, int(count), true)) writer.write(frame);
      const std::int64_t lost = writer.finish_early();
      EXPECT_LE(lost, count == 1 ? 0 : 4);
      const Video video = read_video(folder / name);
      EXPECT_EQ(video.error, "");
      EXPECT_EQ(std::int64_t(video.frames.size()) + lost, std::int64_t(count));
    }
}

TEST(VideoFiles, ADestructorFinishes) {
  NEEDS_FFMPEG();
  const Folder folder;
  const auto frames = scene_frames({64, 48}, 4);
  for (const char* name : {"a.mp4", "a.mkv", "a.y4m"}) {
    {
      VideoWriter writer(folder / name, {64, 48});
      for (const FrameBuffer& frame : frames) writer.write(frame);
      EXPECT_FALSE(std::filesystem::exists(folder / name));
    }
    EXPECT_EQ(read_video(folder / name).frames.size(), 4u);
    { VideoWriter writer(folder / name, {64, 48}); }
    EXPECT_EQ(read_video(folder / name).frames.size(), 4u) << "an older file is kept";
  }
  EXPECT_EQ(folder.files(), 3);
}

}  // namespace
}  // namespace parafield::test
