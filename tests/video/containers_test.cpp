// SPDX-License-Identifier: MIT
// Videos in containers that FFmpeg reads to their end without an error although parts are missing.
#include "parafield/io.hpp"
#include "support.hpp"
#include "video/videos.hpp"

namespace parafield::test {
namespace {

struct Container {
  const char* name;
  const char* encoder;    // options of ffmpeg
  bool ends_with_footer;  // whose loss is no loss of frames
};
constexpr Container containers[] = {{"a.gif", "", false},
                                    {"a.flv", "-c:v flv1", false},
                                    {"a.wmv", "-c:v wmv2", false},
                                    {"a.ogv", "-c:v libtheora -q:v 9", false},
                                    {"a.ts", "-c:v mpeg2video -g 1", false},
                                    {"a.mxf", "-c:v mpeg2video -g 1", true}};

/// Writes a video of 24 frames of 160 x 120 px with a second of sound, where the container has sound. Returns
/// whether ffmpeg can.
bool encode(const Folder& folder, const Container& container) {
  if (!std::filesystem::exists(folder / "given.mkv"))
    write_video(folder / "given.mkv", scene_frames({160, 120}, 24), {.codec = "ffv1"});
  const std::string path = folder / container.name;
  const std::string sound = path.ends_with(".gif")   ? "-an "
                            : path.ends_with(".mxf") ? "-c:a pcm_s16le -ar 48000 "
                                                     : "-ar 44100 ";
  return ffmpeg("-i " + (folder / "given.mkv").string() + " -f lavfi -i sine=d=2 -pix_fmt " +
                (path.ends_with(".gif") ? "rgb8 " : "yuv420p ") + container.encoder + " -q:v 2 " + sound +
                path + " 2>/dev/null");
}

TEST(Containers, ThatWereCutOffAreNoticed) {
  NEEDS_FFMPEG_PROGRAM();
  const Folder folder;
  for (const Container& container : containers) {
    SCOPED_TRACE(container.name);
    if (!encode(folder, container)) continue;
    const std::string path = folder / container.name, cut = folder / ("cut" + std::string(container.name));
    EXPECT_EQ(missing_part(path), "");
    const Video whole = read_video(path);
    ASSERT_EQ(whole.frames.size(), 24u) << whole.error;
    EXPECT_EQ(whole.notes.size(), 0u);
    const std::vector<std::uint8_t> bytes = bytes_in(path);
    for (const double share : {0.2, 0.4, 0.6, 0.8, 1.0}) {
      auto part = bytes;
      part.resize(std::size_t(double(bytes.size()) * share) - 5);
      write_bytes(cut, part);
      if (share == 1 && container.ends_with_footer) continue;
      EXPECT_NE(
          missing_part(cut).find("the file was cut off: it ends at byte " + std::to_string(part.size())),
          std::string::npos)
          << missing_part(cut);
      const Video video = read_video(cut);
      EXPECT_NE(video.error, "") << share;
      ASSERT_LE(video.frames.size(), whole.frames.size());
      for (std::size_t i = 0; i < video.frames.size(); ++i)
        EXPECT_TRUE(same_pixels(video.frames[i].frame, whole.frames[i].frame)) << share << " frame " << i;
    }
  }
}

TEST(Containers, ThatLackAPartInTheMiddleAreNoticed) {
  NEEDS_FFMPEG_PROGRAM();
  const Folder folder;
  for (const Container& container : containers) {
    SCOPED_TRACE(container.name);
    if (!encode(folder, container)) continue;
    auto bytes = bytes_in(folder / container.name);
    const auto middle = bytes.begin() + std::ptrdiff_t(bytes.size() / 2);
    bytes.erase(middle, middle + 1500);
    const std::string path = folder / ("damaged" + std::string(container.name));
    write_bytes(path, bytes);
    const Video video = read_video(path);
    EXPECT_TRUE(
        !video.error.empty() ||
        (video.notes.size() == 1 && video.notes[0].find("frames may be missing there") != std::string::npos))
        << video.frames.size();
  }
}

TEST(Containers, WithSeveralVideosNameTheOneThatIsRead) {
  NEEDS_FFMPEG_PROGRAM();
  const Folder folder;
  write_video(folder / "a.mkv", scene_frames({64, 48}, 4), {.codec = "ffv1"});
  write_video(folder / "b.mkv", scene_frames({32, 16}, 4), {.codec = "ffv1"});
  const std::string both = folder / "both.mkv";
  ASSERT_TRUE(ffmpeg("-i " + (folder / "a.mkv").string() + " -i " + (folder / "b.mkv").string() +
                     " -map 0 -map 1 -c copy " + both));
  const Video video = read_video(both);
  ASSERT_EQ(video.frames.size(), 4u) << video.error;
  ASSERT_EQ(video.notes.size(), 1u);
  EXPECT_EQ(video.notes[0], both + ": it holds 2 videos, of which the one of " +
                                (video.frames[0].frame.size().width == 64 ? "64x48" : "32x16") + " is read");
}

}  // namespace
}  // namespace parafield::test
