// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "disparity_row.hpp"
#include "io/folder.hpp"
#include "not_finite.hpp"
#include "parafield/stereo.hpp"

namespace parafield {
namespace {

TEST(Depth, IsFocalLengthTimesBaselineOverDisparity) {
  const Image<float> depth = depth_of(row({1, 10, 64}), 640, 0.25);
  ASSERT_EQ(depth.size(), (Size{3, 1}));
  EXPECT_EQ(depth(0, 0), 160);
  EXPECT_EQ(depth(1, 0), 16);
  EXPECT_EQ(depth(2, 0), 2.5f);
}

TEST(Depth, OffsetIsAddedToTheDisparity) {
  const Image<float> depth = depth_of(row({1, 0, -2, -4, -5}), 100, 2, 4);
  EXPECT_EQ(depth(0, 0), 40);
  EXPECT_EQ(depth(1, 0), 50);
  EXPECT_EQ(depth(2, 0), 100);
  EXPECT_EQ(depth(3, 0), infinity);
  EXPECT_EQ(depth(4, 0), infinity);
}

TEST(Depth, IsInfiniteWhereItIsNotKnown) {
  DisparityField field = row({5, 5, 0, -1, nan, infinity, -infinity});
  field.valid(1, 0) = 0;
  const Image<float> depth = depth_of(field, 10, 1);
  EXPECT_EQ(depth(0, 0), 2);
  for (int x = 1; x < 7; ++x) EXPECT_EQ(depth(x, 0), infinity) << x;
  EXPECT_EQ(depth_of(DisparityView{field.d}, 10, 1)(1, 0), 2) << "no plane: all valid";
}

TEST(Depth, RefusesCamerasThatCannotBe) {
  const DisparityField field = row({1});
  const auto expect = [](std::string_view part, auto work) {
    expect_error(ErrorCode::invalid_argument, part, work);
  };
  for (const double bad : {0.0, -1.0, double(nan), double(infinity)}) {
    expect("a focal length cannot be", [&] { depth_of(field, bad, 1); });
    expect("a baseline cannot be", [&] { depth_of(field, 1, bad); });
  }
  expect("an offset cannot be nan", [&] { depth_of(field, 1, 1, nan); });
  expect("no pixels", [] { depth_of(DisparityView{}, 1, 1); });
}

}  // namespace
}  // namespace parafield
