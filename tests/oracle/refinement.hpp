// SPDX-License-Identifier: MIT
#pragma once
// The variational refinement in float64, one pixel at a time. See parafield/methods/refinement.hpp, whose
// numbers of steps are cited here. Beyond the border, each image repeats its nearest pixel.
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "oracle/adaptive_ridge.hpp"
#include "oracle/sharpen.hpp"
#include "parafield/methods/refinement.hpp"

namespace parafield::oracle {

using Channels = std::vector<Grid>;  ///< luma, or red, green and blue

inline double squared(double value) { return value * value; }

/// The channels that are compared.
inline Channels compared_channels(const Frame& frame, RefineData data) {
  const double p = data == RefineData::color ? 0.23 : 0.19;
  Channels channels;
  if (data == RefineData::luma) {
    channels = {luma(frame)};
  } else {
    for (const Grid& channel : colors(frame)) channels.push_back(channel);
  }
  for (Grid& channel : channels) channel = smooth(channel, {p, 1 - 2 * p, p});
  return channels;
}

/// D: the derivatives (-1 0 1) / 2 along x and y.
inline std::array<Grid, 2> half_differences(const Grid& image) {
  return {tabulate(image.size, [&](int x, int y) { return (image(x + 1, y) - image(x - 1, y)) / 2; }),
          tabulate(image.size, [&](int x, int y) { return (image(x, y + 1) - image(x, y - 1)) / 2; })};
}

/// Each pixel's data: the flow change d costs d A d + 2 b d.
struct RefinementData {
  Grid xx, xy, yy, xt, yt;
};

/// Step 1. `back`: flow of the second frame, or null.
inline RefinementData refinement_data(const Channels& from, const Channels& to, const Flow& flow,
                                      const Flow* back) {
  const Size size = flow.u.size;
  const bool is_color = from.size() > 1;
  const double count = double(from.size());
  RefinementData sums{Grid(size), Grid(size), Grid(size), Grid(size), Grid(size)};
  Grid squares(size), differences(size);  // sums over the channels
  const auto second_derivative = [=](const auto& at) {
    return is_color ? (at(-2) - 8 * at(-1) + 8 * at(1) - at(2)) / 12 : (at(1) - at(-1)) / 2;
  };
  for (std::size_t c = 0; c < from.size(); ++c) {
    const Grid warped = tabulate(size, [&](int x, int y) {
      const double to_x = x + flow.u(x, y), to_y = y + flow.v(x, y);
      return inside(size, to_x, to_y) ? bicubic(to[c], to_x, to_y) : std::numeric_limits<double>::quiet_NaN();
    });
    const Grid mean = tabulate(size, [&](int x, int y) { return (from[c](x, y) + warped(x, y)) / 2; });
    const Grid difference = tabulate(size, [&](int x, int y) { return warped(x, y) - from[c](x, y); });
    const std::array<Grid, 2> gradients = half_differences(mean), changes = half_differences(difference);
    for (std::size_t axis = 0; axis < 2; ++axis)
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          const Grid& gradient = gradients[axis];
          const double along = second_derivative([&](int i) { return gradient(x + i, y); }),
                       down = second_derivative([&](int i) { return gradient(x, y + i); }),
                       t = std::as_const(changes[axis])(x, y);
          const double weight = 1 / (along * along + down * down + squared(1.5));
          sums.xx(x, y) += weight * along * along, sums.xy(x, y) += weight * along * down;
          sums.yy(x, y) += weight * down * down;
          sums.xt(x, y) += weight * along * t, sums.yt(x, y) += weight * down * t;
          squares(x, y) += weight * t * t;
        }
    for (std::size_t i = 0; i < differences.values.size(); ++i)
      differences.values[i] += std::abs(difference.values[i]);
  }
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const double u = flow.u(x, y), v = flow.v(x, y);
      const double miss =
          back ? std::hypot(u + bilinear(back->u, x + u, y + v), v + bilinear(back->v, x + u, y + v)) : 0;
      const double weight = 2 / count / (1 + squares(x, y) / count / squared(0.3)) /
                            (1 + squared(differences(x, y) / count / 15)) / (1 + squared(miss / 0.5));
      bool counts = true;
      for (const Grid* plane : {&sums.xx, &sums.xy, &sums.yy, &sums.xt, &sums.yt, &differences, &squares})
        counts = counts && std::isfinite((*plane)(x, y));
      for (Grid* plane : {&sums.xx, &sums.xy, &sums.yy, &sums.xt, &sums.yt})
        (*plane)(x, y) = counts ? weight * (*plane)(x, y) : 0;
    }
  if (is_color)
    for (Grid* plane : {&sums.xx, &sums.xy, &sums.yy, &sums.xt, &sums.yt})
      *plane = smooth(*plane, {0.2, 0.6, 0.2});
  return sums;
}

