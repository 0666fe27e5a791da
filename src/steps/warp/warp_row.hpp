// SPDX-License-Identifier: MIT
#pragma once
#include <cstring>

#include "core/cpu/floats.hpp"
#include "core/workspace.hpp"
#include "steps/warp/sample_row.hpp"

/// Rows of warped frames on the CPU. In an unnamed namespace, so that each instruction set has its own copy.
namespace parafield {
namespace {

/// Number of columns whose matches are read together.
constexpr int warp_block = 16;

/// Copies the 4x4 pixels around a match to four rows of memory, to(0) to to(3). (x, y) is the second pixel of
/// its row and column. Pixels beyond the border repeat the nearest pixel.
template <class To>
inline void load_neighbors(const float* pixels, int pitch, int width, int height, int x, int y, To to) {
  const bool interior = (x >= 1) & (x + 2 < width);
  PF_UNROLL
  for (int k = 0; k < 4; ++k) {
    const float* const from = pixels + clamp(y - 1 + k, 0, height - 1) * pitch;
    float* const four = to(k);
    if (interior) {
      std::memcpy(four, from + x - 1, 4 * sizeof *from);
    } else {
      PF_UNROLL
      for (int j = 0; j < 4; ++j) four[j] = from[clamp(x - 1 + j, 0, width - 1)];
    }
  }
}

/// Row y of a frame warped by `step` times the flow, for the columns from `begin` to `end` - 1.
inline void warp_pixels(View<const float> frame, FlowRow flow, float step, int y, int begin, int end,
                        float* __restrict out) {
  const int width = frame.width, height = frame.height, pitch = int(frame.stride());
  const float line = float(y);
  const float *const pixels = frame.data, *const u = flow.u, *const v = flow.v;
  if constexpr (has_gathers) {
#pragma GCC ivdep
    for (int x = begin; x < end; ++x)
      out[x] = warped(pixels, pitch, width, height, fma(step, u[x], float(x)), fma(step, v[x], line));
  } else {
    for (int x0 = begin; x0 < end; x0 += warp_block) {
      const int count = smaller(warp_block, end - x0);
      int column[warp_block], row[warp_block], inside[warp_block];
      float share_x[warp_block], share_y[warp_block], values[4][4 * warp_block];
#pragma GCC ivdep
      for (int i = 0; i < count; ++i) {
        const Match match =
            locate(fma(step, u[x0 + i], float(x0 + i)), fma(step, v[x0 + i], line), width, height);
        column[i] = match.x, row[i] = match.y, inside[i] = match.inside;
        share_x[i] = match.share_x, share_y[i] = match.share_y;
      }
      for (int i = 0; i < count; ++i)
        load_neighbors(pixels, pitch, width, height, column[i], row[i],
                       [&](int k) { return values[k] + 4 * i; });
#pragma GCC ivdep
      for (int i = 0; i < count; ++i) {
        const float value = mixed_cubic(values[0] + 4 * i, 4 * warp_block, cubic_shares(share_x[i]),
                                        cubic_shares(share_y[i]));
        out[x0 + i] = inside[i] ? value : __builtin_nanf("");
      }
    }
  }
}

#ifdef PF_HAS_FLOATS
static_assert(warp_block == Floats::count);

/// The matches of warp_block columns.
struct BlockMatches {
  __m512i column, row;
  Floats share_x, share_y;
  __mmask16 inside;
};

/// The matches of warp_block columns from `begin` on.
PF_FLOATS BlockMatches locate_block(FlowRow flow, float step, int y, int begin, int width, int height) {
  const Floats zero(0.0f), right(float(width - 1)), bottom(float(height - 1));
  const Floats x = fma(Floats(step), Floats::load(flow.u + begin), Floats(float(begin)) + Floats::numbers()),
               line = fma(Floats(step), Floats::load(flow.v + begin), Floats(float(y)));
  const __mmask16 inside = (x >= zero) & (x <= right) & (line >= zero) & (line <= bottom);
  const Floats in_x = clamp(x, zero, right), in_y = clamp(line, zero, bottom);
  const __m512i column =
      _mm512_min_epi32(_mm512_cvttps_epi32(in_x.lanes), _mm512_set1_epi32(larger(width - 2, 0)));
  const __m512i row =
      _mm512_min_epi32(_mm512_cvttps_epi32(in_y.lanes), _mm512_set1_epi32(larger(height - 2, 0)));
  return {column, row, in_x - Floats(_mm512_cvtepi32_ps(column)), in_y - Floats(_mm512_cvtepi32_ps(row)),
          inside};
}

/// Interpolates at a block of matches, up to three times as fast as one by one. Where the flow changes
/// slowly, a block's matches are within a few rows and 32 columns, so two registers hold the pixels of a row
/// and each lane picks its own from them. Returns false, without values, if the matches are further apart. A
/// value comes from Size x Size pixels, which begin `before` columns and rows before the match; pixels beyond
/// the border repeat the nearest pixel. along(pixels) combines the pixels of a row, down(rows) the rows.
template <int Size, class Along, class Down>
PF_FLOATS bool sample_block(View<const float> frame, const BlockMatches& matches, int before, Along along,
                            Down down, Floats& values) {
  constexpr int reads = 2 * Floats::count, most_rows = 8;
  const int width = frame.width, height = frame.height;
  const std::ptrdiff_t pitch = frame.stride();
  if (width < reads) return false;
  const auto first_of = [](__m512i lanes) { return _mm_cvtsi128_si32(_mm512_castsi512_si128(lanes)); };
  const int base = clamp(first_of(matches.column) - (reads - Floats::count) / 2 + 2, 0, width - reads);
  const __m512i none = _mm512_setzero_si512(), last = _mm512_set1_epi32(width - 1);
  __m512i index[Size], all = none;
  PF_UNROLL
  for (int k = 0; k < Size; ++k) {
    const __m512i column = _mm512_add_epi32(matches.column, _mm512_set1_epi32(k - before));
    index[k] =
        _mm512_sub_epi32(_mm512_min_epi32(_mm512_max_epi32(column, none), last), _mm512_set1_epi32(base));
    all = _mm512_or_si512(all, index[k]);
  }
  if (_mm512_cmpgt_epu32_mask(all, _mm512_set1_epi32(reads - 1))) return false;
  const auto mixed_row = [&](int row) -> Floats {
    const float* const at = frame.data + clamp(row - before, 0, height - 1) * pitch + base;
    const Floats a = Floats::load(at), b = Floats::load(at + Floats::count);
    Floats pixels[Size];
    PF_UNROLL
    for (int k = 0; k < Size; ++k) pixels[k] = _mm512_permutex2var_ps(a.lanes, index[k], b.lanes);
    return along(pixels);
  };
  const int row = first_of(matches.row);
  const auto lanes_at = [&](int r) { return _mm512_cmpeq_epi32_mask(matches.row, _mm512_set1_epi32(r)); };
  Floats rows[Size];
  if (const __mmask16 here = lanes_at(row); here == 0xffff) {
    PF_UNROLL
    for (int k = 0; k < Size; ++k) rows[k] = mixed_row(row + k);
  } else {
    const __mmask16 above = lanes_at(row - 1);
    const int top = above ? row - 1 : row;
    const __mmask16 lower = above ? here : lanes_at(row + 1);
    if ((lower | (above ? above : here)) == 0xffff) {  // two rows
      Floats upper = mixed_row(top);
      PF_UNROLL
      for (int k = 0; k < Size; ++k) {
        const Floats next = mixed_row(top + k + 1);
        rows[k] = select(lower, next, upper);
        upper = next;
      }
    } else {
      const int low = _mm512_reduce_min_epi32(matches.row), high = _mm512_reduce_max_epi32(matches.row);
      if (high - low >= most_rows) return false;
      PF_UNROLL
      for (int k = 0; k < Size; ++k) rows[k] = Floats(0.0f);
      for (int r = low; r < high + Size; ++r) {
        const Floats next = mixed_row(r);
        PF_UNROLL
        for (int k = 0; k < Size; ++k) rows[k] = select(lanes_at(r - k), next, rows[k]);
      }
    }
  }
  values = down(rows);
  return true;
}

/// Bicubic values of a block; NaN outside the image. Returns false as sample_block does.
PF_FLOATS bool warp_block_of(View<const float> frame, FlowRow flow, float step, int y, int begin,
                             float* out) {
  const BlockMatches matches = locate_block(flow, step, y, begin, frame.width, frame.height);
  const CubicShares<Floats> along = cubic_shares(matches.share_x), down = cubic_shares(matches.share_y);
  Floats values;
  if (!sample_block<4>(
          frame, matches, 1,
          [&](const Floats(&four)[4]) { return mixed(along, four[0], four[1], four[2], four[3]); },
          [&](const Floats(&four)[4]) { return mixed(down, four[0], four[1], four[2], four[3]); }, values))
    return false;
  select(matches.inside, values, Floats(__builtin_nanf(""))).store(out);
  return true;
}

/// Sets `close` for each match inside the frame whose bilinear value differs by at most `most` from `luma`.
/// Returns false as sample_block does.
PF_FLOATS bool compare_block(View<const float> frame, FlowRow flow, int y, int begin, const float* luma,
                             float most, std::uint8_t* close) {
  const BlockMatches matches = locate_block(flow, 1, y, begin, frame.width, frame.height);
  const Floats share_x = matches.share_x, share_y = matches.share_y;
  Floats values;
  if (!sample_block<2>(
          frame, matches, 0, [&](const Floats(&two)[2]) { return interpolate(two[0], two[1], share_x); },
          [&](const Floats(&two)[2]) { return interpolate(two[0], two[1], share_y); }, values))
    return false;
  const __mmask16 alike = magnitude(values - Floats::load(luma + begin)) <= Floats(most);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(close), _mm_maskz_set1_epi8(alike & matches.inside, 1));
  return true;
}

#else

/// Interpolates at the matches of warp_block columns from `begin` on, up to three times as fast as one by
/// one. Where the flow changes slowly, all matches are shifted by the same number of whole pixels, or by one
/// of two numbers, along x and along y. For each shift, the pixels to read are contiguous. Returns false,
/// without a result, if the shifts differ more, or if a match is outside the frame or near its border.
/// value_at(at, share_x, share_y) is the value at a match whose upper left pixel is *at; it reads `Before`
/// pixels before this pixel and `After` after it, along x and y.
template <int Before, int After, class Value>
inline bool sample_alike(View<const float> frame, FlowRow flow, float step, int y, int begin,
                         float* __restrict out, Value value_at) {
  const int width = frame.width, height = frame.height, pitch = int(frame.stride());
  const float *const u = flow.u + begin, *const v = flow.v + begin;
  int column[warp_block], row[warp_block];  // where match i's shift puts the block's first pixel
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

/// Bicubic values of a block. Returns false as sample_alike does.
inline bool warp_block_of(View<const float> frame, FlowRow flow, float step, int y, int begin, float* out) {
  const int pitch = int(frame.stride());
  return sample_alike<1, 2>(
      frame, flow, step, y, begin, out, [=](const float* at, float share_x, float share_y) {
        return mixed_cubic(at - pitch - 1, pitch, cubic_shares(share_x), cubic_shares(share_y));
      });
}

/// Sets `close` where the bilinear value at a match differs by at most `most` from `luma`. Returns false as
/// sample_alike does.
inline bool compare_block(View<const float> frame, FlowRow flow, int y, int begin, const float* luma,
                          float most, std::uint8_t* close) {
  const int pitch = int(frame.stride());
  float values[warp_block];
  if (!sample_alike<0, 1>(frame, flow, 1, y, begin, values,
                          [=](const float* at, float share_x, float share_y) {
                            return interpolate(interpolate(at[0], at[1], share_x),
                                               interpolate(at[pitch], at[pitch + 1], share_x), share_y);
                          }))
    return false;
  for (int i = 0; i < warp_block; ++i) close[i] = magnitude(values[i] - luma[begin + i]) <= most;
  return true;
}
#endif

/// Row y of a frame warped by `step` times the flow.
inline void warp_row(View<const float> frame, FlowRow flow, float step, int y, float* out) {
  int x = 0;
  for (; x + warp_block <= frame.width; x += warp_block)
    if (!warp_block_of(frame, flow, step, y, x, out + x))
      warp_pixels(frame, flow, step, y, x, x + warp_block, out);
  warp_pixels(frame, flow, step, y, x, frame.width, out);
}

/// Extends a row on both sides by repeating its border values `reach` times.
inline void extend(float* row, int width, int reach) {
  for (int i = 1; i <= reach; ++i) row[-i] = row[0], row[width - 1 + i] = row[width - 1];
}

/// Warps row y of a frame by the flow, and computes its mean with `other` and their difference, extended by 1.
inline void compare_warped(const float* other, View<const float> frame, FlowRow flow, int y, float* mean,
                           float* difference) {
  const int width = frame.width;
  warp_row(frame, flow, 1, y, difference);
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    const float a = other[x], b = difference[x];
    mean[x] = 0.5f * (a + b);
    difference[x] = b - a;
  }
  extend(mean, width, 1);
  extend(difference, width, 1);
}

}  // namespace
}  // namespace parafield
