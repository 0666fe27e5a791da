// SPDX-License-Identifier: MIT
// Adaptive ridge with matches: the choice between flows, motions larger than the moving thing, and frames
// without matches.
#include <cmath>
#include <limits>

#include "gradient/adaptive_ridge/fusion/fusion.hpp"
#include "moving.hpp"
#include "noise.hpp"
#include "not_finite.hpp"
#include "parafield/evaluation.hpp"
#include "parafield/scenes.hpp"
#include "steps/matches/patch_match.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

/// The three choices in float64, far from their thresholds.
TEST(FusionOfFlow, TakesTheFlowThatTheDistanceSays) {
  std::mt19937 random(5);
  const auto uniform = [&] { return float(random() % 20001) / 1000 - 10; };
  int near = 0;
  for (int i = 0; i < 20000; ++i) {
    const float u = uniform(), v = uniform(), reach = i % 2 ? 0.2f : 1;
    const float other_u = u + reach * uniform(), other_v = v + reach * uniform();
    const double distance = std::hypot(double(other_u) - u, double(other_v) - v);
    const auto is_clear = [&](double threshold) { return std::abs(distance - threshold) > 1e-4; };
    const Motion at_once = fused({u, v}, {other_u, other_v}), refined = kept_near({u, v}, {other_u, other_v});
    if (is_clear(2.5)) {
      EXPECT_EQ(at_once.u, distance < 2.5 ? u : other_u);
      EXPECT_EQ(at_once.v, distance < 2.5 ? v : other_v);
    }
    if (is_clear(1)) {
      EXPECT_EQ(refined.u, distance < 1 ? other_u : u);
      EXPECT_EQ(refined.v, distance < 1 ? other_v : v);
    }
    near += distance < 1;
  }
  EXPECT_GT(near, 500);
  EXPECT_EQ(fused({1, 2}, {nan, nan}).u, 1) << "no seed has a model";
  EXPECT_EQ(fused({nan, nan}, {3, 4}).v, 4);
  EXPECT_EQ(kept_near({1, 2}, {nan, 2}).u, 1);
}

TEST(FusionOfFlow, SeedsTakeNearFlow) {
  float u[64] = {}, v[64] = {}, match_u[4] = {1.2f, 1.7f, -30, nan}, match_v[4] = {0, 0, 4, 0};
  std::uint8_t valid[4] = {1, 1, 1, 1};
  const FlowPlanes flow{{u, 8, 8, 8 * sizeof(float)}, {v, 8, 8, 8 * sizeof(float)}};
  const Matches matches{seed_grid_of({8, 8}, 4),
                        {match_u, 2, 2, 2 * sizeof(float)},
                        {match_v, 2, 2, 2 * sizeof(float)},
                        {valid, 2, 2, 2}};
  EXPECT_EQ(snapped(matches, flow, 0, 0).u, 0);
  EXPECT_EQ(snapped(matches, flow, 1, 0).u, 1.7f);
  EXPECT_EQ(snapped(matches, flow, 0, 1).u, -30);
  EXPECT_EQ(snapped(matches, flow, 0, 1).v, 4);
  EXPECT_TRUE(std::isnan(snapped(matches, flow, 1, 1).u));
}

class LargeMotion : public OnDevice {
 protected:
  FlowField solve(const Image<float>& frame0, const Image<float>& frame1, const FlowMethod& method) const {
    return estimate_flow(frame_of(frame0), frame_of(frame1), method, {.device = device()});
  }
  static FlowMethod with_matches() { return preset<AdaptiveRidge>("large-motion"); }
  static FlowMethod default_with(UseOfMatches matches) { return AdaptiveRidge{.matches = matches}; }

  /// Share of a region's pixels whose flow is off by more than 1 px.
  static double wrong(const FlowField& flow, Size size, int x0, int y0, double u, double v) {
    double count = 0;
    for (int y = y0; y < y0 + size.height; ++y)
      for (int x = x0; x < x0 + size.width; ++x)
        count += !(std::hypot(flow.u(x, y) - u, flow.v(x, y) - v) <= 1);
    return count / (double(size.width) * size.height);
  }
};