/// Weights between each pixel and the next along x or y; 0 at the end.
struct EdgeWeights {
  Grid x, y;
};

/// c of step 2.
inline EdgeWeights color_edges(const Channels& channels) {
  const Size size = channels[0].size;
  const auto weight = [&](int x, int y, int to_x, int to_y) {
    if (to_x >= size.width || to_y >= size.height) return 0.0;
    double most = 0;
    for (const Grid& channel : channels)
      if (const double difference = std::abs(channel(to_x, to_y) - channel(x, y)); difference > most)
        most = difference;
    return 0.05 + 0.95 / (1 + squared(most / 25));
  };
  return {tabulate(size, [&](int x, int y) { return weight(x, y, x + 1, y); }),
          tabulate(size, [&](int x, int y) { return weight(x, y, x, y + 1); })};
}

/// Slopes of u and v along x, then along y, in cells of 8x8 px.
using Slopes = std::array<Grid, 4>;

/// Step 2. The measured slope of a cell counts with a tenth of its smooth share against its neighbors, and
/// over-relaxation has the factor 1.6.
inline Slopes flow_slopes(const Flow& flow, const EdgeWeights& edges) {
  const Size size = flow.u.size, cells{(size.width + 7) / 8, (size.height + 7) / 8};
  Slopes slopes;
  std::array<Grid, 2> share{Grid(cells), Grid(cells)};
  for (Grid& slope : slopes) slope = Grid(cells);
  for (int axis = 0; axis < 2; ++axis)
    for (int cell_y = 0; cell_y < cells.height; ++cell_y)
      for (int cell_x = 0; cell_x < cells.width; ++cell_x) {
        double weight = 0, u = 0, v = 0;
        int pixels = 0;
        for (int y = 8 * cell_y; y < std::min(8 * cell_y + 8, size.height); ++y)
          for (int x = 8 * cell_x; x < std::min(8 * cell_x + 8, size.width); ++x, ++pixels) {
            const int to_x = x + (axis == 0), to_y = y + (axis == 1);
            if (to_x >= size.width || to_y >= size.height) continue;
            const double du = flow.u(to_x, to_y) - flow.u(x, y), dv = flow.v(to_x, to_y) - flow.v(x, y);
            const double w =
                (axis == 0 ? edges.x : edges.y)(x, y) / (1 + (du * du + dv * dv) / squared(0.08));
            weight += w, u += w * du, v += w * dv;
          }
        slopes[std::size_t(2 * axis)](cell_x, cell_y) = u / (weight + 0.001 * pixels);
        slopes[std::size_t(2 * axis + 1)](cell_x, cell_y) = v / (weight + 0.001 * pixels);
        share[std::size_t(axis)](cell_x, cell_y) = weight / pixels;
      }
  for (std::size_t i = 0; i < 4; ++i) {
    const Grid measured = slopes[i];
    Grid& slope = slopes[i];
    for (int half = 0; half < 12; ++half)
      for (int y = 0; y < cells.height; ++y)
        for (int x = 0; x < cells.width; ++x) {
          if ((x + y + half) % 2 != 0) continue;
          const double own = 0.1 * share[i / 2](x, y) + 1e-6;
          double sum = own * measured(x, y), all = own;
          const auto add = [&](int other_x, int other_y, const Grid& shares) {
            if (other_x < 0 || other_y < 0 || other_x >= cells.width || other_y >= cells.height) return;
            const double conducts = shares(x, y) * shares(other_x, other_y);
            sum += conducts * slope(other_x, other_y), all += conducts;
          };
          add(x - 1, y, share[0]), add(x + 1, y, share[0]), add(x, y - 1, share[1]), add(x, y + 1, share[1]);
          slope(x, y) += 1.6 * (sum / all - slope(x, y));
        }
  }
  return slopes;
}

/// The slope at a position in px, bilinear between the centers of cells.
inline double slope_at(const Grid& slope, double x, double y) {
  return bilinear(slope, (x - 3.5) / 8, (y - 3.5) / 8);
}

