// SPDX-License-Identifier: MIT
// The oracle of Lucas-Kanade on real sequences, against the errors of a second implementation in NumPy and
// OpenCV. OpenCV rounds the coordinates of bilinear interpolation to 1/32 px, so the errors differ a little.
#include <numbers>

#include "lucas_kanade.hpp"
#include "parafield/io.hpp"
#include "support.hpp"

namespace parafield::oracle {
namespace {

struct Sequence {
  std::string name, frame0, frame1, truth, mask;
  double paper_aae, paper_epe, accurate_aae, accurate_epe;
};
void PrintTo(const Sequence& sequence, std::ostream* out) { *out << sequence.name; }

class OracleData : public testing::TestWithParam<Sequence> {};

/// AAE and EPE (Marzat, section 2.4) over pixels with known truth inside the mask: the mean angle in degrees
/// between (u, v, 1) and the true vector, and the mean length of the difference in px.
std::pair<double, double> errors(const oracle::Flow& flow, const FlowField& truth,
                                 const Image<std::uint8_t>& mask) {
  double angles = 0, lengths = 0, count = 0;
  for (int y = 0; y < truth.size().height; ++y)
    for (int x = 0; x < truth.size().width; ++x) {
      if (!truth.valid(x, y) || (mask && !mask(x, y))) continue;
      const double u = flow.u(x, y), v = flow.v(x, y), ur = truth.u(x, y), vr = truth.v(x, y);
      const double cosine = (u * ur + v * vr + 1) / std::sqrt((u * u + v * v + 1) * (ur * ur + vr * vr + 1));
      angles += std::acos(std::clamp(cosine, -1.0, 1.0)) * 180 / std::numbers::pi;
      lengths += std::hypot(u - ur, v - vr);
      ++count;
    }
  return {angles / count, lengths / count};
}

TEST_P(OracleData, AgreesWithASecondImplementation) {
  const Sequence& sequence = GetParam();
  PARAFIELD_DATA_OR_SKIP(frame0_file, sequence.frame0);
  PARAFIELD_DATA_OR_SKIP(frame1_file, sequence.frame1);
  PARAFIELD_DATA_OR_SKIP(truth_file, sequence.truth);
  PARAFIELD_DATA_OR_SKIP(mask_file, sequence.mask);
  const Grid frame0 = luma(read_frame(frame0_file).frame()), frame1 = luma(read_frame(frame1_file).frame());
  const FlowField truth = read_flow(truth_file);
  const auto mask = sequence.mask.empty() ? Image<std::uint8_t>{} : read_mask(mask_file);

  const auto [aae, epe] = errors(lucas_kanade(frame0, frame1).flow, truth, mask);
  EXPECT_NEAR(aae, sequence.paper_aae, 0.03);
  EXPECT_NEAR(epe, sequence.paper_epe, 0.002);

  // Parameters of the second implementation.
  const LucasKanade accurate{.levels = 5,
                             .window = 11,
                             .iterations = 10,
                             .alpha = 1e-5f,
                             .presmooth = 0.5f,
                             .robust = 0.02f,
                             .median = 5,
                             .median_each = true};
  const auto [accurate_aae, accurate_epe] = errors(lucas_kanade(frame0, frame1, accurate).flow, truth, mask);
  EXPECT_NEAR(accurate_aae, sequence.accurate_aae, 0.03);
  EXPECT_NEAR(accurate_epe, sequence.accurate_epe, 0.002);
}

Sequence middlebury(const std::string& name, double paper_aae, double paper_epe, double accurate_aae,
                    double accurate_epe) {
  const std::string folder = "middlebury-flow/" + name + "/";
  return {name,
          folder + "frame10.png",
          folder + "frame11.png",
          folder + "flow10.flo",
          "",
          paper_aae,
          paper_epe,
          accurate_aae,
          accurate_epe};
}

INSTANTIATE_TEST_SUITE_P(
    Sequences, OracleData,
    testing::Values(
        middlebury("RubberWhale", 8.42, 0.260, 7.69, 0.232), middlebury("Grove2", 4.21, 0.294, 3.75, 0.256),
        middlebury("Dimetrodon", 3.76, 0.198, 3.10, 0.168), middlebury("Venus", 10.15, 0.575, 8.43, 0.484),
        Sequence{"YosemiteWithoutClouds", "yosemite/noclouds/yos08.png", "yosemite/noclouds/yos09.png",
                 "yosemite/noclouds/yos08_nosky.flo", "", 3.49, 0.157, 2.96, 0.131},
        Sequence{"YosemiteGround", "yosemite/clouds/yos09.png", "yosemite/clouds/yos10.png",
                 "yosemite/clouds/flow09.flo", "yosemite/clouds/mask_ground.png", 2.96, 0.147, 2.39, 0.120}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace parafield::oracle
