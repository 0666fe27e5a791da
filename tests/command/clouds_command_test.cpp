// SPDX-License-Identifier: MIT
#include <sys/resource.h>

#include <cmath>
#include <filesystem>

#include "parafield/video.hpp"
#include "run_command.hpp"

// parafield clouds: motion, tables, pictures and heights of a rendered sequence of stereo pairs.
namespace parafield::test {
namespace {

class CloudsCommand : public CommandTest {
 protected:
  /// Renders pairs of images; left(i) and right(i) are their names.
  void render_pairs(int pairs, const std::string& size = "320x240", int seed = 1) const {
    run_well({"synth", "clouds", "-o", path("sky"), "--size", size, "--frames", std::to_string(2 * pairs),
              "--seed", std::to_string(seed), "-q"});
  }
  std::string frame(int i) const { return path("sky/frame000" + std::to_string(i) + ".png"); }
  Words lefts(int pairs) const {
    Words names;
    for (int i = 0; i < pairs; ++i) names.push_back(frame(2 * i));
    return names;
  }
  Words rights(int pairs) const {
    Words names;
    for (int i = 0; i < pairs; ++i) names.push_back(frame(2 * i + 1));
    return names;
  }
  DisparityField disparity(int pair) const {
    return read_disparity(path("sky/disparity000" + std::to_string(2 * pair) + ".pfm"));
  }

