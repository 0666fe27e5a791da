// SPDX-License-Identifier: MIT
#pragma once
#include "steps/warp/warp.hpp"

/// Rows of warped frames on the CPU. In an unnamed namespace: each instruction set has a copy.
namespace parafield {
namespace {

/// A row of a flow.
struct FlowRow {
  const float *u, *v;
};

/// Columns whose matches are read together.
constexpr int warp_block = 16;

/// Row y of a frame, warped by `step` times the flow, at the columns from `begin` to `end` - 1.
inline void warp_pixels(View<const float> frame, FlowRow flow, float step, int y, int begin, int end,
                        float* __restrict out) {
  const int width = frame.width, height = frame.height, pitch = int(frame.stride());
  const float line = float(y);
  const float *const pixels = frame.data, *const u = flow.u, *const v = flow.v;
#pragma GCC ivdep
  for (int x = begin; x < end; ++x)
    out[x] = warped(pixels, pitch, width, height, fma(step, u[x], float(x)), fma(step, v[x], line));
}

/// The values at the matches of warp_block columns from `begin` on, up to three times as fast as one by one. Where
/// flow changes slowly, all matches are shifted by the same number of whole pixels, or by one of two, along x and
/// along y. For each shift, the pixels to read lie side by side. Returns false, without a result, if the shifts
/// differ more, or if a match lies outside or near the border. value(at, share_x, share_y) is the value at a match
/// whose upper left pixel is *at; it reads `Before` pixels before that and `After` after it, along x and y.
template <int Before, int After, class Value>
inline bool sample_alike(View<const float> frame, FlowRow flow, float step, int y, int begin,
                         float* __restrict out, Value value_at) {
  const int width = frame.width, height = frame.height, pitch = int(frame.stride());
  const float *const u = flow.u + begin, *const v = flow.v + begin;
  int column[warp_block], row[warp_block];  // where a match's shift puts the first pixel of the block
  float share_x[warp_block], share_y[warp_block];
  int left = width, right = 0, top = height, bottom = 0, inside = 1;
  for (int i = 0; i < warp_block; ++i) {
    const Match match = locate(fma(step, u[i], float(begin + i)), fma(step, v[i], float(y)), width, height);
    column[i] = match.x - i, row[i] = match.y, share_x[i] = match.share_x, share_y[i] = match.share_y;
    left = smaller(left, column[i]), right = larger(right, column[i]);
    top = smaller(top, row[i]), bottom = larger(bottom, row[i]);
    inside &= int(match.inside);
  }
  const bool reads_inside = (left >= Before) & (right + warp_block - 1 + After < width) & (top >= Before) &
                            (bottom + After < height);
  if (!inside | !reads_inside | (right - left > 1) | (bottom - top > 1)) return false;
  for (int down = top; down <= bottom; ++down)
    for (int along = left; along <= right; ++along) {
      const float* const at = frame.data + down * pitch + along;
#pragma GCC ivdep
      for (int i = 0; i < warp_block; ++i) {
        const float value = value_at(at + i, share_x[i], share_y[i]);
        const bool is_this = (column[i] == along) & (row[i] == down);
        out[i] = is_this ? value : out[i];
      }
    }
  return true;
}

/// Row y of a frame, warped by `step` times the flow.
inline void warp_row(View<const float> frame, FlowRow flow, float step, int y, float* out) {
  const int pitch = int(frame.stride());
  const auto cubic = [=](const float* at, float share_x, float share_y) {
    return mixed_cubic(at - pitch - 1, pitch, cubic_shares(share_x), cubic_shares(share_y));
  };
  int x = 0;
  for (; x + warp_block <= frame.width; x += warp_block)
    if (!sample_alike<1, 2>(frame, flow, step, y, x, out + x, cubic))
      warp_pixels(frame, flow, step, y, x, x + warp_block, out);
  warp_pixels(frame, flow, step, y, x, frame.width, out);
}

}  // namespace
}  // namespace parafield