/// Noise of a few px.
Image<float> rough(Size size, unsigned seed) {
  std::mt19937 random(seed);
  Image<float> noise(size), smooth(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) noise(x, y) = float(random() % 256);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      float sum = 0;
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i)
          sum += noise(std::min(x + i, size.width - 1), std::min(y + j, size.height - 1));
      smooth(x, y) = sum / 9;
    }
  return smooth;
}

/// A board of 96x96 px before a ground that stands still, and is as bright or darker.
struct Board {
  static constexpr Size size{480, 320};
  Image<float> frames[2] = {Image<float>(size), Image<float>(size)};

  Board(int u, int v, double brightness_of_ground = 1) {
    constexpr int side = 96;
    const Texture ground(11), front(22);
    for (int i = 0; i < 2; ++i)
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          const int on_x = x - (60 + u * i), on_y = y - (80 + v * i);
          const bool on_board = on_x >= 0 && on_x < side && on_y >= 0 && on_y < side;
          frames[i](x, y) = float(on_board ? front(on_x, on_y) : brightness_of_ground * ground(x, y));
        }
  }
};

TEST_P(LargeMotion, ABoardThatIsLostFromCoarseToFine) {
  const Board board(32, 16);
  const FlowField plain = solve(board.frames[0], board.frames[1], default_with(UseOfMatches::never));
  const FlowField flow = solve(board.frames[0], board.frames[1], with_matches());
  EXPECT_GT(wrong(plain, {76, 76}, 70, 90, 32, 16), 0.9);
  EXPECT_LT(wrong(flow, {76, 76}, 70, 90, 32, 16), 0.02);
  EXPECT_LT(wrong(flow, {200, 280}, 260, 20, 0, 0), 0.02) << "the ground";
}

/// With fewer levels the board is still visible on the coarsest one, and the motion is found with or without
/// matches.
TEST_P(LargeMotion, ABoardThatMovesFurtherThanItsSize) {
  const Board board(128, 64);
  AdaptiveRidge method = preset<AdaptiveRidge>("large-motion");
  method.matching.match_levels = 3;
  const FlowField flow = solve(board.frames[0], board.frames[1], method);
  EXPECT_LT(wrong(flow, {76, 76}, 70, 90, 128, 64), 0.02);
  EXPECT_LT(wrong(flow, {150, 280}, 310, 20, 0, 0), 0.02) << "the ground";
}

TEST_P(LargeMotion, KeepsSmallMotion) {
  const auto images = frames_of_motion({120, 90}, 2, 0.7f, -0.3f, 3);
  const FlowField flow = solve(images[0], images[1], with_matches());
  for (int y = 8; y < 82; ++y)
    for (int x = 8; x < 112; ++x) {
      ASSERT_NEAR(flow.u(x, y), 0.7, 0.08) << x << ", " << y;
      ASSERT_NEAR(flow.v(x, y), -0.3, 0.08) << x << ", " << y;
    }
}

TEST_P(LargeMotion, TheDefaultMatchesWhereFlowIsLost) {
  const Board board(32, 16);
  expect_same(solve(board.frames[0], board.frames[1], AdaptiveRidge{}),
              solve(board.frames[0], board.frames[1], default_with(UseOfMatches::always)));
}

TEST_P(LargeMotion, TheDefaultDoesNotMatchWhereFlowIsFound) {
  const auto images = frames_of_motion({220, 170}, 2, 1.7f, -2.3f, 3);
  AdaptiveRidge method;
  const FlowField found = solve(images[0], images[1], method);
  method.matches = UseOfMatches::never;
  expect_same(found, solve(images[0], images[1], method));
}

