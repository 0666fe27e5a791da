// SPDX-License-Identifier: MIT
// The gradient tensor: against its oracle, on known motion, on a real sequence, and its errors.
#include "oracle/gradient_tensor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradient/thesis.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

using GradientTensorTest = OnDevice;

TEST_P(GradientTensorTest, AgreesWithTheOracle) {
  unsigned seed = 1;
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{2, 3}, Size{7, 5}, Size{33, 17},
                          Size{65, 33}, Size{130, 50}}) {
    const auto images = moving(size, 5, 0.6f, -0.4f, seed++);
    const FlowField flow =
        estimate_flow(as_frames(images), GradientTensor{}, {.device = device(), .min_confidence = 0});
    const auto expected = oracle::gradient_tensor(grids_of(images));
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const double determinant = expected.determinant(x, y);
        EXPECT_NEAR(flow.confidence(x, y), expected.confidence(x, y),
                    1e-3 + 1e-4 * expected.confidence(x, y));
        if (std::abs(determinant - 1e-6) > 1e-2) {
          EXPECT_EQ(flow.valid(x, y), determinant > 1e-6);
        }
        if (determinant < 1 || expected.confidence(x, y) < 0.1) continue;
        EXPECT_NEAR(flow.u(x, y), expected.u(x, y), 2e-3) << x << ' ' << y << " of " << size.width;
        EXPECT_NEAR(flow.v(x, y), expected.v(x, y), 2e-3) << x << ' ' << y << " of " << size.width;
      }
  }
}

TEST_P(GradientTensorTest, FindsAMotion) { expect_motion_found<GradientTensor>(device()); }

TEST_P(GradientTensorTest, SingularPixelsAreNotValid) {
  expect_singular_pixels_not_valid<GradientTensor>(device());
}

/// A NaN pixel reaches 3 px by the smoothing of frames, 2 by the derivatives and 1 by the means.
TEST_P(GradientTensorTest, ANaNPixelReachesSixPixels) {
  auto images = moving({40, 30}, 5, 0.4f, 0.1f, 4);
  const FlowField clean = estimate_flow(as_frames(images), GradientTensor{}, {.device = device()});
  images[2](20, 15) = std::numeric_limits<float>::quiet_NaN();
  const FlowField flow = estimate_flow(as_frames(images), GradientTensor{}, {.device = device()});
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x) {
      const int dx = std::abs(x - 20), dy = std::abs(y - 15);
      EXPECT_TRUE(std::isfinite(flow.u(x, y)) && std::isfinite(flow.v(x, y)));
      if (dx > 6 || dy > 6) {
        EXPECT_EQ(flow.u(x, y), clean.u(x, y));
        EXPECT_EQ(flow.v(x, y), clean.v(x, y));
        EXPECT_EQ(flow.valid(x, y), clean.valid(x, y));
      } else if (dx <= 4 && dy <= 4) {
        EXPECT_EQ(flow.valid(x, y), 0);
        EXPECT_EQ(flow.u(x, y), 0);
      }
    }
}

TEST_P(GradientTensorTest, PushedFramesGiveTheFlowOfCalls) {
  const auto images = moving({61, 40}, 5, 0.5f, 0.2f, 5);
  expect_calls_flow_of_pushes(GradientTensor{}, as_frames(images), device());
}

TEST_P(GradientTensorTest, PushedBytesGiveTheFlowOfCalls) {
  for (const Size size : {Size{2, 1}, Size{58, 33}, Size{61, 40}, Size{112, 18}}) {
    std::vector<FrameBuffer> bytes;
    for (const auto& image : moving(size, 5, 0.5f, 0.2f, 6)) {
      FrameBuffer& frame = bytes.emplace_back(size, PixelFormat::gray_u8);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
          static_cast<std::uint8_t*>(frame.row(y))[x] = std::uint8_t(std::clamp(image(x, y), 0.0f, 255.0f));
    }
    expect_calls_flow_of_pushes(GradientTensor{}, {bytes.begin(), bytes.end()}, device());
  }
}

TEST_P(GradientTensorTest, RefusesOtherNumbersOfFrames) {
  expect_other_numbers_of_frames_refused<GradientTensor>(device());
}

/// The thesis has 12.1 degrees.
TEST_P(GradientTensorTest, ErrorOnYosemiteGround) {
  if (!test::data_folder()) GTEST_SKIP() << "skipped without the data folder; PARAFIELD_DATA names it";
  EXPECT_NEAR(error_on_yosemites_ground<GradientTensor>(device(), 6), 12.1, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Devices, GradientTensorTest, every_device(), device_name);

}  // namespace
}  // namespace parafield
