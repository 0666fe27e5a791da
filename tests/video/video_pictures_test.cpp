// SPDX-License-Identifier: MIT
// Folders, patterns and streams of pictures, and Y4M: they need no FFmpeg.

#include "core/fail.hpp"
#include "io/pipe.hpp"
#include "io/tiff_bytes.hpp"
#include "parafield/io.hpp"
#include "video/videos.hpp"

namespace parafield::test {
namespace {

FrameBuffer number(int value) {
  FrameBuffer frame({8, 6}, PixelFormat::gray_u8);
  for (int y = 0; y < 6; ++y) std::memset(frame.row(y), value, 8);
  return frame;
}
std::vector<int> numbers(const Video& video) {
  std::vector<int> all;
  for (const VideoFrame& frame : video.frames) all.push_back(middle(frame.frame)[0]);
  return all;
}

TEST(VideoPictures, OfAFolderComeInTheOrderOfTheirNumbers) {
  const Folder folder;
  for (const int i : {1, 2, 10, 9}) write_frame(folder / ("a" + std::to_string(i) + ".pgm"), number(i));
  write_frame(folder / ".hidden.pgm", number(77));
  std::ofstream(folder / "notes.txt") << "notes";
  const Video video = read_video(folder.path());
  EXPECT_EQ(video.error, "");
  EXPECT_EQ(numbers(video), (std::vector{1, 2, 9, 10}));
  EXPECT_EQ(video.info.frames, 4);
  EXPECT_EQ(video.info.rate, 25);
  EXPECT_DOUBLE_EQ(video.frames[3].time, 3 / 25.0);
  const Folder empty;
  EXPECT_NE(read_video(empty.path()).error.find("holds no picture"), std::string::npos);
}

TEST(VideoPictures, OfAPatternAreThoseOfItsNumbers) {
  const Folder folder;
  for (const int i : {7, 8, 9, 10, 11}) {
    char name[32];
    std::snprintf(name, sizeof name, "f%03d%%.pgm", i);
    write_frame(folder / name, number(i));
  }
  write_frame(folder / "f12%.pgm", number(77));
  EXPECT_EQ(numbers(read_video(folder / "f%03d%%.pgm")), (std::vector{7, 8, 9, 10, 11}));
  EXPECT_EQ(numbers(read_video(folder / "f%d%%.pgm")), (std::vector{77}));

  std::filesystem::remove(folder / "f009%.pgm");
  Video video = read_video(folder / "f%03d%%.pgm");
  EXPECT_EQ(numbers(video), (std::vector{7, 8}));
  EXPECT_NE(video.error.find("frame 3: "), std::string::npos) << video.error;
  EXPECT_NE(video.error.find("f009%.pgm: cannot be read: No such file"), std::string::npos) << video.error;
  std::ofstream(folder / "f009%.pgm") << "damaged";
  video = read_video(folder / "f%03d%%.pgm");
  EXPECT_EQ(numbers(video), (std::vector{7, 8}));
  EXPECT_NE(video.error.find("frame 3: "), std::string::npos) << video.error;
  write_frame(folder / "f009%.pgm", FrameBuffer({8, 7}, PixelFormat::gray_u8));
  video = read_video(folder / "f%03d%%.pgm");
  EXPECT_EQ(numbers(video), (std::vector{7, 8}));
  EXPECT_NE(video.error.find("frame 3: has 8x7 pixels, those before 8x6"), std::string::npos) << video.error;

  using enum ErrorCode;
  expect_error(file, "no file has a name of this pattern", [&] { FrameSource{folder / "g%d.pgm"}; });
  expect_error(invalid_argument, "one place of a number", [&] { FrameSource{folder / "g%d_%d.pgm"}; });
  expect_error(invalid_argument, "one place of a number", [&] { FrameSource{folder / "g%s.pgm"}; });
}

/// The notes of a source that is read to its end.
std::vector<std::string> notes_of(FrameSource source) {
  while (source.next()) {
  }
  return source.take_notes();
}

TEST(VideoPictures, OfWildcardsComeInTheOrderOfTheirNumbers) {
  const Folder folder;
  for (const int i : {1, 2, 10, 9}) {
    write_frame(folder / ("a" + std::to_string(i) + ".pgm"), number(i));
    write_frame(folder / ("b" + std::to_string(i) + ".pgm"), number(20 + i));
  }
  EXPECT_EQ(numbers(read_video(folder / "a*.pgm")), (std::vector{1, 2, 9, 10}));
  EXPECT_EQ(numbers(read_video(folder / "b[12].pgm")), (std::vector{21, 22}));
  EXPECT_EQ(expand_wildcards(folder / "?9.pgm"),
            (std::vector<std::string>{folder / "a9.pgm", folder / "b9.pgm"}));
  for (const std::string name : {"plain.png", "http://host/a*.png", "none/plain"})
    EXPECT_EQ(expand_wildcards(name), std::vector{name});
  write_frame(folder / "c[1]*.pgm", number(5));  // an existing file is itself
  EXPECT_EQ(numbers(read_video(folder / "c[1]*.pgm")), (std::vector{5}));
  expect_error(ErrorCode::file, "no file has a name like this", [&] { FrameSource{folder / "x*.pgm"}; });
}

TEST(VideoPictures, OfSeveralSequencesInAFolderAreNotMixed) {
  const Folder folder;
  for (const int i : {1, 2, 3}) write_frame(folder / ("frame" + std::to_string(i) + ".pgm"), number(i));
  EXPECT_TRUE(notes_of(FrameSource(folder.path())).empty());
  write_frame(folder / "mask.pgm", number(77));
  EXPECT_EQ(numbers(read_video(folder.path())), (std::vector{1, 2, 3}));
  auto notes = notes_of(FrameSource(folder.path()));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], folder.path().string() +
                          ": the frames are frame#.pgm (3 files); 1 picture of another name is "
                          "left out: mask.pgm");
  for (const int i : {1, 2, 3}) write_frame(folder / ("mask" + std::to_string(i) + ".pgm"), number(70 + i));
  expect_error(ErrorCode::file, "pictures of several sequences: frame#.pgm (3 files), mask#.pgm (3 files)",
               [&] { FrameSource{folder.path()}; });
  EXPECT_EQ(numbers(read_video(folder / "frame*.pgm")), (std::vector{1, 2, 3}));
  notes = notes_of(FrameSource(folder / "*.pgm"));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("names of several sequences"), std::string::npos) << notes[0];
  // Names without numbers are no sequences.
  const Folder words;
  for (const char* name : {"a.pgm", "b.pgm", "c.pgm"}) write_frame(words / name, number(1));
  EXPECT_EQ(numbers(read_video(words.path())).size(), 3u);
}

