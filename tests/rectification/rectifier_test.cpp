// SPDX-License-Identifier: MIT
// Rectified views of a plane that an oracle renders, the alignment of rows, and points.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "guided/tracks_on.hpp"
#include "io/folder.hpp"
#include "noise.hpp"
#include "oracle/stereo_camera.hpp"
#include "support.hpp"
#include "targets.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

class RectifierOn : public OnDevice {
 protected:
  const StereoCalibration calibration_ = oracle::some_calibration();
  const oracle::TexturedPlane plane_{};

  Rectifier rectifier(double alpha = 0) const {
    return Rectifier(calibration_, {}, {.device = device(), .alpha = alpha});
  }
};

/// Disparity of a pixel of the rectified left view.
double disparity_at(const Rectification& plan, const oracle::TexturedPlane& plane, double x, double y) {
  const StereoGeometry& g = plan.geometry;
  const oracle::Point ray = {(x - g.cx) / g.focal, (y - g.cy) / g.focal, 1};
  const double z = plane.distance({0, 0, 0}, oracle::moved_back(plan.left_rotation, ray));
  return g.focal * g.baseline / z;
}

TEST_P(RectifierOn, AlignsRowsAndGivesTheDisparitiesOfThePlane) {
  const FrameBuffer left = oracle::image_of(calibration_, false, plane_),
                    right = oracle::image_of(calibration_, true, plane_);
  const RowAlignment before = measure_row_alignment(left, right, device());
  EXPECT_GT(before.median_error, 5);
  EXPECT_EQ(before.above_1, 1);
  Rectifier rectify = rectifier();
  const auto& [view, other] = rectify(left, right);
  const RowAlignment after = measure_row_alignment(view, other, device());
  EXPECT_GT(after.tracks, 200);
  EXPECT_LT(after.median_error, 0.1);
  EXPECT_LT(after.error_90, 0.3);
  EXPECT_EQ(after.above_1, 0);
  EXPECT_NEAR(after.rotation, 0, 0.02);
  EXPECT_NEAR(after.scale, 0, 1e-3);
  std::vector<double> errors;
  for (const Track& track : find_tracks(view, other, {}, device()))
    errors.push_back(std::abs(-double(track.u) - disparity_at(rectify.plan(), plane_, track.x, track.y)));
  ASSERT_GT(errors.size(), 200u);
  std::ranges::sort(errors);
  EXPECT_LT(errors[errors.size() / 2], 0.1);
}

TEST_P(RectifierOn, ViewsShowWhatIdealCamerasSee) {
  Rectifier rectify = rectifier(1);
  const auto& [view, other] =
      rectify(oracle::image_of(calibration_, false, plane_), oracle::image_of(calibration_, true, plane_));
  const Rectification& plan = rectify.plan();
  const StereoGeometry& g = plan.geometry;
  double sum = 0;
  int count = 0;
  for (int y = 0; y < plan.size.height; ++y)
    for (int x = 0; x < plan.size.width; ++x) {
      const float value = static_cast<const float*>(view.row(y))[x];
      ASSERT_EQ(std::isnan(value), rectify.region().left(x, y) == 0);
      const float there = static_cast<const float*>(other.row(y))[x];
      ASSERT_EQ(std::isnan(there), rectify.region().right(x, y) == 0);
      if (std::isnan(value)) continue;
      const oracle::Point ray =
          oracle::moved_back(plan.left_rotation, {(x - g.cx) / g.focal, (y - g.cy) / g.focal, 1});
      const double s = plane_.distance({0, 0, 0}, ray);
      const double error = value - plane_.brightness({s * ray.x, s * ray.y, s * ray.z});
      ASSERT_LT(std::abs(error), 12) << x << " " << y;
      sum += std::abs(error);
      ++count;
    }
  EXPECT_GT(count, 20000);
  EXPECT_LT(sum / count, 1);
}

