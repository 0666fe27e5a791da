// SPDX-License-Identifier: MIT
// Readers and writers on several threads at once.
#include <thread>

#include "video/videos.hpp"

#ifdef __SANITIZE_THREAD__
/// FFmpeg is not compiled for the sanitizer, which sees its locks and frees but not its atomic reference
/// counters. Memory that one of its threads frees after another has used it therefore looks like a race.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "race:libavutil.so\nrace:libavcodec.so\nrace:libavformat.so\n";
}
#endif

namespace parafield::test {
namespace {

TEST(VideoThreads, ReadersAndWritersDoNotDisturbEachOther) {
  const Folder folder;
  const auto frames = scene_frames({64, 48}, 6);
  std::vector<std::string> names = {"a.y4m", "b.y4m"};
  if (has_ffmpeg) names = {"a.mp4", "b.mkv", "c.y4m", "d.avi"};
  std::vector<Video> videos(names.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < names.size(); ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 3; ++round) {
        write_video(folder / names[i], frames, {.threads = 2});
        videos[i] = read_video(folder / names[i], {.threads = 2});
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const Video& video : videos) {
    ASSERT_EQ(video.frames.size(), 6u) << video.error;
    EXPECT_GT(psnr(video.frames[5].frame, frames[5]), 30);
  }
}

}  // namespace
}  // namespace parafield::test
