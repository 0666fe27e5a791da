// SPDX-License-Identifier: MIT
// parafield convert, and parafield stereo on frames that hold both views.
#include <cmath>
#include <cstring>

#include "command/run_command.hpp"
#include "io/npz_bytes.hpp"
#include "io/samples.hpp"

namespace parafield::test {
namespace {

class ConvertCommand : public CommandTest {
 protected:
  Outcome convert(Words words) const {
    words.insert(words.begin(), "convert");
    return run(words);
  }
  void convert_well(Words words) const {
    words.insert(words.begin(), "convert");
    run_well(words);
  }
  void write(const std::string& name, const std::vector<std::uint8_t>& bytes) const {
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  }
};

TEST_F(ConvertCommand, FlowKeepsValuesAndValidity) {
  FlowField flow(Size{4, 2});
  for (int i = 0; i < 8; ++i) {
    flow.u(i % 4, i / 4) = float(i) - 2.5f;
    flow.v(i % 4, i / 4) = float(i) / 64;
    flow.valid(i % 4, i / 4) = i != 5;
  }
  write_flow(path("a.png"), flow);
  std::string before = path("a.png");
  for (const char* name : {"b.flo", "c.pfm", "d.npy", "e.png", "f.flo"}) {
    convert_well({before, "-o", path(name), "--valid", path("valid.png")});
    before = path(name);
    const FlowField read = read_flow(before);
    const Image<std::uint8_t> valid = read_mask(path("valid.png"));
    for (int i = 0; i < 8; ++i) {
      const int x = i % 4, y = i / 4;
      ASSERT_EQ(bool(read.valid(x, y)), i != 5) << name << i;
      ASSERT_EQ(bool(valid(x, y)), i != 5) << name << i;
      if (i == 5) continue;
      ASSERT_EQ(read.u(x, y), flow.u(x, y)) << name;
      ASSERT_EQ(read.v(x, y), flow.v(x, y)) << name;
    }
  }
}

TEST_F(ConvertCommand, ArchivesBecomeSeries) {
  using samples::npy, samples::npy_header, samples::halves;
  const auto plane = [](const std::vector<float>& values) {
    return npy(npy_header("<f2", "(2, 1, 2)"), halves(values));
  };
  write("video.npz", npz_bytes::file({{"u", plane({1, 2, 3, 1000})}, {"v", plane({-1, -2, -3, -4})}}));
  expect_failure(2, {"convert", path("video.npz"), "-o", path("a.flo")},
                 {"holds 2 flow fields; name a series of files, like -o flow%04d.flo"});
  convert_well({path("video.npz"), "-o", path("a%d.flo")});
  EXPECT_EQ(read_flow(path("a1.flo")).u(1, 0), 2);
  EXPECT_EQ(read_flow(path("a2.flo")).u(1, 0), 1000);
  // KITTI's format does not hold 1000 px.
  const Outcome outcome = convert({path("video.npz"), "-o", path("a%d.png")});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("a2.png holds flow of -512 to 511.98 px: 50 % of the valid pixels do not fit"),
            std::string::npos)
      << outcome.err;
  EXPECT_TRUE(read_flow(path("a2.png")).valid(0, 0));
  EXPECT_FALSE(read_flow(path("a2.png")).valid(1, 0));
}

TEST_F(ConvertCommand, DisparitiesDepthsAndPoints) {
  const std::vector<float> values = {20, 5.5f, INFINITY, -3};
  write("d.npy", samples::npy(samples::npy_header("<f4", "(2, 2)"), samples::floats(values)));
  const Outcome png = convert({path("d.npy"), "-o", path("d.png")});
  EXPECT_NE(png.err.find("d.png holds disparities of 0 to 255.996 px: 33.3 % of the valid pixels do not fit"),
            std::string::npos)
      << png.err;
  convert_well({path("d.png"), "-o", path("e.pfm")});
  const DisparityField read = read_disparity(path("e.pfm"));
  EXPECT_EQ(read.d(0, 0), 20);
  EXPECT_EQ(read.d(1, 0), 5.5f);
  EXPECT_FALSE(read.valid(0, 1));
  EXPECT_FALSE(read.valid(1, 1));
  const Words camera = {"--focal", "500", "--baseline", "0.2"};
  const Outcome depth =
      convert(join({path("d.npy"), "--depth", path("z.npy"), "--points", path("p.ply")}, camera));
  EXPECT_NE(depth.err.find("z.npy holds disparities above 0 px: 33.3 %"), std::string::npos) << depth.err;
  EXPECT_NE(read_text(path("p.ply")).find("element vertex 2"), std::string::npos);
  EXPECT_EQ(read_disparity(path("z.npy")).d(0, 0), 5);
  const Outcome alone = convert(join({path("d.npy"), "--depth", path("y.npy")}, camera));
  EXPECT_EQ(alone.code, 0);
  EXPECT_EQ(read_text(path("y.npy")), read_text(path("z.npy")));
  convert_well(join({path("z.npy"), "--task", "depth", "-o", path("f.npy")}, camera));
  EXPECT_EQ(read_disparity(path("f.npy")).d(1, 0), 5.5f);
  EXPECT_FALSE(read_disparity(path("f.npy")).valid(1, 1));
}

TEST_F(ConvertCommand, WrongUsesAreNamed) {
  render();
  const std::string flow = truth();
  expect_failure(2, {"convert", flow}, {"nothing is written: give -o, --valid, --depth or --points"});
  expect_failure(2, {"convert", flow, "-o", path("a.npy"), "--scale", "3"},
                 {"--scale cannot be used with flow"});
  expect_failure(2, {"convert", flow, "-o", path("a.bmp")},
                 {"the name should end in .pfm or .npy or .png or .flo"});
  expect_failure(1, {"convert", frame0(), "-o", path("a.flo")},
                 {"give the kind by --task (flow, disparity, depth)"});
  expect_failure(1, {"convert", flow, "-o", flow}, {"is an input"});
  write_disparity(path("d.npy"), DisparityField(Size{2, 2}));
  expect_failure(2, {"convert", path("d.npy"), "--task", "depth", "-o", path("a.npy")},
                 {"--task depth needs --calibration, or --focal and --baseline"});
  expect_failure(2, {"convert", path("d.npy"), "--depth", path("a.npy")},
                 {"--depth needs --calibration, or --focal and --baseline"});
  expect_failure(2, {"convert", path("d.npy"), "-o", path("a.npy"), "--frame", frame0()},
                 {"--frame needs --points"});
}

/// Frames that hold both views of a rendered pair.
class PackedStereoCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    run_well({"synth", "stereo", "-o", path("scene"), "--size", "120x90", "--rgb"});
  }

  /// Writes views side by side, or one above the other.
  void pack(const std::string& name, const FrameBuffer& first, const FrameBuffer& second, bool beside) const {
    const auto [width, height] = first.size();
    FrameBuffer whole(beside ? Size{2 * width, height} : Size{width, 2 * height}, first.format());
    const std::size_t bytes = std::size_t(width) * std::size_t(bytes_per_pixel(first.format()));
    for (int y = 0; y < height; ++y) {
      std::memcpy(whole.row(y), first.row(y), bytes);
      std::memcpy(beside ? static_cast<char*>(whole.row(y)) + bytes : whole.row(height + y), second.row(y),
                  bytes);
    }
    write_frame(path(name), whole);
  }
};

