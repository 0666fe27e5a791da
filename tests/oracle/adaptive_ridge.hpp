// SPDX-License-Identifier: MIT
#pragma once
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "lucas_kanade.hpp"
#include "parafield/methods/adaptive_ridge.hpp"
#include "steps.hpp"

/// Adaptive ridge, by the steps of parafield/methods/adaptive_ridge.hpp. Intensities are 0..255.
namespace parafield::oracle {

/// Normal equations A f = -b of each pixel's window: A = (xx xy; xy yy), b = (xt yt), and E(f) = f A f + 2 b
/// f + tt.
struct NormalEquations {
  Grid xx, xy, yy, xt, yt, tt;
};

/// Statistics of a flow in cells of 8x8 pixels, each pixel weighted by how well its flow is determined.
struct CellStatistics {
  Flow mean;
  Grid spread;  ///< mean squared distance from the mean, px^2
  Grid weight;  ///< mean weight of the cell's pixels
  Grid luma;    ///< mean brightness
};

struct AdaptiveRidgeResult {
  Flow flow;
  Grid confidence;  ///< smaller eigenvalue of A at level 0, in the last iteration
  Grid residual;    ///< difference of brightness at the match
  Grid valid;       ///< 1 or 0
};

/// An image at an instant, and its change in time there, a frame.
struct InstantImages {
  Grid image, change;
  double weight;
};

/// Step 1. Frames are warped by `flow` times their distance from the middle frame; a pixel is NaN where that
/// leads outside. Two frames give one instant between them; more give one at the middle of each three
/// consecutive frames.
inline std::vector<InstantImages> instants(const std::vector<Grid>& frames, double prefilter,
                                           const Flow& flow) {
  const Size size = frames[0].size;
  const int count = int(frames.size()), middle = (count - 1) / 2;
  std::vector<Grid> warped;
  for (int i = 0; i < count; ++i)
    warped.push_back(tabulate(size, [&](int x, int y) {
      const int step = i - middle;
      if (step == 0) return frames[i](x, y);
      const double to_x = x + step * flow.u(x, y), to_y = y + step * flow.v(x, y);
      return inside(size, to_x, to_y) ? bicubic(frames[i], to_x, to_y)
                                      : std::numeric_limits<double>::quiet_NaN();
    }));
  const auto combined = [&](double a, const Grid& before, double b, const Grid& here, double c,
                            const Grid& after) {
    return tabulate(size, [&](int x, int y) { return a * before(x, y) + b * here(x, y) + c * after(x, y); });
  };
  const auto difference = [&](const Grid& before, const Grid& after, double scale) {
    return tabulate(size, [&](int x, int y) { return scale * (after(x, y) - before(x, y)); });
  };
  if (count == 2)
    return {{combined(0.5, warped[0], 0, warped[0], 0.5, warped[1]), difference(warped[0], warped[1], 1), 1}};
  std::vector<InstantImages> result;
  for (int i = 1; i + 1 < count; ++i)
    result.push_back(
        {combined(prefilter, warped[i - 1], 1 - 2 * prefilter, warped[i], prefilter, warped[i + 1]),
         difference(warped[i - 1], warped[i + 1], 0.5),
         count == 3    ? 1
         : i == middle ? 0.25
         : i < middle  ? 0.125
                       : 0.625});
  return result;
}

/// Steps 1 and 2: the products of each pixel's derivatives, at a flow.
inline NormalEquations products_of(const std::vector<Grid>& frames, const AdaptiveRidge& method,
                                   const Flow& flow) {
  const Size size = frames[0].size;
  const double p = method.prefilter;
  NormalEquations sums{Grid(size), Grid(size), Grid(size), Grid(size), Grid(size), Grid(size)};
  for (const auto& [moved, change, weight] : instants(frames, p, flow)) {
    const Grid& image = moved;
    // (-1 0 1) / 2 one way and the prefilter the other. Pixels that a derivative skips may be NaN.
    const Grid along = smooth(change, {p, 1 - 2 * p, p});
    const auto smoothed = [&](double before, double here, double after) {
      return p * before + (1 - 2 * p) * here + p * after;
    };
    const auto slope_x = [&](int x, int y) { return (image(x + 1, y) - image(x - 1, y)) / 2; };
    const auto slope_y = [&](int x, int y) { return (image(x, y + 1) - image(x, y - 1)) / 2; };
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const double gx = smoothed(slope_x(x, y - 1), slope_x(x, y), slope_x(x, y + 1));
        const double gy = smoothed(slope_y(x - 1, y), slope_y(x, y), slope_y(x + 1, y));
        const double gt = along(x, y);
        if (!std::isfinite(gx) || !std::isfinite(gy) || !std::isfinite(gt)) continue;
        const double relative = gt / method.robust;
        const double w = weight / (gx * gx + gy * gy + method.contrast + relative * relative);
        const double b = gt - gx * flow.u(x, y) - gy * flow.v(x, y);  // gt at flow 0
        sums.xx(x, y) += w * gx * gx, sums.xy(x, y) += w * gx * gy, sums.yy(x, y) += w * gy * gy;
        sums.xt(x, y) += w * gx * b, sums.yt(x, y) += w * gy * b, sums.tt(x, y) += w * b * b;
      }
  }
  return sums;
}

