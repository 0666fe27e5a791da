// SPDX-License-Identifier: MIT
#pragma once
#include "core/cuda/kernel.cuh"
#include "steps/least_squares/least_squares.hpp"

/// Data that threads read for a solution: frame 0 and the flow at strips of pixels, and matches in frame 1.
namespace parafield {
namespace {

constexpr int equations = NormalEquations::count;

/// Input of a solution. All planes of a level have the same pitch, so one offset serves all.
struct Input {
  const float *frame0, *frame1;
  float *u, *v;              // large tiles also write the level's start here
  int width, height, pitch;  // pitch in floats
  FlowPlanes coarser;        // the coarser level's flow, only for a level's first solution
};

/// Derivatives and luma of frame 0 at Strip pixels of a column.
template <int Strip>
struct Slopes {
  float x[Strip], y[Strip], luma[Strip];
};

/// For pixels (x, y), (x, y + 1)... Interior: all pixels up to 2 px away are inside the frame.
template <int Strip, bool Interior>
__device__ __forceinline__ Slopes<Strip> slopes_at(const Input& in, int x, int y) {
  Slopes<Strip> slopes;
  float column[Strip + 4];
  PF_UNROLL
  for (int k = 0; k < Strip + 4; ++k) {
    const bool middle = k >= 2 && k < Strip + 2;
    if constexpr (Interior) {
      const float* const here =
          in.frame0 + unsigned((y - 2) * in.pitch + x) + k * std::size_t(unsigned(in.pitch));
      column[k] = here[0];
      if (middle) slopes.x[k - 2] = derivative(here[-2], here[-1], here[1], here[2]);
    } else {
      const float* const row = in.frame0 + unsigned(clamp(y + k - 2, 0, in.height - 1) * in.pitch);
      column[k] = row[x];
      if (middle) slopes.x[k - 2] = derivative_at(row, x, in.width);
    }
  }
  PF_UNROLL
  for (int k = 0; k < Strip; ++k) {
    slopes.luma[k] = column[k + 2];
    slopes.y[k] = derivative(column[k], column[k + 1], column[k + 3], column[k + 4]);
  }
  return slopes;
}

/// Rows of enlarge_strip, the first of which is row `Odd` of a pair. a, b: the coarse values to the left and
/// right, row by row.
template <int Strip, int Odd, int Count>
__device__ __forceinline__ void enlarge_rows(const float (&a)[Count], const float (&b)[Count], float share_x,
                                             float (&to)[Strip]) {
  PF_UNROLL
  for (int k = 0; k < Strip; ++k) {
    const int i = (k + Odd) / 2;
    const float share_y = (k + Odd) % 2 ? 0.5f : 0.0f;
    to[k] =
        2 * interpolate(interpolate(a[i], a[i + 1], share_y), interpolate(b[i], b[i + 1], share_y), share_x);
  }
}

/// enlarged_flow of pixels (x, y), (x, y + 1)...: neighboring rows share the values that they read. Both
/// planes must have the same pitch.
template <int Strip>
__device__ __forceinline__ void enlarge_strip(const FlowPlanes& coarse, int x, int y, float (&u)[Strip],
                                              float (&v)[Strip]) {
  constexpr int count = Strip / 2 + 2;
  const int last = coarse.u.width - 1, bottom = coarse.u.height - 1, left = x >> 1;
  const unsigned pitch = unsigned(coarse.u.stride()), right = left < last ? 1 : 0;
  float u0[count], u1[count], v0[count], v1[count];
  PF_UNROLL
  for (int k = 0; k < count; ++k) {
    const unsigned at = unsigned(smaller((y >> 1) + k, bottom)) * pitch + unsigned(left);
    u0[k] = coarse.u.data[at];
    u1[k] = coarse.u.data[at + right];
    v0[k] = coarse.v.data[at];
    v1[k] = coarse.v.data[at + right];
  }
  const float share_x = 0.5f * float(x & 1);
  if (y & 1) {
    enlarge_rows<Strip, 1>(u0, u1, share_x, u);
    enlarge_rows<Strip, 1>(v0, v1, share_x, v);
  } else {
    enlarge_rows<Strip, 0>(u0, u1, share_x, u);
    enlarge_rows<Strip, 0>(v0, v1, share_x, v);
  }
}

/// A match in frame 1.
struct Place {
  const float *top, *bottom;  // the pixel to the upper left, and the one below
  float share_x, share_y;
  bool inside;
};

constexpr int most_side = 1 << 22;   // px; the largest side for which `whole` works
constexpr float whole = 8388608.0f;  // 2^23: larger floats are integers, stored in their low bits

/// The match at (x, y), with the same bits as `locate`. Small: the level's sides are at most most_side, which
/// saves instructions because no conversion to integers and back is needed.
template <bool Small>
__device__ __forceinline__ Place place_of(const Input& in, float x, float y) {
  const unsigned pitch = unsigned(in.pitch), down = in.height > 1 ? pitch : 0;
  if constexpr (!Small) {
    const Match match = locate(x, y, in.width, in.height);
    const float* const top = in.frame1 + (unsigned(match.y) * pitch + unsigned(match.x));
    return {top, top + down, match.share_x, match.share_y, match.inside};
  }
  const float near_x = clamp(x, 0.0f, float(in.width - 1)), near_y = clamp(y, 0.0f, float(in.height - 1));
  const float column = smaller_number(__fadd_rd(near_x, whole), whole + float(larger(in.width - 2, 0))),
              row = smaller_number(__fadd_rd(near_y, whole), whole + float(larger(in.height - 2, 0)));
  const unsigned offset = __float_as_uint(whole) * (pitch + 1);
  unsigned at;
#ifdef __CUDA_ARCH__
  asm("mad.lo.u32 %0, %1, %2, %3;"  // the compiler would subtract twice
      : "=r"(at)
      : "r"(__float_as_uint(row)), "r"(pitch), "r"(__float_as_uint(column)));
#else  // tests/emulated
  at = __float_as_uint(row) * pitch + __float_as_uint(column);
#endif
  const float* const top = in.frame1 + (at - offset);
  return {top, top + down, near_x - (column - whole), near_y - (row - whole), near_x == x && near_y == y};
}

/// The four pixels around a match.
struct Neighbors {
  float a, b, c, d;
};
/// Wide: the level has more than one column.
template <bool Wide>
__device__ __forceinline__ Neighbors neighbors_at(const Input& in, const Place& place) {
  const int right = Wide || in.width > 1 ? 1 : 0;
  return {place.top[0], place.top[right], place.bottom[0], place.bottom[right]};
}
/// Same bits as `sample`.
__device__ __forceinline__ float mixed(const Neighbors& n, const Place& place) {
  return interpolate(interpolate(n.a, n.b, place.share_x), interpolate(n.c, n.d, place.share_x),
                     place.share_y);
}

/// sums[j] = the sum of `window` rows from row j on, added from the top.
template <int Window, int Count>
__device__ __forceinline__ void sum_down(const float* values, int pitch, int window, float (&sums)[Count]) {
  if constexpr (Window > 0) {
    PF_UNROLL
    for (int k = 0; k < Window + Count - 1; ++k) {
      const float value = values[k * pitch];
      PF_UNROLL
      for (int j = 0; j < Count; ++j)
        if (k >= j && k < j + Window) sums[j] = k == j ? value : sums[j] + value;
    }
  } else {
    PF_UNROLL
    for (int j = 0; j < Count; ++j) {
      sums[j] = values[j * pitch];
      for (int k = 1; k < window; ++k) sums[j] += values[(j + k) * pitch];
    }
  }
}

/// sums[j] = values[j] + values[j + 1] + ... + values[j + Window - 1], added from the left, where `values` is
/// line + First, and `line` is aligned for vector loads.
template <int Window, int First, int Columns>
__device__ __forceinline__ void sum_vectors(const float* line, float (&sums)[Columns]) {
  constexpr int count = (First + Columns + Window - 1 + 3) / 4 * 4;
  float held[count];
  PF_UNROLL
  for (int k = 0; k < count; k += 4) {
    const float4 four = *reinterpret_cast<const float4*>(line + k);
    held[k] = four.x;
    held[k + 1] = four.y;
    held[k + 2] = four.z;
    held[k + 3] = four.w;
  }
  PF_UNROLL
  for (int j = 0; j < Columns; ++j) {
    sums[j] = held[First + j];
    PF_UNROLL
    for (int k = 1; k < Window; ++k) sums[j] += held[First + j + k];
  }
}

}  // namespace
}  // namespace parafield
