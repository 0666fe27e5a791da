// SPDX-License-Identifier: MIT
// parafield tracks and flow with --features sift, end to end.
#include <cmath>
#include <cstring>
#include <limits>

#include "command/run_command.hpp"

namespace parafield::test {
namespace {

#ifdef PARAFIELD_HAS_OPENCV
constexpr bool has_sift = true;
#else
constexpr bool has_sift = false;
#endif

class SiftCommand : public CommandTest {
 protected:
  Words tracks(const Words& more = {}) const {
    return with({"tracks", frame0(), frame1(), "--features", "sift"}, more);
  }
  Words flow(const std::string& method, const Words& more = {}) const {
    return with({"flow", frame0(), frame1(), "-m", method, "-d", "cpu"}, more);
  }
  static Words with(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::vector<Track> found(const Words& more = {}) const {
    run_well(tracks(with(more, {"-o", path("tracks.csv"), "-q"})));
    return read_tracks(path("tracks.csv"));
  }
};

/// Tests that need OpenCV.
class Sift : public SiftCommand {
 protected:
  void SetUp() override {
    SiftCommand::SetUp();
    if (!has_sift) GTEST_SKIP() << "built without OpenCV";
  }
};

/// The frame turned by 180 degrees.
void turn(const std::string& file) {
  const FrameBuffer frame = read_frame(file);
  ASSERT_EQ(frame.format(), PixelFormat::gray_u8);
  const auto [width, height] = frame.size();
  FrameBuffer turned(frame.size(), frame.format());
  for (int y = 0; y < height; ++y) {
    const auto* const from = static_cast<const std::uint8_t*>(frame.row(height - 1 - y));
    std::reverse_copy(from, from + width, static_cast<std::uint8_t*>(turned.row(y)));
  }
  write_frame(file, turned);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.at(values.size() / 2);
}

TEST_F(Sift, FindsSmallAndLargeMotions) {
  struct Case {
    std::string scene;
    int least;    // tracks
    double mean;  // error, px
  };
  for (const auto& [scene, least, mean] : {Case{"layers", 600, 0.1}, Case{"poles", 400, 0.2}}) {
    SCOPED_TRACE(scene);
    render(scene, "240x180");
    const auto json =
        run_well(tracks({"--gt", truth(), "-o", path("tracks.csv"), "--color", path("arrows.png"), "--json"}))
            .json();
    EXPECT_EQ(json["parameters"].dump(), R"({"features":"sift","max_features":1000,"track_outliers":3.0})");
    EXPECT_EQ(json["device"], "cpu");
    EXPECT_GE(json["kept"], least);
    EXPECT_LE(json["kept"], 1000);
    EXPECT_LT(json["epe"], mean);
    EXPECT_LT(json["epe_median"], 0.06);
    EXPECT_FALSE(json.contains("cells"));
    EXPECT_EQ(read_tracks(path("tracks.csv")).size(), json["kept"]);
    EXPECT_EQ(read_frame(path("arrows.png")).size(), (Size{240, 180}));
  }
  const std::string text = run_well(tracks({"--gt", truth(), "--repeat", "2"})).out;
  for (const char* word :
       {"tracks on cpu", "median of 2", "features are matched, at most 1000", "end point error"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
}

// (0, 0) is the center of the first pixel: in frames turned by 180 degrees about the middle between the first
// and the last pixel's center, the features are turned the same way.
TEST_F(Sift, PositionsCountFromThePixelsCenters) {
  render("translation", "160x121");
  const std::vector<Track> upright = found();
  turn(frame0());
  turn(frame1());
  const std::vector<Track> turned = found();
  ASSERT_GT(upright.size(), 100u);
  ASSERT_GT(turned.size(), 100u);
  std::vector<double> dx, dy, du, dv;
  for (const Track& track : turned) {
    const auto distance = [&](const Track& other) {
      return std::hypot(159 - track.x - other.x, 120 - track.y - other.y);
    };
    const Track& same = *std::ranges::min_element(upright, {}, distance);
    if (distance(same) > 1) continue;
    dx.push_back(159 - track.x - same.x);
    dy.push_back(120 - track.y - same.y);
    du.push_back(track.u + same.u);
    dv.push_back(track.v + same.v);
  }
  ASSERT_GT(dx.size(), turned.size() / 2);
  for (const auto& difference : {dx, dy, du, dv}) EXPECT_NEAR(median(difference), 0, 0.03);
}

TEST_F(Sift, GuidesFlow) {
  render("large", "240x180");
  const std::vector<Track> tracks = found({"--max-features", "700"});
  for (const std::string method : {"direct-interpolation", "multi-hypothesis"}) {
    const auto own = run_well(flow(method, {"--max-features", "700", "--gt", truth(), "--json"})).json();
    const auto sift = run_well(flow(method, {"--features", "sift", "--max-features", "700", "--gt", truth(),
                                             "-o", path("sift.flo"), "--json"}))
                          .json();
    EXPECT_EQ(sift["tracks"], tracks.size());
    EXPECT_EQ(sift["parameters"]["features"], "sift");
    EXPECT_FALSE(sift["parameters"].contains("track_window"));
    EXPECT_TRUE(sift["parameters"].contains("sigma_color"));
    EXPECT_GT(sift["sift_milliseconds"], 0);
    EXPECT_LT(sift["epe"], own["epe"]) << method;
    run_well(flow(method, {"--tracks", path("tracks.csv"), "-o", path("tracks.flo"), "-q"}));
    EXPECT_TRUE(read_text(path("sift.flo")) == read_text(path("tracks.flo"))) << method;
  }
  const std::string text = run_well(flow("direct-interpolation",
                                         {"--features", "sift", "--preset", "accurate", "--fb-check", "1"}))
                               .out;
  EXPECT_NE(text.find("tracks by SIFT"), std::string::npos) << text;
}

TEST_F(Sift, IsTheSameOnAnyNumberOfThreads) {
  render("layers", "160x120");
  run_well(tracks({"--threads", "1", "-o", path("one.csv"), "-q"}));
  run_well(tracks({"--threads", "3", "-o", path("three.csv"), "-q"}));
  EXPECT_EQ(read_text(path("one.csv")), read_text(path("three.csv")));
}

TEST_F(Sift, KeepsTheBestOfEachPartOfTheFrame) {
  render("translation", "240x180");
  const std::vector<Track> all = found(), few = found({"--max-features", "48"});
  ASSERT_GT(all.size(), 300u);
  ASSERT_EQ(few.size(), 48u);
  std::set<int> cells;
  const Size grid = feature_grid({240, 180}, 48);
  for (const Track& track : few)
    cells.insert(int((track.y + 0.5f) * float(grid.height) / 180) * grid.width +
                 int((track.x + 0.5f) * float(grid.width) / 240));
  EXPECT_GE(cells.size(), 40u);
  std::set<std::pair<float, float>> places;
  for (const Track& track : all)
    EXPECT_TRUE(places.emplace(track.x, track.y).second) << track.x << ", " << track.y;
}

TEST_F(Sift, DropsOutliers) {
  render("poles", "240x180");
  const auto scores = [&](const char* outliers) {
    return run_well(
               tracks({"--track-outliers", outliers, "--max-features", "5000", "--gt", truth(), "--json"}))
        .json();
  };
  const auto kept = scores("3"), all = scores("0");
  EXPECT_LT(kept["kept"], all["kept"]);
  EXPECT_GT(kept["kept"], all["kept"].get<int>() * 3 / 4);
  EXPECT_LT(kept["epe"], 0.5 * all["epe"].get<double>());
}

TEST_F(Sift, TakesFramesOfAnyFormat) {
  render("layers", "160x120");
  const std::vector<Track> expected = found();
  ASSERT_GT(expected.size(), 100u);
  const auto convert = [&](PixelFormat format, const std::string& extension, auto type, float scale) {
    using Type = decltype(type);
    Words files;
    for (const std::string& file : {frame0(), frame1()}) {
      const FrameBuffer from = read_frame(file);
      FrameBuffer to(from.size(), format);
      const int count = channels(format);
      for (int y = 0; y < from.size().height; ++y)
        for (int x = 0; x < from.size().width; ++x)
          for (int k = 0; k < count; ++k)
            static_cast<Type*>(to.row(y))[count * x + k] =
                Type(float(static_cast<const std::uint8_t*>(from.row(y))[x]) * scale);
      files.push_back(file + extension);
      write_frame(files.back(), to);
    }
    run_well({"tracks", files[0], files[1], "--features", "sift", "-o", path("other.csv"), "-q"});
    const std::vector<Track> other = read_tracks(path("other.csv"));
    ASSERT_EQ(other.size(), expected.size()) << to_string(format);
    EXPECT_EQ(std::memcmp(other.data(), expected.data(), sizeof(Track) * expected.size()), 0)
        << to_string(format);
  };
  convert(PixelFormat::gray_u16, ".png", std::uint16_t{}, 257);
  convert(PixelFormat::rgb_u8, ".png", std::uint8_t{}, 1);
  convert(PixelFormat::rgb_u16, ".png", std::uint16_t{}, 257);
  convert(PixelFormat::gray_f32, ".pfm", float{}, 1);
}

TEST_F(Sift, FindsNothingWhereNothingIs) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Size size : {Size{1, 1}, Size{2, 200}, Size{7, 5}, Size{90, 70}})
    for (const float value : {100.0f, nan}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << " of " << value);
      FrameBuffer flat(size, PixelFormat::gray_f32);
      for (int y = 0; y < size.height; ++y) std::fill_n(static_cast<float*>(flat.row(y)), size.width, value);
      write_frame(path("flat.pfm"), flat);
      run_well({"tracks", path("flat.pfm"), path("flat.pfm"), "--features", "sift", "-o", path("tracks.csv"),
                "-q"});
      EXPECT_EQ(read_text(path("tracks.csv")), "x,y,u,v\n");
    }
  run_well({"flow", path("flat.pfm"), path("flat.pfm"), "-m", "direct-interpolation", "--features", "sift",
            "-d", "cpu", "-q"});
}

TEST_F(SiftCommand, Errors) {
  render();
  std::ofstream(path("tracks.csv")) << "20,30,1.5,-2\n";
  const Words sift = {"--features", "sift"};
  expect_failure(2, flow("direct-interpolation", {"--features", "sift", "--tracks", path("tracks.csv")}),
                 {"--tracks", "--features sift", "exclude each other"});
  for (const char* method : {"adaptive-ridge", "lucas-kanade", "icm"})
    expect_failure(2, flow(method, sift), {method, "no parameter --features", "direct-interpolation"});
  expect_failure(2,
                 {"flow", frame0(), frame1(), frame0(), "-m", "direct-interpolation", "--features", "sift"},
                 {"takes 2 frames, not 3"});
  for (const char* option :
       {"--track-window", "--track-levels", "--track-iterations", "--track-check", "--track-rounds"}) {
    expect_failure(2, tracks({option, "3"}), {option, "--features sift does not use it"});
    expect_failure(2, flow("multi-hypothesis", with(sift, {option, "3"})),
                   {option, "--features sift does not use it"});
  }
  expect_failure(2, tracks({"--max-features", "0"}), {"max_features cannot be 0", "1 to 65536"});
  expect_failure(2, {"tracks", frame0(), frame1(), "--features", "edges"},
                 {"edges", "even, corners, matches, sift"});
  expect_failure(2, flow("direct-interpolation", {"--features", "edges"}),
                 {"edges", "even, corners, matches, sift"});
  expect_failure(2, flow("direct-interpolation", {"--max-features", "x"}),
                 {"max_features cannot be x; allowed: whole numbers, 1 to 65536\n"});
  if (why_no_cuda().empty()) expect_failure(2, tracks({"-d", "cuda"}), {"--device cuda", "on the CPU"});
}

TEST_F(SiftCommand, HelpNamesIt) {
  for (const char* command : {"tracks", "flow"}) {
    const std::string help = one_line(run_well({command, "--help-all"}).out);
    EXPECT_NE(help.find("even, corners, matches, sift"), std::string::npos) << command;
  }
}

TEST_F(SiftCommand, NamesOpenCvIfItIsMissing) {
  if (has_sift) GTEST_SKIP() << "built with OpenCV";
  render();
  expect_failure(1, tracks({"-o", path("tracks.csv")}),
                 {"--features sift needs OpenCV", "libopencv-dev", "--tracks"});
  expect_failure(1, flow("direct-interpolation", {"--features", "sift", "-o", path("flow.flo")}),
                 {"--features sift needs OpenCV", "libopencv-dev"});
}

}  // namespace
}  // namespace parafield::test