TEST_P(RectifierOn, PixelsOutsideTheImagesAreNotValid) {
  Rectifier rectify = rectifier(1);
  const auto& [view, other] = rectify(oracle::image_of(calibration_, false, plane_, PixelFormat::rgb_u8),
                                      oracle::image_of(calibration_, true, plane_, PixelFormat::rgb_u8));
  ASSERT_EQ(view.format(), PixelFormat::rgb_f32);
  WinnerTakesAll<StereoEnergy> method;
  method.energy.disparities = 32;
  StereoOptions options;
  options.device = device();
  const DisparityField field = estimate_disparity(view, other, method, options);
  for (int y = 0; y < field.size().height; ++y)
    for (int x = 0; x < field.size().width; ++x)
      ASSERT_LE(field.valid(x, y), rectify.region().left(x, y)) << x << " " << y;
}

constexpr PixelFormat every_format[] = {PixelFormat::gray_u8, PixelFormat::gray_u16, PixelFormat::gray_f32,
                                        PixelFormat::rgb_u8,  PixelFormat::rgb_u16,  PixelFormat::rgb_f32,
                                        PixelFormat::bgr_u8,  PixelFormat::rgba_u8,  PixelFormat::bgra_u8};

/// The bytes of a frame's rows, wherever it lies.
std::vector<std::uint8_t> bytes_of(const FrameBuffer& buffer) {
  const FrameBuffer host = buffer.to(Memory::host());
  std::vector<std::uint8_t> bytes;
  for (int y = 0; y < host.size().height; ++y) {
    const auto* row = static_cast<const std::uint8_t*>(host.row(y));
    bytes.insert(bytes.end(), row, row + host.size().width * bytes_per_pixel(host.format()));
  }
  return bytes;
}

class RectifierParity : public OnTarget {};

