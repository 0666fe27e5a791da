// SPDX-License-Identifier: MIT
#include <sys/stat.h>

#include <cmath>
#include <thread>

#include "run_command.hpp"

// Sequences of frames, from files and from streams, and the range of their values.
namespace parafield::test {
namespace {

class SequenceCommand : public CommandTest {
 protected:
  /// Renders a scene of some frames, and returns their names.
  Words render_frames(int count, const std::string& size = "96x64") const {
    run_well({"synth", "affine", "-o", path("scene"), "--size", size, "--frames", std::to_string(count)});
    Words names;
    for (int i = 0; i < count; ++i) names.push_back(frame(i));
    return names;
  }
  std::string frame(int i) const { return path("scene/frame000" + std::to_string(i) + ".png"); }

  std::string flow_of_pair(int i, const Words& more = {}) const {
    run_well(join({"flow", frame(i), frame(i + 1), "-o", path("pair.flo"), "-q"}, more));
    return read_text(path("pair.flo"));
  }

  /// The bytes of the frames as one stream of PPM or PGM files.
  std::string stream_of(const Words& frames) const {
    std::string bytes;
    for (const std::string& name : frames) {
      write_frame(path("one.pgm"), read_frame(name));
      bytes += read_text(path("one.pgm"));
    }
    std::filesystem::remove(path("one.pgm"));
    return bytes;
  }
  void write(const std::string& file, const std::string& bytes) const {
    std::ofstream(file, std::ios::binary) << bytes;
  }
};

TEST_F(SequenceCommand, FlowOfEachPairIsThatOfThePairAlone) {
  const Words frames = render_frames(4);
  const Outcome outcome =
      run_well(join({"flow", "-o", path("flow%02d.flo"), "--valid", path("v%d.png"), "--color",
                     path("c%d.png"), "--beside", "--confidence", path("trust%d.npy")},
                    frames));
  EXPECT_NE(outcome.out.find("4 frames, 3 flows"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("wrote " + path("flow%02d.flo")), std::string::npos) << outcome.out;
  for (int i = 0; i < 3; ++i) {
    const std::string number = std::to_string(i + 1);
    EXPECT_TRUE(read_text(path("flow0" + number + ".flo")) == flow_of_pair(i)) << i;
    EXPECT_TRUE(std::filesystem::exists(path("v" + number + ".png")));
    EXPECT_EQ(read_disparity(path("trust" + number + ".npy")).size(), (Size{96, 64}));
    EXPECT_EQ(read_frame(path("c" + number + ".png")).size(), (Size{192, 64}));
  }
  EXPECT_FALSE(std::filesystem::exists(path("flow04.flo")));
}

TEST_F(SequenceCommand, AFolderAndAPatternAreTheirPictures) {
  const Words frames = render_frames(3);
  std::filesystem::create_directory(path("only"));
  for (const std::string& name : frames)
    std::filesystem::copy(name, path("only/" + std::filesystem::path(name).filename().string()));
  run_well({"flow", path("only"), "-o", path("a%d.flo"), "-q"});
  run_well({"flow", path("only/frame%04d.png"), "-o", path("b%d.flo"), "-q"});
  for (const int i : {0, 1})
    for (const char* name : {"a", "b"})
      EXPECT_TRUE(read_text(path(name + std::to_string(i + 1) + ".flo")) == flow_of_pair(i)) << name << i;
}

TEST_F(SequenceCommand, TwoFramesAreASeriesOfOneFlow) {
  const Words frames = render_frames(2);
  const nlohmann::json report = run_well(join({"flow", "-o", path("flow%04d.flo"), "--color", path("c%d.png"),
                                               "--valid", path("v%d.png"), "--json"},
                                              frames))
                                    .json();
  EXPECT_EQ(report.at("frames"), 2);
  EXPECT_EQ(report.at("flows"), 1);
  EXPECT_TRUE(read_text(path("flow0001.flo")) == flow_of_pair(0, {"--color", path("pair.png")}));
  EXPECT_TRUE(read_text(path("c1.png")) == read_text(path("pair.png")));
  EXPECT_TRUE(std::filesystem::exists(path("v1.png")));
  EXPECT_FALSE(std::filesystem::exists(path("flow0002.flo")));
}

TEST_F(SequenceCommand, FlowOfMoreFramesIsThatOfEachMiddleFrame) {
  const Words frames = render_frames(6);
  const nlohmann::json report =
      run_well(join({"flow", "--preset", "sequence", "--json", "-o", path("f%d.flo")}, frames)).json();
  EXPECT_EQ(report.at("frames"), 6);
  EXPECT_EQ(report.at("flows"), 2);
  run_well(join({"flow", "--preset", "sequence", "-o", path("first.flo")},
                Words(frames.begin(), frames.end() - 1)));
  EXPECT_TRUE(read_text(path("f1.flo")) == read_text(path("first.flo")));
  run_well(join({"flow", "--preset", "sequence", "-o", path("five%d.flo")},
                Words(frames.begin(), frames.end() - 1)));
  EXPECT_TRUE(read_text(path("five1.flo")) == read_text(path("first.flo")));
}

TEST_F(SequenceCommand, OnePictureScaleHoldsForAllPairs) {
  const Words frames = render_frames(3);
  const double scale =
      run_well(join({"flow", "--json", "--color", path("c%d.png")}, frames)).json().at("max_motion");
  run_well(
      {"flow", frame(1), frame(2), "--color", path("second.png"), "--max-motion", std::to_string(scale)});
  EXPECT_TRUE(read_text(path("c2.png")) == read_text(path("second.png")));
}

TEST_F(SequenceCommand, ReadsStreams) {
  const Words frames = render_frames(4);
  write(path("all.pgm"), stream_of(frames));
  set_input(path("all.pgm"));
  for (const std::string& name : {std::string("-"), std::string("/dev/stdin"), path("all.pgm")}) {
    const nlohmann::json report = run_well({"flow", name, "-o", path("s%d.flo"), "--json"}).json();
    EXPECT_EQ(report.at("flows"), 3) << name;
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(read_text(path("s" + std::to_string(i + 1) + ".flo")) == flow_of_pair(i)) << name;
  }
  run_well({"detect", "-", "-o", path("m%d.png")});
  run_well(join({"detect", "-o", path("n%d.png")}, frames));
  EXPECT_TRUE(read_text(path("m3.png")) == read_text(path("n3.png")));
  run_well({"flow", "-", frame(0), "-o", path("t%d.flo")});  // a stream, then a file
  EXPECT_TRUE(read_text(path("t2.flo")) == flow_of_pair(1));
}

TEST_F(SequenceCommand, ReadsPairsFromAPipe) {
  const Words frames = render_frames(2);
  write(path("pair.pgm"), stream_of(frames));
  set_input(path("pair.pgm"));
  run_well({"flow", "-", "-o", path("f.flo")});
  EXPECT_TRUE(read_text(path("f.flo")) == flow_of_pair(0));
  const std::string fifo = path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::thread feeder([&] { write(fifo, stream_of({frames[0]})); });
  run_well({"stereo", fifo, frames[1], "-o", path("d.pfm"), "-q"});
  feeder.join();
  run_well({"stereo", frames[0], frames[1], "-o", path("e.pfm"), "-q"});
  EXPECT_TRUE(read_text(path("d.pfm")) == read_text(path("e.pfm")));
}

TEST_F(SequenceCommand, WrongNumbersOfFramesAreErrors) {
  const Words frames = render_frames(3);
  expect_failure(2, join({"flow", "-o", path("f.flo")}, frames),
                 {"adaptive-ridge takes 2 frames, not 3", "flow%04d.flo"});
  expect_failure(2, {"flow", frames[0], "-o", path("f.flo")}, {"adaptive-ridge takes 2 frames, not 1"});
  expect_failure(2, {"flow", frames[0], "-o", path("f%d.flo")}, {"takes 2 frames or more, not 1"});
  expect_failure(2, join({"flow", "-o", path("f%d.flo"), "--color", path("c.png")}, frames),
                 {"--color", "like name%04d.png"});
  expect_failure(2, {"flow", "-", "-", "-o", path("f%d.flo")}, {"standard input"});
  run_well({"flow", "-d", "cpu", "-q", "--", frames[0], frames[1]});
  set_input(frames[0]);
  run_well({"flow", "-d", "cpu", "-q", "--", "-", frames[1]});  // also behind "--", - is standard input
  set_input("/dev/null");
  write(path("three.pgm"), stream_of(frames));
  expect_failure(2, {"flow", path("three.pgm"), "-o", path("f.flo")},
                 {"takes 2 frames, not more", "flow%04d.flo"});
  expect_failure(2, {"detect", frames[0]}, {"takes 2 frames, not 1"});
  for (const Words& option :
       {Words{"--gt", path("scene/flow0000.flo")}, {"--repeat", "2"}, {"--energy", "result"}})
    expect_failure(2, join(join({"flow", "-m", "icm", "-o", path("f%d.flo")}, option), frames),
                   {option[0] + " is not for a series"});
}

TEST_F(SequenceCommand, ADamagedFrameLeavesTheFlowsBeforeIt) {
  const Words frames = render_frames(5);
  std::string bytes = stream_of(frames);
  bytes.resize(bytes.size() - 100);
  write(path("all.pgm"), bytes);
  set_input(path("all.pgm"));
  const Outcome outcome = run({"flow", "-", "-o", path("f%d.flo")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("frame 5"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("the 3 flows before it are written"), std::string::npos) << outcome.err;
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(read_text(path("f" + std::to_string(i + 1) + ".flo")) == flow_of_pair(i));
}

/// The numbers of the files that a pattern has made.
std::vector<int> numbers_of(const std::string& pattern, int most = 12) {
  std::vector<int> numbers;
  for (int i = 0; i <= most; ++i) {
    std::string name = pattern;
    if (std::filesystem::exists(name.replace(name.find("%d"), 2, std::to_string(i)))) numbers.push_back(i);
  }
  return numbers;
}
std::vector<int> counted(int first, int last, const std::vector<int>& but = {}) {
  std::vector<int> numbers;
  for (int i = first; i <= last; ++i)
    if (std::ranges::find(but, i) == but.end()) numbers.push_back(i);
  return numbers;
}

TEST_F(SequenceCommand, ADamagedPictureAnywhereLosesNothingThatIsDone) {
  constexpr int count = 6;
  const Words frames = render_frames(count);
  const std::string whole = read_text(frames[0]);
  for (const int damaged : {0, 1, 2, 3, 5}) {
    if (tests_sanitized_command() && damaged != 2) continue;
    SCOPED_TRACE(damaged);
    Words files = frames;
    write(path("bad0.png"), whole.substr(0, whole.size() / 2));
    files[std::size_t(damaged)] = path("bad0.png");
    const auto run_both = [&](const Words& command, const std::string& output, int first_number, int results,
                              const std::vector<int>& missing) {
      SCOPED_TRACE(command[0]);
      const Words words = join(join(command, {"-o", path(output), "--json", "-q"}), files);
      const Outcome stopped = run(words);
      EXPECT_EQ(stopped.code, 1);
      EXPECT_NE(stopped.err.find("bad0.png"), std::string::npos) << stopped.err;
      EXPECT_EQ(numbers_of(path(output)), counted(first_number, results)) << stopped.err;
      const nlohmann::json report = run_well(join(words, {"--skip-damaged"})).json();
      EXPECT_EQ(numbers_of(path(output)), counted(first_number, count - 1, missing));
      ASSERT_EQ(report.at("notes").size(), 1u) << report.at("notes");
      EXPECT_NE(report.at("notes")[0].get<std::string>().find("bad0.png"), std::string::npos);
      for (int i = 0; i <= count; ++i)
        std::filesystem::remove(path(std::string(output).replace(output.find("%d"), 2, std::to_string(i))));
    };
    const int done = std::max(damaged - 1, 0);
    const std::vector<int> missing = {damaged, damaged + 1};
    run_both({"flow"}, "f%d.flo", 1, done, missing);
    run_both({"detect"}, "m%d.png", 1, done, missing);
    run_both({"clouds", "--csv", path("t.csv")}, "c%d.flo", 1, done, missing);
  }
  // Pairs without the damaged frame have the same flow as when they are solved alone.
  Words files = frames;
  files[2] = path("bad0.png");
  run_well(join({"flow", "-o", path("f%d.flo"), "--skip-damaged", "-q"}, files));
  for (const int i : {0, 3, 4})
    EXPECT_TRUE(read_text(path("f" + std::to_string(i + 1) + ".flo")) == flow_of_pair(i));
  EXPECT_NE(
      run(join({"flow", "-o", path("f%d.flo"), "--skip-damaged"}, files)).err.find("bad0.png: damaged PNG"),
      std::string::npos);
}

/// As when a satellite sends nothing for a while.
TEST_F(SequenceCommand, AFrameWithoutAnyValueIsSkippedLikeADamagedOne) {
  const Words frames = render_frames(5);
  Words files;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const FrameBuffer bytes = read_frame(frames[i]);
    FrameBuffer floats(bytes.size(), PixelFormat::gray_f32);
    for (int y = 0; y < bytes.size().height; ++y)
      for (int x = 0; x < bytes.size().width; ++x)
        static_cast<float*>(floats.row(y))[x] =
            i == 2 ? NAN : float(static_cast<const std::uint8_t*>(bytes.row(y))[x]);
    files.push_back(path("v" + std::to_string(i) + ".pfm"));
    write_frame(files.back(), floats);
  }
  const Words words = join({"flow", "-o", path("f%d.flo"), "--json", "-q"}, files);
  const Outcome stopped = run(words);
  EXPECT_EQ(stopped.code, 1);
  EXPECT_NE(stopped.err.find("v2.pfm: no pixel of the frame has a value"), std::string::npos) << stopped.err;
  EXPECT_EQ(numbers_of(path("f%d.flo")), (std::vector{1}));
  const nlohmann::json report = run_well(join(words, {"--skip-damaged"})).json();
  EXPECT_EQ(numbers_of(path("f%d.flo")), (std::vector{1, 4}));
  EXPECT_NE(report.at("notes").dump().find("v2.pfm: no pixel of the frame has a value"), std::string::npos);
  const Words empty = {"flow", files[2], files[2], "-o", path("e%d.flo"), "--skip-damaged"};
  EXPECT_NE(run(empty).err.find("v2.pfm: no pixel of the frame has a value"), std::string::npos);
}

TEST_F(SequenceCommand, StereoSkipsThePartnersOfDamagedImages) {
  const Words frames = render_frames(5);
  const std::string whole = read_text(frames[0]);
  write(path("bad.png"), whole.substr(0, whole.size() / 2));
  Words left = frames, right = frames;
  left[1] = right[3] = path("bad.png");
  const Words words =
      join(join({"stereo", "-m", "winner-takes-all", "-o", path("d%d.pfm"), "--json", "-q"}, left), right);
  EXPECT_EQ(run(words).code, 1);
  EXPECT_EQ(numbers_of(path("d%d.pfm")), (std::vector{1}));
  const nlohmann::json report = run_well(join(words, {"--skip-damaged"})).json();
  EXPECT_EQ(numbers_of(path("d%d.pfm")), (std::vector{1, 3, 5}));
  EXPECT_EQ(report.at("notes").size(), 2u);
  run_well({"stereo", "-m", "winner-takes-all", frames[2], frames[2], "-o", path("one.pfm"), "-q"});
  EXPECT_TRUE(read_text(path("d3.pfm")) == read_text(path("one.pfm")));
}

TEST_F(SequenceCommand, WildcardsAreTakenInOrderOfNumbers) {
  const Words frames = render_frames(4);
  Words sorted;  // as a shell sorts them
  for (const int number : {1, 10, 100, 2}) sorted.push_back(path("n" + std::to_string(number) + ".png"));
  for (const auto& [from, to] : std::vector<std::pair<int, int>>{{0, 0}, {1, 3}, {2, 1}, {3, 2}})
    std::filesystem::copy(frames[std::size_t(from)], sorted[std::size_t(to)]);
  const std::string name = path("n*.png");
  EXPECT_EQ(run_well({"flow", name, "-o", path("f%d.flo")}).err, "");
  for (const int i : {0, 1, 2})
    EXPECT_TRUE(read_text(path("f" + std::to_string(i + 1) + ".flo")) == flow_of_pair(i));
  const Outcome listed = run(join({"flow", "-o", path("g%d.flo")}, sorted));
  EXPECT_EQ(listed.code, 0);
  EXPECT_NE(listed.err.find("n2.png comes after " + path("n100.png")), std::string::npos) << listed.err;
  EXPECT_FALSE(read_text(path("g2.flo")) == flow_of_pair(1));
  run_well({"detect", name, "-o", path("m%d.png")});
  run_well({"clouds", name, "-o", path("c%d.flo")});
  run_well({"stereo", "-m", "winner-takes-all", name, name, "-o", path("d%d.pfm"), "-q"});
  run_well({"video", name, "--flow-dir", path("v")});
  EXPECT_EQ(numbers_of(path("m%d.png")), counted(1, 3));
  EXPECT_EQ(numbers_of(path("c%d.flo")), counted(1, 3));
  EXPECT_EQ(numbers_of(path("d%d.pfm")), counted(1, 4));
  EXPECT_EQ(numbers_of(path("v/flow_0000%d.flo")), counted(1, 3));
  expect_failure(1, {"flow", path("x*.png"), "-o", path("f%d.flo")},
                 {"x*.png", "no file has a name like this"});
  expect_failure(1, {"flow", path("n*.png"), "-o", path("n%d.png")}, {"is an input"});
}

TEST_F(SequenceCommand, AnOutputThatIsAnInputIsRefusedBeforeAnythingIsWritten) {
  const Words frames = render_frames(4);
  expect_failure(1, join({"flow", "--valid", path("scene/frame%04d.png")}, frames),
                 {"frame0001.png", "is an input"});
  std::filesystem::rename(frame(3), path("scene/v3.png"));
  Words renamed = frames;
  renamed[3] = path("scene/v3.png");
  expect_failure(1, join({"flow", "--valid", path("scene/v%d.png")}, renamed), {"v3.png", "is an input"});
}

/// The rendered pair as files of another type: value = black + gray / 255 * (white - black).
class RangeCommand : public SequenceCommand {
 protected:
  Words scaled(float black, float white, bool floats, const std::string& extension) const {
    Words names;
    for (int i = 0; i < 2; ++i) {
      const FrameBuffer gray = read_frame(frame(i));
      FrameBuffer result(gray.size(), floats ? PixelFormat::gray_f32 : PixelFormat::gray_u16);
      for (int y = 0; y < gray.size().height; ++y)
        for (int x = 0; x < gray.size().width; ++x) {
          const float share = float(static_cast<const std::uint8_t*>(gray.row(y))[x]) / 255;
          const float value = black + share * (white - black);
          if (floats)
            static_cast<float*>(result.row(y))[x] = value;
          else
            static_cast<std::uint16_t*>(result.row(y))[x] = std::uint16_t(std::lround(value));
        }
      names.push_back(path("scaled" + std::to_string(i) + extension));
      write_frame(names.back(), result);
    }
    return names;
  }
  /// Error of the flow; `says`: what the note says.
  double error_of(const Words& frames, const Words& more, const std::string& says) const {
    const Outcome outcome =
        run(join(join({"flow", "--json", "--gt", path("scene/flow0000.flo")}, frames), more));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    if (says.empty())
      EXPECT_EQ(outcome.err, "");
    else
      EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
    return outcome.json().at("epe");
  }
};

TEST_F(RangeCommand, OneSceneHasOneFlowInEveryEncoding) {
  const Words frames = render_frames(2);
  const double usual = error_of(frames, {}, "");
  const auto near = [&](double error) { EXPECT_NEAR(error, usual, 0.02 * usual); };
  near(error_of(scaled(0, 255, true, ".pfm"), {}, ""));
  near(error_of(scaled(0, 1, true, ".pfm"), {}, "0 is black and 1 is white"));
  near(error_of(scaled(0, 255, false, ".png"), {}, "0 is black and 255 is white"));
  near(error_of(scaled(0, 1023, false, ".png"), {}, "0 is black and 1023 is white"));
  near(error_of(scaled(0, 4095, false, ".png"), {}, "0 is black and 4095 is white"));
  near(error_of(scaled(0, 65535, false, ".png"), {}, ""));
  const Words odd = scaled(300, 700, true, ".pfm");
  near(error_of(odd, {"--range", "300,700"}, ""));
  near(error_of(odd, {}, "is white, from the bulk of the values; --range sets them"));
}

TEST_F(RangeCommand, RubberWhaleHasOneFlowInEveryEncoding) {
  const char* data = std::getenv("PARAFIELD_DATA");
  if (!data) GTEST_SKIP() << "PARAFIELD_DATA is not set";
  const std::string folder = std::string(data) + "/middlebury-flow/RubberWhale/";
  const auto color = [&](int i) { return folder + "frame1" + std::to_string(i) + ".png"; };
  if (!std::filesystem::exists(color(0))) GTEST_SKIP() << color(0) << " is missing";
  const auto encoded = [&](float white, bool floats) {
    Words names;
    for (int i = 0; i < 2; ++i) {
      const FrameBuffer rgb = read_frame(color(i));
      FrameBuffer result(rgb.size(), floats ? PixelFormat::rgb_f32 : PixelFormat::rgb_u16);
      for (int y = 0; y < rgb.size().height; ++y)
        for (int x = 0; x < 3 * rgb.size().width; ++x) {
          const float value = float(static_cast<const std::uint8_t*>(rgb.row(y))[x]) / 255 * white;
          if (floats)
            static_cast<float*>(result.row(y))[x] = value;
          else
            static_cast<std::uint16_t*>(result.row(y))[x] = std::uint16_t(std::lround(value));
        }
      names.push_back(path("whale" + std::to_string(i) + (floats ? ".pfm" : ".png")));
      write_frame(names.back(), result);
    }
    return names;
  };
  const auto error = [&](const Words& frames) -> double {
    const Outcome outcome = run({"flow", frames[0], frames[1], "--json", "--gt", folder + "flow10.flo"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.json().at("epe");
  };
  const double usual = error({color(0), color(1)});
  for (const float white : {1.0f, 255.0f})
    EXPECT_NEAR(error(encoded(white, true)), usual, 0.02 * usual) << white;
  for (const float white : {255.0f, 1023.0f, 4095.0f, 65535.0f})
    EXPECT_NEAR(error(encoded(white, false)), usual, 0.02 * usual) << white;
}

TEST_F(RangeCommand, HotPixelsThermalImagesAndNodataHaveTheRightFlow) {
  const char* data = std::getenv("PARAFIELD_DATA");
  if (!data) GTEST_SKIP() << "PARAFIELD_DATA is not set";
  const std::string folder = std::string(data) + "/faults/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is missing";
  for (const Words& pair : {Words{"a.png", "b.png"},
                            {"hot1_a.png", "hot1_b.png"},
                            {"t_150_a.png", "t_150_b.png"},
                            {"a_nodata.tif", "b_nodata.tif"}}) {
    const bool has_note = pair[0].starts_with("hot1") || pair[0].starts_with("t_150");
    const Outcome outcome = run({"flow", folder + pair[0], folder + pair[1], "-o", path("flow.flo"),
                                 "--valid", path("valid.png"), "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err.find("from the bulk of the values") != std::string::npos, has_note) << outcome.err;
    const FlowField flow = read_flow(path("flow.flo"));
    const Image<std::uint8_t> valid = read_mask(path("valid.png"));
    for (int y = 10; y < 110; ++y)
      for (int x = 10; x < 150; ++x) {
        const bool missing = pair[0] == "a_nodata.tif" && y >= 20 && y < 60 && x >= 30 && x < 80;
        if (missing) ASSERT_EQ(valid(x, y), 0) << x << ", " << y;
        const bool near = pair[0] == "a_nodata.tif" && y >= 14 && y < 66 && x >= 24 && x < 86;
        if (near || !valid(x, y)) continue;
        ASSERT_NEAR(flow.u(x, y), 2.5, 0.35) << pair[0] << ' ' << x << ", " << y;
        ASSERT_NEAR(flow.v(x, y), -1.25, 0.35) << pair[0] << ' ' << x << ", " << y;
      }
  }
}

TEST_F(RangeCommand, FramesOfDifferentDepthAreAnError) {
  const Words frames = render_frames(2), deep = scaled(0, 1023, false, ".png");
  for (const char* command : {"flow", "stereo", "detect", "tracks"})
    expect_failure(1, {command, frames[0], deep[1]},
                   {frames[0] + " has 8-bit values, " + deep[1] + " has 16-bit values", "one depth"});
}

TEST_F(RangeCommand, LaterFramesBeyondTheRangeAreNoted) {
  render_frames(2);
  Words frames = scaled(0, 1, true, ".pfm");
  std::filesystem::rename(frames[0], path("a.pfm"));
  std::filesystem::rename(frames[1], path("b.pfm"));
  frames = scaled(0, 1023, true, ".pfm");
  const Outcome outcome =
      run({"flow", path("a.pfm"), path("b.pfm"), path("a.pfm"), frames[0], frames[1], "-o", path("f%d.flo")});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find(", far beyond 0 (black) to 1 (white), the range of the first frames"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(outcome.err.find(frames[1]), std::string::npos) << "said once";
}

TEST_F(RangeCommand, BadRangesAreErrors) {
  const Words frames = render_frames(2);
  for (const char* range : {"1,0", "1,1", "0", "0,1,2", "a,b", "0,inf", "nan,1", ",", "0 1"})
    expect_failure(2, {"flow", frames[0], frames[1], "--range", range}, {"--range", range});
  for (const char* range : {"0,1e-45", "-3e38,3e38", "1e-38,2e-38"})
    expect_failure(2, {"flow", frames[0], frames[1], "--range", range},
                   {range, "too near to black or too far"});
  for (const Words& command : {Words{"stereo"}, {"detect"}, {"tracks"}}) {
    expect_failure(2, join(command, {frames[0], frames[1], "--range", "5,3"}), {"--range 5,3", "black"});
    EXPECT_EQ(run_well(join(command, {frames[0], frames[1], "--range", "0,200", "--json", "-q"}))
                  .json()
                  .at("range"),
              nlohmann::json::parse("[0.0, 200.0]"));
  }
}

}  // namespace
}  // namespace parafield::test
