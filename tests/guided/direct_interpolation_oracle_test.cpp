// SPDX-License-Identifier: MIT
// Direct interpolation with all kinds of tracks and parameters, on every target: it has the bits of the
// reference, and agrees with the oracle, which has the same equations in float64.
//
// The flows differ for two reasons. First, likelihoods under 2^-24 of a pixel's best count as 0: n features
// change a mean by at most n 2^-24 of the range of their flows. Second, rounding: an exponent (to base 2) of
// at most E = best + 24 is a sum of squared differences of scaled places, up to S, with errors of about 2^-24
// S. Its error is therefore about delta = 2^-24 (2 sqrt(E) S + E), the relative error of a likelihood is
// delta ln 2, and the error of the mean is about the same share of the range. In practice errors of either
// sign add up to an eighth of that, including the errors of the features' colors, which are smoothed and
// interpolated.
#include <limits>
#include <random>

#include "not_finite.hpp"
#include "oracle/direct_interpolation.hpp"
#include "parity.hpp"

namespace parafield {
namespace {

struct Case {
  const char* name;
  Size size;
  PixelFormat format;
  int tracks;
  DirectInterpolation method = {};
  bool turns = false, nan = false;
  float spread = 3;  // of the flows, px
};

/// Flows around the motion of the noise, (1.7, -0.51). Every seventh feature is not finite or lies outside.
std::vector<Track> tracks_of(const Case& c, unsigned seed) {
  std::mt19937 random(seed);
  const auto uniform = [&](float low, float high) {
    return low + (high - low) * float(random() % 100000) / 100000;
  };
  std::vector<Track> tracks;
  for (int i = 0; i < c.tracks; ++i) {
    Track track{uniform(0, float(c.size.width - 1)), uniform(0, float(c.size.height - 1)),
                1.7f + uniform(-c.spread, c.spread), -0.51f + uniform(-c.spread, c.spread)};
    if (i % 7 == 3) {
      const int kind = i / 7 % 6;
      if (kind == 0) track.x = -0.01f - uniform(0, 5);
      if (kind == 1) track.y = float(c.size.height - 1) + uniform(0.01f, 5);
      if (kind == 2) track.x = nan;
      if (kind == 3) track.u = nan;
      if (kind == 4) track.v = std::numeric_limits<float>::infinity();
      if (kind == 5) track = {nan, nan, nan, nan};
    }
    tracks.push_back(track);
  }
  return tracks;
}

std::vector<Case> cases() {
  using enum PixelFormat;
  // The oracle is Alg. 1: one round, no median.
  const DirectInterpolation standard{.sigma_position = 10, .resampled = 0, .median = 0},
      raw{.sigma_position = 10, .presmooth = 0, .resampled = 0, .median = 0},
      narrow{.sigma_position = 0.5f, .sigma_color = 0.5f, .presmooth = 0, .resampled = 0, .median = 0},
      wide{.sigma_position = 1000, .sigma_color = 1000, .presmooth = 5, .resampled = 0, .median = 0},
      near{.sigma_position = 3,
           .sigma_color = 1000,
           .presmooth = 0.4f,
           .change_threshold = 20,
           .change_window = 3,
           .resampled = 0,
           .median = 0},
      alike{.sigma_position = 1000, .sigma_color = 4, .change_window = 5, .resampled = 0, .median = 0},
      paper{.sigma_position = 24,
            .sigma_color = 6,
            .presmooth = 0,
            .change_threshold = 15,
            .resampled = 0,
            .median = 0};
  return {{"default", {61, 43}, rgb_u8, 300, standard},
          {"more tracks for a tile than CUDA lists", {20, 12}, rgb_u8, 3000, wide},
          {"default of one track", {33, 17}, bgr_u8, 1, standard},
          {"no track", {33, 17}, bgr_u8, 0, standard},
          {"gray", {61, 43}, gray_u8, 60, standard},
          {"16 bit", {50, 40}, gray_u16, 60, raw},
          {"floats", {50, 40}, rgb_f32, 300, raw},
          {"16 bit color", {37, 29}, rgb_u16, 40, near},
          {"rgba", {37, 29}, rgba_u8, 40, paper},
          {"bgra, three tracks", {37, 29}, bgra_u8, 3, paper},
          {"narrow", {61, 43}, rgb_u8, 300, narrow},
          {"narrow, few", {30, 21}, gray_u8, 5, narrow},
          {"wide", {61, 43}, rgb_u8, 300, wide},
          {"wide gray", {40, 21}, gray_u8, 30, wide},
          {"near", {61, 43}, rgb_u8, 300, near},
          {"alike", {61, 43}, bgr_u8, 120, alike},
          {"large flows", {61, 43}, rgb_u8, 100, standard, false, false, 60},
          {"row", {45, 1}, rgb_u8, 20, standard},
          {"column", {1, 30}, rgb_u8, 20, near},
          {"turned", {61, 43}, rgb_u8, 100, standard, true, false, 8},
          {"turned, window 3", {61, 43}, gray_u8, 100, near, true, false, 8},
          {"turned, window 5", {50, 40}, rgb_f32, 60, alike, true, false, 8},
          {"turned, no track", {50, 40}, rgb_u8, 0, standard, true},
          {"a pixel that is not finite", {61, 43}, gray_f32, 200, standard, false, true},
          {"a pixel that is not finite, turned", {61, 43}, gray_f32, 50, near, true, true, 8}};
}

class DirectInterpolationOracleOn : public OnTarget {};

/// Largest difference of flows that rounding explains, px.
double tolerance_of(const Case& c, const oracle::DirectInterpolationOracle& oracle,
                    const oracle::Interpolated& mean) {
  double low = 0, high = 0;
  for (const oracle::Feature& f : oracle.features) {
    low = std::min({low, f.u, f.v});
    high = std::max({high, f.u, f.v});
  }
  const double base2 = 1 / std::log(2.0), n = double(oracle.features.size());
  const double most = mean.exponent * base2 + 24,
               scaled =
                   0.85 * std::max(std::max(c.size.width, c.size.height) / double(c.method.sigma_position),
                                   255 / double(c.method.sigma_color));
  const double delta = std::ldexp(2 * std::sqrt(most) * scaled + most, -24);
  return (high - low) * (n * std::ldexp(1.0, -24) + delta / base2 + std::ldexp(1.0, -22));
}

TEST_P(DirectInterpolationOracleOn, Agrees) {
  unsigned seed = 1;
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    ++seed;
    GuardedFrame frame0(c.size, c.format, seed, 0, 12, 0xff), frame1(c.size, c.format, seed, 1.7f, 0, 0xff);
    if (c.nan) {
      frame0.set_nan(c.size.width / 2, c.size.height / 3);
      frame1.set_nan(c.size.width / 3, c.size.height / 2);
    }
    const std::vector<Track> tracks = tracks_of(c, seed);
    std::optional<CameraRotation> rotation;
    if (c.turns) rotation = {0.008f, 0.024f, 0.01f, 70, 65, 29, 22};  // about the motion of the noise
    const oracle::DirectInterpolationOracle oracle(frame0, frame1, tracks, c.method, rotation);

    const auto estimate = [&](const Target& target) {
      const Forced forced(target);
      DirectInterpolation method = c.method;
      method.tracking.max_features = std::max(300, c.tracks);
      FlowEstimator estimator(method, c.size, {.device = target.device(2), .min_confidence = 0});
      const Frame frames[] = {frame0, frame1};
      return estimator({.frames = frames, .tracks = tracks, .rotation = rotation}).to(Memory::host());
    };
    const FlowField flow = estimate(GetParam()), reference = estimate(reference_target());
    expect_same<float>(flow.u, reference.u, "u", c.name);
    expect_same<float>(flow.v, reference.v, "v", c.name);
    expect_same<float>(flow.confidence, reference.confidence, "confidence", c.name);
    expect_same<std::uint8_t>(flow.valid, reference.valid, "valid", c.name);

    int decided = 0, turned = 0;
    for (int y = 0; y < c.size.height; ++y)
      for (int x = 0; x < c.size.width; ++x) {
        SCOPED_TRACE(testing::Message() << "at " << x << ", " << y);
        const oracle::Estimate expected = oracle.at(x, y);
        const double tolerance = tolerance_of(c, oracle, expected.mean);
        const double likelihood = oracle.features.empty() ? 0 : std::exp(-expected.mean.exponent);
        const double exponent = expected.mean.exponent / std::log(2.0);
        ASSERT_NEAR(flow.confidence(x, y), likelihood, 2e-5 * (1 + exponent) * likelihood + 2e-38);

        // Decisions near their limit are not compared: differences change by at most 100 a px.
        const double turn_tolerance = 1e-4;
        const auto decision = [&](double difference, double u, double v, double off) {
          const auto near_border = [&](double at, int side) {
            return std::min(std::abs(at), std::abs(at - (side - 1))) <= off;
          };
          const bool close = std::abs(difference - c.method.change_threshold) < 1e-3 + 100 * off ||
                             near_border(x + u, c.size.width) || near_border(y + v, c.size.height);
          return close ? -1 : difference < c.method.change_threshold ? 1 : 0;
        };
        const int first = decision(expected.difference, expected.mean.u, expected.mean.v, tolerance);
        const int second = !rotation ? 0
                                     : decision(expected.turned_difference, expected.turn.x, expected.turn.y,
                                                turn_tolerance);
        const auto is_near = [&](double u, double v, double off) {
          return std::abs(flow.u(x, y) - u) <= off && std::abs(flow.v(x, y) - v) <= off;
        };
        const bool is_mean = is_near(expected.mean.u, expected.mean.v, tolerance),
                   is_turn = rotation && is_near(expected.turn.x, expected.turn.y, turn_tolerance);
        if (first >= 0 && second >= 0) {
          ++decided;
          turned += !first && second;
          ASSERT_EQ(flow.valid(x, y), first || second);
          ASSERT_TRUE(!first && second ? is_turn : is_mean)
              << flow.u(x, y) << ", " << flow.v(x, y) << ", the oracle's mean " << expected.mean.u << ", "
              << expected.mean.v << ", turn " << expected.turn.x << ", " << expected.turn.y << ", tolerance "
              << tolerance;
        } else {
          ASSERT_TRUE(is_mean || (is_turn && flow.valid(x, y)));
        }
      }
    EXPECT_GT(decided, 0.8 * c.size.width * c.size.height);
    EXPECT_TRUE(!rotation || turned > 20) << turned;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, DirectInterpolationOracleOn, every_target(), target_name);

}  // namespace
}  // namespace parafield
