// SPDX-License-Identifier: MIT
#include <cmath>

#include "io/png_bytes.hpp"
#include "run_command.hpp"

// Pixels of the input without a value: --input-mask, alpha and NaN.
namespace parafield::test {
namespace {

class MasksCommand : public CommandTest {
 protected:
  static constexpr int step = 24;  // px between drawn lines, each 2 px wide

  static bool is_line(int x, int y) { return x % step >= step - 2 || y % step >= step - 2; }

  /// Renders a scene of some frames, writes them once more with lines drawn over them, and writes mask.png.
  void render_with_lines(const std::string& scene, int count, const std::string& size = "120x96") {
    run_well({"synth", scene, "-o", path("scene"), "--size", size, "--frames", std::to_string(count)});
    for (int i = 0; i < count; ++i) {
      plain_.push_back(path("scene/frame000" + std::to_string(i) + ".png"));
      drawn_.push_back(path("drawn" + std::to_string(i) + ".png"));
      FrameBuffer frame = read_frame(plain_.back());
      const Size all = frame.size();
      Image<std::uint8_t> mask(all);
      for (int y = 0; y < all.height; ++y)
        for (int x = 0; x < all.width; ++x) {
          mask(x, y) = !is_line(x, y);
          if (is_line(x, y)) static_cast<std::uint8_t*>(frame.row(y))[x] = 255;
        }
      write_frame(drawn_.back(), frame);
      write_mask(path("mask.png"), mask);
    }
  }

  /// A key of the report on a run that is scored on the pixels without lines.
  double score(const Words& command, const Words& frames, const std::string& truth, const char* key,
               const Words& more = {}) const {
    Words words = command;
    words.insert(words.end(), frames.begin(), frames.end());
    for (const std::string& word : Words{"--gt", truth, "--mask", path("mask.png"), "--json", "-q"})
      words.push_back(word);
    words.insert(words.end(), more.begin(), more.end());
    return run(words).json().at(key).get<double>();
  }