/// Each pair of a stream decides by itself: the first one, one whose predecessor decided otherwise, and one
/// for the flow back.
TEST_P(LargeMotion, EachPairOfAStreamDecides) {
  const Board board(32, 16);
  FlowEstimator estimator(AdaptiveRidge{}, Board::size, {.device = device(), .fb_check = 1});
  constexpr int a_reset = -1;
  int last = a_reset;
  for (const int newest : {0, 1, 1, 0, 0, a_reset, 1, 0, 1}) {
    const FlowField* const flow =
        newest == a_reset ? nullptr : estimator.push(frame_of(board.frames[newest]));
    if (newest == a_reset) estimator.reset();
    if (flow) {
      const FlowField expected = estimate_flow(frame_of(board.frames[last]), frame_of(board.frames[newest]),
                                               AdaptiveRidge{}, {.device = device(), .fb_check = 1});
      expect_same(*flow, expected);
    }
    last = newest;
  }
}

/// A board uncovers ground behind it and hides some in front of it. Hidden ground gets the ground's flow and
/// is not valid.
TEST_P(LargeMotion, HiddenGroundHasItsOwnFlow) {
  const Board board(32, 0, 0.3);
  const FlowField flow = solve(board.frames[0], board.frames[1], with_matches());
  EXPECT_LT(wrong(flow, {14, 80}, 172, 88, 0, 0), 0.1) << "the board will stand here";
  int valid = 0, ground = 0;
  for (int y = 88; y < 168; ++y)
    for (int x = 160; x < 180; ++x) valid += flow.valid(x, y) != 0;
  for (int y = 20; y < 300; ++y)
    for (int x = 260; x < 460; ++x) ground += flow.valid(x, y) != 0;
  EXPECT_LT(valid, 0.1 * 20 * 80);
  EXPECT_GT(ground, 0.98 * 200 * 280);
}

/// Repeated structure in small frames, where few seeds decide.
TEST_P(LargeMotion, AutomaticMatchesNeverHurtInSmallFrames) {
  for (const Size size : {Size{160, 120}, Size{200, 150}, Size{240, 180}, Size{280, 210}})
    for (const std::uint64_t seed : {3, 18, 20, 22}) {
      const Scene scene = render_scene("slats", {.size = size, .seed = seed});
      const auto epe = [&](UseOfMatches use) {
        const FlowMethod method = default_with(use);
        const FlowField flow = estimate_flow(scene.frames[0], scene.frames[1], method, {.device = device()});
        return evaluate(flow, scene.flow[0]).epe;
      };
      EXPECT_LT(epe(UseOfMatches::automatic), 1.02 * epe(UseOfMatches::never))
          << size.width << "x" << size.height << ", seed " << seed;
    }
}

/// Repeated structure, and a thin figure before a distant background: matches do not make the flow worse.
TEST_P(LargeMotion, AutomaticMatchesNeverHurt) {
  for (const char* name : {"facade", "slats", "runner"})
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      const Scene scene = render_scene(name, {.size = {320, 240}, .seed = seed, .color = seed % 2 == 1});
      const auto epe = [&](const FlowMethod& method) {
        const FlowField flow = estimate_flow(scene.frames[0], scene.frames[1], method, {.device = device()});
        return evaluate(flow, scene.flow[0]).epe;
      };
      for (const char* preset_name : {"default", "precise", "accurate", "large-motion"}) {
        AdaptiveRidge method = preset<AdaptiveRidge>(preset_name);
        method.matches = UseOfMatches::never;
        const double without = epe(method);
        method.matches = UseOfMatches::automatic;
        EXPECT_LT(epe(method), 1.02 * without) << name << " " << seed << " " << preset_name;
      }
    }
}

TEST_P(LargeMotion, AlwaysMatchingKeepsTheFlowOfWindows) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const Scene scene = render_scene("facade", {.size = {320, 240}, .seed = seed, .color = true});
    const auto epe = [&](const FlowMethod& method) {
      const FlowField flow = estimate_flow(scene.frames[0], scene.frames[1], method, {.device = device()});
      return evaluate(flow, scene.flow[0]).epe;
    };
    AdaptiveRidge without = preset<AdaptiveRidge>("large-motion");
    without.matches = UseOfMatches::never;
    EXPECT_LT(epe(with_matches()), 1.03 * epe(without)) << "seed " << seed;
  }
}

