// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/adaptive_ridge/shrink/shrink.hpp"

/// Flow from more than two frames, used where the motion is steady: see parafield/methods/adaptive_ridge.hpp.
namespace parafield {

/// How well the flow from more frames fits the equations of the pair, summed over a cell's pixels: A = (xx
/// xy; xy yy), the gradient (x y) = A f + b at that flow f, the residual of the pair, and the change d A d,
/// where d is the difference between f and the pair's flow.
struct SteadySums {
  static constexpr int count = 7;
  float xx = 0, xy = 0, yy = 0, x = 0, y = 0, residual = 0, change = 0;

  PF_HD SteadySums operator+(const SteadySums& o) const {
    return {xx + o.xx, xy + o.xy, yy + o.yy, x + o.x, y + o.y, residual + o.residual, change + o.change};
  }
};

/// Planes with one value per cell.
struct SteadyCells {
  View<float> sums[SteadySums::count];
  View<float> trust;  ///< trust in the flow from more frames, 0..1

  static SteadyCells make(Workspace& workspace, Size size) {
    const Size cells{cells_along(size.width), cells_along(size.height)};
    SteadyCells result;
    for (View<float>& plane : result.sums) plane = workspace.image<float>(cells);
    result.trust = workspace.image<float>(cells);
    return result;
  }

  PF_HD SteadySums at(int x, int y) const {
    return {sums[0](x, y), sums[1](x, y), sums[2](x, y), sums[3](x, y),
            sums[4](x, y), sums[5](x, y), sums[6](x, y)};
  }
  PF_HD void store(int x, int y, const SteadySums& sum) const {
    sums[0](x, y) = sum.xx, sums[1](x, y) = sum.xy, sums[2](x, y) = sum.yy, sums[3](x, y) = sum.x;
    sums[4](x, y) = sum.y, sums[5](x, y) = sum.residual, sums[6](x, y) = sum.change;
  }
};

/// The flow of a pair of frames, and the flow from more frames around the pair.
struct TwoFlows {
  FlowPlanes of_pair, of_more;
  NormalPlanes pair;  ///< normal equations of the pair
};

/// Mixes both flows, preferring the flow from more frames where it fits the pair. `cells`: scratch planes for
/// the level's cells.
template <class Backend>
void mix_steady(Backend& backend, const TwoFlows& flows, const SteadyCells& cells, FlowPlanes out);

/// Bytes of scratch memory for each thread.
inline std::size_t steady_scratch(int width) {
  return sizeof(float) * std::size_t(width) * SteadySums::count;
}

/// A pixel's contribution to the sums. `of_pair`, `of_more`: its flow.
PF_HD SteadySums steady_part(const NormalSums& n, const Motion& of_pair, const Motion& of_more) {
  const float u = of_more.u, v = of_more.v, du = u - of_pair.u, dv = v - of_pair.v;
  return {n.xx,
          n.xy,
          n.yy,
          fma(n.xx, u, fma(n.xy, v, n.xt)),
          fma(n.xy, u, fma(n.yy, v, n.yt)),
          n.residual,
          fma(du, fma(n.xx, du, 2 * n.xy * dv), n.yy * dv * dv)};
}

constexpr int steady_reach = 3;  ///< sums are taken over 7x7 cells

/// Trust in the flow from more frames, given the sums around a cell. It is lower the further this flow is
/// from the pair's flow, and the more it could still be improved by adding a common motion all around the
/// cell. Both are measured by what they add to the residual of the pair.
PF_HD float steady_trust(const SteadySums& sum) {
  constexpr float most_change = 0.15f, most_common = 0.007f;  // shares of the residual that halve the trust
  constexpr float least = 1e-6f;
  const float hold = fma(1e-3f, sum.xx + sum.yy, least);  // keeps A regular if all gradients are parallel
  const float a = sum.xx + hold, b = sum.xy, c = sum.yy + hold;
  const float added = fma(sum.x, fma(sum.x, c, -2 * sum.y * b), sum.y * sum.y * a);
  const float common = added / larger(fma(a, c, -(b * b)), least * least);
  const float residual = larger(sum.residual, least);
  const float far = sum.change / (most_change * residual), moved = common / (most_common * residual);
  const float doubt = fma(far, far, moved * moved);
  return is_finite(doubt) ? 1 / (1 + doubt) : 0.0f;
}

/// Sums over the 7x7 cells around a cell.
PF_HD SteadySums steady_sums_around(const SteadyCells& cells, int x, int y) {
  const int left = larger(x - steady_reach, 0), right = smaller(x + steady_reach, cells.trust.width - 1);
  const int top = larger(y - steady_reach, 0), bottom = smaller(y + steady_reach, cells.trust.height - 1);
  SteadySums sum;
  for (int j = top; j <= bottom; ++j)
    for (int i = left; i <= right; ++i) sum = sum + cells.at(i, j);
  return sum;
}

PF_HD Motion mixed(const Motion& pair, const Motion& more, float share) {
  return {fma(share, more.u - pair.u, pair.u), fma(share, more.v - pair.v, pair.v)};
}

/// Trust at a pixel, interpolated from the four cells around it.
PF_HD float trust_between(float a, float b, float c, float d, float share_x, float share_y) {
  const float above = fma(share_x, b - a, a), below = fma(share_x, d - c, c);
  return fma(share_y, below - above, above);
}

}  // namespace parafield