  /// Lines of a file, each split at its commas.
  std::vector<Words> table(const std::string& name) const {
    std::istringstream lines(read_text(path(name)));
    std::vector<Words> rows;
    for (std::string line; std::getline(lines, line);) {
      Words cells(1);
      for (const char letter : line)
        if (letter == ',')
          cells.emplace_back();
        else
          cells.back() += letter;
      rows.push_back(cells);
    }
    return rows;
  }
};

/// Checks the clouds' pixels that both views show: 95 % have a height within 5 % of the range from the ground
/// to the highest cloud, and their motion is right to 0.15 px.
TEST_F(CloudsCommand, HeightsAndMotionAreThoseOfTheScene) {
  if (tests_sanitized_command()) GTEST_SKIP() << takes_minutes;
  for (const int seed : {1, 2}) {
    render_pairs(2, "640x480", seed);
    const Outcome outcome =
        run_well(join(join({"clouds"}, lefts(2)),
                      join({"--stereo"}, join(rights(2), {"-o", path("f%d.npy"), "--height", path("h%d.pfm"),
                                                          "--height-scale", "0.5", "--height-offset", "2",
                                                          "--disparities", "24", "--json"}))));
    const auto json = outcome.json();
    EXPECT_EQ(json.at("flows"), 1);
    EXPECT_EQ(json.at("preset"), "clouds");
    const FlowField flow = read_flow(path("f1.npy")), truth = read_flow(path("sky/flow0000.flo"));
    for (const int pair : {0, 1}) {
      const DisparityField d = disparity(pair),
                           h = read_disparity(path("h" + std::to_string(pair + 1) + ".pfm"));
      float most = 0;
      int clouds = 0, near = 0;
      double errors = 0;
      for (int y = 0; y < 480; ++y)
        for (int x = 0; x < 640; ++x) most = std::max(most, d.d(x, y));
      for (int y = 0; y < 480; ++y)
        for (int x = 0; x < 640; ++x) {
          if (d.d(x, y) == 0 || float(x) < d.d(x, y)) continue;  // ground, or not in the right image
          ++clouds;
          const double wanted = 2 + 0.5 * d.d(x, y), range = 0.5 * most;
          near += std::abs(h.d(x, y) - wanted) <= 0.05 * range;
          if (pair == 0) errors += std::hypot(flow.u(x, y) - truth.u(x, y), flow.v(x, y) - truth.v(x, y));
        }
      EXPECT_GE(near, 0.95 * clouds) << "seed " << seed << " pair " << pair << ": " << double(near) / clouds;
      if (pair == 0) {
        EXPECT_LE(errors / clouds, 0.15) << "seed " << seed;
      }
    }
  }
}

TEST_F(CloudsCommand, SmoothingLowersTheErrorOfHeights) {
  if (tests_sanitized_command()) GTEST_SKIP() << takes_minutes;
  render_pairs(4, "320x240", 3);
  const auto error = [&](const std::string& smoothing) {
    run_well(join(join({"clouds"}, lefts(4)),
                  join({"--stereo"}, join(rights(4), {"--height", path("h%d.npy"), "--disparities", "16",
                                                      "--height-smoothing", smoothing, "-q"}))));
    const DisparityField d = disparity(3), h = read_disparity(path("h4.npy"));
    double sum = 0;
    int count = 0;
    for (int y = 0; y < 240; ++y)
      for (int x = 20; x < 320; ++x)
        if (const double off = std::abs(h.d(x, y) - d.d(x, y)); d.d(x, y) > 0 && off < 1) {
          sum += off * off;
          ++count;
        }
    EXPECT_GT(count, 320 * 240 / 5);
    return std::sqrt(sum / count);
  };
  const double smooth = error("4"), single = error("1");
  EXPECT_LT(smooth, 0.95 * single) << smooth << " " << single;
}

TEST_F(CloudsCommand, TheTableHasTheFlowsSpeedsAndDirections) {
  render_pairs(3);
  run_well(join(join({"clouds"}, lefts(3)),
                {"--csv", path("t.csv"), "-o", path("f%d.flo"), "--valid", path("v%d.png"), "--arrows",
                 path("a%d.png"), "--step", "40", "--km-per-pixel", "4", "--minutes", "15"}));
  const std::vector<Words> rows = table("t.csv");
  ASSERT_EQ(rows.size(), 1 + 2 * 8 * 6u);
  EXPECT_EQ(rows[0], (Words{"frame", "x", "y", "u", "v", "speed", "direction", "valid"}));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const Words& row = rows[i];
    const FlowField flow = read_flow(path("f" + row[0] + ".flo"));
    const int x = std::stoi(row[1]), y = std::stoi(row[2]);
    const double u = flow.u(x, y), v = flow.v(x, y), speed = std::stod(row[5]),
                 from = std::stod(row[6]) * std::acos(-1) / 180;
    EXPECT_NEAR(std::stod(row[3]), u, 1e-4);
    EXPECT_NEAR(std::stod(row[4]), v, 1e-4);
    EXPECT_NEAR(speed, std::hypot(u, v) * 4000 / 900, 1e-3);
    // The wind comes from the opposite direction of its motion, with north at the top.
    EXPECT_NEAR(-std::sin(from) * std::hypot(u, v), u, 0.02);
    EXPECT_NEAR(std::cos(from) * std::hypot(u, v), v, 0.02);
  }
  EXPECT_EQ(read_frame(path("a1.png")).size(), (Size{320, 240}));
  EXPECT_EQ(read_mask(path("v2.png")).size(), (Size{320, 240}));
}

TEST_F(CloudsCommand, TheTableHasErrorBars) {
  render_pairs(2, "96x64");
  const Words clouds = join(join({"clouds"}, lefts(2)), {"--error-bars", "--step", "16"});
  run_well(join(clouds, {"--csv", path("t.csv"), "--km-per-pixel", "4", "--minutes", "15"}));
  const std::vector<Words> rows = table("t.csv");
  EXPECT_EQ(rows[0], (Words{"frame", "x", "y", "u", "v", "speed", "direction", "u_sigma", "v_sigma",
                            "wind_sigma", "outlier", "valid"}));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double u = std::stod(rows[i][7]), v = std::stod(rows[i][8]), wind = std::stod(rows[i][9]),
                 outlier = std::stod(rows[i][10]);
    EXPECT_GT(u, 0);
    EXPECT_NEAR(wind / (std::sqrt((u * u + v * v) / 2) * 4000 / 900), 1, 2e-3);
    EXPECT_TRUE(outlier >= 0 && outlier <= 1) << outlier;
  }
  run_well(join(clouds, {"--csv", path("px.csv")}));
  EXPECT_EQ(table("px.csv")[0],
            (Words{"frame", "x", "y", "u", "v", "u_sigma", "v_sigma", "outlier", "valid"}));
  expect_failure(2, clouds, {"--error-bars: needs --csv or --netcdf"});
  expect_failure(1, join(clouds, {"--csv", path("t.csv"), "-m", "lucas-kanade"}),
                 {"only for adaptive-ridge; lucas-kanade has none"});
}