/// Step 2: means of products that are `spacing` px apart, over windows.
inline NormalEquations windowed(NormalEquations sums, const AdaptiveRidge& method, int spacing) {
  std::vector<double> window;
  double total = 0;
  for (int i = -(3 / spacing); i <= 3 / spacing; ++i) {
    window.push_back(std::exp(-std::pow(i * spacing, 2) / (2.0 * method.window * method.window)));
    total += window.back();
  }
  for (double& tap : window) tap /= total;
  for (Grid* sum : {&sums.xx, &sums.xy, &sums.yy, &sums.xt, &sums.yt, &sums.tt}) *sum = smooth(*sum, window);
  return sums;
}

/// Normal equations of each pixel at a flow.
inline NormalEquations normal_equations(const std::vector<Grid>& frames, const AdaptiveRidge& method,
                                        const Flow& flow) {
  return windowed(products_of(frames, method, flow), method, 1);
}

/// The same for every second pixel of every second row. Their flow is in units of 2 px.
inline NormalEquations spaced_normal_equations(const std::vector<Grid>& frames, const AdaptiveRidge& method,
                                               const Flow& flow) {
  const Size level = frames[0].size;
  const NormalEquations n = products_of(frames, method, {enlarge(flow.u, level), enlarge(flow.v, level)});
  const auto every_second = [&](const Grid& plane, double scale) {
    return tabulate(flow.u.size, [&](int x, int y) { return scale * plane(2 * x, 2 * y); });
  };
  // E(f) in squares of those units: divided by 4.
  return windowed({every_second(n.xx, 1), every_second(n.xy, 1), every_second(n.yy, 1),
                   every_second(n.xt, 1 / 2.0), every_second(n.yt, 1 / 2.0), every_second(n.tt, 1 / 4.0)},
                  method, 2);
}

/// E(f): weighted mean squared residual in the window of a pixel.
inline double residual_of(const NormalEquations& n, int x, int y, double u, double v) {
  return std::max(n.xx(x, y) * u * u + 2 * n.xy(x, y) * u * v + n.yy(x, y) * v * v +
                      2 * (n.xt(x, y) * u + n.yt(x, y) * v) + n.tt(x, y),
                  0.0);
}

/// The flow that minimizes E(f) + k |f - (u, v)|^2; empty if there is no solution.
inline std::optional<std::pair<double, double>> ridge_solution(const NormalEquations& n, int x, int y,
                                                               double k, double u, double v) {
  const double a = n.xx(x, y) + k, b = n.xy(x, y), c = n.yy(x, y) + k;
  const double r = n.xt(x, y) - k * u, s = n.yt(x, y) - k * v, determinant = a * c - b * b;
  if (!(determinant > 0)) return {};
  return std::pair{(b * s - c * r) / determinant, (b * r - a * s) / determinant};
}

/// Step 2: the solution without shrinkage, held weakly to the flow so far.
inline Flow plain_flow(const NormalEquations& n, const Flow& flow) {
  Flow plain = flow;
  for (int y = 0; y < flow.u.size.height; ++y)
    for (int x = 0; x < flow.u.size.width; ++x)
      if (const auto solution = ridge_solution(n, x, y, 1e-3, flow.u(x, y), flow.v(x, y)))
        std::tie(plain.u(x, y), plain.v(x, y)) = *solution;
  return plain;
}

