// SPDX-License-Identifier: MIT
// Features and their tracks: the same bits on every target, and known motion in simple scenes.
#include "guided/features/track_finder.hpp"

#include <cmath>
#include <cstring>

#include "guided/tracks_on.hpp"
#include "noise.hpp"
#include "not_finite.hpp"
#include "parity.hpp"
#include "textures.hpp"

namespace parafield {
namespace {

/// Image of a texture that moved by (u, v). f(x, y, value) may change a gray value.
template <class F>
Image<float> moved(Size size, double u, double v, unsigned seed, F f) {
  const Texture texture(seed);
  Image<float> image(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      image(x, y) = float(texture(x - u, y - v));
      f(x, y, image(x, y));
    }
  return image;
}
Image<float> moved(Size size, double u, double v, unsigned seed) {
  return moved(size, u, v, seed, [](int, int, float&) {});
}

class TracksOnTarget : public OnTarget {
 protected:
  static GridOfTracks tracks(const Image<float>& frame0, const Image<float>& frame1,
                             const FeatureTracking& tracking) {
    return tracks_on(GetParam(), frame_of(frame0), frame_of(frame1), tracking);
  }

  static void expect_same(const Frame& frame0, const Frame& frame1, const FeatureTracking& tracking,
                          int threads, int slots) {
    SCOPED_TRACE(testing::Message() << frame0.width << "x" << frame0.height << " " << to_string(frame0.format)
                                    << " features " << int(tracking.features) << " of "
                                    << tracking.max_features << " window " << tracking.track_window);
    const auto expected = tracks_on(reference_target(), frame0, frame1, tracking, 1).tracks;
    const auto found = tracks_on(GetParam(), frame0, frame1, tracking, threads, slots).tracks;
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(std::memcmp(&found[i], &expected[i], sizeof(Track)), 0)
          << "feature " << i << ": " << found[i].x << ", " << found[i].y << ": " << found[i].u << ", "
          << found[i].v << " and " << expected[i].x << ", " << expected[i].y << ": " << expected[i].u << ", "
          << expected[i].v;
  }
};

constexpr Size small_sizes[] = {{1, 1}, {3, 2}, {1, 40}, {17, 13}, {64, 48}, {131, 70}};

TEST_P(TracksOnTarget, SameBitsOfEverySizeAndFormat) {
  int i = 0;
  for (const Size size : small_sizes)
    for (const PixelFormat format : every_format)
      for (const FeatureChoice choice :
           {FeatureChoice::even, FeatureChoice::corners, FeatureChoice::matches}) {
        GuardedFrame frame0(size, format, unsigned(i), 0, i % 3 * 12, 0xff),
            frame1(size, format, unsigned(i), 1.7f, i % 4 * 12, 0xff);
        const FeatureTracking tracking{.features = choice, .max_features = std::array{1, 30, 300}[i % 3]};
        expect_same(frame0, frame1, tracking, 1 + i % 3, 2 + i % 2);
        ++i;
      }
}

TEST_P(TracksOnTarget, SameBitsOfEveryParameter) {
  int i = 0;
  for (const Size size : {Size{40, 31}, Size{101, 67}})
    for (int window = 3; window <= 21; window += 2)
      for (const FeatureChoice choice : {FeatureChoice::even, FeatureChoice::corners}) {
        GuardedFrame frame0(size, PixelFormat::gray_f32, unsigned(i), 0, 0, 0),
            frame1(size, PixelFormat::gray_f32, unsigned(i), 2.4f, 0, 0);
        if (i % 2) frame0.set_nan(size.width / 2, size.height / 3);
        if (i % 3) frame1.set_nan(size.width / 3, size.height / 2);
        expect_same(frame0, frame1,
                    {.features = choice,
                     .max_features = 150,
                     .track_window = window,
                     .track_levels = 1 + i % 5,
                     .track_iterations = std::array{10, 1, 100}[i % 3],
                     .track_check = std::array{0.5f, 0.0f, 3.0f, 100.0f}[i % 4],
                     .track_rounds = std::array{2, 5, 0, 1, 3}[i % 5],
                     .track_outliers = std::array{3.0f, 0.0f, 0.5f}[i % 3]},
                    2, 2);
        ++i;
      }
}

TEST_P(TracksOnTarget, Translation) {
  const Size size{160, 120};
  for (const FeatureChoice choice : {FeatureChoice::even, FeatureChoice::corners})
    for (const auto& [u, v] : {std::pair{3.3, -1.6}, std::pair{-9.25, 6.5}, std::pair{0.0, 0.0}}) {
      SCOPED_TRACE(testing::Message() << int(choice) << ": " << u << ", " << v);
      const auto found =
          tracks(moved(size, 0, 0, 3), moved(size, u, v, 3), {.features = choice, .max_features = 200});
      EXPECT_GE(found.kept(), 0.7 * found.grid.count());
      int near = 0;  // interpolation between pixels blurs the texture's finest waves
      for (const Track& track : found.tracks) {
        if (std::isnan(track.u)) continue;
        const double error = std::hypot(track.u - u, track.v - v);
        near += error < 0.05;
        EXPECT_LT(error, 0.15) << track.x << ", " << track.y;
      }
      EXPECT_GE(near, 0.95 * found.kept());
    }
}

TEST_P(TracksOnTarget, MatchesAreTheNearestOfEachCell) {
  const Size size{160, 120};
  const auto frame0 = moved(size, 0, 0, 3), frame1 = moved(size, 14, -9, 3);
  for (const int most : {1, 50, 1200, 20000}) {
    SCOPED_TRACE(most);
    const auto found = tracks(frame0, frame1, {.features = FeatureChoice::matches, .max_features = most});
    const FeatureGrid& grid = found.grid;
    EXPECT_GE(found.kept(), 0.75 * std::min(grid.count(), 40 * 30));
    for (int row = 0; row < grid.rows; ++row)
      for (int column = 0; column < grid.columns; ++column) {
        const Track& track = found(column, row);
        if (std::isnan(track.u)) {
          EXPECT_TRUE(std::isnan(track.x));
          continue;
        }
        EXPECT_NEAR(track.u, 14, 1.1);
        EXPECT_NEAR(track.v, -9, 1.1);
        EXPECT_EQ(int(track.x) % 4, 2);
        EXPECT_EQ(int(track.y) % 4, 2);
        EXPECT_TRUE(int(track.x) >= grid.first_x(column) && int(track.x) < grid.first_x(column + 1));
        EXPECT_TRUE(int(track.y) >= grid.first_y(row) && int(track.y) < grid.first_y(row + 1));
        const bool is_inner = column > 2 && row > 2 && column < grid.columns - 3 && row < grid.rows - 3;
        EXPECT_TRUE(!is_inner || std::abs(track.x - grid.center_x(column)) <= 2.5f);
      }
  }
}

TEST_P(TracksOnTarget, EndsOutsideAreDropped) {
  const Size size{120, 90};
  const auto found = tracks(moved(size, 0, 0, 4), moved(size, 8, 0, 4), {.max_features = 300});
  for (const Track& track : found.tracks)
    EXPECT_TRUE(track.x < float(size.width - 1) - 7.9f || std::isnan(track.u)) << track.x;
  EXPECT_GT(found.kept(), found.grid.count() / 2);
}

TEST_P(TracksOnTarget, NoTextureNoTrack) {
  for (const FeatureChoice choice : {FeatureChoice::even, FeatureChoice::corners}) {
    const auto flat = moved({64, 48}, 0, 0, 1, [](int, int, float& value) { value = 77; });
    EXPECT_EQ(tracks(flat, flat, {.features = choice}).kept(), 0);
    // The G of an edge has one direction, so it cannot be solved either.
    const auto edge = moved({64, 48}, 0, 0, 1, [](int x, int, float& value) { value = x < 30 ? 20 : 200; });
    EXPECT_EQ(tracks(edge, edge, {.features = choice}).kept(), 0);
  }
}

TEST_P(TracksOnTarget, OneFeature) {
  const auto found = tracks(moved({65, 49}, 0, 0, 7), moved({65, 49}, 1.25, 0.5, 7), {.max_features = 1});
  ASSERT_EQ(found.tracks.size(), 1u);
  EXPECT_EQ(found.tracks[0].x, 32);
  EXPECT_EQ(found.tracks[0].y, 24);
  EXPECT_NEAR(found.tracks[0].u, 1.25, 0.05);
  EXPECT_NEAR(found.tracks[0].v, 0.5, 0.05);
}

TEST_P(TracksOnTarget, OutlierIsDroppedOthersStay) {
  // A patch moves differently: its track comes back, but does not fit the tracks around it.
  const Size size{150, 150};
  const Texture other(99);
  const auto patch = [&](double u) {
    return [&other, u](int x, int y, float& value) {
      if (x >= 60 && x < 90 && y >= 60 && y < 90) value = float(other(x - u, y));
    };
  };
  const auto frame0 = moved(size, 0, 0, 8, patch(0)), frame1 = moved(size, 0, 0, 8, patch(-6));
  const FeatureTracking all{.max_features = 25, .track_levels = 2, .track_outliers = 0};
  const auto before = tracks(frame0, frame1, all);
  ASSERT_EQ(before.grid.columns, 5);
  EXPECT_NEAR(before(2, 2).u, -6, 0.1);
  FeatureTracking fitting = all;
  fitting.track_outliers = 3;
  const auto after = tracks(frame0, frame1, fitting);
  EXPECT_TRUE(std::isnan(after(2, 2).u) && std::isnan(after(2, 2).v));
  EXPECT_EQ(after(2, 2).x, before(2, 2).x);
  for (const auto& [column, row] : {std::pair{1, 1}, std::pair{3, 2}, std::pair{0, 4}})
    EXPECT_NEAR(after(column, row).u, 0, 0.01) << column << ", " << row;
}

TEST_P(TracksOnTarget, FlowSpreadsOverAnObjectFromWhereItIsSlow) {
  // A texture in front of a still one is stretched from its left end. Without coarse levels, only that end is
  // found at first. A stripe without texture crosses it, where no flow can be found.
  const Size size{260, 120};
  const Texture object(12);
  const auto pulled = [&](double growth) {
    return [&object, growth](int x, int y, float& value) {
      const double from = 30 + (x - 30) / (1 + growth);
      if (x < 30 || from > 200 || y < 30 || y >= 90) return;
      value = from > 100 && from < 125 ? 90 : float(object(from, y));
    };
  };
  constexpr double growth = 0.08;
  const auto frame0 = moved(size, 0, 0, 11, pulled(0)), frame1 = moved(size, 0, 0, 11, pulled(growth));
  const auto share_found = [&](int rounds) {
    int all = 0, found = 0;
    for (const Track& track :
         tracks(frame0, frame1, {.max_features = 400, .track_levels = 1, .track_rounds = rounds}).tracks) {
      const bool is_plain = track.x > 105 && track.x < 120;
      if (track.x < 36 || track.x > 194 || track.y < 36 || track.y > 84) continue;
      if (is_plain) {
        EXPECT_TRUE(std::isnan(track.u)) << track.x << ", " << track.y;
      } else if (track.x < 94 || track.x > 131) {
        ++all;
        found += std::hypot(track.u - growth * (track.x - 30), track.v) < 0.2;
      }
    }
    return double(found) / all;
  };
  EXPECT_LT(share_found(0), 0.5);
  EXPECT_GT(share_found(3), share_found(0) + 0.2);
  EXPECT_GT(share_found(20), 0.8);
}

TEST_P(TracksOnTarget, PixelsThatAreNotFiniteHaveWeightZero) {
  const Size size{96, 72};
  const auto with_hole = [](int x, int y, float& value) {
    if (x >= 40 && x < 44 && y >= 30 && y < 34) value = nan;
  };
  for (const FeatureChoice choice : {FeatureChoice::even, FeatureChoice::corners})
    for (const bool first : {true, false}) {
      const auto whole = [](int, int, float&) {};
      const auto frame0 = first ? moved(size, 0, 0, 5, with_hole) : moved(size, 0, 0, 5, whole);
      const auto frame1 = first ? moved(size, 1.5, 1, 5, whole) : moved(size, 1.5, 1, 5, with_hole);
      const auto found = tracks(frame0, frame1, {.features = choice, .max_features = 400, .track_levels = 2});
      int in_hole = 0, beside = 0;
      for (const Track& track : found.tracks) {
        if (std::isnan(track.u)) continue;
        EXPECT_NEAR(track.u, 1.5, 0.1);
        EXPECT_NEAR(track.v, 1, 0.1);
        const float x = first ? track.x : track.x + track.u, y = first ? track.y : track.y + track.v;
        in_hole += x > 39 && x < 44 && y > 29 && y < 34;
        beside += x > 32 && x < 51 && y > 22 && y < 41;
      }
      EXPECT_EQ(in_hole, 0);
      EXPECT_GT(beside, 4);
    }
}

TEST_P(TracksOnTarget, CornersAreTheFirstOfEqualsAndOneForEachCell) {
  // The same square many times: all have four corners of one score.
  const Size size{128, 96};
  Image<float> frame(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      frame(x, y) = x % 16 >= 4 && x % 16 < 12 && y % 16 >= 4 && y % 16 < 12 ? 200 : 50;
  const auto found = tracks(frame, frame, {.features = FeatureChoice::corners, .max_features = 12});
  ASSERT_EQ(found.grid.columns * found.grid.rows, 12);
  const Track first = found(0, 0);
  EXPECT_NEAR(first.x, 4, 1);
  EXPECT_NEAR(first.y, 4, 1);
  for (int row = 0; row < found.grid.rows; ++row)
    for (int column = 0; column < found.grid.columns; ++column) {
      const Track& track = found(column, row);
      EXPECT_EQ(track.x, first.x + float(32 * column));
      EXPECT_EQ(track.y, first.y + float(32 * row));
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, TracksOnTarget, every_target(), target_name);

TEST(FeatureGrid, CellsAreAboutSquareAndAsManyAsAskedForAtMost) {
  for (const Size size : {Size{1, 1}, Size{640, 480}, Size{1242, 375}, Size{5, 2000}, Size{100000, 3}})
    for (const int count : {1, 2, 3, 7, 100, 1000, 65536}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ": " << count);
      const FeatureGrid grid = feature_grid_of(size, count);
      ASSERT_GE(grid.columns, 1);
      ASSERT_GE(grid.rows, 1);
      EXPECT_LE(grid.columns, size.width);
      EXPECT_LE(grid.rows, size.height);
      EXPECT_LE(grid.count(), count);
      for (const int column : {0, grid.columns / 2, grid.columns - 1}) {
        EXPECT_GE(grid.center_x(column), float(grid.first_x(column)) - 0.5f);
        EXPECT_LE(grid.center_x(column), float(grid.first_x(column + 1)));
      }
      EXPECT_GE(grid.center_y(0), 0);
      EXPECT_LE(grid.center_y(grid.rows - 1), float(size.height - 1));
      EXPECT_EQ(grid.first_x(grid.columns), size.width);
      EXPECT_EQ(grid.first_y(grid.rows), size.height);
    }
  EXPECT_EQ(feature_grid({640, 480}, 1000), (Size{37, 27}));
  EXPECT_EQ(feature_grid({4, 4}, 65536), (Size{4, 4}));
  EXPECT_EQ(feature_grid({100, 50}, 2), (Size{2, 1}));
  EXPECT_THROW(feature_grid({0, 5}, 1), Error);
  EXPECT_THROW(feature_grid({5, 5}, 0), Error);
}

}  // namespace
}  // namespace parafield
