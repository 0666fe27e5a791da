// SPDX-License-Identifier: MIT
#include "parafield/heights.hpp"

#include <cmath>

#include "io/folder.hpp"

namespace parafield {
namespace {

constexpr float unknown = NAN;

Image<float> row_of(std::initializer_list<float> values) {
  Image<float> image({int(values.size()), 1});
  int x = 0;
  for (const float value : values) image(x++, 0) = value;
  return image;
}

void expect_row(View<const float> got, std::initializer_list<float> wanted) {
  int x = 0;
  for (const float value : wanted) {
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(got(x, 0))) << x << ": " << got(x, 0);
    else
      EXPECT_FLOAT_EQ(got(x, 0), value) << x;
    ++x;
  }
}

FlowField flow_of(std::initializer_list<float> u) {
  FlowField flow({int(u.size()), 1});
  int x = 0;
  for (const float value : u) {
    flow.u(x, 0) = value;
    flow.valid(x++, 0) = 1;
  }
  return flow;
}

TEST(Heights, AreLinearInTheDisparity) {
  DisparityField disparity({3, 1});
  disparity.d(0, 0) = 4;
  disparity.d(1, 0) = -1;
  disparity.d(2, 0) = 9;
  disparity.valid(0, 0) = disparity.valid(1, 0) = 1;
  const Image<float> scaled = height_of(disparity, 0.5, 1);
  expect_row(scaled, {3, 0.5f, unknown});
  disparity.d(1, 0) = INFINITY;
  const Image<float> height = height_of(disparity, -2);
  expect_row(height, {-8, unknown, unknown});
  const auto invalid = ErrorCode::invalid_argument;
  expect_error(invalid, "scale of heights cannot be 0", [&] { height_of(disparity, 0); });
  expect_error(invalid, "offset of heights cannot be nan", [&] { height_of(disparity, 1, NAN); });
}

TEST(Heights, AreMeansAlongTheMotion) {
  HeightFilter filter({5, 1}, {.frames = 3, .tolerance = 2});
  const Image<float> first = row_of({8, unknown, 4, 4, unknown});
  expect_row(filter(first), {8, unknown, 4, 4, unknown});
  filter.move(flow_of({1.2f, 0, 1, 1, 0}));
  // The first height moves one pixel to the right and is averaged. So do the others, one of them into a hole.
  const Image<float> second = row_of({3, 7, 1, 5, unknown});
  expect_row(filter(second), {3, 7.5f, 1, 4.5f, 4});
  filter.move(flow_of({0, 0, 0, 0, 0}));
  const Image<float> third = row_of({3, 9, 20, 4.5f, unknown});
  expect_row(filter(third), {3, 8, 20, 4.5f, 4});
  filter.move(flow_of({0, 0, 0, 0, 0}));
  const Image<float> fourth = row_of({3, 8.3f, 20, 4.5f, unknown});
  expect_row(filter(fourth), {3, 8.1f, 20, 4.5f, 4});  // a mean of about three frames
}

TEST(Heights, TheHighestTrajectoryGoesOnAndUnknownFlowEndsOne) {
  HeightFilter filter({4, 1});
  const Image<float> first = row_of({5, 6, 2, 3});
  filter(first);
  FlowField flow = flow_of({1, 0, 0, 0});
  flow.u(2, 0) = NAN;
  flow.valid(3, 0) = 0;
  filter.move(flow);
  const Image<float> none = row_of({unknown, unknown, unknown, unknown});
  expect_row(filter(none), {unknown, 6, unknown, unknown});
}

TEST(Heights, WithoutSmoothingTheyStayAsTheyAre) {
  HeightFilter filter({2, 1}, {.frames = 1});
  const Image<float> first = row_of({5, 6}), second = row_of({5.5f, unknown});
  filter(first);
  filter.move(flow_of({0, 0}));
  expect_row(filter(second), {5.5f, unknown});
}

TEST(Heights, WrongSizesAndOptionsAreErrors) {
  const auto invalid = ErrorCode::invalid_argument;
  expect_error(invalid, "frames cannot be 0", [] { HeightFilter({2, 2}, {.frames = 0}); });
  expect_error(invalid, "tolerance cannot be -1", [] { HeightFilter({2, 2}, {.tolerance = -1}); });
  HeightFilter filter({2, 1});
  const Image<float> wide({3, 1});
  expect_error(invalid, "3x1 pixels, the filter of heights 2x1", [&] { filter(wide); });
  expect_error(invalid, "3x1 pixels, the filter of heights 2x1", [&] { filter.move(FlowField({3, 1})); });
}

}  // namespace
}  // namespace parafield