/// Step 3: mean and spread of a flow in each cell.
inline CellStatistics cell_statistics(const NormalEquations& n, const Flow& flow, const Grid& luma) {
  const Size size = luma.size, cells{(size.width + 7) / 8, (size.height + 7) / 8};
  CellStatistics result{{Grid(cells), Grid(cells)}, Grid(cells), Grid(cells), Grid(cells)};
  // How well a pixel's flow is determined, above 0 and up to about 1: the determinant against the trace.
  const auto determination = [&](int x, int y) {
    const double determinant = std::max(n.xx(x, y) * n.yy(x, y) - n.xy(x, y) * n.xy(x, y), 0.0);
    return determinant / (determinant + 0.05 * (n.xx(x, y) + n.yy(x, y)) + 1e-12) + 1e-3;
  };
  for (int cell_y = 0; cell_y < cells.height; ++cell_y)
    for (int cell_x = 0; cell_x < cells.width; ++cell_x) {
      const int right = std::min(8 * cell_x + 8, size.width), bottom = std::min(8 * cell_y + 8, size.height);
      double weight = 0, u = 0, v = 0, brightness = 0, spread = 0;
      int pixels = 0;
      const auto each = [&](auto f) {
        for (int y = 8 * cell_y; y < bottom; ++y)
          for (int x = 8 * cell_x; x < right; ++x) f(x, y, determination(x, y));
      };
      each([&](int x, int y, double w) {
        weight += w, u += w * flow.u(x, y), v += w * flow.v(x, y), brightness += luma(x, y), ++pixels;
      });
      u /= weight, v /= weight;
      each([&](int x, int y, double w) {
        spread += w * (std::pow(flow.u(x, y) - u, 2) + std::pow(flow.v(x, y) - v, 2));
      });
      result.mean.u(cell_x, cell_y) = u, result.mean.v(cell_x, cell_y) = v;
      result.spread(cell_x, cell_y) = spread / weight;
      result.weight(cell_x, cell_y) = weight / pixels;
      result.luma(cell_x, cell_y) = std::isfinite(brightness) ? brightness / pixels : 0;
    }
  return result;
}

/// Weight of a difference of brightness: 1 / (1 + (difference / likeness)^2).
inline double alikeness(double difference, double likeness) {
  return 1 / (1 + difference * difference / (likeness * likeness));
}

/// Step 3: mean and spread over the 5x5 cells around each cell, by a gaussian with a sigma of one cell and by
/// likeness of brightness.
inline CellStatistics around_cells(const CellStatistics& cells, double likeness) {
  const std::vector<double> taps = {std::exp(-2.0), std::exp(-0.5), 1, std::exp(-0.5), std::exp(-2.0)};
  CellStatistics result = cells;
  for (int y = 0; y < cells.weight.size.height; ++y)
    for (int x = 0; x < cells.weight.size.width; ++x) {
      double weight = 0, u = 0, v = 0, spread = 0;
      const CellStatistics& around = cells;  // const, to read beyond the border
      const auto each = [&](auto f) {
        for (int j = -2; j <= 2; ++j)
          for (int i = -2; i <= 2; ++i)
            f(x + i, y + j,
              taps[i + 2] * taps[j + 2] * around.weight(x + i, y + j) *
                  alikeness(around.luma(x + i, y + j) - around.luma(x, y), likeness));
      };
      each([&](int i, int j, double w) {
        weight += w, u += w * around.mean.u(i, j), v += w * around.mean.v(i, j);
      });
      u /= weight, v /= weight;
      each([&](int i, int j, double w) {
        spread += w * (around.spread(i, j) + std::pow(around.mean.u(i, j) - u, 2) +
                       std::pow(around.mean.v(i, j) - v, 2));
      });
      result.mean.u(x, y) = u, result.mean.v(x, y) = v, result.spread(x, y) = spread / weight;
    }
  return result;
}

