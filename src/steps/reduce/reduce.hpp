// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

constexpr int sum_lanes = 32;

/// Sum of an image in float64, in the same order on every device. In each row, lane j of 32 adds values j, j
/// + 32, j + 64 and so on, one after the other. Then lane j adds lane j + 16 for all j < 16, lane j + 8 for
/// all j < 8, and so on. The sums of the rows are added in the same way. `row_sums`: scratch, an image of one
/// row, as wide as `values` is high. `total` must be in the backend's memory.
template <class Backend>
void sum(Backend& backend, View<const float> values, View<double> row_sums, double* total);

}  // namespace parafield
