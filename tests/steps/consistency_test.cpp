// SPDX-License-Identifier: MIT
// The checks that clear `valid`.
#include "steps/consistency/consistency.hpp"

#include <cmath>
#include <limits>

#include "steps/guarded.hpp"

namespace parafield {
namespace {

using Mask = GuardedImage<std::uint8_t>;

class Consistency : public OnTarget {
 protected:
  /// Checks disparities on the target. Before, all pixels but every seventh are valid.
  Mask check(Guarded& left, Guarded& right, float tolerance) {
    const Size size = left.view().size();
    Mask valid(size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) valid.view()(x, y) = was_valid(x, y);
    run_on(GetParam(), {&left, &right, &valid}, [&]<class Backend>(Backend& backend) {
      check_disparities<Backend>(backend, left.view(), right.view(), tolerance, valid.view(), {});
    });
    return valid;
  }
  static bool was_valid(int x, int y) { return (x + 3 * y) % 7 != 6; }
};

TEST_P(Consistency, DisparitiesAgreeWithThePlainLoop) {
  for (const Size size : sizes)
    for (const float tolerance : {0.0f, 1.0f, 2.5f}) {
      const std::string what = text_of(size) + ", tolerance " + std::to_string(tolerance);
      Guarded left(size), right(size);
      std::mt19937 random(13);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          left.view()(x, y) = float(random() % 33) / 4 - 1;  // quarters, so halves and equal values occur
          right.view()(x, y) = float(random() % 33) / 4 - 1;
        }
      left.view()(0, 0) = std::numeric_limits<float>::quiet_NaN();
      right.view()(size.width / 2, size.height / 2) = std::numeric_limits<float>::quiet_NaN();
      left.view()(size.width - 1, size.height - 1) = 1e30f;
      left.view()(size.width - 1, 0) = -std::numeric_limits<float>::infinity();
      Mask valid = check(left, right, tolerance);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          const double d = left.view()(x, y), column = std::floor(x - d + 0.5);
          const bool inside = column >= 0 && column <= size.width - 1;
          const bool expected = inside && std::abs(double(right.view()(int(column), y)) - d) <= tolerance;
          ASSERT_EQ(valid.view()(x, y), expected && was_valid(x, y))
              << what << " at (" << x << ", " << y << "), d = " << d;
        }
      valid.expect_intact_guard(what);
    }
}

TEST_P(Consistency, HalvesAreRoundedToTheRight) {
  Guarded left({4, 1}), right({4, 1});
  for (int x = 0; x < 4; ++x) {
    left.view()(x, 0) = 0.5f;
    right.view()(x, 0) = x == 0 ? 0.5f : float(x);
  }
  right.view()(2, 0) = 0.5f;
  Mask valid = check(left, right, 0);
  // columns -0.5, 0.5, 1.5, 2.5 become 0, 1, 2, 3
  EXPECT_EQ(valid.view()(0, 0), 1);
  EXPECT_EQ(valid.view()(1, 0), 0);
  EXPECT_EQ(valid.view()(2, 0), 1);
  EXPECT_EQ(valid.view()(3, 0), 0);
}

TEST_P(Consistency, ProjectedDisparitiesAreTheLargest) {
  std::vector<Size> all(std::begin(sizes), std::end(sizes));
  all.push_back({12300, 1});  // CUDA has no shared memory for so wide a row
  for (const Size size : all) {
    Guarded left(size), right(size);
    Mask valid(size), unsure(size), checked(size), unsure_of_checked(size);
    std::mt19937 random(17);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        left.view()(x, y) = float(random() % 65) / 4 - 4;
        valid.view()(x, y) = checked.view()(x, y) = random() % 4 > 0;
      }
    run_on(GetParam(), {&left, &right, &valid, &unsure, &checked, &unsure_of_checked},
           [&]<class Backend>(Backend& backend) {
             project_disparities<Backend>(backend, left.view(), right.view(), 2.0f, valid.view(),
                                          unsure.view());
             check_disparities<Backend>(backend, left.view(), right.view(), 2.0f, checked.view(),
                                        unsure_of_checked.view());
           });
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        float expected = -std::numeric_limits<float>::infinity();
        for (int from = std::max(0, x - 8); from < std::min(size.width, x + 32); ++from) {
          const double d = left.view()(from, y);
          if (std::floor(from - d + 0.5) == x) expected = std::max(expected, float(d));
        }
        const std::string at = text_of(size) + " at (" + std::to_string(x) + ", " + std::to_string(y) + ")";
        ASSERT_EQ(right.view()(x, y), expected) << at;
        ASSERT_EQ(valid.view()(x, y), checked.view()(x, y)) << at;
        ASSERT_EQ(unsure.view()(x, y), unsure_of_checked.view()(x, y)) << at;
      }
    right.expect_intact_guard(text_of(size));
    for (Mask* mask : {&valid, &unsure}) mask->expect_intact_guard(text_of(size));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Consistency, every_target(), target_name);

}  // namespace
}  // namespace parafield