/// Step 4: each pixel's flow shrinks toward the mean around it, which comes from the four cells around it by
/// nearness and likeness. `residual`: E of each pixel's solution without shrinkage.
inline Flow shrunk_flow(const NormalEquations& n, const Grid& residual, const Grid& luma,
                        const CellStatistics& cells, const AdaptiveRidge& method) {
  const Size size = luma.size;
  const CellStatistics around = around_cells(cells, method.likeness);
  Flow flow{Grid(size), Grid(size)};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      // Position in cells, 0 at the center of the first cell.
      const double cell_x = (x + 0.5) / 8 - 0.5, cell_y = (y + 0.5) / 8 - 0.5;
      const int left = int(std::floor(cell_x)), top = int(std::floor(cell_y));
      const double brightness =
          std::isfinite(luma(x, y)) ? luma(x, y) : std::as_const(around.luma)(left, top);
      double weight = 0, u = 0, v = 0, spread = 0;
      for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 2; ++i) {
          const double nearness = (1 - std::abs(cell_x - left - i)) * (1 - std::abs(cell_y - top - j)) + 1e-3;
          const int at_x = left + i, at_y = top + j;
          const double difference = std::min(std::abs(around.luma(at_x, at_y) - brightness), 1e4);
          const double w = nearness * alikeness(difference, method.likeness);
          weight += w, u += w * around.mean.u(at_x, at_y), v += w * around.mean.v(at_x, at_y),
              spread += w * around.spread(at_x, at_y);
        }
      u /= weight, v /= weight, spread /= weight;
      // S is at least (0.01 px)^2, and k is above 0.
      const double k = method.shrinkage * residual(x, y) / std::max(spread, 1e-4) + 1e-6;
      const auto [to_u, to_v] = ridge_solution(n, x, y, k, u, v).value_or(std::pair{u, v});
      flow.u(x, y) = std::clamp(to_u, -double(size.width), double(size.width));
      flow.v(x, y) = std::clamp(to_v, -double(size.height), double(size.height));
    }
  return flow;
}

/// One iteration at one level, without the median.
struct AdaptiveRidgeStep {
  NormalEquations normal;
  Grid residual;  ///< E of each pixel's solution without shrinkage
  Flow flow;
};
inline AdaptiveRidgeStep adaptive_ridge_step(const NormalEquations& normal, const Grid& luma,
                                             const AdaptiveRidge& method, const Flow& flow) {
  Flow solution = plain_flow(normal, flow);
  const Grid residual = tabulate(
      luma.size, [&](int x, int y) { return residual_of(normal, x, y, solution.u(x, y), solution.v(x, y)); });
  for (int round = 0; round < method.rounds; ++round)
    solution = shrunk_flow(normal, residual, luma, cell_statistics(normal, solution, luma), method);
  return {normal, residual, solution};
}

/// The flow of more frames where it fits the normal equations of the pair, whose last iteration is `pair`;
/// elsewhere the pair's flow `of_pair`.
inline Flow mixed_flow(const AdaptiveRidgeStep& pair, const Flow& of_pair, const Flow& of_more) {
  struct Sums {
    double xx = 0, xy = 0, yy = 0, x = 0, y = 0, residual = 0, change = 0;
  };
  const Size size = of_pair.u.size, cells{(size.width + 7) / 8, (size.height + 7) / 8};
  const NormalEquations& n = pair.normal;
  const Grid trust = tabulate(cells, [&](int cell_x, int cell_y) {
    Sums sum;  // over the pixels of 7x7 cells
    for (int y = std::max(8 * cell_y - 24, 0); y < std::min(8 * cell_y + 32, size.height); ++y)
      for (int x = std::max(8 * cell_x - 24, 0); x < std::min(8 * cell_x + 32, size.width); ++x) {
        const double u = of_more.u(x, y), v = of_more.v(x, y), du = u - of_pair.u(x, y),
                     dv = v - of_pair.v(x, y);
        sum.xx += n.xx(x, y), sum.xy += n.xy(x, y), sum.yy += n.yy(x, y);
        sum.x += n.xx(x, y) * u + n.xy(x, y) * v + n.xt(x, y);
        sum.y += n.xy(x, y) * u + n.yy(x, y) * v + n.yt(x, y);
        sum.residual += pair.residual(x, y);
        sum.change += n.xx(x, y) * du * du + 2 * n.xy(x, y) * du * dv + n.yy(x, y) * dv * dv;
      }
    // A small multiple of the identity is added to A, so that texture along one line has an inverse.
    const double hold = 1e-3 * (sum.xx + sum.yy) + 1e-6, a = sum.xx + hold, c = sum.yy + hold;
    const double common = (sum.x * (sum.x * c - sum.y * sum.xy) + sum.y * (sum.y * a - sum.x * sum.xy)) /
                          (a * c - sum.xy * sum.xy);
    const double residual = std::max(sum.residual, 1e-6);
    return 1 / (1 + std::pow(sum.change / (0.15 * residual), 2) + std::pow(common / (0.007 * residual), 2));
  });
  Flow flow = of_pair;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const double cell_x = (x + 0.5) / 8 - 0.5, cell_y = (y + 0.5) / 8 - 0.5;
      const int left = int(std::floor(cell_x)), top = int(std::floor(cell_y));
      const double along = cell_x - left, down = cell_y - top;
      const double share = (1 - down) * ((1 - along) * trust(left, top) + along * trust(left + 1, top)) +
                           down * ((1 - along) * trust(left, top + 1) + along * trust(left + 1, top + 1));
      flow.u(x, y) += share * (of_more.u(x, y) - of_pair.u(x, y));
      flow.v(x, y) += share * (of_more.v(x, y) - of_pair.v(x, y));
    }
  return flow;
}

