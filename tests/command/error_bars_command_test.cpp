// SPDX-License-Identifier: MIT
// Error bars of the command: what flow and stereo write, and what eval says of it.
#include "command/run_command.hpp"

namespace parafield::test {
namespace {

class ErrorBarsCommand : public CommandTest {};

TEST_F(ErrorBarsCommand, EvalScoresTheFilesThatFlowWrites) {
  render("layers");
  const auto of_flow = run_well({"flow", frame0(), frame1(), "-d", "cpu", "-o", path("out.flo"),
                                 "--covariance", path("bars.npy"), "--outlier", path("p1.npy"), "--outlier3",
                                 path("p3.pfm"), "--cause", path("cause.png"), "--gt", truth(), "--json"})
                           .json(),
             of_eval = run_well({"eval", path("out.flo"), truth(), "--covariance", path("bars.npy"),
                                 "--outlier", path("p1.npy"), "--outlier3", path("p3.pfm"), "--json"})
                           .json();
  for (const char* key : {"inside68", "inside95", "ause", "brier1", "brier3", "ece1", "ece3", "flagged"})
    EXPECT_EQ(of_flow["error_bars"][key], of_eval["error_bars"][key]) << key;
  EXPECT_GT(of_flow["error_bars"]["inside68"], 0.5);
  EXPECT_EQ(of_flow["files"],
            (Words{path("out.flo"), path("bars.npy"), path("p1.npy"), path("p3.pfm"), path("cause.png")}));

  FlowOptions options{.device = Device::cpu()};
  options.covariance = options.outlier = options.cause = true;
  const FlowField flow = estimate_flow(read_frame(frame0()), read_frame(frame1()), {}, options);
  const Covariance<Image<float>> bars = read_covariance(path("bars.npy"));
  const DisparityField outlier3 = read_disparity(path("p3.pfm"));
  FrameBuffer cause = read_frame(path("cause.png"));
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 96; ++x) {
      ASSERT_EQ(bars.xx(x, y), flow.covariance.xx(x, y));
      ASSERT_EQ(bars.xy(x, y), flow.covariance.xy(x, y));
      ASSERT_EQ(bars.yy(x, y), flow.covariance.yy(x, y));
      ASSERT_EQ(outlier3.d(x, y), flow.outlier3(x, y));
      ASSERT_EQ(static_cast<const std::uint8_t*>(cause.row(y))[x], flow.cause(x, y));
    }
  EXPECT_FALSE(
      run_well({"flow", frame0(), frame1(), "--gt", truth(), "--json"}).json().contains("error_bars"));
  const std::string text = run_well({"eval", path("out.flo"), truth(), "--covariance", path("bars.npy")}).out;
  EXPECT_NE(text.find("\nerror bars: 68 % ellipses hold "), std::string::npos) << text;
}

TEST_F(ErrorBarsCommand, SeriesHaveErrorBars) {
  run_well({"synth", "layers", "-o", path("scene"), "--size", "96x64", "--frames", "4"});
  run_well({"flow", path("scene/frame*.png"), "-o", path("flow%02d.flo"), "--covariance",
            path("bars%02d.npy"), "--cause", path("cause%02d.png"), "-d", "cpu"});
  for (const char* name : {"bars01.npy", "bars02.npy", "bars03.npy"})
    EXPECT_EQ(read_covariance(path(name)).yy.size(), (Size{96, 64})) << name;
  EXPECT_TRUE(std::filesystem::exists(path("cause03.png")));
}

TEST_F(ErrorBarsCommand, EvalScoresTheFilesThatStereoWrites) {
  run_well({"synth", "stereo", "-o", path("pair"), "--size", "96x64"});
  const auto of_stereo = run_well({"stereo", path("pair/frame0000.png"), path("pair/frame0001.png"), "-d",
                                   "cpu", "-o", path("d.pfm"), "--sigma", path("sigma.npy"), "--outlier",
                                   path("p1.npy"), "--gt", path("pair/disparity0000.pfm"), "--json"})
                             .json(),
             of_eval = run_well({"eval", path("d.pfm"), path("pair/disparity0000.pfm"), "--sigma",
                                 path("sigma.npy"), "--outlier", path("p1.npy"), "--json"})
                           .json();
  for (const char* key : {"inside68", "inside95", "ause", "brier1", "ece1"})
    EXPECT_EQ(of_stereo["error_bars"][key], of_eval["error_bars"][key]) << key;
}

TEST_F(ErrorBarsCommand, DepthsAndPointsHaveASigma) {
  run_well({"synth", "stereo", "-o", path("pair"), "--size", "96x64"});
  const auto report =
      run_well({"stereo", path("pair/frame0000.png"), path("pair/frame0001.png"), "-d", "cpu", "--focal",
                "100", "--baseline", "0.2", "--sigma", path("sigma.npy"), "--depth", path("z.npy"),
                "--depth-sigma", path("zs.npy"), "--points", path("p.ply"), "--json"})
          .json();
  EXPECT_EQ(report["files"], (Words{path("sigma.npy"), path("z.npy"), path("zs.npy"), path("p.ply")}));
  const Image<float> sigma = std::move(read_disparity(path("sigma.npy")).d),
                     depth = std::move(read_disparity(path("z.npy")).d),
                     depth_sigma = std::move(read_disparity(path("zs.npy")).d);
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 96; ++x) {
      const float z = depth(x, y);
      ASSERT_EQ(std::isfinite(depth_sigma(x, y)), std::isfinite(z));
      if (std::isfinite(z)) {
        EXPECT_NEAR(depth_sigma(x, y) / (z * z / 20 * sigma(x, y)), 1, 1e-5);
      }
    }
  EXPECT_NE(read_text(path("p.ply")).find("property float sigma_z\n"), std::string::npos);
  expect_failure(
      2, {"stereo", path("pair/frame0000.png"), path("pair/frame0001.png"), "--depth-sigma", path("zs.npy")},
      {"--depth-sigma needs --calibration, or --focal and --baseline"});
}

TEST_F(ErrorBarsCommand, Refusals) {
  render();
  expect_failure(1, {"flow", frame0(), frame1(), "-m", "lucas-kanade", "--covariance", path("b.npy")},
                 {"only for adaptive-ridge; lucas-kanade has none"});
  expect_failure(2, {"flow", frame0(), frame1(), "--covariance", path("b.pfm")}, {"--covariance", ".npy"});
  run_well({"flow", frame0(), frame1(), "-o", path("a.flo"), "--outlier", path("p.npy"), "-d", "cpu"});
  expect_failure(1, {"eval", path("a.flo"), truth(), "--covariance", path("p.npy")},
                 {"not covariance", "height x width x 3"});
  expect_failure(1, {"eval", path("a.flo"), truth(), "--covariance", path("a.flo")},
                 {"a flow field (.flo), not a covariance"});
  expect_failure(2, {"eval", path("a.flo"), truth(), "--sigma", path("p.npy")}, {"--sigma", "disparities"});
}

}  // namespace
}  // namespace parafield::test
