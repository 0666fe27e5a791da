// SPDX-License-Identifier: MIT
// Plans of rectification against points that an oracle's cameras see, and OpenCV's values.
#include <algorithm>
#include <cmath>
#include <random>

#include "io/folder.hpp"
#include "oracle/stereo_camera.hpp"
#include "rectification/camera.hpp"

namespace parafield {
namespace {

using oracle::Point;

/// Points around the axis of the left camera, 0.6 to 6 away.
std::vector<Point> some_points() {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> share(-1, 1);
  std::vector<Point> points;
  for (int i = 0; i < 500; ++i) {
    const double z = 0.6 * std::pow(10, (share(random) + 1) / 2);
    points.push_back({0.5 * share(random) * z, 0.35 * share(random) * z, z});
  }
  return points;
}

std::vector<StereoCalibration> calibrations() {
  StereoCalibration rational = oracle::some_calibration();
  rational.left.distortion = {0.9, -0.3, 0.001, 0.0005, 0.02, 1.2, -0.1, 0.01};
  StereoCalibration turned = oracle::some_calibration();
  turned.rotation = oracle::turn(-0.2, 0.35, -0.1);
  turned.translation = {-80, -9, 14};
  StereoCalibration plain = oracle::some_calibration();
  plain.left.distortion = plain.right.distortion = {};
  plain.rotation = oracle::turn(0, 0, 0);
  StereoCalibration fisheye = oracle::some_calibration();
  fisheye.left.distortion = {.k1 = 0.05, .k2 = -0.02, .k3 = 0.01, .k4 = -0.003, .model = LensModel::fisheye};
  fisheye.right.distortion = {
      .k1 = -0.02, .k2 = 0.01, .k3 = -0.004, .k4 = 0.001, .model = LensModel::fisheye};
  return {oracle::some_calibration(), rational, turned, plain, fisheye};
}

TEST(Rectification, MatchesLieOnOneRowAndDisparityIsFocalTimesBaselineOverDepth) {
  for (const StereoCalibration& c : calibrations())
    for (const double alpha : {0.0, 0.4, 1.0}) {
      const auto [size, g, left, right] = plan_rectification(c, {}, alpha);
      const double unit = g.baseline / 0.12;  // points scale with the baseline
      for (const Point& p : some_points()) {
        const Point point{p.x * unit, p.y * unit, p.z * unit};
        const Point a = oracle::moved(left, point);
        const Point b = oracle::moved(right, oracle::moved(c.rotation, point, c.translation));
        ASSERT_NEAR(a.y / a.z, b.y / b.z, 1e-12);
        ASSERT_NEAR(a.z, b.z, 1e-12 * unit);
        const double x_left = g.focal * a.x / a.z + g.cx, x_right = g.focal * b.x / b.z + g.cx + g.doffs;
        ASSERT_NEAR(x_left - x_right, g.focal * g.baseline / a.z, 1e-9);
      }
      EXPECT_EQ(g.doffs, 0);
      EXPECT_EQ(size, c.size);
    }
}

TEST(Rectification, PixelsOfTheViewsShowThePointsOfTheirRays) {
  for (const StereoCalibration& c : calibrations()) {
    const Rectification plan = plan_rectification(c, {}, 0.5);
    const StereoGeometry& g = plan.geometry;
    const RectifiedView views[] = {left_view(c, plan), right_view(c, plan)};
    int inside = 0;
    for (int y = 0; y < c.size.height; y += 3)
      for (int x = 0; x < c.size.width; x += 3)
        for (const bool is_right : {false, true}) {
          const auto at = views[is_right].source(x, y);
          if (!at) continue;
          const Point ray = oracle::moved_back(is_right ? plan.right_rotation : plan.left_rotation,
                                               {(x - g.cx) / g.focal, (y - g.cy) / g.focal, 1});
          const oracle::Pixel seen = oracle::project(is_right ? c.right : c.left, ray);
          ASSERT_NEAR(at->x, seen.x, 1e-9);
          ASSERT_NEAR(at->y, seen.y, 1e-9);
          ++inside;
        }
    EXPECT_GT(inside, c.size.width * c.size.height / 9);
  }
}

/// Share of a region.
double share_of(const Image<std::uint8_t>& region) {
  double sum = 0;
  for (int y = 0; y < region.size().height; ++y)
    for (int x = 0; x < region.size().width; ++x) sum += region(x, y);
  return sum / (double(region.size().width) * region.size().height);
}

TEST(Rectification, AlphaSaysHowMuchTheViewsShow) {
  for (const StereoCalibration& c : calibrations()) {
    double last = 2;
    for (const double alpha : {0.0, 0.5, 1.0}) {
      const Rectifier rectifier(c, {}, {.device = Device::cpu(), .alpha = alpha});
      const double left = share_of(rectifier.region().left), right = share_of(rectifier.region().right);
      if (alpha == 0) {
        EXPECT_EQ(std::min(left, right), 1);
      }
      EXPECT_LE(left + right, last);
      last = left + right;
    }
    // The whole images are seen: so are their corners.
    const Rectification plan = plan_rectification(c, {}, 1);
    const StereoGeometry& g = plan.geometry;
    for (const bool is_right : {false, true})
      for (const double x : {0.0, c.size.width - 1.0})
        for (const double y : {0.0, c.size.height - 1.0}) {
          const Point p = oracle::moved(is_right ? plan.right_rotation : plan.left_rotation,
                                        oracle::ray_of(is_right ? c.right : c.left, {x, y}));
          const double u = g.focal * p.x / p.z + g.cx, v = g.focal * p.y / p.z + g.cy;
          EXPECT_TRUE(u > -0.01 && u < c.size.width - 0.99 && v > -0.01 && v < c.size.height - 0.99)
              << u << " " << v;
        }
  }
}

// stereoRectify of OpenCV 5.0 with CALIB_ZERO_DISPARITY. Its focal length rests on a coarser grid.
TEST(Rectification, RotationsAreOpenCvs) {
  const auto [size, g, left, right] = plan_rectification(oracle::some_calibration({640, 480}));
  const double r1[] = {0.9952193293446256,  -0.05161488200755453, -0.08291194397781124,
                       0.05073463654998318, 0.9986315430623703,   -0.012690069149148423,
                       0.08345347897466346, 0.008422894764585577, 0.9964760768281445};
  const double r2[] = {0.9981993198216697,  -0.0332733106607221,   -0.04990996599108309,
                       0.03379919264144134, 0.9993812826985341,    0.009729664363142425,
                       0.04955534768662944, -0.011399060904642332, 0.9987063276690249};
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_NEAR(left[i], r1[i], 1e-12);
    EXPECT_NEAR(right[i], r2[i], 1e-12);
  }
  EXPECT_NEAR(g.focal * g.baseline, 62.616, 0.01 * 62.616);
  EXPECT_NEAR(g.focal, 520.86, 0.01 * 520.86);
}

TEST(Rectification, APairThatIsRectifiedKeepsItsCameras) {
  StereoCalibration c;
  c.left = {1000, 1000, 310, 240};
  c.right = {1000, 1000, 341, 240};
  c.translation = {-193, 0, 0};
  c.size = {640, 480};
  c.rectified = true;
  const auto [size, g, left, right] = plan_rectification(c);
  EXPECT_EQ(g.focal, 1000);
  EXPECT_EQ(g.baseline, 193);
  EXPECT_EQ(g.cx, 310);
  EXPECT_EQ(g.cy, 240);
  EXPECT_EQ(g.doffs, 31);
  EXPECT_EQ(left, identity3);
  EXPECT_EQ(right, identity3);
  c.right.fy = 990;
  expect_error(ErrorCode::invalid_argument, "one focal length", [&] { plan_rectification(c); });
}

// Far off the axis this formula turns back. Rays there are not seen, although it would map them into the
// image.
TEST(Rectification, RaysBeyondTheLensAreNotSeen) {
  const Lens lens({100, 100, 50, 50, {-0.3}});
  EXPECT_TRUE(lens.seen({1, 0, 1}));
  EXPECT_TRUE(lens.seen({2, 0, 2}));
  EXPECT_FALSE(lens.seen({1.7, 0, 1}));
  EXPECT_FALSE(lens.seen({0, 0, -1}));
  const auto ray = lens.ray({50 + 100 * (0.8 - 0.3 * 0.512), 50});
  ASSERT_TRUE(ray);
  EXPECT_NEAR((*ray)[0], 0.8, 1e-9);
  EXPECT_FALSE(lens.ray({170, 50}));
}

TEST(Rectification, LensesRoundTrip) {
  for (const StereoCalibration& c : calibrations())
    for (const CalibratedCamera& camera : {c.left, c.right}) {
      const Lens lens(camera);
      for (int y = 0; y < c.size.height; y += 7)
        for (int x = 0; x < c.size.width; x += 7) {
          const auto ray = lens.ray({double(x), double(y)});
          ASSERT_TRUE(ray);
          const auto seen = lens.seen(*ray);
          ASSERT_TRUE(seen);
          ASSERT_NEAR(seen->x, x, 1e-9);
          ASSERT_NEAR(seen->y, y, 1e-9);
          const oracle::Pixel pixel = oracle::project(camera, {(*ray)[0], (*ray)[1], (*ray)[2]});
          ASSERT_NEAR(pixel.x, x, 1e-9);
          ASSERT_NEAR(pixel.y, y, 1e-9);
        }
    }
}

// A lens of 220 degrees: rays behind the plane z = 0 are seen, too, up to where the formula turns back.
TEST(Rectification, FisheyeLensesSeeBehindThem) {
  const Lens lens({100, 100, 200, 200, {.model = LensModel::fisheye}});
  for (const double angle : {0.0, 0.3, 1.0, 1.5707963267948966, 1.9, 3.0})
    for (const double turn : {0.0, 0.7, 2.0, -2.4}) {
      const Vector3 ray = {std::sin(angle) * std::cos(turn), std::sin(angle) * std::sin(turn),
                           std::cos(angle)};
      const auto seen = lens.seen(ray);
      ASSERT_TRUE(seen);
      EXPECT_NEAR(seen->x, 200 + 100 * angle * std::cos(turn), 1e-12 * 200);
      EXPECT_NEAR(seen->y, 200 + 100 * angle * std::sin(turn), 1e-12 * 200);
      const auto back = lens.ray(*seen);
      ASSERT_TRUE(back);
      for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR((*back)[i], ray[i], 1e-13);
    }
  EXPECT_FALSE(lens.ray({200 + 100 * 3.2, 200}));
  const Lens turning({100, 100, 200, 200, {.k1 = -0.2, .model = LensModel::fisheye}});  // up to 1.29 radians
  EXPECT_TRUE(turning.seen({std::sin(1.28), 0, std::cos(1.28)}));
  EXPECT_FALSE(turning.seen({std::sin(1.30), 0, std::cos(1.30)}));
  EXPECT_FALSE(turning.ray({200 + 100 * 0.87, 200}));
}

// A camera that sees more than a half space cannot be shown whole by a flat view.
TEST(Rectification, WideFisheyeImagesAreShownUpTo80Degrees) {
  StereoCalibration c;
  c.left = c.right = {80, 80, 159.5, 119.5, {.model = LensModel::fisheye}};
  c.translation = {-0.1, 0, 0};
  c.size = {320, 240};
  const double small = plan_rectification(c).geometry.focal,
               large = plan_rectification(c, {}, 1).geometry.focal;
  EXPECT_NEAR(plan_rectification(c).geometry.cx, 159.5, 1e-9);
  EXPECT_GT(large, 119.5 / std::tan(80.1 / 57.29577951308232));
  EXPECT_LT(large, 119.5 / std::tan(75 / 57.29577951308232));
  EXPECT_EQ(small, large);
  c.left.fx = c.left.fy = c.right.fx = c.right.fy = 110;  // 86 and 62 degrees
  EXPECT_GT(plan_rectification(c).geometry.focal, plan_rectification(c, {}, 1).geometry.focal);
}

TEST(Rectification, CoefficientsSayTheModelOnlyInPart) {
  const auto models = [](const LensCoefficients& left, const LensCoefficients& right,
                         std::optional<LensModel> model = {}) {
    StereoCalibration c;
    set_lenses(c, left, right, model);
    return c;
  };
  const LensCoefficients column{{0.1, 0.2, 0.3, 0.4}, true}, row{{0.1, 0.2, 0.3, 0.4}}, five{{1, 2, 3, 4, 5}};
  const LensDistortion fisheye{.k1 = 0.1, .k2 = 0.2, .k3 = 0.3, .k4 = 0.4, .model = LensModel::fisheye},
      perspective{.k1 = 0.1, .k2 = 0.2, .p1 = 0.3, .p2 = 0.4};
  EXPECT_EQ(models(column, column).left.distortion, fisheye);
  EXPECT_NE(models(column, column).assumption.find("read as k1 k2 k3 k4 of a fisheye lens"),
            std::string::npos);
  EXPECT_EQ(models(row, row).right.distortion, perspective);
  EXPECT_NE(models(row, row).assumption.find("D1 and D2 have 4 coefficients"), std::string::npos);
  EXPECT_EQ(models(column, five).left.distortion, perspective);
  EXPECT_EQ(models(column, five).assumption, "");
  EXPECT_EQ(models(five, five).assumption, "");
  EXPECT_EQ(models(row, row, LensModel::fisheye).left.distortion, fisheye);
  EXPECT_EQ(models(column, column, LensModel::perspective).left.distortion, perspective);
  EXPECT_EQ(models(row, row, LensModel::fisheye).assumption, "");
  expect_error(ErrorCode::invalid_argument, "D2 has 5 coefficients; a fisheye lens has 4, k1 to k4",
               [&] { models(row, five, LensModel::fisheye); });
  expect_error(ErrorCode::invalid_argument, "D1 has 6 coefficients", [&] {
    models({{1, 2, 3, 4, 5, 6}}, five);
  });
}

TEST(Rectification, RefusesCalibrationsThatCannotBe) {
  const auto expect = [](std::string_view part, auto change, ErrorCode code = ErrorCode::invalid_argument) {
    StereoCalibration c = oracle::some_calibration();
    double alpha = 0;
    Size size;
    change(c, size, alpha);
    expect_error(code, part, [&] { plan_rectification(c, size, alpha); });
  };
  expect("right camera is to the left", [](auto& c, auto&, auto&) { c.translation[0] = 0.12; });
  expect("T = (0, 0, 0) of the calibration: the cameras must be apart",
         [](auto& c, auto&, auto&) { c.translation = {}; });
  expect(
      "are one above the other",
      [](auto& c, auto&, auto&) {
        c.translation = {-0.01, 0.1, 0};
      },
      ErrorCode::unsupported);
  expect("one camera is in front of the other", [](auto& c, auto&, auto&) {
    c.translation = {-0.01, 0, 0.1};
  });
  expect("R of the calibration is not a rotation", [](auto& c, auto&, auto&) { c.rotation[4] = 0.5; });
  expect("R of the calibration is not a rotation", [](auto& c, auto&, auto&) {
    for (double& value : c.rotation) value = -value;
  });
  expect("the left camera of the calibration has focal lengths 0",
         [](auto& c, auto&, auto&) { c.left.fx = 0; });
  expect("the right camera of the calibration has a value nan",
         [](auto& c, auto&, auto&) { c.right.distortion.k3 = NAN; });
  expect("the left camera of the calibration has a fisheye lens with p1, p2, k5, k6 = 0.0012,",
         [](auto& c, auto&, auto&) { c.left.distortion.model = LensModel::fisheye; });
  expect("alpha cannot be 1.5", [](auto&, auto&, auto& alpha) { alpha = 1.5; });
  expect("for images of 320x240 px, the frames are 640x480", [](auto&, auto& size, auto&) {
    size = {640, 480};
  });
  expect("lacks the size of the images", [](auto& c, auto&, auto&) { c.size = {}; });
  expect("show nothing that is in both images", [](auto& c, auto&, auto&) { c.left.cx = 5000; });
}

}  // namespace
}  // namespace parafield
