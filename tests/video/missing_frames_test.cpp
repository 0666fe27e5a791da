// SPDX-License-Identifier: MIT
// Videos that lack frames without an error of FFmpeg, and unusual videos that lack nothing.
#include <algorithm>

#include "parafield/io.hpp"
#include "support.hpp"
#include "video/videos.hpp"

namespace parafield::test {
namespace {

/// A folder with given.mkv: 24 frames of 160 x 120 px without losses.
struct Given : Folder {
  Given() { write_video(*this / "given.mkv", scene_frames({160, 120}, 24), {.codec = "ffv1"}); }
  /// Encodes these frames with options of ffmpeg. Returns the path.
  std::string encoded(const std::string& name, const std::string& options) const {
    const std::string path = *this / name;
    EXPECT_TRUE(ffmpeg("-i " + (*this / "given.mkv").string() + " -pix_fmt yuv420p " + options + " " + path))
        << name;
    return path;
  }
};

/// Whether one of the notes contains the text.
bool has_note(const Video& video, const std::string& text) {
  return std::ranges::any_of(video.notes,
                             [&](const std::string& note) { return note.find(text) != note.npos; });
}

const std::string x264 = "-c:v libx264 -preset ultrafast -bf 2 -g 8 -x264-params ";

TEST(MissingFrames, UnusualVideosLackNothing) {
  NEEDS_FFMPEG_PROGRAM();
  const Given folder;
  struct {
    const char* name;
    std::string options;
    std::size_t frames = 24;
  } const videos[] = {
      {"b.avi", "-c:v mpeg4 -bf 2"},
      {"mpeg2.avi", "-c:v mpeg2video -bf 2"},
      {"raw.m2v", "-c:v mpeg2video -bf 2"},
      {"raw.m4v", "-c:v mpeg4 -bf 2 -f m4v"},
      {"b.asf", "-c:v mpeg4 -bf 2"},
      {"ntsc.mpg", "-c:v mpeg2video -bf 2 -r 30000/1001", 29},
      {"open.mp4", x264 + "open_gop=1"},
      {"open.ts", x264 + "open_gop=1"},
      {"open.264", x264 + "open_gop=1"},
      {"refresh.ts", "-c:v libx264 -x264-params intra-refresh=1:keyint=10:bframes=0"},
      {"fields.ts", "-c:v libx264 -flags +ilme+ildct -vf setfield=tff"},
      {"h264.asf", x264 + "open_gop=0"},
      {"h264.avi", x264 + "open_gop=0"},
      {"vp8.ivf", "-c:v libvpx -auto-alt-ref 1 -lag-in-frames 16 -b:v 300k"},
      {"fragments.mp4", x264 + "open_gop=0 -movflags frag_every_frame+empty_moov"},
      {"one.wmv", "-c:v wmv2 -frames:v 1", 1},
      {"one.mkv", "-c:v mpeg4 -frames:v 1", 1},
      {"late.ts", x264 + "open_gop=0 -output_ts_offset 5"},
      // Every third frame, and none for a second.
      {"uneven.mkv", "-vf select='not(mod(n\\,3))' -vsync vfr -c:v mpeg4", 8},
      {"uneven.ogv", "-vf select='not(mod(n\\,3))' -vsync vfr -c:v libtheora", 8},
      {"gap.mkv", "-vf select='lt(n\\,12)+gt(n\\,20)' -vsync vfr -c:v mpeg4", 15},
      {"gap.flv", "-vf select='lt(n\\,12)+gt(n\\,20)' -vsync vfr -c:v flv1", 15},
      {"gap.ts", "-vf select='lt(n\\,12)+gt(n\\,20)' -vsync vfr " + x264 + "open_gop=0", 15},
      {"gap.avi", "-vf select='lt(n\\,12)+gt(n\\,20)' -vsync vfr -c:v mpeg4", 15},
      {"gap.wmv", "-vf select='lt(n\\,12)+gt(n\\,20)' -vsync vfr -c:v wmv2", 15},
  };
  for (const auto& [name, options, frames] : videos)
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(name);
      const std::string path = folder.encoded(name, options);
      EXPECT_EQ(missing_part(path), "");
      const Video video = read_video(path, {.gray = true, .threads = threads});
      EXPECT_EQ(video.error, "");
      EXPECT_EQ(video.frames.size(), frames);
      for (const std::string& note : video.notes) EXPECT_NE(note.find("interlaced"), note.npos) << note;
    }
}

TEST(MissingFrames, AtTheBeginningOfAStreamAreCounted) {
  NEEDS_FFMPEG_PROGRAM();
  const Given folder;
  for (const std::string& options :
       {x264 + "open_gop=0", std::string("-c:v mpeg2video -bf 2 -g 8"), std::string("-c:v mpeg4 -g 8")}) {
    SCOPED_TRACE(options);
    const std::string path = folder.encoded("whole.ts", options), cut = folder / "cut.ts";
    const Video whole = read_video(path, {.threads = 1});
    ASSERT_EQ(whole.frames.size(), 24u);
    auto bytes = bytes_in(path);
    // The third packet of 188 bytes begins the first picture.
    std::fill_n(bytes.begin() + 4 * 188 + 20, 160, std::uint8_t(0));
    bytes.erase(bytes.begin() + 3 * 188, bytes.begin() + 4 * 188);
    write_bytes(cut, bytes);
    for (const int threads : {1, 3}) {
      const Video video = read_video(cut, {.threads = threads});
      // The first frame of MPEG-2's second group depends on the first one.
      const std::size_t count = video.frames.size();
      ASSERT_TRUE(count == 15 || count == 16) << video.error;
      EXPECT_TRUE(has_note(video, "its first " + std::to_string(23 - count) + " frames are left out") ||
                  has_note(video, "its first " + std::to_string(24 - count) + " frames are left out"))
          << ::testing::PrintToString(video.notes);
      for (std::size_t i = 0; i < count; ++i)
        EXPECT_TRUE(same_pixels(video.frames[i].frame, whole.frames[24 - count + i].frame)) << i;
    }
  }
}

TEST(MissingFrames, ThatOpenTheFirstGroupAreLeftOut) {
  NEEDS_FFMPEG_PROGRAM();
  const Given folder;
  const std::string path = folder.encoded("whole.ts", x264 + "open_gop=1");
  const Video whole = read_video(path, {.threads = 1});
  ASSERT_EQ(whole.frames.size(), 24u);
  for (const char* name : {"cut.ts", "cut.mkv", "cut.mp4"}) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(ffmpeg("-ss 0.4 -i " + path + " -c copy " + (folder / name).string()));
    const Video video = read_video(folder / name);
    EXPECT_EQ(video.error, "");
    ASSERT_GE(video.frames.size(), 7u);
    const std::size_t before = 24 - video.frames.size();
    for (std::size_t i = 0; i < video.frames.size(); ++i)
      EXPECT_TRUE(same_pixels(video.frames[i].frame, whole.frames[before + i].frame)) << i;
  }
}

