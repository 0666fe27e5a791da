// SPDX-License-Identifier: MIT
#pragma once
#include "oracle/label_fields.hpp"
#include "parafield/parafield.hpp"

namespace parafield {

// Labels of a result with whole values.

inline oracle::Labels labels_of(const DisparityField& field, const StereoEnergy& energy) {
  oracle::Labels labels;
  for (int y = 0; y < field.size().height; ++y)
    for (int x = 0; x < field.size().width; ++x) labels.push_back(int(field.d(x, y)) - energy.min_disparity);
  return labels;
}
inline oracle::Labels labels_of(const FlowField& field, const DisplacementEnergy& energy) {
  const int most = energy.max_displacement, side = 2 * most + 1;
  oracle::Labels labels;
  for (int y = 0; y < field.size().height; ++y)
    for (int x = 0; x < field.size().width; ++x)
      labels.push_back((int(field.v(x, y)) + most) * side + int(field.u(x, y)) + most);
  return labels;
}
inline oracle::Labels labels_of(const MotionMask& mask, const ChangeEnergy&) {
  oracle::Labels labels;
  for (int y = 0; y < mask.size().height; ++y)
    for (int x = 0; x < mask.size().width; ++x) labels.push_back(mask.moving(x, y));
  return labels;
}

/// Constant that reported energies leave out: an edge of a mask costs -beta or beta, reported as 0 or 2 beta.
inline double left_out(const ChangeEnergy& energy, Size size) {
  return -double(energy.beta) * oracle::edges(size, 8);
}
template <class Energy>
double left_out(const Energy&, Size) {
  return 0;
}

}  // namespace parafield
