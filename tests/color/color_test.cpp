// SPDX-License-Identifier: MIT
#include "parafield/color.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "not_finite.hpp"

namespace parafield {
namespace {

struct Vector {
  float u, v;
};
using Rgb = std::array<int, 3>;

/// Colors of a field of one row.
std::vector<Rgb> colors(std::initializer_list<Vector> vectors, const ColorOptions& options) {
  FlowField field(Size{int(vectors.size()), 1});
  int x = 0;
  for (const Vector& vector : vectors) {
    field.u(x, 0) = vector.u;
    field.v(x++, 0) = vector.v;
  }
  const FrameBuffer picture = color_flow(field, options);
  EXPECT_EQ(picture.size(), field.size());
  EXPECT_EQ(picture.format(), PixelFormat::rgb_u8);
  const auto* row = static_cast<const std::uint8_t*>(picture.row(0));
  std::vector<Rgb> list;
  for (int i = 0; i < field.size().width; ++i) list.push_back({row[3 * i], row[3 * i + 1], row[3 * i + 2]});
  return list;
}

std::vector<Rgb> middlebury(std::initializer_list<Vector> vectors, float max_motion = 1) {
  return colors(vectors, {ColorScheme::middlebury, max_motion});
}

std::vector<Rgb> marzat(std::initializer_list<Vector> vectors, float max_motion = 1) {
  return colors(vectors, {ColorScheme::marzat, max_motion});
}

using Colors = std::vector<Rgb>;

/// Expects equal colors up to one level: levels are truncated, so rounding may change one.
void expect_near(const Colors& colors, const Colors& expected) {
  ASSERT_EQ(colors.size(), expected.size());
  for (std::size_t i = 0; i < colors.size(); ++i)
    for (int channel = 0; channel < 3; ++channel)
      EXPECT_NEAR(colors[i][channel], expected[i][channel], 1) << "color " << i << ", channel " << channel;
}

TEST(Middlebury, QuarterTurns) {
  // Steps 0, 13.5, 27 and 40.5 of the wheel: red; 13.5/15 to yellow; 2/11 from cyan to blue; 4.5/13 to
  // magenta.
  expect_near(middlebury({{1, 0}, {0, 1}, {-1, 0}, {0, -1}}),
              {{255, 0, 0}, {255, 229, 0}, {0, 209, 255}, {88, 0, 255}});
}

TEST(Middlebury, TheTurnEndsWhereItStarted) {
  expect_near(middlebury({{2, 0.0f}, {2, -0.0f}, {2, 1e-6f}, {2, -1e-6f}}, 2.0001f),
              {{255, 0, 0}, {255, 0, 0}, {255, 0, 0}, {255, 0, 43}});
  EXPECT_EQ(middlebury({{-1, 0.0f}}), middlebury({{-1, -0.0f}}));
}

TEST(Middlebury, NoMotionIsWhiteAndShortMotionPale) {
  expect_near(middlebury({{0, 0}, {-0.0f, -0.0f}, {0.5f, 0}, {1, 0}}),
              {{255, 255, 255}, {255, 255, 255}, {255, 127, 127}, {255, 0, 0}});
}

TEST(Middlebury, MotionBeyondMaxMotionIsDark) {
  expect_near(middlebury({{2, 0}, {100, 0}}), {{191, 0, 0}, {191, 0, 0}});
}

TEST(Middlebury, UnknownIsBlack) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Rgb& color : middlebury({{nan, 0}, {0, nan}, {1e10f, 0}, {0, -2e9f}, {infinity, 0}}))
    EXPECT_EQ(color, (Rgb{0, 0, 0}));
}

TEST(Marzat, QuarterTurns) {
  EXPECT_EQ(marzat({{1, 0}, {0, 1}, {-1, 0}, {0, -1}}),
            (Colors{{255, 0, 0}, {128, 255, 0}, {0, 255, 255}, {128, 0, 255}}));
}

TEST(Marzat, BrightnessIsLength) {
  EXPECT_EQ(marzat({{0, 0}, {0.2f, 0}, {1, 0}, {7, 0}}),
            (Colors{{0, 0, 0}, {51, 0, 0}, {255, 0, 0}, {255, 0, 0}}));
}

TEST(Marzat, UnknownIsGray) {
  for (const Rgb& color : marzat({{nan, 0}, {0, 1e10f}})) EXPECT_EQ(color, (Rgb{128, 128, 128}));
}

TEST(Color, IsScaledByTheLongestKnownFlow) {
  expect_near(middlebury({{0, 0}, {1, 0}, {-2, 0}, {0, nan}, {1e10f, 0}}, 0),
              middlebury({{0, 0}, {1, 0}, {-2, 0}, {0, nan}, {1e10f, 0}}, 2));
  EXPECT_EQ(marzat({{-1, 0}, {3, 4}}, 0), marzat({{-1, 0}, {3, 4}}, 5));
  EXPECT_EQ(marzat({{0, 3e-20f}}, 0), (Colors{{128, 255, 0}}));
}

TEST(Color, AFewLongVectorsDoNotChangeTheScale) {
  FlowField flow({40, 25});
  for (int i = 0; i < 1000; ++i) flow.u(i % 40, i / 40) = float(i + 1) / 1000;
  EXPECT_EQ(color_scale(flow), 1);
  flow.u(39, 24) = 500;
  flow.v(3, 3) = nan;
  EXPECT_FLOAT_EQ(color_scale(flow), 1.2f * 0.996f);  // of 999 known
  for (int i = 0; i < 999; ++i) flow.u(i % 40, i / 40) = flow.v(i % 40, i / 40) = 0;
  EXPECT_EQ(color_scale(flow), 500);  // a still picture, but for one pixel
  flow.u(39, 24) = 0;
  EXPECT_EQ(color_scale(flow), 0);
  EXPECT_THROW(color_scale(FlowView{}), Error);
}

TEST(Color, FieldsWithoutMotionOrValuesAreColored) {
  EXPECT_EQ(middlebury({{0, 0}, {0, 0}}, 0), (Colors{{255, 255, 255}, {255, 255, 255}}));
  EXPECT_EQ(marzat({{0, 0}, {0, 0}}, 0), (Colors{{0, 0, 0}, {0, 0, 0}}));
  EXPECT_EQ(middlebury({{nan, nan}}, 0), (Colors{{0, 0, 0}}));
}

TEST(Color, RowsOfAnySizeAreWritten) {
  FlowField field({3, 5});
  field.u(2, 4) = -1;
  const FrameBuffer picture = color_flow(field);
  const auto* last = static_cast<const std::uint8_t*>(picture.row(4)) + 6;
  EXPECT_EQ(last[0], 0);
  EXPECT_EQ(last[2], 255);
}

TEST(Color, RefusesBadFieldsAndOptions) {
  const FlowField field({4, 3}), other({5, 3});
  EXPECT_THROW(color_flow(FlowView{}), Error);
  EXPECT_THROW(color_flow(FlowView{field.u, other.v}), Error);
  for (const float bad : {-1.0f, nan, std::numeric_limits<float>::infinity()})
    EXPECT_THROW(color_flow(field, {.max_motion = bad}), Error) << bad;
}

}  // namespace
}  // namespace parafield