TEST_P(RectifierParity, GivesTheSameBitsForEveryFormatAndMemory) {
  const bool on_cuda = !GetParam().instruction_set;
  for (const Size size : {Size{320, 240}, Size{37, 28}, Size{8, 6}}) {
    const auto on = [&](const Target& target) {
      const Forced forced(target);
      return Rectifier(oracle::some_calibration(size), {}, {.device = target.device(2), .alpha = 0.7});
    };
    Rectifier rectify = on(GetParam()), reference = on(reference_target());
    for (const PixelFormat format : every_format) {
      const std::string what = std::string(to_string(format)) + " " + std::to_string(size.width);
      const GuardedFrame left(size, format, 3, 0, 20, 0xff), right(size, format, 4, 2, 8, 0xff);
      Frame ranged = right;
      ranged.range = some_range(format);
      const RectifiedPair& expected = reference(left, ranged);
      EXPECT_EQ(expected.right.range(), some_range(format));
      const RectifiedPair& actual = rectify(left, ranged);
      EXPECT_EQ(bytes_of(actual.left), bytes_of(expected.left)) << what;
      EXPECT_EQ(bytes_of(actual.right), bytes_of(expected.right)) << what;
      EXPECT_EQ(actual.right.range(), expected.right.range());
      if (!on_cuda) continue;
      FrameBuffer there[] = {copy_of(left, Memory::cuda()), copy_of(ranged, Memory::cuda())};
      there[1].set_range(ranged.range);
      const RectifiedPair& on_device = rectify(there[0], there[1]);
      rectify.synchronize();
      EXPECT_FALSE(on_device.left.frame().memory.on_host());
      EXPECT_EQ(bytes_of(on_device.left), bytes_of(expected.left)) << what;
      EXPECT_EQ(bytes_of(on_device.right), bytes_of(expected.right)) << what;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RectifierParity, every_target(), target_name);

TEST_P(RectifierOn, MakesTheViewsOfAGivenPlan) {
  const FrameBuffer left = oracle::image_of(calibration_, false, plane_),
                    right = oracle::image_of(calibration_, true, plane_);
  Rectifier usual = rectifier();
  Rectification plan = usual.plan();
  const auto& [expected, expected_other] = usual(left, right);
  const auto with = [&] { return Rectifier(calibration_, {}, {.device = device(), .plan = plan}); };
  Rectifier same = with();
  EXPECT_EQ(bytes_of(same(left, right).left), bytes_of(expected));
  EXPECT_EQ(bytes_of(same(left, right).right), bytes_of(expected_other));

  // Principal points that are 10 and 16 px to the left move the views by as much.
  plan.geometry.cx -= 10;
  plan.geometry.doffs = -6;
  Rectifier moved = with();
  const auto& [view, other] = moved(left, right);
  for (int y = 0; y < plan.size.height; y += 7)
    for (int x = 0; x + 16 < plan.size.width; x += 5) {
      EXPECT_NEAR(static_cast<const float*>(view.row(y))[x],
                  static_cast<const float*>(expected.row(y))[x + 10], 0.01);
      EXPECT_NEAR(static_cast<const float*>(other.row(y))[x],
                  static_cast<const float*>(expected_other.row(y))[x + 16], 0.01);
    }

  const auto expect = [&](auto change, std::string_view part) {
    plan = usual.plan();
    change();
    expect_error(ErrorCode::invalid_argument, part, with);
  };
  expect([&] { plan.size.width = 300; }, "views of the plan are 300x240 px, the images are 320x240 px");
  expect([&] { plan.geometry.focal = 0; }, "have the focal length 0 px; it must be above 0");
  expect([&] { plan.geometry.cx = NAN; }, "geometry of the rectified views has a value nan");
  expect([&] { plan.left_rotation[0] = 2; }, "the rotation of the left view is not a rotation");
  expect([&] { plan.right_rotation = {}; }, "the rotation of the right view is not a rotation");
}

TEST_P(RectifierOn, ChecksFrames) {
  Rectifier rectify = rectifier();
  const FrameBuffer gray({320, 240}, PixelFormat::gray_u8), color({320, 240}, PixelFormat::rgb_u8),
      small({319, 240}, PixelFormat::gray_u8);
  const auto expect = [&](const FrameBuffer& left, const FrameBuffer& right, std::string_view part) {
    expect_error(ErrorCode::invalid_argument, part, [&] { rectify(left, right); });
  };
  expect(gray, color, "the left frame is gray_u8, the right one is rgb_u8; both should be gray");
  expect(gray, small, "the right frame is 319x240, expected 320x240");
  expect_error(ErrorCode::invalid_argument, "the left frame has no data", [&] { rectify(Frame{}, gray); });
}

/// A frame of texture whose right view is turned, scaled and moved down.
struct Moved {
  FrameBuffer left, right;
};
Moved moved(double degrees, double down, double scale) {
  const Size size{320, 240};
  Moved frames{{size, PixelFormat::gray_f32}, {size, PixelFormat::gray_f32}};
  const oracle::TexturedPlane texture{};
  const double angle = degrees * std::acos(-1) / 180, c = std::cos(angle), s = std::sin(angle);
  const double cx = (size.width - 1) / 2.0, cy = (size.height - 1) / 2.0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      static_cast<float*>(frames.left.row(y))[x] = float(texture.brightness({x / 200.0, y / 200.0, 0}));
      const double dx = x - cx, dy = (y - cy - down) / (1 + scale);
      static_cast<float*>(frames.right.row(y))[x] =
          float(texture.brightness({(c * dx + s * dy + cx + 40) / 200, (-s * dx + c * dy + cy) / 200, 0}));
    }
  return frames;
}

TEST(RowAlignment, FindsTurnShiftAndScale) {
  for (const auto& [degrees, down, scale] :
       {std::array<double, 3>{0, 0, 0}, {1, 0, 0}, {-2, 3, 0}, {0, 2, 0.02}, {0.2, -1.5, 0}}) {
    const auto& [left, right] = moved(degrees, down, scale);
    const RowAlignment rows = measure_row_alignment(left, right, Device::cpu());
    EXPECT_GT(rows.tracks, 200);
    EXPECT_NEAR(rows.rotation, degrees, 0.03);
    EXPECT_NEAR(rows.scale, scale, 2e-3);
    if (degrees == 0 && scale == 0) {
      EXPECT_NEAR(rows.median_dy, down, 0.05);
      EXPECT_NEAR(rows.median_error, std::abs(down), 0.05);
      EXPECT_EQ(rows.above_1, std::abs(down) > 1);
    }
    EXPECT_NEAR((rows.least_disparity + rows.largest_disparity) / 2, 40, 2);
  }
}

TEST(RowAlignment, IsUnknownWithoutTexture) {
  const FrameBuffer frame({100, 80}, PixelFormat::gray_u8);
  const RowAlignment rows = measure_row_alignment(frame, frame, Device::cpu());
  EXPECT_EQ(rows.tracks, 0);
  EXPECT_TRUE(std::isnan(rows.median_dy) && std::isnan(rows.rotation) && std::isnan(rows.above_1));
}

TEST(RowAlignment, OfMiddleburysScenesIsGood) {
  for (const char* scene : {"tsukuba", "venus", "cones", "art", "aloe", "midd2"}) {
    PARAFIELD_DATA_OR_SKIP(folder, std::string("middlebury-stereo/") + scene);
    const FrameBuffer left = read_frame(folder / "left.png"), right = read_frame(folder / "right.png");
    const RowAlignment rows = measure_row_alignment(left, right, Device::cpu());
    EXPECT_GT(rows.tracks, 200) << scene;
    EXPECT_LT(rows.median_error, 0.2) << scene;
    EXPECT_LT(rows.above_1, 0.05) << scene;
    EXPECT_NEAR(rows.rotation, 0, 0.05) << scene;
  }
}

TEST(Points, FollowFromDisparityAndGeometry) {
  const StereoGeometry g{500, 0.1, 2, 1, 3};
  DisparityField field({4, 2}, {}, false);
  FrameBuffer left({4, 2}, PixelFormat::bgr_u8);
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 4; ++x) {
      field.d(x, y) = float(2 + x);
      field.valid(x, y) = 1;
      for (int i = 0; i < 3; ++i)
        static_cast<std::uint8_t*>(left.row(y))[3 * x + i] = std::uint8_t(10 * x + y + 100 * (i == 2));
    }
  field.valid(1, 0) = 0;
  field.d(2, 0) = -3;  // infinitely far
  field.d(3, 0) = NAN;
  const std::vector<ColorPoint> points = points_of(field, left, g);
  ASSERT_EQ(points.size(), 5u);
  EXPECT_FLOAT_EQ(points[0].z, 10);
  EXPECT_FLOAT_EQ(points[0].x, -0.04f);
  EXPECT_FLOAT_EQ(points[0].y, -0.02f);
  EXPECT_EQ(points[0].red, 100);
  EXPECT_EQ(points[0].blue, 0);
  EXPECT_FLOAT_EQ(points[4].z, 50 / 8.0f);
  EXPECT_EQ(points[4].green, 31);
  EXPECT_TRUE(std::isnan(points[0].sigma_z)) << "the field has no sigma";
  field.sigma = Image<float>(field.size());
  field.sigma(0, 0) = 0.5f;
  EXPECT_FLOAT_EQ(points_of(field, left, g)[0].sigma_z, 10 * 10 / 50.0f * 0.5f);
  expect_error(ErrorCode::invalid_argument, "a focal length of 0 px", [&] {
    points_of(field, left, {0, 1, 0, 0, 0});
  });
  expect_error(ErrorCode::invalid_argument, "the left frame is 1x1, expected 4x2", [&] {
    points_of(field, FrameBuffer({1, 1}, PixelFormat::gray_u8), g);
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, RectifierOn, every_device(), device_name);

}  // namespace
}  // namespace parafield