TEST_F(CloudsCommand, OverlaysAreUnknownAndTheHeightStandsInTheTable) {
  render_pairs(2);
  Image<std::uint8_t> lines({320, 240});
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x) lines(x, y) = x == 60 || y == 100;
  write_mask(path("lines.png"), lines.view());
  const auto json =
      run_well(join(join({"clouds"}, lefts(2)),
                    join({"--stereo"}, join(rights(2), {"--overlay", path("lines.png"), "-o", path("f%d.npy"),
                                                        "--csv", path("t.csv"), "--height", path("h%d.png"),
                                                        "--json", "--disparities", "16", "--step", "20"}))))
          .json();
  EXPECT_NEAR(json.at("masked").get<double>(), 559.0 / (320 * 240), 1e-9);
  EXPECT_TRUE(json.contains("largest_height"));
  const FlowField flow = read_flow(path("f1.npy"));
  EXPECT_TRUE(std::isnan(flow.u(60, 7)) && std::isnan(flow.v(9, 100)));
  EXPECT_FALSE(std::isnan(flow.u(61, 7)));
  const std::vector<Words> rows = table("t.csv");
  EXPECT_EQ(rows[0], (Words{"frame", "x", "y", "u", "v", "height", "valid"}));
  EXPECT_EQ(read_disparity(path("h2.png")).size(), (Size{320, 240}));
  // The drawn lines, as a mask of the pixels that have a value.
  Image<std::uint8_t> known({320, 240});
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x) known(x, y) = !lines(x, y);
  write_mask(path("known.png"), known.view());
  run_well(
      join(join({"clouds"}, lefts(2)), {"--input-mask", path("known.png"), "-o", path("m%d.npy"), "-q"}));
  EXPECT_TRUE(read_text(path("m1.npy")) == read_text(path("f1.npy")));
}

TEST_F(CloudsCommand, EveryMethodTracks) {
  if (tests_sanitized_command()) GTEST_SKIP() << takes_minutes;
  render_pairs(4, "96x72");
  for (const Words& method : {Words{"-m", "belief-propagation"},
                              {"-m", "multi-hypothesis"},
                              {"--preset", "sequence", "--frames", "3"}}) {
    const auto json =
        run_well(join(join({"clouds"}, lefts(4)),
                      join({"-o", path("f%d.flo"), "--arrows", path("a%d.jpg"), "--json"}, method)))
            .json();
    EXPECT_EQ(json.at("flows"), method[1] == "sequence" ? 2 : 3);
  }
  const auto with = [&](const Words& words) {
    return run_well(join(join(join({"clouds"}, lefts(4)), words), {"--json"})).json();
  };
  for (const char* method : {"adaptive-ridge", "belief-propagation"})
    EXPECT_EQ(with({"-m", method}).at("preset"), "clouds") << method;
  EXPECT_EQ(with({"--preset", "default"}).at("preset"), "default");
  EXPECT_FALSE(with({"-m", "icm"}).contains("preset"));
}