TEST(VideoPictures, WithAGapInTheirNumbersGetANote) {
  const auto note = [](const std::vector<std::string>& names) {
    const Folder folder;
    for (const std::string& name : names) write_frame(folder / name, number(1));
    const auto notes = notes_of(FrameSource(folder.path()));
    EXPECT_EQ(notes_of(FrameSource((folder / "*").string())).size(), notes.size());
    return notes.empty() ? "" : notes.at(0).substr(notes[0].rfind(folder.path().string()));
  };
  EXPECT_NE(
      note({"a0.pgm", "a1.pgm", "a3.pgm", "a4.pgm"}).find("a3.pgm follows a1.pgm: pictures may be missing"),
      std::string::npos);
  EXPECT_NE(note({"c2_0005.pgm", "c2_0010.pgm", "c2_0015.pgm", "c2_0025.pgm"}).find("most numbers rise by 5"),
            std::string::npos);
  EXPECT_EQ(note({"a0.pgm", "a2.pgm", "a4.pgm"}), "");
  EXPECT_EQ(note({"a0.pgm", "a1.pgm", "a3.pgm"}), "") << "no step is usual";
  EXPECT_EQ(note({"20240501_1245.pgm", "20240501_1250.pgm", "20240501_1255.pgm", "20240501_1300.pgm",
                  "20240501_1305.pgm"}),
            "")
      << "a clock";
  EXPECT_EQ(note({"a.pgm", "b.pgm", "c.pgm"}), "");
}

TEST(VideoPictures, ThatAreNamedOutOfOrderGetANote) {
  const Folder folder;
  std::vector<std::string> files;
  for (const int i : {1, 10, 2}) {
    files.push_back(folder / ("frame" + std::to_string(i) + ".pgm"));
    write_frame(files.back(), number(i));
  }
  FrameSource source(files);
  const auto notes = source.take_notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].starts_with(files[2] + " comes after " + files[1])) << notes[0];
  EXPECT_TRUE(source.take_notes().empty());
  EXPECT_EQ(middle(source.next()->frame)[0], 1);
  EXPECT_EQ(middle(source.next()->frame)[0], 10);  // as named
  std::swap(files[1], files[2]);
  EXPECT_TRUE(notes_of(FrameSource(files)).empty());
}

