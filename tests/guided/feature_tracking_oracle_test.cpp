// SPDX-License-Identifier: MIT
// The library's tracks against the oracle's, which follow the same rules in float64.
//
// Rounding makes them differ by some 1e-5 px where a window determines the flow well. Decisions (whether G
// can be solved, whether a solution is the last one, whether a feature is inside or comes back) may differ if
// a value lies at its limit. The oracle marks such features; they are not compared.
#include "guided/tracks_on.hpp"
#include "noise.hpp"
#include "oracle/feature_tracking.hpp"
#include "parafield/scenes.hpp"
#include "textures.hpp"

namespace parafield {
namespace {

constexpr double least_margin = 3e-5;

/// Returns how many features were compared.
int expect_agreement(const Frame& frame0, const Frame& frame1, const FeatureTracking& tracking) {
  const GridOfTracks found = tracks_on(targets().front(), frame0, frame1, tracking);
  const auto expected = oracle::track_features(oracle::luma(frame0), oracle::luma(frame1), found.grid.columns,
                                               found.grid.rows, tracking, least_texture, least_corner);
  EXPECT_EQ(found.tracks.size(), expected.size());
  int compared = 0;
  for (std::size_t i = 0; i < expected.size() && !testing::Test::HasFailure(); ++i) {
    const Track& track = found.tracks[i];
    const oracle::TrackedFeature& feature = expected[i];
    SCOPED_TRACE(testing::Message() << "feature " << i << " at " << track.x << ", " << track.y);
    EXPECT_EQ(std::isfinite(track.x), feature.at.has_value());
    if (!feature.at || testing::Test::HasFailure()) continue;
    EXPECT_NEAR(track.x, feature.at->x, 1e-4);
    EXPECT_NEAR(track.y, feature.at->y, 1e-4);
    if (feature.margin < least_margin) continue;
    ++compared;
    EXPECT_EQ(std::isfinite(track.u), feature.flow.has_value());
    if (!feature.flow) continue;
    EXPECT_NEAR(track.u, feature.flow->x, 1e-3);
    EXPECT_NEAR(track.v, feature.flow->y, 1e-3);
  }
  return compared;
}

const FeatureTracking parameters[] = {
    {},
    {.features = FeatureChoice::corners},
    {.track_window = 3, .track_levels = 1, .track_iterations = 2},  // nine pixels determine little
    {.track_window = 21},
    {.features = FeatureChoice::corners, .track_window = 15, .track_levels = 2},
    {.track_levels = 1},
    {.track_levels = 16},
    {.track_iterations = 1},
    {.track_iterations = 100},
    {.track_check = 0, .track_outliers = 0},
    {.track_rounds = 0},
    {.track_levels = 1, .track_rounds = 1, .track_outliers = 0},
    {.features = FeatureChoice::corners, .track_levels = 1, .track_rounds = 5},
    {.track_check = 0.05f},
    {.track_check = 20, .track_outliers = 1},
    {.features = FeatureChoice::corners, .max_features = 20, .track_outliers = 10},
    {.max_features = 1},
};

class FeatureTrackingOracle : public testing::TestWithParam<FeatureTracking> {};

TEST_P(FeatureTrackingOracle, RandomTextures) {
  int compared = 0;
  for (const Size size : {Size{1, 1}, Size{3, 2}, Size{17, 13}, Size{64, 48}, Size{101, 67}}) {
    SCOPED_TRACE(testing::Message() << size.width << " x " << size.height);
    const Pair pair(size, 17);
    FeatureTracking tracking = GetParam();
    tracking.max_features = std::min(tracking.max_features, size.width * size.height / 40 + 1);
    compared += expect_agreement(frame_of(pair.frame0), frame_of(pair.frame1), tracking);
  }
  EXPECT_GE(compared, GetParam().max_features == 1 ? 1 : 5);
}

TEST_P(FeatureTrackingOracle, RenderedScenes) {
  for (const SceneInfo& info : scenes()) {
    SCOPED_TRACE(info.name);
    // Thin things that move far: without a check forth and back, features wander, and rounding errors grow.
    if (GetParam().track_check == 0 && info.name == "poles") continue;
    // A feature that is lost may end at any of many equal slats or, if it is not tried again, windows.
    if (info.name == "slats" || (GetParam().track_rounds == 0 && info.name == "facade")) continue;
    const Scene scene = render_scene(info.name, {.size = {101, 67}});
    FeatureTracking tracking = GetParam();
    tracking.max_features = std::min(tracking.max_features, 80);
    expect_agreement(scene.frames[0], scene.frames[1], tracking);
  }
}

INSTANTIATE_TEST_SUITE_P(Parameters, FeatureTrackingOracle, testing::ValuesIn(parameters),
                         [](const auto& info) { return std::to_string(info.index); });

TEST(FeatureTrackingOracle, PixelsThatAreNotFinite) {
  Pair pair({64, 48}, 29);
  for (int i = 0; i < 9; ++i) {
    pair.frame0(20 + i, 30) = std::numeric_limits<float>::quiet_NaN();
    pair.frame1(50, 11 + i) = std::numeric_limits<float>::infinity();
  }
  for (const FeatureChoice choice : {FeatureChoice::even, FeatureChoice::corners})
    for (const int levels : {1, 2})
      EXPECT_GE(expect_agreement(frame_of(pair.frame0), frame_of(pair.frame1),
                                 {.features = choice, .max_features = 100, .track_levels = levels}),
                10);
}

}  // namespace
}  // namespace parafield