/// Flow at the middle frame, or the first of two (luma, 0..255), from `start` (at level 0) or from zero.
inline AdaptiveRidgeResult adaptive_ridge(const std::vector<Grid>& frames, const AdaptiveRidge& method = {},
                                          const std::optional<Flow>& start = {}) {
  const Size size = frames[0].size;
  int levels = method.levels;
  if (levels == 0)
    for (double side = std::min(size.width, size.height); levels == 0 || side >= 12; ++levels)
      side = std::ceil(side / 2);
  std::vector<std::vector<Grid>> pyramids;
  const bool spaced = method.spacing == 2;
  for (const Grid& frame : frames) {
    pyramids.push_back(gaussian_pyramid(frame, std::min(levels, 16)));
    if (spaced) pyramids.back().push_back(reduce(pyramids.back().back()));
  }
  // The level of the flow: with a spacing, it has the pixels of the next coarser one.
  const int coarsest = int(pyramids[0].size()) - 1, finest = spaced ? 1 : 0, scale = 1 << coarsest;

  // A value that is not finite starts as 0.
  const auto first = [&](const Grid* component) {
    return tabulate(pyramids[0][coarsest].size, [&](int x, int y) {
      const double value = component ? (*component)(x * scale, y * scale) : 0;
      return std::abs(value) <= 1e9 ? value / scale : 0;
    });
  };
  Flow flow{first(start ? &start->u : nullptr), first(start ? &start->v : nullptr)};

  const std::size_t middle = (frames.size() - 1) / 2;
  AdaptiveRidgeStep step;
  const auto iterate = [&](const NormalEquations& normal, const Grid& luma, const AdaptiveRidge& parameters) {
    step = adaptive_ridge_step(normal, luma, parameters, flow);
    flow = method.median > 0 ? Flow{median(step.flow.u, method.median), median(step.flow.v, method.median)}
                             : step.flow;
  };
  AdaptiveRidge in_one_round = method;  // all iterations but the last
  in_one_round.rounds = 1;
  in_one_round.shrinkage *= float(method.rounds);
  for (int level = coarsest; level >= finest; --level) {
    const Grid& luma = pyramids[middle][level];
    const std::vector<Grid> here = {pyramids[middle][level - finest], pyramids[middle + 1][level - finest]};
    if (level < coarsest) flow = {enlarge(flow.u, luma.size), enlarge(flow.v, luma.size)};
    const int iterations = method.iterations_at(level - finest);
    for (int i = 0; i < iterations; ++i) {
      const bool last = level == finest && i == iterations - 1;
      iterate(spaced ? spaced_normal_equations(here, method, flow) : normal_equations(here, method, flow),
              luma, last ? method : in_one_round);
    }
  }
  if (spaced) flow = {enlarge(flow.u, size), enlarge(flow.v, size)};
  if (frames.size() > 2) {
    const Flow of_pair = flow;
    const AdaptiveRidgeStep pair = step;
    for (const AdaptiveRidge& parameters : {in_one_round, method})
      iterate(normal_equations(frames, method, flow), frames[middle], parameters);
    flow = mixed_flow(pair, of_pair, flow);
  }

  const Grid &frame = frames[middle], &next = frames[middle + 1];
  AdaptiveRidgeResult result{flow, Grid(size), Grid(size), Grid(size)};
  result.confidence = tabulate(size, [&](int at_x, int at_y) {
    const int x = spaced ? at_x / 2 : at_x, y = spaced ? at_y / 2 : at_y;
    const double half = (step.normal.xx(x, y) - step.normal.yy(x, y)) / 2;
    return std::max(
        (step.normal.xx(x, y) + step.normal.yy(x, y)) / 2 - std::hypot(half, step.normal.xy(x, y)), 0.0);
  });
  result.residual = tabulate(size, [&](int x, int y) {
    return std::abs(bilinear(next, x + flow.u(x, y), y + flow.v(x, y)) - frame(x, y));
  });
  result.valid = tabulate(size, [&](int x, int y) {
    return inside(size, x + flow.u(x, y), y + flow.v(x, y)) &&
                   result.residual(x, y) <= 255 * double(method.max_residual)
               ? 1.0
               : 0.0;
  });
  return result;
}

}  // namespace parafield::oracle
