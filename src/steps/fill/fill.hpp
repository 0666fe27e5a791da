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

PF_HD float* row_of(View<float> disparities, int y) { return disparities.row(y); }
PF_HD float size_at(const float* d, int x) { return d[x]; }
PF_HD void copy_pixel(float* d, int from, int to) { d[to] = d[from]; }

PF_HD FlowRow row_of(FlowPlanes flow, int y) { return flow.row(y); }
PF_HD float size_at(const FlowRow& flow, int x) { return fma(flow.u[x], flow.u[x], flow.v[x] * flow.v[x]); }
PF_HD void copy_pixel(const FlowRow& flow, int from, int to) { flow.set(to, flow[from]); }

/// The column that fills a pixel between the valid columns left < right. One of them may be missing: then it
/// is -1 or `width`.
template <class Row>
PF_HD int source_of(Row row, int left, int right, int width) {
  if (left < 0) return right;
  if (right >= width) return left;
  return size_at(row, right) < size_at(row, left) ? right : left;
}

}  // namespace parafield