TEST_F(PackedStereoCommand, GiveTheBitsOfThePair) {
  const FrameBuffer left = read_frame(frame0()), right = read_frame(frame1());
  pack("beside.png", left, right, true);
  pack("above.png", right, left, false);
  pack("film1.png", left, right, true);
  pack("film2.png", left, right, true);
  const Words method = {"-d", "cpu", "-m", "winner-takes-all", "--disparities", "16", "-q"};
  run_well(join({"stereo", frame0(), frame1(), "-o", path("a.pfm")}, method));
  run_well(join({"stereo", path("beside.png"), "--side-by-side", "-o", path("b.pfm")}, method));
  run_well(join({"stereo", path("above.png"), "--over-under", "--right-first", "-o", path("c.pfm")}, method));
  run_well(join({"stereo", path("film%d.png"), "--side-by-side", "-o", path("d%d.pfm")}, method));
  for (const char* name : {"b.pfm", "c.pfm", "d1.pfm", "d2.pfm"})
    EXPECT_EQ(read_text(path(name)), read_text(path("a.pfm"))) << name;
  const auto report =
      run_well(join({"stereo", path("beside.png"), "--side-by-side", "--json", "-o", path("b.pfm")}, method))
          .json();
  EXPECT_EQ(report["width"], 120);
}

TEST_F(PackedStereoCommand, WrongUsesAreNamed) {
  write_frame(path("odd.png"), FrameBuffer({121, 90}, PixelFormat::gray_u8));
  expect_failure(
      1, {"stereo", path("odd.png"), "--side-by-side", "-o", path("a.pfm")},
      {"odd.png: a frame of 121x90 pixels cannot be halved into views side by side; its width should be"});
  expect_failure(2, {"stereo", frame0(), "--right-first", "-o", path("a.pfm")},
                 {"--right-first needs --side-by-side or --over-under"});
  expect_failure(2, {"stereo", frame0(), "-o", path("a.pfm")}, {"--side-by-side takes one that holds both"});
  expect_failure(2, {"stereo", frame0(), frame1(), "--side-by-side", "-o", path("a.pfm")},
                 {"stereo takes one image that holds both views, not 2"});
}

}  // namespace
}  // namespace parafield::test
