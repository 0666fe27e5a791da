// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"
#include "core/workspace.hpp"

namespace parafield {

/// Fills invalid pixels from their row, in place. `planes` is a plane of disparities or a flow. A disparity
/// becomes the smaller of the nearest valid disparities to its left and right, because a pixel hidden from
/// one camera belongs to the background. A flow becomes the shorter of the two nearest valid vectors, or the
/// left one if both have the same length. If only one side has a valid pixel, it is used; a row without any
/// stays unchanged. `valid` is not changed.
template <class Backend, class Planes>
void fill_from_row(Backend& backend, Planes planes, View<const std::uint8_t> valid);

struct DisparityRow {
  float* d;

  PF_HD float size_at(int x) const { return d[x]; }
  PF_HD void copy(int from, int to) const { d[to] = d[from]; }
};

struct FlowRow {
  float *u, *v;

  PF_HD float size_at(int x) const { return fma(u[x], u[x], v[x] * v[x]); }
  PF_HD void copy(int from, int to) const {
    u[to] = u[from];
    v[to] = v[from];
  }
};

/// The column that fills a pixel between the valid columns left < right. One of them may be missing: then it
/// is -1 or `width`.
template <class Row>
PF_HD int source_of(Row row, int left, int right, int width) {
  if (left < 0) return right;
  if (right >= width) return left;
  return row.size_at(right) < row.size_at(left) ? right : left;
}

PF_HD DisparityRow row_of(View<float> disparities, int y) { return {disparities.row(y)}; }
PF_HD FlowRow row_of(FlowPlanes flow, int y) { return {flow.u.row(y), flow.v.row(y)}; }

}  // namespace parafield
