// SPDX-License-Identifier: MIT
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "parafield/fields.hpp"

/// Comparison of images and results bit by bit. NaN equals NaN. `what` goes into the messages.
namespace parafield {

template <class T>
void expect_same(View<const T> found, View<const T> expected, const std::string& what = {}) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (int y = 0; y < found.height; ++y)
    for (int x = 0; x < found.width; ++x) {
      const T a = found(x, y), b = expected(x, y);
      ASSERT_TRUE(std::memcmp(&a, &b, sizeof(T)) == 0 || (a != a && b != b))
          << what << " at (" << x << ", " << y << "): " << +a << " instead of " << +b;
    }
}
template <class T>
void expect_same(const Image<T>& found, const Image<T>& expected, const std::string& what = {}) {
  expect_same(View<const T>(found), View<const T>(expected), what);
}

/// Compares all planes of two results.
template <class Field>
requires requires(const Field& field) { field.planes(); }
void expect_same(const Field& found, const Field& expected, const std::string& what = {}) {
  detail::for_each_plane(found, expected, [&](const auto& a, const auto& b) { expect_same(a, b, what); });
}

/// Compares only u and v.
inline void expect_same_motion(const FlowField& found, const FlowField& expected,
                               const std::string& what = {}) {
  expect_same(found.u, expected.u, what);
  expect_same(found.v, expected.v, what);
}

}  // namespace parafield
