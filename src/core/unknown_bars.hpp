// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>

#include "core/arithmetic.hpp"
#include "parafield/fields.hpp"

namespace parafield {

/// px^2: variances where nothing is known. They are finite, so that a filter that inverts them gets no NaN.
constexpr float unknown_variance = 1e12f;

/// Marks a pixel as an outlier, as far as the field has the planes.
template <class Field>
void set_outlier(Field& field, int x, int y, ErrorCause cause) {
  if (field.outlier) field.outlier(x, y) = 1;
  if (field.outlier3) field.outlier3(x, y) = 1;
  if (field.cause) field.cause(x, y) = std::uint8_t(cause);
}
/// Makes the error bars of a pixel, as far as the field has them, say that nothing is known about it.
inline void set_bars_unknown(FlowField& flow, int x, int y, ErrorCause cause) {
  if (flow.covariance) {
    flow.covariance.xx(x, y) = flow.covariance.yy(x, y) = unknown_variance;
    flow.covariance.xy(x, y) = 0;
  }
  set_outlier(flow, x, y, cause);
}
inline void set_bars_unknown(DisparityField& disparity, int x, int y, ErrorCause cause) {
  if (disparity.sigma) disparity.sigma(x, y) = std::sqrt(unknown_variance);
  set_outlier(disparity, x, y, cause);
}

}  // namespace parafield
