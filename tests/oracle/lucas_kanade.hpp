// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <utility>

#include "parafield/methods/lucas_kanade.hpp"
#include "steps.hpp"

/// Pyramidal iterative Lucas-Kanade (Marzat, Dumortier, Ducrot: Real-time dense and accurate parallel optical
/// flow using CUDA). Intensities are in [0, 1] and sums over a window are means, so that alpha depends
/// neither on the range nor on the window.
namespace parafield::oracle {

struct Flow {
  Grid u, v;
};

struct LucasKanadeResult {
  Flow flow;
  Flow solved;      ///< flow before the last median
  Grid eigenvalue;  ///< smaller eigenvalue of A^T A at level 0, in the last iteration
  Grid confidence;  ///< that, over the squared residual plus 1e-5; 0 where the match is outside or not finite
  Grid residual;    ///< difference of brightness at the match of `solved`; NaN if either pixel is not finite
  Grid valid;       ///< 1 or 0
};

struct LucasKanadeStep {
  Flow flow;
  Grid smaller_eigenvalue;  ///< of A^T A
};

/// One iteration at one level (sections 2.1 and 2.3). frame1 is warped by the flow so far, and eq. 5 gives
/// the flow of each window: frame1(x + w) - frame0(x) + grad . (w' - w) = 0, with each pixel's own w, is
/// linear in the common w' of the window.
inline LucasKanadeStep lucas_kanade_step(const Grid& frame0, const Grid& frame1, const LucasKanade& method,
                                         const Flow& flow) {
  const Size size = frame0.size;
  const Grid &u = flow.u, &v = flow.v;
  const Grid gx = derivative_x(frame0), gy = derivative_y(frame0);

  // I_t of eq. 2 at flow 0, extrapolated from the flow so far, and the weight of the pixel. A pixel has no
  // weight if its match lies outside frame1 or its equation is not finite.
  const Grid difference =
      tabulate(size, [&](int x, int y) { return bilinear(frame1, x + u(x, y), y + v(x, y)) - frame0(x, y); });
  const Grid gt = tabulate(
      size, [&](int x, int y) { return difference(x, y) - gx(x, y) * u(x, y) - gy(x, y) * v(x, y); });
  const Grid weight = tabulate(size, [&](int x, int y) {
    if (!inside(size, x + u(x, y), y + v(x, y)) || !std::isfinite(gt(x, y))) return 0.0;
    const double relative = method.robust > 0 ? difference(x, y) / method.robust : 0;
    return 1 / (1 + relative * relative);
  });

  // A^T A and A^T b of eq. 4 and 5.
  const auto sum_of_products = [&](const Grid& a, const Grid& b) {
    return window_mean(
        tabulate(size,
                 [&](int x, int y) { return weight(x, y) == 0 ? 0.0 : weight(x, y) * a(x, y) * b(x, y); }),
        method.window);
  };
  const Grid xx = sum_of_products(gx, gx), xy = sum_of_products(gx, gy), yy = sum_of_products(gy, gy);
  const Grid xt = sum_of_products(gx, gt), yt = sum_of_products(gy, gt);

  LucasKanadeStep step{flow, Grid(size)};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      // (A^T A + alpha I) d = -(A^T b + A^T A w): alpha holds back the increment d, not the whole flow.
      const double a = xx(x, y) + method.alpha, b = xy(x, y), c = yy(x, y) + method.alpha;
      const double r = xt(x, y) + xx(x, y) * u(x, y) + xy(x, y) * v(x, y);
      const double s = yt(x, y) + xy(x, y) * u(x, y) + yy(x, y) * v(x, y);
      const double determinant = a * c - b * b;
      if (determinant > 0) {
        step.flow.u(x, y) = u(x, y) - (c * r - b * s) / determinant;
        step.flow.v(x, y) = v(x, y) - (a * s - b * r) / determinant;
      }
      step.flow.u(x, y) = std::clamp(step.flow.u(x, y), -double(size.width), double(size.width));
      step.flow.v(x, y) = std::clamp(step.flow.v(x, y), -double(size.height), double(size.height));
      step.smaller_eigenvalue(x, y) =
          std::max((xx(x, y) + yy(x, y)) / 2 - std::hypot((xx(x, y) - yy(x, y)) / 2, xy(x, y)), 0.0);
    }
  return step;
}

