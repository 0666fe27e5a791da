// SPDX-License-Identifier: MIT
// Matches: the same bits on every target, and known motion, however large.
#include <cmath>
#include <cstring>
#include <random>

#include "steps/matches_on.hpp"

namespace parafield {
namespace {

/// Texture of all sizes.
class WideTexture {
 public:
  explicit WideTexture(unsigned seed) : fine_(seed), middle_(seed + 1000), coarse_(seed + 2000) {}
  float operator()(int x, int y) const {
    return float(0.4 * fine_(x, y) + 0.6 * middle_(x / 3.0, y / 3.0) + 0.7 * coarse_(x / 12.0, y / 12.0));
  }

 private:
  const Texture fine_, middle_, coarse_;
};

/// Image of a texture that moved by (u, v).
Image<float> moved(Size size, int u, int v, unsigned seed) {
  const WideTexture texture(seed);
  Image<float> image(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) image(x, y) = texture(x - u, y - v);
  return image;
}

class MatchesOnTarget : public OnTarget {
 protected:
  static FoundSeeds matches(const Image<float>& frame0, const Image<float>& frame1,
                            const FeatureMatching& matching = {}) {
    return matches_on(GetParam(), frame0, frame1, matching);
  }
};

TEST_P(MatchesOnTarget, SameBits) {
  int i = 0;
  const Size wide{sanitized ? 300 : 3000, 20};
  for (const Size size : {Size{1, 1}, Size{2, 3}, Size{1, 70}, Size{33, 17}, Size{160, 90}, wide})
    for (const int stride : {2, 4, 7}) {
      Image<float> frame0 = moved(size, 0, 0, unsigned(i)), frame1 = moved(size, 7, -3, unsigned(i));
      if (i % 3 == 1) frame0(size.width / 2, size.height / 3) = std::numeric_limits<float>::quiet_NaN();
      const FeatureMatching matching{.match_stride = stride,
                                     .match_levels = 1 + i % 5,
                                     .match_iterations = 1 + i % 4,
                                     .match_check = float(i % 3),
                                     .match_region = i % 2 * 10};
      for (const bool back : {false, true}) {
        const FoundSeeds expected = matches_on(reference_target(), frame0, frame1, matching, 1, back);
        const FoundSeeds found = matches_on(GetParam(), frame0, frame1, matching, 1 + i % 3, back);
        EXPECT_EQ(found.valid, expected.valid);
        EXPECT_EQ(found.u, expected.u);
        EXPECT_EQ(found.v, expected.v);
      }
      ++i;
    }
}

TEST_P(MatchesOnTarget, MotionOfAnySizeIsFound) {
  const Size size{320, 240};
  for (const auto& [u, v] : {std::pair{0, 0}, std::pair{3, -2}, std::pair{-40, 17}, std::pair{150, 90}}) {
    SCOPED_TRACE(testing::Message() << u << ", " << v);
    const FoundSeeds found = matches(moved(size, 0, 0, 3), moved(size, u, v, 3));
    const SeedGrid& grid = found.grid;
    int seen = 0, right = 0;
    for (int i = 0; i < grid.count(); ++i) {
      const int x = grid.x(i % grid.columns) + u, y = grid.y(i / grid.columns) + v;
      const bool is_seen = x >= 0 && y >= 0 && x < size.width && y < size.height;
      const auto at = std::size_t(i);
      seen += is_seen;
      right +=
          is_seen && found.valid[at] && std::hypot(found.u[at] - float(u), found.v[at] - float(v)) < 0.6f;
    }
    EXPECT_GE(right, 0.9 * seen) << "of " << seen;
    EXPECT_GE(right, 0.9 * found.kept());  // what leaves the frame may seem to be elsewhere
  }
}

TEST_P(MatchesOnTarget, WithoutTextureNoneIsFound) {
  Image<float> flat({120, 80}), noise({120, 80});
  std::mt19937 random(1);
  for (int y = 0; y < 80; ++y)
    for (int x = 0; x < 120; ++x) flat(x, y) = 77, noise(x, y) = 77 + float(random() % 2) * 0.01f;
  EXPECT_EQ(matches(flat, flat).kept(), 0);
  EXPECT_EQ(matches(noise, noise).kept(), 0);
  EXPECT_EQ(matches(flat, moved({120, 80}, 0, 0, 2)).kept(), 0);
  EXPECT_EQ(matches(moved({120, 80}, 0, 0, 2), flat).kept(), 0);
}

TEST_P(MatchesOnTarget, UnrelatedFramesHaveNone) {
  const Size size{320, 240};
  const FoundSeeds found = matches(moved(size, 0, 0, 5), moved(size, 0, 0, 6));
  EXPECT_LE(found.kept(), found.grid.count() / 100);
}

TEST_P(MatchesOnTarget, OnePixelIsNoTexture) {
  const Image<float> image = moved({1, 1}, 0, 0, 1);
  const FoundSeeds found = matches(image, image, {.match_check = 0, .match_region = 0});
  ASSERT_EQ(found.valid.size(), 1u);
  EXPECT_EQ(found.valid[0], 0);
}

TEST_P(MatchesOnTarget, PixelsThatAreNotFiniteHaveNone) {
  const Size size{160, 120};
  for (const bool first : {true, false}) {
    Image<float> frames[] = {moved(size, 0, 0, 9), moved(size, 12, -5, 9)};
    Image<float>& frame = frames[first ? 0 : 1];
    for (int y = 40; y < 60; ++y)
      for (int x = 70; x < 100; ++x) frame(x, y) = std::numeric_limits<float>::quiet_NaN();
    const FoundSeeds found = matches(frames[0], frames[1]);
    int beside = 0;
    for (std::size_t i = 0; i < found.valid.size(); ++i) {
      if (!found.valid[i]) continue;
      const int column = int(i) % found.grid.columns, row = int(i) / found.grid.columns;
      const float x = float(found.grid.x(column)) + (first ? 0 : std::round(found.u[i])),
                  y = float(found.grid.y(row)) + (first ? 0 : std::round(found.v[i]));
      EXPECT_FALSE(x >= 71 && x < 99 && y >= 41 && y < 59) << x << ", " << y;
      beside += x >= 50 && x < 120 && y >= 30 && y < 80;
    }
    EXPECT_GT(beside, 50);
  }
}

TEST_P(MatchesOnTarget, VeryWide) {
  constexpr Size size{16384, 24};
  const FoundSeeds found = matches(moved(size, 0, 0, 11), moved(size, 25, 2, 11), {.match_levels = 1});
  int right = 0;
  for (std::size_t i = 0; i < found.valid.size(); ++i)
    right += found.valid[i] && std::hypot(found.u[i] - 25, found.v[i] - 2) < 0.5f;
  EXPECT_GE(right, found.kept() * 0.9);
  EXPECT_GE(found.kept(), found.grid.count() / 3);
}

TEST_P(MatchesOnTarget, SmallRegionsAreDropped) {
  // A square of 40 x 40 px, 10 x 10 seeds, moves by itself.
  const Size size{160, 120};
  const WideTexture other(77);
  Image<float> frame0 = moved(size, 0, 0, 13), frame1 = moved(size, 0, 0, 13);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 40; ++x) {
      frame0(40 + x, 50 + y) = other(x, y);
      frame1(70 + x, 50 + y) = other(x, y);
    }
  const auto moving = [&](int region) {
    const FoundSeeds found =
        matches(frame0, frame1, {.match_levels = 1, .match_iterations = 10, .match_region = region});
    int count = 0;
    for (std::size_t i = 0; i < found.valid.size(); ++i)
      count += found.valid[i] && std::abs(found.u[i] - 30) < 2;
    return count;
  };
  EXPECT_GE(moving(25), 60);
  EXPECT_EQ(moving(150), 0);
}

INSTANTIATE_TEST_SUITE_P(Targets, MatchesOnTarget, every_target(), target_name);

}  // namespace
}  // namespace parafield
