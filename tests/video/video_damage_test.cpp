// SPDX-License-Identifier: MIT
// Videos that are cut or damaged, and disks that are full.
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <random>

#include "support.hpp"
#include "video/videos.hpp"

namespace parafield::test {
namespace {

/// Small videos of all containers.
std::vector<std::string> small_videos(const Folder& folder, const std::vector<FrameBuffer>& frames) {
  std::vector<std::string> paths;
  for (const char* name : {"a.mp4", "a.mkv", "a.avi", "a.webm"}) {
    paths.push_back(folder / name);
    write_video(paths.back(), frames);
  }
  if (std::system("ffmpeg -version >/dev/null 2>&1") == 0)
    for (const char* name : {"a.ts", "fast.mp4 -movflags faststart"}) {
      const std::string path = folder / name;
      if (ffmpeg("-i " + paths[0] + " -c copy -f " + (name[0] == 'a' ? "mpegts " : "mp4 ") +
                 path.substr(path.find(' ') == path.npos ? path.size() : path.find(' ')) + " " +
                 path.substr(0, path.find(' '))))
        paths.push_back(path.substr(0, path.find(' ')));
    }
  return paths;
}

TEST(VideoDamage, ACutVideoGivesItsFirstFrames) {
  NEEDS_FFMPEG();
  const Folder folder;
  const auto frames = scene_frames({64, 48}, 10);
  for (const std::string& path : small_videos(folder, frames)) {
    SCOPED_TRACE(path);
    const Video whole = read_video(path, {.threads = 1});
    ASSERT_EQ(whole.frames.size(), 10u) << whole.error;
    const std::vector<std::uint8_t> bytes = bytes_in(path);
    const std::string cut = folder / ("cut" + std::filesystem::path(path).extension().string());
    for (std::size_t i = 0; i < 60; ++i) {
      const std::size_t count = bytes.size() * i / 60 + i % 3;
      write_bytes(cut, {bytes.begin(), bytes.begin() + std::ptrdiff_t(count)});
      const Video video = read_video(cut, {.threads = int(i % 3)});
      // Only for a stream, which may begin and end anywhere, a cut cannot be detected.
      if (path.ends_with(".ts"))
        EXPECT_TRUE(!video.error.empty() || !video.frames.empty());
      else
        EXPECT_FALSE(video.error.empty())
            << count << " of " << bytes.size() << " bytes, " << video.frames.size();
      ASSERT_LE(video.frames.size(), whole.frames.size());
      // A frame that was stored before missing B-frames is not returned.
      for (std::size_t k = 0; k < video.frames.size(); ++k)
        EXPECT_TRUE(same_pixels(video.frames[k].frame, whole.frames[k].frame))
            << "frame " << k << " of " << video.frames.size() << " in " << count << " of " << bytes.size()
            << " bytes: " << video.error;
    }
  }
}

// FFmpeg's decoder of MPEG-4 part 2 aborts the process on this damage if it decodes several frames at once.
TEST(VideoDamage, ACutMpeg4VideoGivesItsWholeFrames) {
  NEEDS_FFMPEG();
  const Folder folder;
  const std::string path = folder / "whole.avi", cut = folder / "cut.avi";
  write_video(path, scene_frames({160, 120}, 24), {.codec = "mpeg4"});
  const Video whole = read_video(path);
  ASSERT_EQ(whole.frames.size(), 24u) << whole.error;
  auto bytes = bytes_in(path);
  bytes.resize(bytes.size() * 6 / 10);
  write_bytes(cut, bytes);
  for (const int threads : {0, 1, 2, 5}) {
    const Video video = read_video(cut, {.threads = threads});
    EXPECT_GE(video.frames.size(), 10u);
    EXPECT_NE(video.error.find("frame " + std::to_string(video.frames.size() + 1) + ": damaged data"),
              std::string::npos)
        << video.error;
    for (std::size_t i = 0; i < video.frames.size(); ++i)
      EXPECT_TRUE(same_pixels(video.frames[i].frame, whole.frames[i].frame)) << "frame " << i + 1;
  }
}

TEST(VideoDamage, AnMp4WithoutItsIndexIsNamed) {
  NEEDS_FFMPEG();
  const Folder folder;
  write_video(folder / "a.mp4", scene_frames({64, 48}, 10));
  const auto whole = bytes_in(folder / "a.mp4");
  const std::string_view text(reinterpret_cast<const char*>(whole.data()), whole.size());
  const std::size_t index = text.find("moov") - 4;
  ASSERT_GT(index, whole.size() / 2) << "the index is written last";
  for (const std::size_t end :
       {whole.size() / 2, index, index + 8, index + 20, index + 400, whole.size() - 9}) {
    auto bytes = whole;
    bytes.resize(end);
    write_bytes(folder / "a.mp4", bytes);
    const Video video = read_video(folder / "a.mp4");
    EXPECT_NE(video.error.find(end <= index ? "an MP4 or MOV file without its index (moov)"
                                            : "inside its index (moov)"),
              std::string::npos)
        << end << " of " << whole.size() << ": " << video.error;
  }
}

TEST(VideoDamage, DamagedFramesAreSkippedIfAsked) {
  NEEDS_FFMPEG_PROGRAM();
  const Folder folder;
  const auto frames = scene_frames({64, 48}, 12);
  const std::string path = folder / "a.mkv";
  write_video(folder / "b.mkv", frames, {.codec = "ffv1"});
  // Each frame is a key frame whose damage is noticed.
  ASSERT_TRUE(ffmpeg("-i " + (folder / "b.mkv").string() + " -c:v png " + path));
  auto bytes = bytes_in(path);
  for (int i = 0; i < 20; ++i) bytes[bytes.size() * 11 / 24 + std::size_t(i)] ^= 0x55;
  write_bytes(path, bytes);
  const Video stopped = read_video(path);
  EXPECT_NE(stopped.error.find("damaged data"), std::string::npos) << stopped.error;
  for (const int threads : {1, 3}) {
    const Video video = read_video(path, {.threads = threads, .skip_damaged = true});
    EXPECT_EQ(video.error, "");
    ASSERT_EQ(video.notes.size(), 1u);
    EXPECT_NE(video.notes[0].find("damaged data; the video goes on with its next key frame"),
              std::string::npos);
    ASSERT_GE(video.frames.size(), 6u);
    EXPECT_LT(video.frames.size(), 12u);
    std::int64_t skipped = 0;
    for (const VideoFrame& frame : video.frames) {
      skipped += frame.skipped;
      ASSERT_LT(frame.index, 12);
      EXPECT_TRUE(same_pixels(frame.frame, frames[std::size_t(frame.index)])) << frame.index;
    }
    EXPECT_EQ(video.frames.back().index, 11);
    EXPECT_EQ(std::int64_t(video.frames.size()) + skipped, 12);
  }
}

TEST(VideoDamage, AFilmWithoutASoundFrameEndsWithAnError) {
  NEEDS_FFMPEG_PROGRAM();
  const Folder folder;
  write_video(folder / "a.mkv", scene_frames({64, 48}, 12), {.codec = "ffv1"});
  const std::string path = folder / "a.mpg";
  ASSERT_TRUE(ffmpeg("-i " + (folder / "a.mkv").string() + " -c:v mpeg2video -g 100 -f mpeg " + path));
  auto bytes = bytes_in(path);
  for (std::size_t i = 0; i + 16 < bytes.size(); ++i)  // the first bytes of all slices
    if (bytes[i] == 0 && bytes[i + 1] == 0 && bytes[i + 2] == 1 && bytes[i + 3] >= 1 && bytes[i + 3] <= 3)
      std::fill_n(bytes.begin() + std::ptrdiff_t(i) + 4, 12, std::uint8_t(255));
  write_bytes(path, bytes);
  for (const bool skips : {false, true})
    expect_error(ErrorCode::format,
                 skips ? "no frame can be read: no frame of it can be decoded"
                       : "frame 1: no frame of it can be decoded",
                 [&] { FrameSource(path, {.skip_damaged = skips}); });
}

TEST(VideoDamage, TheSharedDamagedFilmGivesItsWholeFrames) {
  NEEDS_FFMPEG();
  PARAFIELD_DATA_OR_SKIP(folder, "faults");
  const Video video = read_video(folder / "crash_truncated_mpeg4_small.avi");
  EXPECT_EQ(video.frames.size(), 14u);
  EXPECT_NE(video.error.find("frame 15: damaged data"), std::string::npos) << video.error;
  const Video cut = read_video(folder / "cut_l.mkv");
  EXPECT_EQ(cut.frames.size(), 24u);
  EXPECT_NE(cut.error.find("frame 25: the file was cut off: it ends at byte 45115 of 75192"),
            std::string::npos)
      << cut.error;
}

TEST(VideoDamage, DamagedBytesCrashNothing) {
  NEEDS_FFMPEG();
  const Folder folder;
  std::mt19937 random(7);
  int errors = 0;
  for (const std::string& path : small_videos(folder, scene_frames({64, 48}, 10))) {
    const std::vector<std::uint8_t> bytes = bytes_in(path);
    const std::string damaged = folder / ("damaged" + std::filesystem::path(path).extension().string());
    for (int i = 0; i < 60; ++i) {
      auto changed = bytes;
      for (int k = 0; k < 1 + i % 20; ++k) changed[random() % changed.size()] = std::uint8_t(random());
      write_bytes(damaged, changed);
      errors += !read_video(damaged, {.threads = i % 3}).error.empty();
    }
  }
  EXPECT_GT(errors, 50);
}

TEST(VideoDamage, AChangeOfSizeIsAnErrorWithBothSizes) {
  NEEDS_FFMPEG_PROGRAM();
  const Folder folder;
  std::vector<std::uint8_t> bytes;
  for (const Size size : {Size{64, 48}, Size{96, 48}}) {
    write_video(folder / "a.mp4", scene_frames(size, 5));
    ASSERT_TRUE(ffmpeg("-i " + (folder / "a.mp4").string() + " -c copy " + (folder / "a.h264").string()));
    const auto part = bytes_in(folder / "a.h264");
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  write_bytes(folder / "both.h264", bytes);
  const Video video = read_video(folder / "both.h264");
  EXPECT_EQ(video.frames.size(), 5u);
  EXPECT_NE(video.error.find("frame 6: has 96x48 pixels, those before 64x48"), std::string::npos)
      << video.error;
}

/// The largest file that this process may write, as a full disk; the destructor lifts it.
struct FullDisk {
  explicit FullDisk(rlim_t most) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit limit = {most, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before); }
  rlimit before = {};
};

TEST(VideoDamage, AFullDiskIsAnErrorAndKeepsWhatWasWritten) {
  const Folder folder;
  const auto frames = scene_frames({160, 120}, 4);
  for (const char* name : {"a.y4m", "a.mp4", "a.mkv", "a.avi", "a.webm", "ffv1.mkv"}) {
    if (!has_ffmpeg && std::string(name) != "a.y4m") continue;
    SCOPED_TRACE(name);
    const std::string path = folder / name;
    std::string error;
    std::size_t written = 0;
    {
      const FullDisk disk(300'000);
      try {
        VideoWriter writer(path, {160, 120}, {.codec = name[0] == 'f' ? "ffv1" : "", .quality = 5});
        for (; written < 1000; ++written) writer.write(frames[written * 7 % 4]);
        writer.finish();
      } catch (const Error& problem) {
        EXPECT_EQ(problem.code(), ErrorCode::file);
        error = problem.what();
      }
    }
    EXPECT_NE(
        error.find(path + ": frame " + std::to_string(written + 1) + ": cannot be written: File too large"),
        std::string::npos)
        << error;
    EXPECT_EQ(error.find("finished"), std::string::npos) << error;
    const Video video = read_video(path);
    EXPECT_EQ(video.error, "");
    EXPECT_GE(video.frames.size() + 80, written);  // an encoder keeps some
    EXPECT_GE(video.frames.size(), 2u);
    EXPECT_LE(video.frames.size(), written + 1);
    std::filesystem::remove(path);
    EXPECT_EQ(folder.files(), 0);
  }
}

TEST(VideoDamage, ThousandsOfFramesNeedNoMoreMemory) {
  NEEDS_FFMPEG();
  const auto resident = [] {
    long pages = 0, here = 0;
    std::ifstream("/proc/self/statm") >> pages >> here;
    return here * sysconf(_SC_PAGESIZE);
  };
#ifdef PARAFIELD_SANITIZED
  constexpr long most = 128 << 20;  // sanitizers keep up to 256 MB of what is freed; packets alone are 40 MB
#else
  constexpr long most = 8 << 20;
#endif
  const Folder folder;
  const auto frames = scene_frames({160, 120}, 4);
  VideoWriter writer(folder / "a.mp4", {160, 120}, {.threads = 2});
  long before = 0;
  for (int i = 0; i < 5000; ++i) {
    if (i == 500) before = resident();
    writer.write(frames[std::size_t(i % 4)]);
  }
  writer.finish();
  EXPECT_LT(resident() - before, most);
  FrameSource reader(folder / "a.mp4", {.threads = 2});
  VideoFrame frame;
  std::int64_t count = 0;
  for (; reader.next(frame); ++count)
    if (count == 500) before = resident();
  EXPECT_EQ(count, 5000);
  EXPECT_LT(resident() - before, most);
}

}  // namespace
}  // namespace parafield::test