TEST(MissingFrames, StreamsWhoseTimesBeginAnewAreReadToTheirEnd) {
  NEEDS_FFMPEG_PROGRAM();
  const Given folder;
  const std::string late = folder.encoded("late.ts", x264 + "open_gop=0 -output_ts_offset 100"),
                    early = folder.encoded("early.ts", x264 + "open_gop=0");
  auto bytes = bytes_in(late);
  const auto more = bytes_in(early);
  bytes.insert(bytes.end(), more.begin(), more.end());
  write_bytes(folder / "both.ts", bytes);
  const Video video = read_video(folder / "both.ts");
  EXPECT_EQ(video.error, "");
  EXPECT_EQ(video.frames.size(), 48u);
}

TEST(MissingFrames, OfAnAviAreCountedByItsIndex) {
  NEEDS_FFMPEG_PROGRAM();
  const Given folder;
  const std::string path = folder.encoded("a.avi", "-c:v mjpeg -q:v 2 -pix_fmt yuvj420p");
  auto bytes = bytes_in(path);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::size_t at = text.find("movi");
  for (int i = 0; i < 6; ++i) at = text.find("00dc", at + 1);
  std::fill_n(bytes.begin() + std::ptrdiff_t(at), 8, std::uint8_t(0));
  write_bytes(path, bytes);
  const Video video = read_video(path);
  EXPECT_NE(video.error.find("it has 23 of its 24 frames: data are missing or damaged"), std::string::npos)
      << video.error;
  EXPECT_EQ(video.frames.size(), 23u);
}