TEST_F(CloudsCommand, CutsAndMissingTextureAreReported) {
  Words frames;
  for (const int seed : {1, 2})  // two skies of two images, one after the other
    for (const char* number : {"0000", "0001"}) {
      const std::string folder = path("sky" + std::to_string(seed));
      if (!std::filesystem::exists(folder))
        run_well({"synth", "translation", "-o", folder, "--size", "160x120", "--seed", std::to_string(seed),
                  "-q"});
      frames.push_back(folder + "/frame" + number + ".png");
    }
  const Outcome outcome =
      run(join(join({"clouds"}, frames), {"--valid", path("v%d.pgm"), "--csv", path("m.csv"), "--json"}));
  EXPECT_EQ(outcome.json().at("cuts").dump(), "[2]");
  EXPECT_NE(outcome.err.find("motion 2: the frames show different scenes (a cut)"), std::string::npos);
  const auto valid = [&](int number) {
    const FrameBuffer mask = read_frame(path("v" + std::to_string(number) + ".pgm"));
    int count = 0;
    for (int y = 0; y < 120; ++y)
      for (int x = 0; x < 160; ++x) count += static_cast<const std::uint8_t*>(mask.row(y))[x] != 0;
    return count;
  };
  EXPECT_GT(valid(1), 160 * 120 / 2);
  EXPECT_EQ(valid(2), 0);
  EXPECT_GT(valid(3), 160 * 120 / 2);

  FrameBuffer night({160, 120}, PixelFormat::gray_u8);
  for (int y = 0; y < 120; ++y) std::fill_n(static_cast<std::uint8_t*>(night.row(y)), 160, std::uint8_t(9));
  write_frame(path("night.png"), night);
  const std::string dark = path("night.png");
  const auto json = run({"clouds", dark, dark, "--stereo", dark, dark, "--json"}).json();
  EXPECT_EQ(json.at("without_texture"), 1);
  EXPECT_EQ(json.at("heights_without_texture"), 2);
  EXPECT_EQ(json.at("valid"), 0);
  EXPECT_FALSE(json.contains("least_height"));
}

/// With a method of three frames, the first motion belongs to the second image.
TEST_F(CloudsCommand, TablesNameTheImageThatMoves) {
  render_pairs(3, "96x64");
  run_well(join({"clouds"}, join(lefts(3), {"--frames", "3", "--csv", path("motion.csv"), "-q"})));
  const std::vector<Words> rows = table("motion.csv");
  ASSERT_GT(rows.size(), 1u);
  EXPECT_EQ(rows[1][0], "2");
}

/// A method of more frames gives no motion for the first images. Heights are still written for the images
/// with motion.
TEST_F(CloudsCommand, HeightsBelongToTheFlowsImages) {
  if (tests_sanitized_command()) GTEST_SKIP() << takes_minutes;
  render_pairs(3);
  const Words common{"--stereo",           frame(1), frame(3), frame(5), "--disparities", "16",
                     "--height-smoothing", "1",      "-q"};
  run_well(join(join({"clouds"}, lefts(3)), join(common, {"--height", path("all%d.npy")})));
  run_well(
      join(join({"clouds"}, lefts(3)), join(common, {"--height", path("three%d.npy"), "--frames", "3"})));
  for (const int i : {1, 2}) {
    const std::string number = std::to_string(i), next = std::to_string(i + 1);
    EXPECT_TRUE(read_text(path("three" + number + ".npy")) == read_text(path("all" + next + ".npy"))) << i;
  }
}

