// SPDX-License-Identifier: MIT
// The median's sorting networks on every arrangement of zeros and ones: a network that sorts these sorts any
// values.
#include "steps/median/median.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace parafield {
namespace {

/// Columns of zeros, then ones. `ones`: number of ones in each column, as digits of base Side + 1.
template <int Side>
void fill_sorted_columns(unsigned ones, float (&columns)[Side][Side]) {
  for (int i = 0; i < Side; ++i, ones /= Side + 1)
    for (int j = 0; j < Side; ++j) columns[i][j] = j >= Side - int(ones % (Side + 1)) ? 1.0f : 0.0f;
}

/// Median of all values.
template <int Side>
float middle(const float (&columns)[Side][Side]) {
  int ones = 0;
  for (const auto& column : columns)
    for (const float value : column) ones += value == 1;
  return ones > Side * Side / 2 ? 1.0f : 0.0f;
}

TEST(MedianNetworks, SortColumns) {
  for (unsigned bits = 0; bits < 32; ++bits) {
    float five[5], three[3];
    for (int i = 0; i < 5; ++i) five[i] = float(bits >> i & 1);
    for (int i = 0; i < 3; ++i) three[i] = float(bits >> i & 1);
    sort(five);
    sort(three);
    EXPECT_TRUE(std::is_sorted(five, five + 5)) << bits;
    EXPECT_TRUE(std::is_sorted(three, three + 3)) << bits;
    float four[4], with_fifth[5];
    for (int i = 0; i < 4; ++i) four[i] = float(bits >> i & 1);
    sort(four);
    EXPECT_TRUE(std::is_sorted(four, four + 4)) << bits;
    insert(float(bits >> 4 & 1), four, with_fifth);
    EXPECT_TRUE(std::equal(five, five + 5, with_fifth)) << bits;
  }
}

TEST(MedianNetworks, MedianOfSortedColumns) {
  for (unsigned ones = 0; ones < 4 * 4 * 4; ++ones) {
    float c[3][3];
    fill_sorted_columns(ones, c);
    EXPECT_EQ(median_of_columns(c[0], c[1], c[2]), middle(c)) << ones;
  }
  for (unsigned ones = 0; ones < 6 * 6 * 6 * 6 * 6; ++ones) {
    float c[5][5], a[10], b[10], six[6];
    fill_sorted_columns(ones, c);
    merge(c[0], c[1], a);
    merge(c[2], c[3], b);
    ASSERT_TRUE(std::is_sorted(a, a + 10)) << ones;
    middle_of_pairs(a, b, six);
    EXPECT_EQ(median_with_column(six, c[4]), middle(c)) << ones;
  }
}

}  // namespace
}  // namespace parafield
