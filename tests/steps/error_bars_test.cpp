// SPDX-License-Identifier: MIT
// Error bars on every target: against float64, the same bits, and values that are not finite.
#include "oracle/error_bars.hpp"

#include <limits>
#include <string>

#include "steps/error_bars_on.hpp"

namespace parafield {
namespace {

constexpr Size bars_sizes[] = {{1, 1},   {1, 40},  {40, 1},  {2, 3},   {5, 7},   {8, 8},    {17, 9},
                               {33, 21}, {32, 16}, {65, 33}, {90, 61}, {129, 9}, {257, 70}, {33, 141}};
constexpr float infinity = std::numeric_limits<float>::infinity(),
                nan = std::numeric_limits<float>::quiet_NaN();

template <class T>
oracle::Grid grid(Size size, const std::vector<T>& values) {
  return oracle::tabulate(size, [&](int x, int y) {
    return double(values[std::size_t(y) * std::size_t(size.width) + std::size_t(x)]);
  });
}

/// Values agree to a share of their size.
void expect_near(const std::vector<float>& found, const oracle::Grid& expected, const std::string& what) {
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected.values[i], 2e-4 * (std::abs(expected.values[i]) + 1e-3))
        << what << " " << i;
}
/// Causes may differ where two of them are nearly as large.
void expect_most(const std::vector<std::uint8_t>& found, const oracle::Grid& expected,
                 const std::string& what) {
  std::size_t differ = 0;
  for (std::size_t i = 0; i < found.size(); ++i) differ += found[i] != expected.values[i];
  EXPECT_LE(differ, found.size() / 500) << what;
}
std::string named(Size size, unsigned seed) {
  return std::to_string(size.width) + "x" + std::to_string(size.height) + " seed " + std::to_string(seed);
}

class ErrorBarsOn : public OnTarget {
 protected:
  /// The bits of the reference target, on any number of threads.
  template <class Case>
  static void expect_same(const Case& c, const std::string& what) {
    const auto expected = bars_on(reference_target(), c);
    for (const int threads : {1, 2, 3}) {
      const auto found = bars_on(GetParam(), c, threads);
      EXPECT_TRUE(found == expected) << what << " with " << threads << " threads";
    }
  }
  /// No NaN, probabilities from 0 to 1, matrices that are covariances.
  static void expect_sound(const FlowBarsValues& bars) {
    for (std::size_t i = 0; i < bars.xx.size(); ++i) {
      ASSERT_GT(bars.xx[i], 0) << i;
      ASSERT_GT(bars.yy[i], 0) << i;
      ASSERT_TRUE(std::isfinite(bars.xy[i])) << i;
      ASSERT_LE(double(bars.xy[i]) * bars.xy[i], 1.0001 * double(bars.xx[i]) * bars.yy[i]) << i;
      ASSERT_TRUE(bars.outlier[i] >= bars.outlier3[i] && bars.outlier3[i] >= 0 && bars.outlier[i] <= 1) << i;
      ASSERT_LE(bars.cause[i], std::uint8_t(ErrorCause::left_frame)) << i;
    }
  }
};

TEST_P(ErrorBarsOn, OfFlowAgreeWithFloat64) {
  unsigned seed = 1;
  for (const Size size : bars_sizes)
    for (const bool back : {false, true})
      for (const float error : {0.02f, 1.0f}) {
        const FlowBarsCase c(size, seed, error, back);
        const oracle::FlowGrids flow{grid(size, c.u), grid(size, c.v)};
        oracle::FlowGrids flow_back;
        if (back) flow_back = {grid(size, c.back_u), grid(size, c.back_v)};
        const oracle::FlowErrorGrids expected =
            oracle::flow_error_grids(grid(size, c.luma0), grid(size, c.luma1), flow,
                                     back ? &flow_back : nullptr, grid(size, c.valid), c.model());
        const FlowBarsValues found = bars_on(GetParam(), c);
        const std::string what = named(size, seed++);
        expect_near(found.xx, expected.xx, "xx " + what);
        expect_near(found.xy, expected.xy, "xy " + what);
        expect_near(found.yy, expected.yy, "yy " + what);
        expect_near(found.outlier, expected.outlier, "outlier " + what);
        expect_near(found.outlier3, expected.outlier3, "outlier3 " + what);
        expect_most(found.cause, expected.cause, "cause " + what);
        if (HasFatalFailure()) return;
      }
}

TEST_P(ErrorBarsOn, OfDisparitiesAgreeWithFloat64) {
  unsigned seed = 1;
  for (const Size size : bars_sizes)
    for (const float error : {0.3f, 1.5f}) {
      const DisparityBarsCase c(size, seed, error);
      const auto luma = [&](const Plane<std::uint32_t>& words) {
        return oracle::tabulate(size, [&](int x, int y) {
          const std::uint32_t word = words[std::size_t(y) * std::size_t(size.width) + std::size_t(x)];
          return double((word & 255) + 2 * (word >> 8 & 255) + (word >> 16 & 255)) / 4;
        });
      };
      const oracle::DisparityErrorGrids expected = oracle::disparity_error_grids(
          luma(c.left), luma(c.right_colors), grid(size, c.d), grid(size, c.right), grid(size, c.valid),
          grid(size, c.confidence), disparity_errors);
      const DisparityBarsValues found = bars_on(GetParam(), c);
      const std::string what = named(size, seed++);
      expect_near(found.sigma, expected.sigma, "sigma " + what);
      expect_near(found.outlier, expected.outlier, "outlier " + what);
      expect_near(found.outlier3, expected.outlier3, "outlier3 " + what);
      expect_most(found.cause, expected.cause, "cause " + what);
      if (HasFatalFailure()) return;
    }
}

TEST_P(ErrorBarsOn, HaveTheSameBitsOnEveryTargetAndNumberOfThreads) {
  unsigned seed = 1;
  for (const Size size : bars_sizes)
    for (int i = 0; i < (sanitized ? 1 : 3); ++i, ++seed) {
      expect_same(FlowBarsCase(size, seed, seed % 3 ? 0.2f : 5.0f, seed % 2), named(size, seed));
      expect_same(DisparityBarsCase(size, seed, seed % 3 ? 0.3f : 4.0f), named(size, seed));
    }
}

/// Values that are not finite, or huge, in frames and flow: error bars stay sound, and the bits the same.
TEST_P(ErrorBarsOn, TakeAnyValue) {
  for (const bool back : {false, true})
    for (const float bad :
         {nan, infinity, -infinity, std::numeric_limits<float>::max(), -1e25f, 1e15f, 1e7f}) {
      FlowBarsCase c({70, 50}, 3, 0.2f, back);
      c.luma0[c.at(20, 15)] = c.luma1[c.at(50, 30)] = bad;
      c.u[c.at(35, 40)] = c.v[c.at(10, 5)] = bad;
      if (back) c.back_u[c.at(60, 10)] = bad;
      const std::string what = std::to_string(bad) + (back ? " with flow back" : "");
      SCOPED_TRACE(what);
      const FlowBarsValues found = bars_on(GetParam(), c);
      expect_sound(found);
      EXPECT_GT(found.outlier[c.at(35, 40)], 0.9);
      EXPECT_EQ(found.cause[c.at(35, 40)], std::uint8_t(ErrorCause::left_frame));
      expect_same(c, what);
    }
}

/// A pixel without a value in a frame hides the texture around it, and affects nothing farther away.
TEST_P(ErrorBarsOn, PixelsWithoutAValueHaveNoWeight) {
  FlowBarsCase c({64, 48}, 5, 0.05f, false);
  for (float& u : c.u) u = 0;
  for (float& v : c.v) v = 0;
  const FlowBarsValues before = bars_on(GetParam(), c);
  c.luma0[c.at(30, 20)] = nan;
  const FlowBarsValues after = bars_on(GetParam(), c);
  expect_sound(after);
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x)
      if (std::abs(x - 30) > 12 || std::abs(y - 20) > 12) {
        ASSERT_EQ(before.xx[c.at(x, y)], after.xx[c.at(x, y)]);
      }
  EXPECT_NE(before.xx[c.at(30, 20)], after.xx[c.at(30, 20)]);
}

TEST_P(ErrorBarsOn, GrowWithNoiseAndAtBoundaries) {
  const FlowBarsCase precise({64, 48}, 5, 0.01f, false), wrong({64, 48}, 5, 1, false);
  const FlowBarsValues small = bars_on(GetParam(), precise), large = bars_on(GetParam(), wrong);
  double sum_small = 0, sum_large = 0;
  for (std::size_t i = 0; i < small.xx.size(); ++i) sum_small += small.xx[i], sum_large += large.xx[i];
  EXPECT_GT(sum_large, 4 * sum_small);
  EXPECT_GT(small.xx[precise.at(32, 20)] + small.yy[precise.at(32, 20)],
            4 * (small.xx[precise.at(10, 20)] + small.yy[precise.at(10, 20)]));
  EXPECT_EQ(small.cause[precise.at(32, 20)], std::uint8_t(ErrorCause::boundary));
}

INSTANTIATE_TEST_SUITE_P(Targets, ErrorBarsOn, every_target(), target_name);

}  // namespace
}  // namespace parafield