/// A texture with details of some px, about -1 to 1.
double slat_texture(double x, double y) {
  return 0.4 * std::sin(0.9 * x + 0.4 * y) + 0.4 * std::sin(1.1 * y - 0.5 * x + 1) +
         0.4 * std::sin(0.23 * x - 0.31 * y + 2) * std::sin(0.17 * x + 0.37 * y);
}
/// A facade of repeated slats with windows: gray value at a point. `period`: px from slat to slat.
double slats(double x, double y, double period, bool upright) {
  if (std::fmod(std::floor(x / 90), 2) == 1 && std::fmod(std::floor(y / 70), 2) == 1)
    return 60 + 15 * slat_texture(x, y);
  const double at = (upright ? x : y) / period, off = std::abs(at - std::floor(at) - 0.5) * period;
  return 130 + 4 * slat_texture(0.7 * x, 0.7 * y) - 70 * std::clamp(0.25 * period - off + 0.5, 0.0, 1.0);
}

/// The method finds these motions without matches; similar places must not replace them, even if matches are
/// always used.
TEST_P(LargeMotion, KeepsTheFlowOfFineSlats) {
  const Size size{320, 240};
  double never = 0, always = 0;
  for (const double period : {5, 8, 12, 20})
    for (const bool upright : {false, true}) {
      std::mt19937 random(3);
      std::normal_distribution<float> noise(0, 1);
      const double u = 0.33 * period - 1.2, v = upright ? -0.8 : 0.21 * period;
      Image<float> frames[2] = {Image<float>(size), Image<float>(size)};
      for (int t = 0; t < 2; ++t)
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x)
            frames[t](x, y) = float(slats(100 + x - t * u, 100 + y - t * v, period, upright)) + noise(random);
      const auto error = [&](const FlowMethod& method) {
        const FlowField flow = solve(frames[0], frames[1], method);
        double sum = 0;
        for (int y = 8; y < size.height - 8; ++y)
          for (int x = 8; x < size.width - 8; ++x) sum += std::hypot(flow.u(x, y) - u, flow.v(x, y) - v);
        return sum / ((size.width - 16) * (size.height - 16));
      };
      const double plain = error(default_with(UseOfMatches::never)), matched = error(with_matches());
      std::printf("period %g, %s: %.4f, automatic %.4f, always %.4f\n", period, upright ? "upright" : "level",
                  plain, error(AdaptiveRidge{}), matched);
      EXPECT_LT(error(AdaptiveRidge{}), 1.02 * plain) << period << (upright ? " upright" : " level");
      never += plain;
      always += matched;
    }
  EXPECT_LT(always, 1.3 * never);
}

/// Flow between two whole pixels is correct even if another place of a pattern fits better at whole pixels.
TEST(PreferredFlow, IsJudgedAtTheBestOfNineWholePixelsAndItself) {
  const FlowAtSeed flow{3, -2, 6, -4, true};
  const auto cost = [](int u, int v) { return u > 3 ? 100 : u < 2 ? outside_cost : 500 + v; };
  const auto half = [](int u2, int v2) { return 10 * u2 + v2; };
  EXPECT_EQ(flow_cost(flow, cost, half), 100) << "halves are not tried at whole pixels";
  EXPECT_EQ(flow_cost(FlowAtSeed{3, -2, 5, -4, true}, cost, half), 46);
  EXPECT_EQ(flow_cost(FlowAtSeed{3, -2, 6, 41, true}, cost, half), 100) << "the whole pixel costs less";
  EXPECT_EQ(flow_cost(FlowAtSeed{1, 0, 3, 0, true}, cost, half), outside_cost);
  EXPECT_TRUE(is_missed(79, 100));
  EXPECT_FALSE(is_missed(80, 100));
  EXPECT_TRUE(is_as_good(80, 100, 401, true));
  EXPECT_FALSE(is_as_good(79, 100, 4000, true));
  EXPECT_FALSE(is_as_good(80, 100, 400, true)) << "a poor match by itself";
  EXPECT_FALSE(is_as_good(80, 100, 800, false)) << "more is asked where the match is not valid";
  EXPECT_TRUE(is_as_good(80, 100, 801, false));
  EXPECT_FALSE(is_as_good(0, 0, 200, true)) << "no texture";
}

