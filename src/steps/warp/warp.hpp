// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

/// Position of a match, which may be between pixels.
struct Match {
  int x, y;                ///< the pixel to the match's upper left
  float share_x, share_y;  ///< interpolation weights of the pixels to the right and below, 0..1
  bool inside;  ///< whether the match is inside the image; if not, this is the nearest border point
};

/// The match at (x, y) in an image of that size; NaN counts as outside.
PF_HD Match locate(float x, float y, int width, int height) {
  const float right = float(width - 1), bottom = float(height - 1);
  const bool inside = (x >= 0) & (x <= right) & (y >= 0) & (y <= bottom);
  x = clamp(x, 0.0f, right);
  y = clamp(y, 0.0f, bottom);
  const int column = smaller(int(x), larger(width - 2, 0)), row = smaller(int(y), larger(height - 2, 0));
  return {column, row, x - float(column), y - float(row), inside};
}

/// Bilinear value at a match. `pitch`: floats from one row to the next.
PF_HD float sample(const float* pixels, int pitch, int width, int height, const Match& match) {
  const float* top = pixels + match.y * pitch + match.x;
  const int right = width > 1 ? 1 : 0, down = height > 1 ? pitch : 0;
  return interpolate(interpolate(top[0], top[right], match.share_x),
                     interpolate(top[down], top[down + right], match.share_x), match.share_y);
}

/// Square of the distance from a pixel at which the flow back ends, px^2. `pitch`: floats from one row of
/// `back` to the next. `match`: the end of the pixel's flow (u, v).
PF_HD float miss_of(float u, float v, const float* back_u, const float* back_v, int pitch, int width,
                    int height, const Match& match) {
  const float du = u + sample(back_u, pitch, width, height, match),
              dv = v + sample(back_v, pitch, width, height, match);
  return fma(du, du, dv * dv);
}

/// Weights of four neighbors for Keys' cubic interpolation with a = -0.75 (Keys 1981). They add up to 1.
template <class Number>
struct CubicShares {
  Number before, first, second, after;
};
/// `t`: position between the second and the third neighbor, 0..1.
template <class Number>
PF_HD CubicShares<Number> cubic_shares(Number t) {
  const Number one(1.0f), a(-0.75f), s = one - t, before = a * t * (s * s), after = a * s * (t * t);
  const Number first = fma(fma(Number(1.25f), t, Number(-2.25f)), t * t, one);
  return {before, first, one - first - before - after, after};
}

/// Weighted mean of four values.
template <class Number>
PF_HD Number mixed(const CubicShares<Number>& shares, Number a, Number b, Number c, Number d) {
  return fma(shares.after, d, fma(shares.second, c, fma(shares.first, b, shares.before * a)));
}
/// Mean of 4x4 pixels with separable weights. `at`: the upper left pixel.
PF_HD float mixed_cubic(const float* at, int pitch, const CubicShares<float>& along,
                        const CubicShares<float>& down) {
  const auto row = [=](const float* four) { return mixed(along, four[0], four[1], four[2], four[3]); };
  return mixed(down, row(at), row(at + pitch), row(at + 2 * pitch), row(at + 3 * pitch));
}

/// Bicubic value at a match that may be near the border. Pixels beyond the border repeat the nearest pixel.
PF_HD float sample_near_border(const float* pixels, int pitch, int width, int height, const Match& match) {
  const CubicShares<float> along = cubic_shares(match.share_x), down = cubic_shares(match.share_y);
  const int x0 = larger(match.x - 1, 0), x1 = match.x, x2 = smaller(match.x + 1, width - 1),
            x3 = smaller(match.x + 2, width - 1);
  const auto row = [=](int y) {
    const float* const at = pixels + clamp(y, 0, height - 1) * pitch;
    return mixed(along, at[x0], at[x1], at[x2], at[x3]);
  };
  return mixed(down, row(match.y - 1), row(match.y), row(match.y + 1), row(match.y + 2));
}
/// The same at any match, with fewer address computations away from the border.
PF_HD float sample_cubic(const float* pixels, int pitch, int width, int height, const Match& match) {
#ifdef __CUDA_ARCH__
  if ((match.x >= 1) & (match.x < width - 2) & (match.y >= 1) & (match.y < height - 2))
    return mixed_cubic(pixels + (match.y - 1) * pitch + match.x - 1, pitch, cubic_shares(match.share_x),
                       cubic_shares(match.share_y));
#endif
  return sample_near_border(pixels, pitch, width, height, match);
}

/// Bicubic value of an image at (x, y); NaN outside the image.
PF_HD float warped(const float* pixels, int pitch, int width, int height, float x, float y) {
  const Match match = locate(x, y, width, height);
  const float value = sample_cubic(pixels, pitch, width, height, match);
  return match.inside ? value : __builtin_nanf("");
}

}  // namespace parafield
