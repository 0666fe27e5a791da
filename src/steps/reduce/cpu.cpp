// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/reduce/reduce.hpp"

namespace parafield {
namespace {

/// Sum of the lanes in the order that reduce.hpp states.
double add_lanes(double (&lane)[sum_lanes]) {
  for (int step = sum_lanes / 2; step > 0; step /= 2)
    for (int j = 0; j < step; ++j) lane[j] += lane[j + step];
  return lane[0];
}

template <class T>
double sum_of(const T* values, int count) {
  double lane[sum_lanes] = {};
  int i = 0;
  for (; i + sum_lanes <= count; i += sum_lanes)
    for (int j = 0; j < sum_lanes; ++j) lane[j] += double(values[i + j]);
  for (int j = 0; j < count - i; ++j) lane[j] += double(values[i + j]);
  return add_lanes(lane);
}

}  // namespace

template <class Backend>
void sum(Backend& cpu, View<const float> values, View<double> row_sums, double* total) {
  double* const sums = row_sums.data;
  cpu.rows(values.height, [=](int y) { sums[y] = sum_of(values.row(y), values.width); });
  *total = sum_of(sums, values.height);
}

PF_STEP(sum<Cpu>);

}  // namespace parafield