TEST_F(CloudsCommand, MotionGoesIntoNetCdf) {
  render_pairs(3, "96x64");
  const Words words =
      join({"clouds"}, join(lefts(3), {"--netcdf", path("motion.nc"), "-o", path("f%d.npy")}));
  if (const std::string why = why_no_netcdf(); !why.empty()) {
    expect_failure(1, words, {"--netcdf: ", why});
    return;
  }
  run_well(words);
  FrameSource u(path("motion.nc"), {.variable = "u"});
  for (const int i : {1, 2}) {
    const std::optional<VideoFrame> read = u.next();
    ASSERT_TRUE(read);
    const FlowField flow = read_flow(path("f" + std::to_string(i) + ".npy"));
    for (int y = 0; y < 64; ++y)
      for (int x = 0; x < 96; ++x) EXPECT_EQ(static_cast<const float*>(read->frame.row(y))[x], flow.u(x, y));
  }
  EXPECT_FALSE(u.next());
  // The file that the command writes also holds sequences of images, so a variable must be named.
  expect_failure(1, {"clouds", path("motion.nc")}, {"motion.nc", "name one of them (option variable): u, v"});
  run_well({"clouds", path("motion.nc"), "--variable", "u", "--range", "-3,3", "-o", path("g%d.flo")});
  expect_failure(1, {"flow", path("motion.nc"), "--variable", "w"}, {"in the variable w; it has u, v"});
  expect_failure(2, join(words, {"--start", "2017-09-06T12:00"}), {"--start needs --minutes"});
  expect_failure(2, join(words, {"--start", "noon", "--minutes", "5", "--km-per-pixel", "4"}),
                 {"noon", "UTC"});
  run_well(join(words, {"--start", "2017-09-06T12:00", "--minutes", "5"}));
  expect_failure(2, join(words, {"--height-unit", "km"}), {"--stereo"});
  expect_failure(2, join({"clouds"}, join(lefts(3), {"--start", "2017-09-06T12:00"})), {"--netcdf"});
  expect_failure(2, join({"clouds"}, join(lefts(3), {"--netcdf", path("motion.txt")})), {".nc"});
  expect_failure(1, {"clouds", path("motion.nc"), "--variable", "u", "--netcdf", path("motion.nc")},
                 {"is an input"});
}

TEST_F(CloudsCommand, ALimitOfFileSizesIsAnErrorOfNetCdfAndNoCrash) {
  if (const std::string why = why_no_netcdf(); !why.empty()) GTEST_SKIP() << why;
  render_pairs(3, "192x128");
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  for (const rlim_t kibibytes : {4, 20, 100, 200, 300}) {
    const rlimit small{kibibytes * 1024, old.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const pid_t process = start(join({"clouds", "--netcdf", path("motion.nc"), "-q"}, lefts(3)));
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
    const Outcome outcome = finish(process);
    EXPECT_EQ(outcome.code, 1) << kibibytes;
    EXPECT_NE(outcome.err.find("motion.nc: cannot be written: File too large"), std::string::npos)
        << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(path("motion.nc"))) << kibibytes;
  }
}

TEST_F(CloudsCommand, WrongWordsAreErrors) {
  render_pairs(2, "64x48");
  const Words clouds = join({"clouds"}, lefts(2));
  expect_failure(2, join(clouds, {"-o", path("f.flo")}), {"f.flo", "needs the place of a number"});
  expect_failure(2, join(clouds, {"--height", path("h%d.npy")}), {"--stereo"});
  expect_failure(2, join(clouds, {"--km-per-pixel", "4"}), {"--minutes"});
  expect_failure(2, join(clouds, {"--minutes", "-1", "--km-per-pixel", "4"}), {"--minutes"});
  expect_failure(2, join(clouds, {"--stereo", frame(1)}), {"number of files is 1, that of FRAMES 2"});
  expect_failure(2, {"clouds", frame(0)}, {"takes 2 frames or more, not 1"});
  expect_failure(2, join(clouds, {"--csv", path("t.doc")}), {"t.doc", ".csv"});
  expect_failure(2, join(clouds, {"--preset", "sequence"}), {"takes 5 frames or more"});
  expect_failure(2, join(clouds, join({"--disparities", "100", "--stereo"}, rights(2))),
                 {"disparities from 0 to 99"});
  expect_failure(1, join(clouds, {"-o", path("sky/frame000%d.png")}), {"is an input"});
  expect_failure(1, join(clouds, {"--overlay", path("missing.png")}), {"missing.png"});
  expect_failure(1, join(clouds, {"--overlay", frame(0)}),
                 {"no pixel is 0, so nothing of the frames is left"});
  expect_failure(1,
                 join(clouds, join({"--height", path("h%d.png"), "--height-offset", "-100", "--disparities",
                                    "8", "--stereo"},
                                   rights(2))),
                 {"a PNG holds heights of 0 to 255.99"});
}

}  // namespace
}  // namespace parafield::test
