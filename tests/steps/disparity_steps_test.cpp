// SPDX-License-Identifier: MIT
// The confidence of disparities, against float64.
#include <cmath>

#include "not_finite.hpp"
#include "oracle/grid.hpp"
#include "steps/consistency/consistency.hpp"
#include "steps/guarded.hpp"

namespace parafield {
namespace {

using oracle::Grid;

std::string at(const std::string& what, int x, int y) {
  return what + " at (" + std::to_string(x) + ", " + std::to_string(y) + ")";
}

bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// Random disparities. `step`: between possible values.
void fill_randomly(View<float> d, unsigned seed, float step) {
  std::mt19937 random(seed);
  for (int y = 0; y < d.height; ++y)
    for (int x = 0; x < d.width; ++x) d(x, y) = float(int(random() % 33) - 12) * step;
}

class DisparitySteps : public OnTarget {};

/// Planes of a left-right pair. The test chooses whether the right ones are used.
struct Evidence {
  Guarded left, right, margin, right_margin;
  bool has_right, has_margin;

  Evidence(Size size, bool with_right, bool with_margin)
      : left(size),
        right(size),
        margin(size),
        right_margin(size),
        has_right(with_right),
        has_margin(with_margin) {
    fill_randomly(left.view(), 43, size.width % 2 ? 1 : 0.25f);  // quarters, too: halves must be rounded
    fill_randomly(right.view(), 44, 1);
    std::mt19937 random(45);
    const auto near = [&](int x, int y) { return left.view()(x, y) + float(int(random() % 3) - 1); };
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        if (random() % 4 && x > 0) left.view()(x, y) = near(x - 1, y);  // smooth, with steps
        if (random() % 4) right.view()(x, y) = near(x, y);
        margin.view()(x, y) = float(random() % 1024) / 512;
        right_margin.view()(x, y) = float(random() % 1024) / 512;
      }
  }
  Size size() { return left.view().size(); }

  /// Confidence on a target.
  Guarded confidence(const Target& target) {
    Guarded result(size());
    for (int y = 0; y < size().height; ++y)
      for (int x = 0; x < size().width; ++x) result.view()(x, y) = margin.view()(x, y);
    run_on(
        target, {&left, &right, &right_margin, &result},
        [&]<class Backend>(Backend& backend) {
          DisparityEvidence evidence{left.view(), {}, {}};
          if (has_right) evidence.right = right.view();
          if (has_margin) evidence.right_margin = right_margin.view();
          disparity_confidence(backend, evidence, result.view());
        },
        1);
    return result;
  }

  /// Confidence of a pixel; `d`: left disparities. A match out of the image has a difference of 9 and a
  /// margin of 0.
  double expected(const Grid& d, int x, int y) {
    double similar = 0, difference = 0, least = margin.view()(x, y);
    for (int j = -2; j <= 2; ++j)
      for (int i = -2; i <= 2; ++i) similar += std::abs(d(x + i, y + j) - d(x, y)) <= 1;
    if (has_right) {
      const double column = std::floor(x - d(x, y) + 0.5);
      const bool inside = column >= 0 && column < size().width;
      const double e = inside ? std::abs(right.view()(int(column), y) - d(x, y)) : 9;
      difference = e < 9 ? e : 9;  // also if it is not a number
      if (has_margin) least = std::min(least, inside ? right_margin.view()(int(column), y) + 0.3 : 0.0);
    }
    return least / (1 + difference * difference) * (similar / 25) * (similar / 25);
  }
};

constexpr bool planes_of_right[][2] = {{false, false}, {true, false}, {true, true}};

TEST_P(DisparitySteps, ConfidenceAgreesWithTheOracle) {
  for (const Size size : sizes)
    for (const auto& [has_right, has_margin] : planes_of_right) {
      const std::string what = text_of(size) + (has_right ? ", right" : "") + (has_margin ? ", margins" : "");
      Evidence evidence(size, has_right, has_margin);
      Guarded actual = evidence.confidence(GetParam());
      actual.expect_intact_guard(what);
      if (sanitized) continue;
      Guarded reference = evidence.confidence(reference_target());
      const Grid d = oracle::grid_of(evidence.left.view());
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          ASSERT_TRUE(same_bits(actual.view()(x, y), reference.view()(x, y))) << at(what, x, y);
          ASSERT_NEAR(actual.view()(x, y), evidence.expected(d, x, y), 2e-6) << at(what, x, y);
        }
    }
}

/// Matches left and right of the image, and disparities without a value.
TEST_P(DisparitySteps, ConfidenceWithoutAMatch) {
  constexpr Size size{30, 12};
  for (const bool has_margin : {false, true}) {
    Evidence evidence(size, true, has_margin);
    const View<float> left = evidence.left.view(), right = evidence.right.view();
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        left(x, y) = y < 6 ? 40.0f : -40.0f;
        right(x, y) = 40;
      }
    left(15, 3) = nan;
    left(15, 9) = 1e30f;
    left(3, 3) = 3;
    right(0, 3) = nan;
    left(7, 3) = 3;
    right(4, 3) = -infinity;  // no disparity has been projected there
    Guarded actual = evidence.confidence(GetParam());
    const Grid d = oracle::grid_of(evidence.left.view());
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const float confidence = actual.view()(x, y);
        if (x == 15 && y == 3) {
          EXPECT_EQ(confidence, 0);  // a disparity without a value is not even similar to itself
          continue;
        }
        const bool is_inside = y == 3 && (x == 3 || x == 7);
        ASSERT_NEAR(confidence, evidence.expected(d, x, y), 1e-7) << at("", x, y);
        ASSERT_FALSE(has_margin && !is_inside && confidence != 0) << at("", x, y);
      }
  }
}

/// A plane that is the same in both images has the confidence of its margins.
TEST_P(DisparitySteps, ConfidenceOfAPlaneIsItsMargin) {
  Evidence evidence({50, 20}, true, true);
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 50; ++x) {
      evidence.left.view()(x, y) = evidence.right.view()(x, y) = 4;
      evidence.right_margin.view()(x, y) = 0.5f;
    }
  Guarded actual = evidence.confidence(GetParam());
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 50; ++x)
      ASSERT_NEAR(actual.view()(x, y), x < 4 ? 0 : std::min(evidence.margin.view()(x, y), 0.8f), 1e-6)
          << at("", x, y);
}

INSTANTIATE_TEST_SUITE_P(Targets, DisparitySteps, every_target(), target_name);

}  // namespace
}  // namespace parafield