/// Steps 2 to 4.
inline Flow relaxed_flow(const Flow& flow, const RefinementData& data, const EdgeWeights& edges,
                         const VariationalRefinement& parameters) {
  const Size size = flow.u.size;
  const Slopes slopes = flow_slopes(flow, edges);
  const auto deviation = [&](int x, int y, int axis) {  // of u and v
    const double at_x = x + (axis == 0 ? 0.5 : 0), at_y = y + (axis == 1 ? 0.5 : 0);
    return std::pair{slope_at(slopes[std::size_t(2 * axis)], at_x, at_y),
                     slope_at(slopes[std::size_t(2 * axis + 1)], at_x, at_y)};
  };
  EdgeWeights weights{Grid(size), Grid(size)};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      double squares = 0;
      for (int axis = 0; axis < 2; ++axis) {
        const int to_x = x + (axis == 0), to_y = y + (axis == 1);
        if (to_x >= size.width || to_y >= size.height) continue;
        const auto [slope_u, slope_v] = deviation(x, y, axis);
        squares += squared(flow.u(to_x, to_y) - flow.u(x, y) - slope_u) +
                   squared(flow.v(to_x, to_y) - flow.v(x, y) - slope_v);
      }
      const double weight = double(parameters.refine_smoothness) / (1 + squares / squared(0.05));
      weights.x(x, y) = weight * edges.x(x, y), weights.y(x, y) = weight * edges.y(x, y);
    }
  Flow solution = flow;
  for (int half = 0; half < 2 * parameters.refine_sweeps; ++half)
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        if ((x + y + half) % 2 != 0) continue;
        const double hold = 1e-6, xx = data.xx(x, y) + hold, xy = data.xy(x, y), yy = data.yy(x, y) + hold,
                     from_u = flow.u(x, y), from_v = flow.v(x, y);
        double all = 0, sum_u = xx * from_u + xy * from_v - data.xt(x, y),
               sum_v = xy * from_u + yy * from_v - data.yt(x, y);
        const auto add = [&](int other_x, int other_y, double weight, int axis, double sign) {
          if (other_x < 0 || other_y < 0 || other_x >= size.width || other_y >= size.height) return;
          const auto [slope_u, slope_v] = deviation(std::min(x, other_x), std::min(y, other_y), axis);
          all += weight;
          sum_u += weight * (solution.u(other_x, other_y) + sign * slope_u);
          sum_v += weight * (solution.v(other_x, other_y) + sign * slope_v);
        };
        add(x - 1, y, std::as_const(weights.x)(x - 1, y), 0, 1), add(x + 1, y, weights.x(x, y), 0, -1);
        add(x, y - 1, std::as_const(weights.y)(x, y - 1), 1, 1), add(x, y + 1, weights.y(x, y), 1, -1);
        const double a = xx + all, c = yy + all, determinant = a * c - xy * xy, factor = half < 2 ? 1 : 1.9;
        solution.u(x, y) += factor * ((c * sum_u - xy * sum_v) / determinant - solution.u(x, y));
        solution.v(x, y) += factor * ((a * sum_v - xy * sum_u) / determinant - solution.v(x, y));
      }
  for (const auto& [plane, start] : {std::pair{&solution.u, &flow.u}, std::pair{&solution.v, &flow.v}})
    for (std::size_t i = 0; i < plane->values.size(); ++i)
      plane->values[i] = std::clamp(plane->values[i], start->values[i] - 1, start->values[i] + 1);
  return solution;
}

/// All steps. `back`: flow of the second frame, or null.
inline Flow refined_flow(const Frame& from, const Frame& to, Flow flow, const Flow* back,
                         const VariationalRefinement& parameters) {
  const Channels first = compared_channels(from, parameters.refine_data),
                 second = compared_channels(to, parameters.refine_data);
  const ColorGrids first_colors = colors(from), second_colors = colors(to);
  const EdgeWeights edges = color_edges(first);
  for (int warp = 1; warp <= parameters.refine; ++warp) {
    flow = relaxed_flow(flow, refinement_data(first, second, flow, back), edges, parameters);
    if (parameters.refine_data == RefineData::color) flow = {median(flow.u, 3), median(flow.v, 3)};
    if (parameters.refine_median == 0 || (warp % parameters.refine_median != 0 && warp != parameters.refine))
      continue;
    const SharpenedFlow sharpened(first_colors, second_colors, flow, back);
    const auto at_boundaries = [&](const Grid& plane) {
      return tabulate(plane.size, [&](int x, int y) {
        return sharpened.is_sharpened(x, y, 0.2)
                   ? std::round(sharpened.median(plane, x, y, 0).first * 256) / 256
                   : plane(x, y);
      });
    };
    flow = {at_boundaries(flow.u), at_boundaries(flow.v)};
  }
  return flow;
}

}  // namespace parafield::oracle
