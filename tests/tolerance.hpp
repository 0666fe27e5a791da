// SPDX-License-Identifier: MIT
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace parafield {

/// Accepted differences of flow from an oracle, px.
struct Tolerance {
  double median = 1e-5, percentile99 = 1e-4, largest = 2e-3;
};

/// Expects differences within the tolerance.
inline void expect_within(std::vector<double> differences, const Tolerance& tolerance) {
  std::sort(differences.begin(), differences.end());
  const auto at = [&](double share) {
    return differences[std::size_t(share * double(differences.size() - 1))];
  };
  EXPECT_LE(at(0.5), tolerance.median);
  EXPECT_LE(at(0.99), tolerance.percentile99);
  EXPECT_LE(at(1), tolerance.largest);
}

}  // namespace parafield