TEST(VideoPictures, DamagedOnesAreSkippedOnlyIfAsked) {
  const Folder folder;
  std::vector<std::string> files;
  for (const int i : {0, 1, 2, 3, 4, 5, 6}) {
    files.push_back(folder / ("f" + std::to_string(i) + ".pgm"));
    if (i == 0 || i == 3 || i == 4 || i == 6)
      std::ofstream(files.back()) << "P5 8 6 255\ndamaged";
    else
      write_frame(files.back(), number(i));
  }
  const std::vector<std::vector<std::string>> inputs = {
      files, {folder.path()}, {folder / "f%d.pgm"}, {folder / "f*.pgm"}};
  for (const auto& input : inputs) {
    SCOPED_TRACE(input[0]);
    expect_error(ErrorCode::format, "f0.pgm", [&] { FrameSource{input}; });
    FrameSource source(input, {.skip_damaged = true});
    for (const auto& [value, skipped] : std::vector<std::pair<int, int>>{{1, 1}, {2, 0}, {5, 2}}) {
      const std::optional<VideoFrame> frame = source.next();
      ASSERT_TRUE(frame);
      EXPECT_EQ(middle(frame->frame)[0], value);
      EXPECT_EQ(frame->index, value);
      EXPECT_EQ(frame->skipped, skipped);
      EXPECT_DOUBLE_EQ(frame->time, value / 25.0);
    }
    EXPECT_FALSE(source.next());
    const auto notes = source.take_notes();
    ASSERT_EQ(notes.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NE(notes[i].find(text("f", std::vector{0, 3, 4, 6}[i], ".pgm: ")), std::string::npos)
          << notes[i];
      EXPECT_TRUE(notes[i].ends_with("; it is skipped")) << notes[i];
    }
  }
  const std::vector<std::string> none = {files[0], files[3]};
  expect_error(ErrorCode::format, "no picture can be read",
               [&] { FrameSource(none, {.skip_damaged = true}); });
}

/// A TIFF file of 5 pages of 8 x 6 px. Page 2 is damaged, and page 3 is of a kind that is not supported.
std::vector<std::uint8_t> damaged_pages() {
  tiff_bytes::File file;
  for (const int page : {0, 1, 2, 3, 4})
    file.add({.width = 8,
              .height = 6,
              .compression = page == 1   ? 5
                             : page == 2 ? 12345
                                         : 1},
             [&](int, int, int) { return 10 * page; });
  return file.bytes();
}

TEST(VideoPictures, DamagedPagesOfATiffFileAreSkippedOnlyIfAsked) {
  const Folder folder;
  const std::string file = folder.with("pages.tif", damaged_pages());
  try {
    FrameSource source(file);
    ASSERT_TRUE(source.next());
    expect_error(ErrorCode::format, "pages.tif: frame 2: damaged TIFF file", [&] { source.next(); });
  } catch (const Error& error) {
    if (error.code() == ErrorCode::unsupported) GTEST_SKIP() << error.what();
    throw;
  }
  FrameSource source(file, {.skip_damaged = true});
  for (const auto& [page, skipped] : std::vector<std::pair<int, int>>{{0, 0}, {3, 2}, {4, 0}}) {
    const std::optional<VideoFrame> frame = source.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(middle(frame->frame)[0], 10 * page);
    EXPECT_EQ(frame->index, page);
    EXPECT_EQ(frame->skipped, skipped);
    EXPECT_DOUBLE_EQ(frame->time, page / 25.0);
  }
  EXPECT_FALSE(source.next());
  const auto notes = source.take_notes();
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_NE(notes[0].find("pages.tif: frame 2: damaged TIFF file: "), std::string::npos) << notes[0];
  EXPECT_NE(notes[1].find("pages.tif: frame 3: a TIFF file with the compression 12345"), std::string::npos);
  for (const std::string& note : notes) EXPECT_TRUE(note.ends_with("; it is skipped")) << note;
}