TEST(MissingFrames, BeforeARawVideoInAFileOfAnotherNameAreNoted) {
  NEEDS_FFMPEG_PROGRAM();
  const Given folder;
  for (const char* name : {"a.mov", "a.avi"}) {
    const std::string path = folder.encoded(name, "-c:v mpeg4 -g 4 -pix_fmt yuv420p");
    auto bytes = bytes_in(path);
    bytes.erase(bytes.begin(), bytes.begin() + std::ptrdiff_t(bytes.size() / 4));
    write_bytes(path, bytes);
    const Video video = read_video(path);
    EXPECT_TRUE(!video.error.empty() || has_note(video, "frames may be missing")) << name;
  }
}

TEST(MissingFrames, ChangedBytesOfMatroskaAreNoticedByItsChecksums) {
  NEEDS_FFMPEG_PROGRAM();
  const Given folder;
  const std::string path = folder.encoded("a.mkv", "-c:v rawvideo");
  const auto whole = bytes_in(path);
  for (const double share : {0.3, 0.6, 0.9}) {
    auto bytes = whole;
    bytes[std::size_t(double(bytes.size()) * share)] ^= 1;
    write_bytes(path, bytes);
    const Video video = read_video(path);
    EXPECT_NE(video.error.find("frame 25: it is damaged at byte "), std::string::npos) << video.error;
  }
}

TEST(MissingFrames, OfRawVideosAreNoticedByTheNumbersOfPictures) {
  NEEDS_FFMPEG_PROGRAM();
  const Given folder;
  for (const auto& [name, options] :
       {std::pair("a.264", x264 + "open_gop=0"),
        std::pair("a.265", std::string("-c:v libx265 -x265-params log-level=0"))}) {
    SCOPED_TRACE(name);
    const std::string path = folder.encoded(name, options);
    const Video whole = read_video(path);
    EXPECT_EQ(whole.frames.size(), 24u) << whole.error;
    EXPECT_TRUE(whole.notes.empty());
    // Leave out the second picture after the headers.
    auto bytes = bytes_in(path);
    const std::size_t second = name == std::string("a.264") ? 4 : 5;
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i + 3 < bytes.size(); ++i)
      if (bytes[i] == 0 && bytes[i + 1] == 0 && bytes[i + 2] == 1) starts.push_back(i);
    ASSERT_GT(starts.size(), 16u);
    bytes.erase(bytes.begin() + std::ptrdiff_t(starts[second]),
                bytes.begin() + std::ptrdiff_t(starts[second + 1]));
    write_bytes(path, bytes);
    const Video video = read_video(path);
    EXPECT_TRUE(!video.error.empty() || has_note(video, "to be missing")) << video.frames.size();
  }
}

