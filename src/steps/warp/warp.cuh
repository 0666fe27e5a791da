// SPDX-License-Identifier: MIT
#pragma once
#include "steps/warp/warp.hpp"

namespace parafield {

/// A frame to warp. Its pixels must have 32-bit indices, and its sides must be below 2^22.
struct WarpedFrame {
  const float* pixels;
  unsigned pitch;  ///< floats from one row to the next
  int width, height;
};

/// A match whose 4x4 surrounding pixels are all inside the frame.
struct InnerMatch {
  unsigned first;          ///< index of the upper left pixel of these
  float share_x, share_y;  ///< as in Match
};

/// Finds the match at (x, y). Returns false, with an arbitrary match, if it is near the border, outside or
/// NaN.
__device__ inline bool locate_inner(const WarpedFrame& frame, float x, float y, InnerMatch& match) {
  constexpr float whole = 8388608;  // 2^23: low bits of a sum with it, rounded toward zero, are an integer
  constexpr unsigned one = __builtin_bit_cast(unsigned, whole) + 1;
  const float column = __fadd_rz(x, whole), row = __fadd_rz(y, whole);
  const unsigned left = __float_as_uint(column) - one, top = __float_as_uint(row) - one;
  match = {top * frame.pitch + left, x - (column - whole), y - (row - whole)};
  return (left < unsigned(larger(frame.width - 3, 0))) & (top < unsigned(larger(frame.height - 3, 0)));
}

/// Bicubic values at inner matches. `Below`: each match is one row below the previous one, so they share most
/// of their pixels.
template <bool Below, int Count>
__device__ inline void sample_inner(const WarpedFrame& frame, const InnerMatch (&match)[Count],
                                    float (&values)[Count]) {
  constexpr int rows = Below ? Count + 3 : 4;
  float row[rows][4];
  const auto load = [&](unsigned first) {
    const float* at = frame.pixels + first;
    PF_UNROLL
    for (int i = 0; i < rows; ++i, at += frame.pitch) PF_UNROLL
    for (int k = 0; k < 4; ++k) row[i][k] = at[k];
  };
  if (Below) load(match[0].first);
  PF_UNROLL
  for (int i = 0; i < Count; ++i) {
    if (!Below) load(match[i].first);
    const CubicShares<float> along = cubic_shares(match[i].share_x), down = cubic_shares(match[i].share_y);
    const auto mean = [&](const float(&four)[4]) { return mixed(along, four[0], four[1], four[2], four[3]); };
    const int top = Below ? i : 0;
    values[i] = mixed(down, mean(row[top]), mean(row[top + 1]), mean(row[top + 2]), mean(row[top + 3]));
  }
}

/// Values of a frame warped by `step` times the flow, at a few pixels of a column that are usually
/// consecutive: the same bits as `warped`. All lanes of the warp must call it. The whole warp takes one path
/// for all its pixels, which lets a thread's reads overlap.
template <int Count>
__device__ inline void warp_below(const WarpedFrame& frame, float step, int x, const int (&y)[Count],
                                  const float (&u)[Count], const float (&v)[Count], float (&values)[Count]) {
  InnerMatch match[Count];
  bool inner = true, below = Count > 1;
  PF_UNROLL
  for (int k = 0; k < Count; ++k) {
    inner &= locate_inner(frame, fma(step, u[k], float(x)), fma(step, v[k], float(y[k])), match[k]);
    below &= match[k].first == match[0].first + unsigned(k) * frame.pitch;
  }
  if (__all_sync(~0u, inner & below)) return sample_inner<true>(frame, match, values);
  if (__all_sync(~0u, inner)) return sample_inner<false>(frame, match, values);
  PF_UNROLL
  for (int k = 0; k < Count; ++k) {
    const Match near =
        locate(fma(step, u[k], float(x)), fma(step, v[k], float(y[k])), frame.width, frame.height);
    const float value = sample_near_border(frame.pixels, int(frame.pitch), frame.width, frame.height, near);
    values[k] = near.inside ? value : __builtin_nanf("");
  }
}

}  // namespace parafield