/// Like a film that was cut off, with the option or without.
TEST(VideoPictures, ATiffFileWhoseListOfPagesIsDamagedGivesThePagesBefore) {
  const Folder folder;
  auto bytes = tiff_bytes::File()
                   .add({.width = 8, .height = 6}, [](int, int, int) { return 7; })
                   .add({.width = 8, .height = 6}, [](int, int, int) { return 9; })
                   .bytes();
  bytes[bytes.size() - 2] = 0x10;  // where a third page would be
  const std::string file = folder.with("pages.tif", bytes);
  for (const bool skips : {false, true}) {
    std::optional<FrameSource> source;
    try {
      source.emplace(file, FrameSourceOptions{.skip_damaged = skips});
    } catch (const Error& error) {
      if (error.code() == ErrorCode::unsupported) GTEST_SKIP() << error.what();
      throw;
    }
    for (const int value : {7, 9}) EXPECT_EQ(middle(source->next().value().frame)[0], value);
    expect_error(ErrorCode::format, "frame 3: damaged TIFF file", [&] { source->next(); });
  }
  expect_error(ErrorCode::format, "pages.tif: holds more than one frame", [&] { read_frame(file); });
  tiff_bytes::File none;
  for (const char* expected : {"none.tif: damaged TIFF file", "none.tif: no frame can be read: "}) {
    none.add({.width = 8, .height = 6, .compression = 5}, [](int, int, int) { return 1; });
    expect_error(ErrorCode::format, expected,
                 [&] { FrameSource(folder.with("none.tif", none.bytes()), {.skip_damaged = true}); });
  }
}

TEST(VideoPictures, OfSeveralInputsFollowOneAnother) {
  const Folder folder, pictures;
  for (const int i : {1, 2}) write_frame(pictures / ("a" + std::to_string(i) + ".pgm"), number(i));
  write_frame(folder / "a.pgm", number(3));
  std::vector<FrameBuffer> two;
  for (const int i : {4, 5}) two.push_back(number(i));
  write_video(folder / "b.y4m", two);
  FrameSource source({folder / "a.pgm", pictures.path(), folder / "b.y4m"});
  EXPECT_EQ(source.info().frames, 3);  // as many as inputs, as far as is known
  std::vector<std::string> names;
  for (const int value : {3, 1, 2, 4, 5}) {
    const std::optional<VideoFrame> frame = source.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(middle(frame->frame)[0], value);
    EXPECT_EQ(frame->index, std::int64_t(names.size()));
    EXPECT_DOUBLE_EQ(frame->time, double(names.size()) / 25);
    names.push_back(source.name());
  }
  EXPECT_FALSE(source.next());
  const std::string film = folder / "b.y4m";
  EXPECT_EQ(names, (std::vector<std::string>{folder / "a.pgm", pictures / "a1.pgm", pictures / "a2.pgm", film,
                                             "frame 2 of " + film}));
  write_frame(folder / "c.pgm", FrameBuffer({8, 7}, PixelFormat::gray_u8));
  const std::vector<std::string> sizes = {folder / "a.pgm", folder / "c.pgm"};
  FrameSource any(sizes, {.any_size = true}), same(sizes);
  EXPECT_TRUE(any.next() && any.next() && same.next());
  expect_error(ErrorCode::format, "c.pgm: frame 1: has 8x7 pixels, those before 8x6", [&] { same.next(); });
  EXPECT_FALSE(same.next());
  expect_error(ErrorCode::invalid_argument, "needs an input",
               [] { FrameSource{std::vector<std::string>()}; });
}

TEST(VideoPictures, CanBeAllThatIsRead) {
  const Folder folder;
  std::ofstream(folder / "notes.txt") << "notes";
  expect_error(ErrorCode::format, "notes.txt: not a PNG",
               [&] { FrameSource(folder / "notes.txt", {.format = "pictures"}); });
}

TEST(VideoPictures, AreWrittenByAPatternOrIntoAFolder) {
  const Folder folder;
  const std::vector<FrameBuffer> frames = scene_frames({8, 6}, 3);
  write_video(folder / "new/x%02d.ppm", frames);
  write_video((folder / "other").string() + "/", scene_frames({8, 6}, 2, false));
  EXPECT_TRUE(std::filesystem::exists(folder / "new/x02.ppm"));
  EXPECT_TRUE(std::filesystem::exists(folder / "other/000001.png"));
  const Video video = read_video(folder / "new");
  ASSERT_EQ(video.frames.size(), 3u);
  EXPECT_TRUE(same_pixels(video.frames[2].frame, frames[2]));
  const Video gray = read_video(folder / "new", {.gray = true});
  EXPECT_EQ(gray.frames.at(0).frame.format(), PixelFormat::gray_u8);
  expect_error(ErrorCode::invalid_argument, "pictures are not written as '.tif'", [&] {
    VideoWriter(folder / "x%d.tif", {8, 6});
  });
}