  Words plain_, drawn_;
};

TEST_F(MasksCommand, UnmaskedFlowOfEveryMethodIsNearlyAsGoodAsWithoutLines) {
  if (tests_sanitized_command()) GTEST_SKIP() << takes_minutes;
  render_with_lines("affine", 7);
  const auto check = [&]<class Method>(const Method& method) {
    const int count = method.frames, middle = (count - 1) / 2;
    const std::string truth = path("scene/flow000" + std::to_string(middle) + ".flo");
    const Words plain(plain_.begin(), plain_.begin() + count), drawn(drawn_.begin(), drawn_.begin() + count);
    const Words command{"flow", "-m", std::string(Method::name)};
    const double without = score(command, plain, truth, "epe"),
                 with = score(command, drawn, truth, "epe", {"--input-mask", path("mask.png")}),
                 blind = score(command, drawn, truth, "epe");
    EXPECT_LE(with, 1.5 * without + 0.07) << Method::name << ", as lines " << blind;
    RecordProperty(std::string(Method::name), std::to_string(without) + " " + std::to_string(with));
  };
  for_each_method<FlowMethod>(check);
}

TEST_F(MasksCommand, UnmaskedDisparitiesOfEveryMethodAreNearlyAsGoodAsWithoutLines) {
  if (tests_sanitized_command()) GTEST_SKIP() << takes_minutes;
  render_with_lines("stereo", 2);
  const auto check = [&]<class Method>(const Method&) {
    const Words command{"stereo", "-m", std::string(Method::name), "--disparities", "24"};
    const std::string truth = path("scene/disparity0000.pfm");
    const double without = score(command, plain_, truth, "bad_1"),
                 with = score(command, drawn_, truth, "bad_1", {"--input-mask", path("mask.png")});
    EXPECT_LE(with, 1.1 * without + 0.01) << Method::name;
  };
  for_each_method<StereoMethod>(check);
}

TEST_F(MasksCommand, PixelsWithoutAValueAreUnknownInEveryFile) {
  render_with_lines("layers", 2);
  for (const char* name : {"f.flo", "f.npy", "f.pfm", "f.png"}) {
    const Outcome outcome = run_well({"flow", drawn_[0], drawn_[1], "--input-mask", path("mask.png"), "-o",
                                      path(name), "--color", path("c.png"), "--json", "--fill"});
    const double masked = outcome.json().at("masked").get<double>();
    EXPECT_NEAR(masked, 1 - (22.0 / 24) * (22.0 / 24), 1e-6);
    EXPECT_LE(outcome.json().at("valid").get<double>(), 1 - masked);
    const FlowField flow = read_flow(path(name));
    const FrameBuffer picture = read_frame(path("c.png"));
    for (int y = 0; y < 96; ++y)
      for (int x = 0; x < 120; ++x) {
        const auto* color = static_cast<const std::uint8_t*>(picture.row(y)) + 3 * x;
        if (is_line(x, y)) {
          ASSERT_EQ(flow.valid(x, y), 0) << name << " " << x << " " << y;
          ASSERT_EQ(color[0] + color[1] + color[2], 0);
        } else {
          ASSERT_LT(std::abs(flow.u(x, y)), 100) << name;
        }
      }
    const auto scores = run_well({"eval", path(name), truth(), "--json"}).json();
    EXPECT_EQ(scores.at("missing").get<int>(), int(std::lround(masked * 120 * 96)));
  }
}

TEST_F(MasksCommand, DisparitiesWithoutAValueAreUnknownInEveryFile) {
  render_with_lines("stereo", 2);
  for (const char* name : {"d.pfm", "d.npy", "d.png"}) {
    run_well({"stereo", drawn_[0], drawn_[1], "--input-mask", path("mask.png"), "--disparities", "24", "-o",
              path(name), "--depth", path("depth.pfm"), "--focal", "100", "--baseline", "1", "--fill", "-q"});
    const DisparityField field = read_disparity(path(name));
    const FrameBuffer depth = read_frame(path("depth.pfm"));
    for (int y = 0; y < 96; ++y)
      for (int x = 0; x < 120; ++x) {
        ASSERT_EQ(field.valid(x, y) == 0, is_line(x, y)) << name << " " << x << " " << y;
        ASSERT_TRUE(!is_line(x, y) || std::isinf(static_cast<const float*>(depth.row(y))[x]));
      }
  }
}

TEST_F(MasksCommand, NaNAndAlphaAreMasks) {
  render_with_lines("layers", 2);
  for (int i = 0; i < 2; ++i) {  // the same frames as floats, and with alpha
    const FrameBuffer frame = read_frame(drawn_[std::size_t(i)]);
    FrameBuffer floats(frame.size(), PixelFormat::gray_f32);
    const auto gray = [&](int x, int y) { return static_cast<const std::uint8_t*>(frame.row(y))[x]; };
    for (int y = 0; y < 96; ++y)
      for (int x = 0; x < 120; ++x)
        static_cast<float*>(floats.row(y))[x] = is_line(x, y) ? NAN : float(gray(x, y));
    write_frame(path("nan" + std::to_string(i) + ".pfm"), floats);
    const png_bytes::Bytes file = png_bytes::file({120, 96, 8, 4}, [&](int x, int y, int channel) {
      return channel == 0 ? unsigned(gray(x, y)) : is_line(x, y) ? 0u : 200u;
    });
    std::ofstream(path("alpha" + std::to_string(i) + ".png"), std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), std::streamsize(file.size()));
  }
  run_well({"flow", drawn_[0], drawn_[1], "--input-mask", path("mask.png"), "-o", path("mask.flo"), "-q"});
  run_well({"flow", path("alpha0.png"), path("alpha1.png"), "-o", path("alpha.flo"), "-q"});
  run_well({"flow", path("nan0.pfm"), path("nan1.pfm"), "--range", "0,255", "-o", path("nan.flo"), "-q"});
  EXPECT_TRUE(read_text(path("mask.flo")) == read_text(path("alpha.flo")));
  const auto scores =  // floats are not rounded where they are filled
      run_well({"eval", path("nan.flo"), path("mask.flo"), "--json"}).json();
  EXPECT_EQ(scores.at("missing").get<int>(), 0);
  EXPECT_LT(scores.at("epe").get<double>(), 0.02);
  // Each flow of a series is marked, too.
  run_well({"flow", drawn_[0], drawn_[1], drawn_[0], "--input-mask", path("mask.png"), "-o", path("s%d.flo"),
            "-q"});
  EXPECT_TRUE(read_text(path("mask.flo")) == read_text(path("s1.flo")));
}

TEST_F(MasksCommand, TracksBeginAndEndAtPixelsWithAValue) {
  render_with_lines("layers", 2);
  run_well({"tracks", drawn_[0], drawn_[1], "--input-mask", path("mask.png"), "-o", path("t.csv"), "-q"});
  const std::vector<Track> tracks = read_tracks(path("t.csv"));
  EXPECT_GT(tracks.size(), 10u);
  for (const Track& track : tracks)
    EXPECT_FALSE(is_line(int(std::lround(track.x)), int(std::lround(track.y))));
}

TEST_F(MasksCommand, WrongMasksAreErrors) {
  render_with_lines("layers", 2);
  run_well({"synth", "layers", "-o", path("other"), "--size", "64x48", "-q"});
  Image<std::uint8_t> none({120, 96});
  write_mask(path("none.png"), none.view());
  const Words flow{"flow", drawn_[0], drawn_[1], "-o", path("f.flo"), "--input-mask"};
  const auto with = [&](const std::string& mask) {
    Words words = flow;
    words.push_back(mask);
    return words;
  };
  expect_failure(1, with(path("other/frame0000.png")), {"sizes differ", "64x48", "120x96"});
  expect_failure(1, with(path("none.png")), {drawn_[0], "0 everywhere"});
  expect_failure(1, with(path("missing.png")), {"missing.png"});
  expect_failure(
      1, {"flow", drawn_[0], drawn_[1], "--valid", path("mask.png"), "--input-mask", path("mask.png")},
      {"is an input"});
}

}  // namespace
}  // namespace parafield::test