/// Pyramid, level 0 first (section 2.2). A level whose shorter side would be below 4 px is left out.
inline std::vector<Grid> gaussian_pyramid(const Grid& image, int levels) {
  std::vector<Grid> pyramid{image};
  while (int(pyramid.size()) < levels) {
    Grid next = reduce(pyramid.back());
    if (std::min(next.size.width, next.size.height) < 4) break;
    pyramid.push_back(std::move(next));
  }
  return pyramid;
}

/// Flow from frame0 to frame1 (luma, 0..255), from `start` (at level 0) or from zero.
inline LucasKanadeResult lucas_kanade(const Grid& frame0, const Grid& frame1,
                                      const LucasKanade& method = preset<LucasKanade>("paper"),
                                      const std::optional<Flow>& start = {}) {
  const auto prepared = [&](const Grid& frame) {
    const Grid unit = tabulate(frame.size, [&](int x, int y) { return frame(x, y) / 255; });
    return gaussian_pyramid(method.presmooth > 0 ? smooth(unit, gaussian_taps(method.presmooth)) : unit,
                            method.levels);
  };
  const std::vector<Grid> pyramid0 = prepared(frame0), pyramid1 = prepared(frame1);
  const int coarsest = int(pyramid0.size()) - 1;

  // At the coarsest level, pixel (x, y) lies at (x, y) * scale of level 0 and moves 1 / scale as far. A value
  // that is NaN or beyond 1e9 px starts as 0.
  const Size coarsest_size = pyramid0[coarsest].size;
  const int scale = 1 << coarsest;
  const auto first = [&](const Grid& component) {
    const Grid known = tabulate(
        component.size, [&](int x, int y) { return std::abs(component(x, y)) <= 1e9 ? component(x, y) : 0; });
    return tabulate(coarsest_size,
                    [&](int x, int y) { return bilinear(known, x * scale, y * scale) / scale; });
  };
  Flow flow = start ? Flow{first(start->u), first(start->v)} : Flow{Grid(coarsest_size), Grid(coarsest_size)};

  LucasKanadeStep step;
  for (int level = coarsest; level >= 0; --level) {
    if (level < coarsest)
      flow = {enlarge(flow.u, pyramid0[level].size), enlarge(flow.v, pyramid0[level].size)};
    for (int i = 0; i < method.iterations; ++i) {
      step = lucas_kanade_step(pyramid0[level], pyramid1[level], method, flow);
      const bool filters = method.median > 0 && (method.median_each || i + 1 == method.iterations);
      flow =
          filters ? Flow{median(step.flow.u, method.median), median(step.flow.v, method.median)} : step.flow;
    }
  }
  const Grid &u = step.flow.u, &v = step.flow.v;
  const Grid residual = tabulate(frame0.size, [&](int x, int y) {
    return std::abs(bilinear(pyramid1[0], x + u(x, y), y + v(x, y)) - pyramid0[0](x, y));
  });
  const Grid valid = tabulate(frame0.size, [&](int x, int y) {
    return step.smaller_eigenvalue(x, y) >= method.min_eigenvalue && residual(x, y) <= method.max_residual &&
                   inside(frame0.size, x + u(x, y), y + v(x, y))
               ? 1.0
               : 0.0;
  });
  const Grid confidence = tabulate(frame0.size, [&](int x, int y) {
    const double r = residual(x, y);
    return std::isfinite(r) && inside(frame0.size, x + u(x, y), y + v(x, y))
               ? step.smaller_eigenvalue(x, y) / (r * r + 1e-5)
               : 0.0;
  });
  return {flow, step.flow, step.smaller_eigenvalue, confidence, residual, valid};
}

}  // namespace parafield::oracle
