// The gradient tensor against its oracle, on motion that is known, on a real sequence, and what is refused.
#include "oracle/gradient_tensor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradient/moving.hpp"
#include "parafield/parafield.hpp"
#include "support.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

using GradientTensorTest = OnDevice;

TEST_P(GradientTensorTest, IsTheOracles) {
  unsigned seed = 1;
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{2, 3}, Size{7, 5}, Size{33, 17},
                          Size{65, 33}, Size{130, 50}}) {
    const auto images = moving(size, 5, 0.6f, -0.4f, seed++);
    const FlowField flow = estimate_flow(as_frames(images), GradientTensor{}, device());
    std::vector<oracle::Grid> grids;
    for (const auto& image : images) grids.push_back(oracle::grid_of(image.view()));
    const auto expected = oracle::gradient_tensor(grids);
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

TEST_P(GradientTensorTest, FindsAMotion) {
  const auto images = moving({90, 70}, 5, 0.7f, -0.3f, 3);
  const FlowField flow = estimate_flow(as_frames(images), GradientTensor{}, device());
  for (int y = 8; y < 62; ++y)
    for (int x = 8; x < 82; ++x) {
      EXPECT_NEAR(flow.u(x, y), 0.7, 0.05);
      EXPECT_NEAR(flow.v(x, y), -0.3, 0.05);
    }
}

TEST_P(GradientTensorTest, SingularPixelsAreNotValid) {
  std::vector<Image<float>> images(5);
  for (auto& image : images) image = Image<float>({20, 12});
  const FlowField flow = estimate_flow(as_frames(images), GradientTensor{}, device());
  for (int y = 0; y < 12; ++y)
    for (int x = 0; x < 20; ++x) {
      EXPECT_EQ(flow.valid(x, y), 0);
      EXPECT_EQ(flow.u(x, y), 0);
      EXPECT_EQ(flow.v(x, y), 0);
    }
}

/// A pixel that is no number reaches 3 px by the weighting, 2 by the derivatives and 1 by the means.
TEST_P(GradientTensorTest, OfAPixelThatIsNoNumber) {
  auto images = moving({40, 30}, 5, 0.4f, 0.1f, 4);
  const FlowField clean = estimate_flow(as_frames(images), GradientTensor{}, device());
  images[2](20, 15) = std::numeric_limits<float>::quiet_NaN();
  const FlowField flow = estimate_flow(as_frames(images), GradientTensor{}, device());
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

/// A frame pushed gives what a call of the last five gives.
void expect_calls_flow_of_pushes(std::vector<Frame> frames, const Device& device) {
  for (int i = 3; i >= 0; --i) frames.push_back(frames[std::size_t(i)]);  // there and back
  const Size size = frames[0].size();
  FlowEstimator stream(GradientTensor{}, size, device), calls(GradientTensor{}, size, device);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const FlowField* pushed = stream.push(frames[i]);
    ASSERT_EQ(pushed != nullptr, i >= 4) << i;
    if (!pushed) continue;
    const FlowField& called = calls({std::span(frames).subspan(i - 4, 5)});
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        ASSERT_EQ(pushed->u(x, y), called.u(x, y)) << i;
        ASSERT_EQ(pushed->v(x, y), called.v(x, y)) << i;
      }
  }
}

TEST_P(GradientTensorTest, OfAStream) {
  const auto images = moving({61, 40}, 5, 0.5f, 0.2f, 5);
  expect_calls_flow_of_pushes(as_frames(images), device());
}

TEST_P(GradientTensorTest, OfAStreamOfBytes) {
  for (const Size size : {Size{2, 1}, Size{58, 33}, Size{61, 40}, Size{112, 18}}) {
    std::vector<FrameBuffer> bytes;
    for (const auto& image : moving(size, 5, 0.5f, 0.2f, 6)) {
      FrameBuffer& frame = bytes.emplace_back(size, PixelFormat::gray_u8);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
          static_cast<std::uint8_t*>(frame.row(y))[x] = std::uint8_t(std::clamp(image(x, y), 0.0f, 255.0f));
    }
    expect_calls_flow_of_pushes({bytes.begin(), bytes.end()}, device());
  }
}

TEST_P(GradientTensorTest, RefusesOtherNumbersOfFrames) {
  const auto images = moving({20, 12}, 5, 0, 0, 1);
  const auto frames = as_frames(images);
  FlowEstimator estimator(GradientTensor{}, {20, 12}, device());
  EXPECT_EQ(message_of([&] { estimator(frames[0], frames[1]); }), "the method takes 5 frames, not 2");
  EXPECT_EQ(message_of([&] {
              FlowEstimator(GradientTensor{}, {20, 12}, device(), {}, {.fb_check = 1});
            }),
            "the forward-backward check is of methods of two frames, not of 5");
}

/// Thesis: 12.1 degrees.
TEST_P(GradientTensorTest, OfYosemitesGround) {
  if (!test::data_folder()) GTEST_SKIP() << "skipped without the data folder; PARAFIELD_DATA names it";
  const auto folder = *test::data_folder() / "yosemite" / "clouds";
  std::vector<FrameBuffer> held;
  std::vector<Frame> frames;
  for (const char* name : {"yos07.png", "yos08.png", "yos09.png", "yos10.png", "yos11.png"})
    frames.push_back(held.emplace_back(read_frame(folder / name)));
  const FlowField flow = estimate_flow(frames, GradientTensor{}, device());
  Image<std::uint8_t> mask = read_mask(folder / "mask_ground.png");
  const Size size = mask.size();
  constexpr int reach = 6;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      if (x < reach || y < reach || x >= size.width - reach || y >= size.height - reach) mask(x, y) = 0;
  EXPECT_NEAR(evaluate(flow, read_flow(folder / "flow09.flo"), {.mask = mask}).aae, 12.1, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Devices, GradientTensorTest, every_device(), device_name);

}  // namespace
}  // namespace parafield