TEST(VideoPictures, Y4mGivesBackWhatWasWritten) {
  const Folder folder;
  const std::string path = folder / "a.y4m";
  for (const Size size : {Size{64, 48}, Size{33, 21}, Size{1, 1}}) {
    const auto color = scene_frames(size, 3), gray = scene_frames(size, 3, false);
    write_video(path, gray, {.rate = 24});
    Video video = read_video(path);
    EXPECT_EQ(video.info.rate, 24);
    EXPECT_EQ(video.info.format, "y4m");
    ASSERT_EQ(video.frames.size(), 3u) << video.error;
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(same_pixels(video.frames[i].frame, gray[i]));
    EXPECT_DOUBLE_EQ(video.frames[2].time, 2 / 24.0);
    write_video(path, color, {.rate = 30000 / 1001.0, .codec = "444"});
    video = read_video(path);
    EXPECT_DOUBLE_EQ(video.info.rate, 30000 / 1001.0);
    ASSERT_EQ(video.frames.size(), 3u) << video.error;
    EXPECT_GT(psnr(video.frames[2].frame, color[2]), 47);
    const Video luma = read_video(path, {.gray = true});
    EXPECT_GT(psnr(luma.frames.at(2).frame, gray[2]), 45);
    write_video(path, color);
    video = read_video(path);
    ASSERT_EQ(video.frames.size(), 3u) << video.error;
    EXPECT_GT(psnr(video.frames[2].frame, color[2]), 35);
  }
}

TEST(VideoPictures, Y4mOfSixteenBitsIsExactInGray) {
  const Folder folder;
  for (const PixelFormat format : {PixelFormat::gray_u16, PixelFormat::rgb_u16}) {
    FrameBuffer frame({9, 5}, format);
    const View<std::uint16_t> values = values_of<std::uint16_t>(frame);
    for (int y = 0; y < values.height; ++y)
      for (int x = 0; x < values.width; ++x) values(x, y) = std::uint16_t(6151 * x + 3001 * y);
    VideoWriter writer(folder / "a.y4m", {9, 5});
    writer.write(frame);
    writer.finish();
    const Video video = read_video(folder / "a.y4m");
    ASSERT_EQ(video.frames.size(), 1u) << video.error;
    const auto got = values_of<std::uint16_t>(video.frames[0].frame.frame());
    for (int y = 0; y < values.height; ++y)
      for (int x = 0; x < values.width; ++x)
        EXPECT_LE(std::abs(got(x, y) - values(x, y)), format == PixelFormat::gray_u16 ? 0 : 2);
  }
}

TEST(VideoPictures, FfmpegReadsOurY4m) {
  NEEDS_FFMPEG_PROGRAM();
  const Folder folder;
  const auto frames = scene_frames({64, 48}, 2);
  for (const char* codec : {"420", "444"}) {
    write_video(folder / "a.y4m", frames, {.codec = codec});
    ASSERT_TRUE(ffmpeg("-i " + (folder / "a.y4m").string() + " " + (folder / "%d.png").string()));
    const FrameBuffer first = read_frame(folder / "1.png");
    EXPECT_GT(psnr(first, frames[0]), std::string(codec) == "444" ? 40 : 33);
  }
}

TEST(VideoPictures, PipesGiveWhatFilesGive) {
  const Folder folder;
  const auto frames = scene_frames({64, 48}, 3);
  write_video(folder / "a.y4m", frames);
  {
    Pipe pipe(bytes_in(folder / "a.y4m"), 1000);
    const Video video = read_video(pipe.path());
    EXPECT_EQ(video.frames.size(), 3u) << video.error;
  }
  if (!has_ffmpeg) return;
  write_video(folder / "a.mkv", frames);
  Pipe pipe(bytes_in(folder / "a.mkv"), 1000);
  const Video video = read_video(pipe.path()), file = read_video(folder / "a.mkv");
  ASSERT_EQ(video.frames.size(), 3u) << video.error;
  EXPECT_TRUE(same_pixels(video.frames[2].frame, file.frames[2].frame));
}

}  // namespace
}  // namespace parafield::test
