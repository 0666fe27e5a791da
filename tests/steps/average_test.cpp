// SPDX-License-Identifier: MIT
// Averages of frames over time: the oracle's, and the same bits on every target.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "steps/average_on.hpp"

namespace parafield {
namespace {

class Average : public OnTarget {};

TEST_P(Average, IsThatOfTheOracle) {
  for (const Size size : {Size{1, 1}, Size{5, 3}, Size{67, 9}, Size{130, 20}}) {
    const AverageCase c(size, unsigned(size.width));
    const Averages found = averages_on(GetParam(), c, 2);
    for (int i = 0; i < AverageCase::frames; ++i)
      for (std::size_t k = 0; k < found.count[i].size(); ++k) {
        double count = 1, mean[AverageCase::planes];
        for (int j = 0; j < AverageCase::planes; ++j) mean[j] = double(c.plane[0][i][j][k]);
        for (int time = 1; time < AverageCase::times; ++time) {
          const double noise = AverageCase::noise, change = double(c.change[time][i][k]);
          count = std::min(std::clamp((1.85 * noise - change) / (0.5 * noise), 0.0, 1.0) * count + 1, 8.0);
          for (int j = 0; j < AverageCase::planes; ++j)
            mean[j] += (double(c.plane[time][i][j][k]) - mean[j]) / count;
        }
        ASSERT_NEAR(count, double(found.count[i][k]), 1e-4) << k;
        for (int j = 0; j < AverageCase::planes; ++j)
          ASSERT_NEAR(mean[j], double(found.mean[i][j][k]), 1e-2) << k;
      }
    const auto& last = c.plane[AverageCase::times - 1][0][0];
    for (std::size_t k = 0; k < last.size(); ++k)
      ASSERT_EQ(found.change[k], std::abs(last[k] - found.mean[0][0][k])) << k;
    EXPECT_EQ(found, averages_on(reference_target(), c, 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Average, every_target(), target_name);

}  // namespace
}  // namespace parafield