TEST(MissingFrames, OfPicturesOneAfterTheOtherAreNoted) {
  NEEDS_FFMPEG_PROGRAM();
  const Given folder;
  const std::string path = folder.encoded("a.mjpeg", "-c:v mjpeg -pix_fmt yuvj420p");
  const Video film = read_video(path);
  EXPECT_EQ(film.frames.size(), 24u) << film.error;
  EXPECT_TRUE(film.notes.empty());
  for (const auto& [name, codec] :
       {std::pair("all.jpg", "mjpeg -pix_fmt yuvj420p"), std::pair("all.png", "png")}) {
    const Video pictures = read_video(folder.encoded(name, std::string("-f image2pipe -c:v ") + codec));
    EXPECT_EQ(pictures.frames.size(), 1u) << pictures.error;
    EXPECT_TRUE(has_note(pictures, "more images follow the first one")) << name;
    const Video one =
        read_video(folder.encoded("one." + std::string(name), std::string("-frames:v 1 -c:v ") + codec));
    EXPECT_EQ(one.frames.size(), 1u) << one.error;
    EXPECT_TRUE(one.notes.empty()) << name;
  }
}

TEST(MissingFrames, ThatDecodersConcealAreNoticed) {
  NEEDS_FFMPEG_PROGRAM();
  const Given folder;
  for (const std::string& options :
       {std::string("-c:v ffv1 -level 3 -slicecrc 1"), std::string("-c:v libaom-av1 -cpu-used 8 -g 8")}) {
    const std::string path = folder / "a.mov";
    if (!ffmpeg("-i " + (folder / "given.mkv").string() + " -pix_fmt yuv420p " + options +
                " -strict -2 -f mov " + path + " 2>/dev/null"))
      continue;
    const Video whole = read_video(path, {.threads = 1});
    ASSERT_EQ(whole.frames.size(), 24u) << whole.error;
    EXPECT_EQ(whole.error, "");
    const auto bytes = bytes_in(path);
    for (const double share : {0.35, 0.6, 0.8}) {
      auto damaged = bytes;
      std::fill_n(damaged.begin() + std::ptrdiff_t(double(bytes.size()) * share), 30, std::uint8_t(0));
      write_bytes(path, damaged);
      for (const int threads : {1, 3}) {
        const Video video = read_video(path, {.threads = threads});
        EXPECT_TRUE(!video.error.empty() || video.frames.size() == 24) << options << ' ' << share;
        if (options.find("ffv1") == options.npos) continue;
        EXPECT_NE(video.error.find("damaged data"), std::string::npos) << video.error;
        for (std::size_t i = 0; i < video.frames.size(); ++i)
          EXPECT_TRUE(same_pixels(video.frames[i].frame, whole.frames[i].frame)) << i;
      }
    }
  }
}

TEST(MissingFrames, OfContainersAreNoticedWhereverAPieceIsMissing) {
  NEEDS_FFMPEG_PROGRAM();
  const Given folder;
  const std::pair<const char*, std::string> videos[] = {
      {"fragments.mp4", x264 + "open_gop=0 -movflags frag_keyframe+empty_moov"},
      {"a.mpg", "-c:v mpeg2video -g 4"},
      {"a.ts", "-c:v mpeg2video -g 4"},
      {"a.mxf", "-c:v mpeg2video -g 1"},
      {"a.ivf", "-c:v libvpx -g 4"},
      {"a.webm", "-c:v libvpx -g 4"},
      {"a.gif", "-pix_fmt rgb8"},
      {"a.wmv", "-c:v wmv2 -g 4"}};
  for (const auto& [name, options] : videos) {
    const std::string path = folder.encoded(name, options);
    const auto whole = bytes_in(path);
    for (const std::size_t size : {std::size_t(1), std::size_t(700), whole.size() / 5})
      for (const double share : {0.3, 0.5, 0.7}) {
        auto bytes = whole;
        const auto from = bytes.begin() + std::ptrdiff_t(double(bytes.size()) * share);
        bytes.erase(from, from + std::ptrdiff_t(size));
        write_bytes(path, bytes);
        const Video video = read_video(path);
        EXPECT_TRUE(!video.error.empty() || !video.notes.empty())
            << name << " without " << size << " bytes at " << share << ": " << video.frames.size();
      }
  }
}

}  // namespace
}  // namespace parafield::test
