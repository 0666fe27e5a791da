// SPDX-License-Identifier: MIT
#pragma once
#include <initializer_list>

#include "parafield/stereo.hpp"

namespace parafield {

/// A field of one row, valid everywhere.
inline DisparityField row(std::initializer_list<float> disparities) {
  DisparityField field(Size{int(disparities.size()), 1});
  int x = 0;
  for (const float d : disparities) {
    field.d(x, 0) = d;
    field.valid(x++, 0) = 1;
  }
  return field;
}

}  // namespace parafield
