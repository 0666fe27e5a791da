#pragma once
#include "core/arithmetic.hpp"
#include "core/workspace.hpp"

namespace parafield {

/// Gives each pixel that is not valid the smaller one of the nearest valid disparities to its left and right: what is
/// hidden from one camera belongs to the background. Where only one side has a valid pixel that one's counts; a row
/// without any stays as it is. In place; `valid` says for whom, and does not change.
template <class Backend>
void fill_from_row(Backend& backend, View<float> disparities, View<const std::uint8_t> valid);

/// The same for flow: the shorter one of the nearest valid vectors, the left one where both are as long.
template <class Backend>
void fill_from_row(Backend& backend, FlowPlanes flow, View<const std::uint8_t> valid);

// Which pixel of a row is taken for one between two valid ones, at columns left < right. Either may be missing: -1 and
// the width. Not both.

struct DisparityRow {
  float* d;

  PF_HD int source(int left, int right, int width) const {
    if (left < 0) return right;
    if (right >= width) return left;
    return d[right] < d[left] ? right : left;
  }
  PF_HD void copy(int from, int to) const { d[to] = d[from]; }
};

struct FlowRow {
  float *u, *v;

  PF_HD float length2(int x) const { return fma(u[x], u[x], v[x] * v[x]); }
  PF_HD int source(int left, int right, int width) const {
    if (left < 0) return right;
    if (right >= width) return left;
    return length2(right) < length2(left) ? right : left;
  }
  PF_HD void copy(int from, int to) const {
    u[to] = u[from];
    v[to] = v[from];
  }
};

PF_HD DisparityRow row_of(View<float> disparities, int y) { return {disparities.row(y)}; }
PF_HD FlowRow row_of(FlowPlanes flow, int y) { return {flow.u.row(y), flow.v.row(y)}; }

}  // namespace parafield
