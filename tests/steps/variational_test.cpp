// SPDX-License-Identifier: MIT
// The variational refinement on every target: the same bits, and pixels that are not finite.
#include <limits>

#include "random_method.hpp"
#include "steps/variational_on.hpp"

namespace parafield {
namespace {

constexpr float bad_values[] = {std::numeric_limits<float>::quiet_NaN(),
                                std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::max(),
                                -1e30f,
                                1e25f,
                                2e19f,
                                1e18f,
                                1e15f,
                                1e7f};

class RefinementOn : public OnTarget {
 protected:
  /// The bits of the reference target, on any number of threads, finite and near the flow before.
  static void expect_same(const RefinementCase& c, const VariationalRefinement& parameters) {
    SCOPED_TRACE(testing::Message() << c.size.width << "x" << c.size.height << " " << described(parameters));
    const RefinedValues expected = refined_on(reference_target(), c, parameters);
    for (const int threads : {1, 2, 3}) {
      const RefinedValues found = refined_on(GetParam(), c, parameters, threads);
      for (std::size_t i = 0; i < found.u.size(); ++i) {
        const std::size_t x = i % std::size_t(c.size.width), y = i / std::size_t(c.size.width);
        ASSERT_TRUE(std::isfinite(found.u[i]) && std::isfinite(found.v[i])) << x << ", " << y;
        ASSERT_EQ(found.u[i], expected.u[i]) << x << ", " << y << " with " << threads << " threads";
        ASSERT_EQ(found.v[i], expected.v[i]) << x << ", " << y << " with " << threads << " threads";
      }
    }
  }
};

TEST_P(RefinementOn, GivesTheSameBitsOnEveryTargetAndNumberOfThreads) {
  constexpr Size sizes[] = {{1, 1},  {1, 9},   {9, 1},   {2, 2},   {3, 40},   {7, 5},    {8, 16},   {15, 17},
                            {63, 7}, {64, 64}, {65, 33}, {129, 9}, {257, 70}, {33, 301}, {449, 150}};
  std::mt19937 random(1);
  unsigned seed = 1;
  for (const Size size : sizes)
    for (int i = 0; i < (sanitized ? 1 : 4); ++i) {
      VariationalRefinement parameters = random_method<VariationalRefinement>(random);
      parameters.refine = 1 + parameters.refine % 3;
      expect_same(RefinementCase(size, seed, seed % 3 ? 0.2f : 3.0f, seed % 2), parameters);
      if (HasFatalFailure()) return;
      ++seed;
    }
}

TEST_P(RefinementOn, TakesEveryNumberOfSweeps) {
  const RefinementCase c({77, 141}, 5, 0.2f, false);
  for (int sweeps = 1; sweeps <= 40; sweeps += sweeps < 13 ? 1 : 9)
    expect_same(c, {.refine = 1, .refine_sweeps = sweeps});
}

/// Flow that is far off leads outside the frame.
TEST_P(RefinementOn, TakesAnyFlow) {
  RefinementCase c({67, 45}, 5, 0.2f, true);
  for (std::size_t i = 0; i < c.u.size(); i += 5) {
    c.u[i] = i % 2 ? 67 : -67, c.v[i] = i % 3 ? 45 : -45;
    c.back_u[i * 3 % c.u.size()] = 60;
  }
  for (const RefineData data : {RefineData::luma, RefineData::color})
    expect_same(c, {.refine = 2, .refine_data = data});
}

TEST_P(RefinementOn, PixelsThatAreNotFiniteHaveNoWeight) {
  for (const float bad : bad_values)
    for (const int frame : {0, 1})
      for (const RefineData data : {RefineData::luma, RefineData::color}) {
        SCOPED_TRACE(testing::Message() << bad << " in frame " << frame);
        RefinementCase c({70, 50}, 3, 0.1f, false);
        c.set(frame, 20, 15, bad);
        for (int x = 40; x < 52; ++x)
          for (int y = 30; y < 37; ++y) c.set(frame, x, y, bad);
        expect_same(c, {.refine = 2, .refine_data = data});
      }
}

TEST_P(RefinementOn, FramesWithoutValuesKeepASmoothFlow) {
  RefinementCase c({70, 50}, 3, 0, false);
  std::fill(c.u.begin(), c.u.end(), 1.25f);
  std::fill(c.v.begin(), c.v.end(), -0.5f);
  for (std::vector<float>& frame : c.frames)
    std::fill(frame.begin(), frame.end(), std::numeric_limits<float>::quiet_NaN());
  for (const RefineData data : {RefineData::luma, RefineData::color}) {
    const RefinedValues found = refined_on(GetParam(), c, {.refine = 3, .refine_data = data});
    for (std::size_t i = 0; i < found.u.size(); ++i) {
      ASSERT_NEAR(found.u[i], 1.25, 1e-4);
      ASSERT_NEAR(found.v[i], -0.5, 1e-4);
    }
  }
}

/// A pixel reaches 4 px by smoothing and derivatives, the slopes of its cell, 12 cells by their sweeps,
/// another by interpolation, 2 px by each sweep, and 14 px by the median and its cells. Beyond that no bit
/// changes.
TEST_P(RefinementOn, ANaNPixelHasALimitedReach) {
  const VariationalRefinement parameters{.refine = 1, .refine_sweeps = 8};
  RefinementCase c({260, 40}, 9, 0.1f, false);
  const RefinedValues clean = refined_on(GetParam(), c, parameters);
  c.set(0, 20, 15, std::numeric_limits<float>::quiet_NaN());
  const RefinedValues found = refined_on(GetParam(), c, parameters);
  const int beyond = (24 / 8 + 12 + 2) * 8 + 2 * 8 + 14;
  bool changed = false;
  for (int y = 0; y < c.size.height; ++y)
    for (int x = 0; x < c.size.width; ++x) {
      const std::size_t i = c.at(x, y);
      const bool same = found.u[i] == clean.u[i] && found.v[i] == clean.v[i];
      ASSERT_TRUE(same || x < beyond) << x << ", " << y;
      changed = changed || !same;
      if (std::abs(x - 20) > 40) {
        ASSERT_NEAR(found.u[i], clean.u[i], 0.01) << x << ", " << y;
        ASSERT_NEAR(found.v[i], clean.v[i], 0.01) << x << ", " << y;
      }
    }
  EXPECT_TRUE(changed);
}

TEST_P(RefinementOn, AWarpMovesFlowByAtMostOnePixel) {
  RefinementCase c({70, 50}, 3, 3, false);
  for (const RefineData data : {RefineData::luma, RefineData::color}) {
    const VariationalRefinement parameters{.refine = 1, .refine_data = data, .refine_median = 0};
    const RefinedValues found = refined_on(GetParam(), c, parameters);
    float most = 0;
    for (std::size_t i = 0; i < found.u.size(); ++i)
      most = std::max({most, std::abs(found.u[i] - c.u[i]), std::abs(found.v[i] - c.v[i])});
    if (data == RefineData::luma) {  // a median follows for color
      EXPECT_LE(most, 1.000001f);
    }
    EXPECT_GT(most, 0.9f);
  }
}

/// If the flow back ends elsewhere, the data count less, and the flow follows its neighbors.
TEST_P(RefinementOn, TheFlowBackLowersWeights) {
  RefinementCase c({64, 48}, 11, 0.2f, true);
  const auto change = [&](float miss) {
    for (std::size_t i = 0; i < c.u.size(); ++i) c.back_u[i] = -c.u[i] + miss, c.back_v[i] = -c.v[i];
    RefinementCase without = c;
    without.back_u.clear(), without.back_v.clear();
    const VariationalRefinement parameters{.refine = 1, .refine_median = 0};
    const RefinedValues a = refined_on(GetParam(), c, parameters),
                        b = refined_on(GetParam(), without, parameters);
    double sum = 0;
    for (std::size_t i = 0; i < a.u.size(); ++i) sum += std::hypot(a.u[i] - b.u[i], a.v[i] - b.v[i]);
    return sum / double(a.u.size());
  };
  EXPECT_GT(change(20), 2 * change(0));
}

INSTANTIATE_TEST_SUITE_P(Targets, RefinementOn, every_target(), target_name);

}  // namespace
}  // namespace parafield
