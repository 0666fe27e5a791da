// SPDX-License-Identifier: MIT
// parafield stereo on the pairs of a video.
#include <filesystem>

#include "run_command.hpp"

namespace parafield::test {
namespace {

class StereoVideoCommand : public CommandTest {
 protected:
  static constexpr int pairs = 3;

  void SetUp() override {
    CommandTest::SetUp();
    run_well(
        {"synth", "stereo", "-o", path("scene"), "--size", "120x90", "--frames", std::to_string(2 * pairs)});
  }
  std::string image(int pair, int side) const {
    return path("scene/frame000" + std::to_string(2 * pair + side) + ".png");
  }
  Words side(int which) const {
    Words names;
    for (int i = 0; i < pairs; ++i) names.push_back(image(i, which));
    return names;
  }
  /// `parafield stereo` on the CPU, with the images and more words.
  static Words stereo(const Words& images, const Words& more) {
    return join(join({"stereo", "-d", "cpu"}, images), more);
  }
  /// The frames of a side as one Y4M file.
  std::string film(const std::string& name, int which, int count = pairs) const {
    std::ofstream file(path(name), std::ios::binary);
    file << "YUV4MPEG2 W120 H90 F25:1 Cmono\n";
    for (int i = 0; i < count; ++i) file << y4m_frame(read_frame(image(i, which)));
    return path(name);
  }
};

TEST_F(StereoVideoCommand, EachPairIsThatOfThePairAlone) {
  const Words all = join(side(0), side(1));
  const Outcome outcome =
      run_well(stereo(all, {"-o", path("d%02d.pfm"), "--valid", path("v%d.png"), "--color", path("c%d.png"),
                            "--beside", "--confidence", path("q%d.npy"), "--depth", path("z%d.pfm"),
                            "--points", path("p%d.ply"), "--focal", "100", "--baseline", "0.17"}));
  EXPECT_NE(outcome.out.find("3 pairs in"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("wrote " + path("d%02d.pfm")), std::string::npos) << outcome.out;
  const auto report = run_well(stereo(all, {"-o", path("d%02d.pfm"), "--json", "--threads", "2"})).json();
  EXPECT_EQ(report["pairs"], pairs);
  EXPECT_EQ(report["repeats"], pairs);
  const std::string disparities = report["parameters"]["disparities"].dump();
  EXPECT_EQ(report["disparities_found"], true);
  for (int i = 0; i < pairs; ++i) {
    const std::string number = std::to_string(i + 1);
    run_well(stereo({image(i, 0), image(i, 1)},
                    {"-o", path("one.pfm"), "--valid", path("one.png"), "--disparities", disparities, "-q"}));
    EXPECT_TRUE(read_text(path("d0" + number + ".pfm")) == read_text(path("one.pfm"))) << i;
    EXPECT_TRUE(read_text(path("v" + number + ".png")) == read_text(path("one.png"))) << i;
    EXPECT_EQ(read_frame(path("c" + number + ".png")).size(), (Size{240, 90}));
    for (const std::string& name : {"q" + number + ".npy", "z" + number + ".pfm", "p" + number + ".ply"})
      EXPECT_TRUE(std::filesystem::exists(path(name))) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(path("d04.pfm")));
}

TEST_F(StereoVideoCommand, OnePairIsASeriesOfOne) {
  const Words pair = {image(0, 0), image(0, 1)};
  const Outcome outcome = run_well(stereo(
      pair, {"-o", path("d%04d.pfm"), "--depth", path("z%d.pfm"), "--focal", "100", "--baseline", "0.17"}));
  EXPECT_NE(outcome.out.find("1 pair in"), std::string::npos) << outcome.out;
  run_well(stereo(pair, {"-o", path("one.pfm"), "-q"}));
  EXPECT_TRUE(read_text(path("d0001.pfm")) == read_text(path("one.pfm")));
  EXPECT_TRUE(std::filesystem::exists(path("z1.pfm")));
  run_well(stereo({film("left.y4m", 0, 1), film("right.y4m", 1, 1)}, {"-o", path("f%d.pfm"), "-q"}));
  EXPECT_TRUE(read_text(path("f1.pfm")) == read_text(path("one.pfm")));
}

TEST_F(StereoVideoCommand, FilmsArePairedFrameByFrame) {
  const Words films = {film("left.y4m", 0), film("right.y4m", 1)};
  run_well(stereo(join(side(0), side(1)), {"-o", path("d%d.pfm"), "-q"}));
  run_well(stereo(films, {"-o", path("f%d.pfm"), "-q"}));
  for (const char* const number : {"1", "2", "3"})
    EXPECT_TRUE(read_text(path(std::string("d") + number + ".pfm")) ==
                read_text(path(std::string("f") + number + ".pfm")))
        << number;
}

TEST_F(StereoVideoCommand, ABlackPairDoesNotSetTheNumberOfDisparities) {
  write_frame(path("black.png"), FrameBuffer({120, 90}, PixelFormat::gray_u8));
  const Words images = {path("black.png"), image(0, 0), path("black.png"), image(0, 1)};
  const auto alone = run_well(stereo({image(0, 0), image(0, 1)}, {"-o", path("d.pfm"), "--json"})).json();
  const auto report = run_well(stereo(images, {"-o", path("b%d.pfm"), "--json", "-q"})).json();
  EXPECT_EQ(report["parameters"]["disparities"], alone["parameters"]["disparities"]);
  EXPECT_EQ(report["row_error"], alone["row_error"]);
  EXPECT_TRUE(read_text(path("b2.pfm")) == read_text(path("d.pfm")));
}

TEST_F(StereoVideoCommand, AMissingImageOfOneCameraIsNoted) {
  for (int i = 0; i < pairs; ++i)
    for (const int side : {0, 1}) {
      const std::string folder = path(side == 0 ? "left" : "right");
      std::filesystem::create_directories(folder);
      if (side == 0 || i != 1)
        std::filesystem::copy(image(i, side), folder + "/" + std::to_string(i) + ".png");
    }
  const Outcome outcome = run(stereo({path("left"), path("right")}, {"-o", path("d%d.pfm")}));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("has 2 images"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("right/2.png is paired with " + path("left/1.png")), std::string::npos)
      << outcome.err;
  std::filesystem::copy(image(1, 1), path("right/1.png"));
  const Outcome whole = run_well(stereo({path("left"), path("right")}, {"-o", path("d%d.pfm")}));
  EXPECT_EQ(whole.err.find("is paired with"), std::string::npos) << whole.err;
}

TEST_F(StereoVideoCommand, NoiseAveragesPairs) {
  const Words still = {image(0, 0), image(0, 0), image(1, 0), image(0, 1), image(0, 1), image(1, 1)};
  run_well(stereo(still, {"-o", path("n%d.pfm"), "--noise", "2", "--disparities", "20", "-q"}));
  run_well(stereo(still, {"-o", path("d%d.pfm"), "--disparities", "20", "-q"}));
  const auto same = [&](const std::string& number) {
    return read_text(path("n" + number + ".pfm")) == read_text(path("d" + number + ".pfm"));
  };
  EXPECT_TRUE(same("1"));
  EXPECT_TRUE(same("2")) << "frames without noise are their mean";
  EXPECT_FALSE(same("3"));
}

TEST_F(StereoVideoCommand, RectifiedByACalibration) {
  std::ofstream(path("calib.txt"))
      << "cam0=[100 0 59.5; 0 100 37.3; 0 0 1]\ncam1=[100 0 59.5; 0 100 37.3; 0 0 1]\n"
         "doffs=0\nbaseline=170\nwidth=120\nheight=90\nndisp=20\n";
  const auto report = run_well(stereo(join(side(0), side(1)), {"--calibration", path("calib.txt"), "--depth",
                                                               path("z%d.npy"), "--json"}))
                          .json();
  EXPECT_EQ(report["rectification"]["baseline"], 170);
  EXPECT_TRUE(std::filesystem::exists(path("z3.npy")));
}

TEST_F(StereoVideoCommand, RefusesImagesThatDoNotPair) {
  const auto fails = [&](int code, const Words& images, const Words& more, const Words& words) {
    expect_failure(code, stereo(images, more), words);
  };
  const Words series = {"-o", path("s%d.pfm")};
  fails(2, {image(0, 0), image(1, 0), image(0, 1)}, series, {"3 files cannot be halved"});
  fails(2, {image(0, 0), image(1, 0), image(0, 1), image(1, 1)}, {"-o", path("s.pfm")},
        {"not 4 files", "%04d"});
  fails(2, {image(0, 0)}, series, {"1 file cannot be halved"});
  fails(2, {image(0, 0), image(0, 1)}, {"--noise", "2"}, {"--noise 2", "%04d"});
  fails(2, {"-", "-"}, series, {"standard input, once"});
  fails(2, join(side(0), side(1)), join(series, {"--gt", path("x.pfm")}), {"--gt", "eval"});
  fails(2, join(side(0), side(1)), join(series, {"--repeat", "2"}), {"--repeat"});
  fails(2, join(side(0), side(1)), join(series, {"--energy", "result"}), {"--energy"});
  fails(2, join(side(0), side(1)), join(series, {"--color", path("c.png")}),
        {"--color", "place of a number"});
  EXPECT_FALSE(std::filesystem::exists(path("s1.pfm")));

  run_well({"synth", "stereo", "-o", path("small"), "--size", "60x90", "--frames", "2", "-q"});
  const std::string small = path("small/frame0000.png");
  fails(1, {image(0, 0), image(1, 0), small, small}, series, {"120x90", "60x90"});
  EXPECT_FALSE(std::filesystem::exists(path("s1.pfm")));
  const Outcome second = run(stereo({image(0, 0), image(1, 0), image(0, 1), small}, series));
  EXPECT_EQ(second.code, 1);
  for (const char* part : {"120x90", "60x90", "the disparity map before it is written"})
    EXPECT_NE(second.err.find(part), std::string::npos) << second.err;
  EXPECT_TRUE(std::filesystem::exists(path("s1.pfm")));
  const Outcome outcome = run(stereo({film("left.y4m", 0), film("short.y4m", 1, 2)}, series));
  EXPECT_EQ(outcome.code, 1);
  for (const char* words :
       {"short.y4m) has 2 images", "left.y4m) has more", "the 2 disparity maps before it are written"})
    EXPECT_NE(outcome.err.find(words), std::string::npos) << words << " in: " << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(path("s2.pfm")));
}

}  // namespace
}  // namespace parafield::test
