// SPDX-License-Identifier: MIT
#pragma once
// Lucas-Kanade against its oracle: the same equations in float and in float64.
//
// Rounding separates the two by about 1e-7 px where the window determines the flow well. Elsewhere each
// iteration multiplies the difference, and a match that only one of the two sees outside the frame has weight
// 1 in one and 0 in the other. Therefore flow is compared at pixels with a large smaller eigenvalue, and
// validity and confidence wherever the flow agrees.
#include <gtest/gtest.h>

#include "oracle/lucas_kanade.hpp"
#include "parafield/flow.hpp"

namespace parafield {

/// Prints the parameters when a test fails.
inline void PrintTo(const LucasKanade& method, std::ostream* out) {
  describe(method, [&]<class T>(const T& value, const Parameter<T>& parameter) {
    *out << parameter.name << ' ' << detail::text_of(value) << "  ";
  });
}

/// Smaller eigenvalue of the normal matrix, alpha included, that a pixel needs to be compared.
constexpr double least_eigenvalue = 1e-4;

/// Accepted differences of flow, px.
struct Agreement {
  double mean = 5e-6, percentile99 = 2e-5, largest = 1e-3;
};

inline void expect_agreement(const FlowField& flow, const oracle::LucasKanadeResult& expected,
                             const LucasKanade& method, Agreement tolerance = {}) {
  const Size size = expected.confidence.size;
  ASSERT_EQ(flow.size(), size);
  std::vector<double> differences;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      ASSERT_TRUE(std::isfinite(flow.u(x, y)) && std::isfinite(flow.v(x, y))) << "at " << x << ", " << y;
      ASSERT_LE(flow.valid(x, y), 1);
      const double u = expected.flow.u(x, y), v = expected.flow.v(x, y),
                   eigenvalue = expected.eigenvalue(x, y);
      const double difference = std::hypot(flow.u(x, y) - u, flow.v(x, y) - v);
      if (eigenvalue + method.alpha >= least_eigenvalue) differences.push_back(difference);
      if (difference > tolerance.percentile99) continue;

      const bool eigenvalue_decides = std::abs(eigenvalue - method.min_eigenvalue) < 0.01 * eigenvalue + 1e-7;
      const auto near_border = [&](double position, int side) {
        return std::min(std::abs(position), std::abs(position - (side - 1))) < 2 * tolerance.percentile99;
      };
      const bool border_decides = near_border(x + expected.solved.u(x, y), size.width) ||
                                  near_border(y + expected.solved.v(x, y), size.height);
      if (!border_decides) {
        const double confidence = expected.confidence(x, y);
        EXPECT_NEAR(flow.confidence(x, y), confidence, 0.02 * confidence + 0.01) << "at " << x << ", " << y;
      }
      const bool residual_decides = std::abs(expected.residual(x, y) - method.max_residual) < 1e-4;
      if (!eigenvalue_decides && !border_decides && !residual_decides) {
        EXPECT_EQ(flow.valid(x, y), expected.valid(x, y)) << "at " << x << ", " << y;
      }
    }
  if (differences.empty()) return;
  std::sort(differences.begin(), differences.end());
  double mean = 0;
  for (double difference : differences) mean += difference / differences.size();
  const double percentile99 = differences[std::size_t(0.99 * (differences.size() - 1))];
  EXPECT_LE(mean, tolerance.mean);
  EXPECT_LE(percentile99, tolerance.percentile99);
  EXPECT_LE(differences.back(), tolerance.largest);
}

/// Without the refinement, which has an oracle of its own.
inline void expect_agreement(const Frame& frame0, const Frame& frame1, LucasKanade method,
                             Agreement tolerance = {}) {
  method.refinement.refine = 0;
  expect_agreement(estimate_flow(frame0, frame1, method, {.device = Device::cpu(2), .min_confidence = 0}),
                   oracle::lucas_kanade(oracle::luma(frame0), oracle::luma(frame1), method), method,
                   tolerance);
}

}  // namespace parafield