TEST(PreferredFlow, IsRoundedToWholeAndHalfPixels) {
  const FlowAtSeed flow = compared_flow(2.4f, -3.2f, {2, -3, 0});
  EXPECT_EQ(flow.u, 2);
  EXPECT_EQ(flow.v, -3);
  EXPECT_EQ(flow.u2, 5);
  EXPECT_EQ(flow.v2, -6);
  EXPECT_FALSE(flow.is_far);
  const HalfPlace place(-3, 6);
  EXPECT_EQ(place.x, -2);
  EXPECT_EQ(place.right, 1);
  EXPECT_EQ(place.y, 3);
  EXPECT_EQ(place.below, 0);
  EXPECT_EQ(mean_of_bytes(0x00ff010203040506ull, 0x00fe030303ff0507ull), 0x00ff020303820507ull);
}

TEST(PreferredFlow, OneOrTwoSeedsOfASmallFrameAreNotMissedMotion) {
  EXPECT_FALSE(are_many_missed(2, 80));
  EXPECT_TRUE(are_many_missed(3, 80));
  EXPECT_FALSE(are_many_missed(3, 751));
}

TEST(PreferredFlow, IsReversedForTheOtherFrame) {
  float u[32] = {}, v[32] = {};
  for (int x = 0; x < 8; ++x) u[x] = u[8 + x] = u[16 + x] = u[24 + x] = x < 4 ? 2.0f : 0.0f;
  const FlowPlanes flow{{u, 8, 4, 8 * sizeof(float)}, {v, 8, 4, 8 * sizeof(float)}};
  EXPECT_EQ(reversed_flow(flow, 3, 1).u, -2);
  EXPECT_EQ(reversed_flow(flow, 7, 1).u, 0);
  EXPECT_EQ(preferable_flow(flow, false, 3, 1).u, 2);
}

/// Frames without texture have no surviving matches, frames of two scenes only a few. The flow is finite.
TEST_P(LargeMotion, FramesWithoutMatches) {
  const Size size{100, 70};
  Image<float> flat(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) flat(x, y) = 90;
  const FlowField still = solve(flat, flat, with_matches());
  const FlowField unrelated = solve(rough(size, 3), rough(size, 4), with_matches());
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      ASSERT_EQ(still.u(x, y), 0);
      ASSERT_TRUE(std::isfinite(unrelated.u(x, y)) && std::isfinite(unrelated.v(x, y)));
    }
}

TEST_P(LargeMotion, AnySizeAndPixelsThatAreNotFinite) {
  for (const Size size : {Size{1, 1}, Size{1, 30}, Size{33, 1}, Size{5, 4}, Size{16000, 9}}) {
    Image<float> frame0 = rough(size, 5), frame1 = rough(size, 5);
    frame0(size.width / 2, size.height / 2) = nan;
    frame1(size.width / 3, size.height / 3) = std::numeric_limits<float>::infinity();
    const FlowField flow = solve(frame0, frame1, with_matches());
    int finite = 0;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) finite += std::isfinite(flow.u(x, y));
    EXPECT_GE(finite, size.width * size.height - 25) << size.width << "x" << size.height;
  }
}

TEST_P(LargeMotion, StreamsGiveTheFlowOfCalls) {
  const Size size{64, 48};
  std::vector<Image<float>> images;
  for (unsigned seed = 10; seed < 13; ++seed) images.push_back(rough(size, seed));
  expect_calls_flow_of_pushes(with_matches(), as_frames(images), device());
}

TEST(LargeMotionErrors, MatchesAreForTwoFrames) {
  try {
    FlowEstimator(AdaptiveRidge{.frames = 5, .matches = UseOfMatches::always}, {40, 30},
                  {.device = Device::cpu()});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "adaptive-ridge: matches cannot be always; allowed: automatic, never, as frames is 5");
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, LargeMotion, every_device(), device_name);

}  // namespace
}  // namespace parafield
