// SPDX-License-Identifier: MIT
#pragma once
// Expectations that both methods of Bodily's thesis share.
#include "moving.hpp"
#include "support.hpp"

namespace parafield {

template <class Method>
void expect_motion_found(const Device& device) {
  const auto images = moving({90, 70}, Method::frames, 0.7f, -0.3f, 3);
  const FlowField flow = estimate_flow(as_frames(images), Method{}, {.device = device});
  for (int y = 8; y < 62; ++y)
    for (int x = 8; x < 82; ++x) {
      EXPECT_NEAR(flow.u(x, y), 0.7, 0.05);
      EXPECT_NEAR(flow.v(x, y), -0.3, 0.05);
    }
}

template <class Method>
void expect_singular_pixels_not_valid(const Device& device) {
  std::vector<Image<float>> images(Method::frames);
  for (auto& image : images) image = Image<float>({20, 12});
  const FlowField flow = estimate_flow(as_frames(images), Method{}, {.device = device});
  for (int y = 0; y < 12; ++y)
    for (int x = 0; x < 20; ++x) {
      EXPECT_EQ(flow.valid(x, y), 0);
      EXPECT_EQ(flow.u(x, y), 0);
      EXPECT_EQ(flow.v(x, y), 0);
    }
}

template <class Method>
void expect_other_numbers_of_frames_refused(const Device& device) {
  const auto images = moving({20, 12}, 2, 0, 0, 1);
  const auto frames = as_frames(images);
  const std::string count = std::to_string(Method::frames);
  FlowEstimator estimator(Method{}, {20, 12}, {.device = device});
  EXPECT_EQ(message_of([&] { estimator(frames[0], frames[1]); }),
            "the method takes " + count + " frames, not 2");
  EXPECT_EQ(message_of([&] {
              FlowEstimator(Method{}, {20, 12}, {.device = device, .fb_check = 1});
            }),
            "fb_check, the forward-backward check, is for methods of 2 frames; " + std::string(Method::name) +
                " takes " + count);
}

/// AAE in degrees at frame 09 of Yosemite with clouds, on the ground, further than `reach` px from the
/// border.
template <class Method>
double error_on_yosemites_ground(const Device& device, int reach) {
  const auto folder = *test::data_folder() / "yosemite" / "clouds";
  std::vector<FrameBuffer> held;
  for (int i = 0; i < Method::frames; ++i) {
    const std::string number = std::to_string(9 - Method::frames / 2 + i);
    held.push_back(read_frame(folder / ("yos" + std::string(2 - number.size(), '0') + number + ".png")));
  }
  const FlowField flow =
      estimate_flow(std::vector<Frame>(held.begin(), held.end()), Method{}, {.device = device});
  Image<std::uint8_t> mask = read_mask(folder / "mask_ground.png");
  const Size size = mask.size();
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      if (x < reach || y < reach || x >= size.width - reach || y >= size.height - reach) mask(x, y) = 0;
  return evaluate(flow, read_flow(folder / "flow09.flo"), {.mask = mask}).aae;
}

}  // namespace parafield
