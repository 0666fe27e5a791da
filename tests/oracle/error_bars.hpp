// SPDX-License-Identifier: MIT
#pragma once
// Error bars in float64, one pixel at a time: see src/steps/error_bars. Beyond the border, each image repeats
// its nearest pixel.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "oracle/steps.hpp"
#include "parafield/fields.hpp"
#include "steps/error_bars/models.hpp"

namespace parafield::oracle {

/// Mean of f over the pixels of a window around (x, y).
template <class F>
double window_mean(Size size, int x, int y, int reach, F f) {
  double sum = 0;
  for (int j = -reach; j <= reach; ++j)
    for (int i = -reach; i <= reach; ++i)
      sum += f(std::clamp(x + i, 0, size.width - 1), std::clamp(y + j, 0, size.height - 1));
  return sum / ((2 * reach + 1) * (2 * reach + 1));
}

/// Derivatives of the mean of two images along x and y, and of their difference in time.
struct TwoImages {
  Grid gx, gy, gt;

  TwoImages(const Grid& a, const Grid& b) {
    const Size size = a.size;
    const Grid mean = tabulate(size, [&](int x, int y) { return (a(x, y) + b(x, y)) / 2; });
    const Grid difference = tabulate(size, [&](int x, int y) { return b(x, y) - a(x, y); });
    const auto smooth3 = [](double before, double here, double after) {
      return 0.19 * before + 0.62 * here + 0.19 * after;
    };
    const auto across_x = [&](const Grid& g, int x, int y) {
      return smooth3(g(x - 1, y), g(x, y), g(x + 1, y));
    };
    const auto across_y = [&](const Grid& g, int x, int y) {
      return smooth3(g(x, y - 1), g(x, y), g(x, y + 1));
    };
    const int right = size.width - 1;
    gx = tabulate(size, [&](int x, int y) {
      return (across_y(mean, std::min(x + 1, right), y) - across_y(mean, std::max(x - 1, 0), y)) / 2;
    });
    gy = tabulate(size, [&](int x, int y) {
      return (across_x(mean, x, std::min(y + 1, size.height - 1)) - across_x(mean, x, std::max(y - 1, 0))) /
             2;
    });
    gt = tabulate(size, [&](int x, int y) {
      return smooth3(across_x(difference, x, y - 1), across_x(difference, x, y),
                     across_x(difference, x, y + 1));
    });
  }

  /// A product of the derivatives, weighted; 0 where a derivative is unknown.
  Grid weighted(const Grid& a, const Grid& b, bool with_y) const {
    return tabulate(gx.size, [&](int x, int y) {
      const double y2 = with_y ? gy(x, y) * gy(x, y) : 0;
      const double weight = 1 / (gx(x, y) * gx(x, y) + y2 + 20 + gt(x, y) * gt(x, y) / 2.25);
      const double product = weight * a(x, y) * b(x, y);
      return std::isfinite(product) ? product : 0.0;
    });
  }
};

/// A flow field.
struct FlowGrids {
  Grid u, v;
};

struct FlowErrorGrids {
  Grid xx, xy, yy, outlier, outlier3, cause;
};

/// `back`: flow of the second frame, or null.
inline FlowErrorGrids flow_error_grids(const Grid& luma0, const Grid& luma1, const FlowGrids& flow,
                                       const FlowGrids* back, const Grid& valid,
                                       const FlowErrorModel& model) {
  const Size size = luma0.size;
  const auto at_x = [&](int x, int y) { return x + flow.u(x, y); };
  const auto at_y = [&](int x, int y) { return y + flow.v(x, y); };
  const auto is_inside = [&](int x, int y) { return inside(size, at_x(x, y), at_y(x, y)); };
  const Grid warped = tabulate(size, [&](int x, int y) {
    return is_inside(x, y) ? bicubic(luma1, at_x(x, y), at_y(x, y))
                           : std::numeric_limits<double>::quiet_NaN();
  });
  const TwoImages images(luma0, warped);
  const Grid pxx = images.weighted(images.gx, images.gx, true),
             pxy = images.weighted(images.gx, images.gy, true),
             pyy = images.weighted(images.gy, images.gy, true),
             ptt = images.weighted(images.gt, images.gt, true);
  const Grid miss = tabulate(size, [&](int x, int y) {
    if (!back || !is_inside(x, y)) return 0.0;
    const double u = flow.u(x, y) + bilinear(back->u, at_x(x, y), at_y(x, y)),
                 v = flow.v(x, y) + bilinear(back->v, at_x(x, y), at_y(x, y));
    return std::isnan(u + v) ? 0.0 : u * u + v * v;
  });
  const Grid bad = tabulate(size, [&](int x, int y) { return valid(x, y) != 0 ? 0.0 : 1.0; });
  const auto mean_at = [&](int x, int y) {
    return [=, &size](const Grid& grid, int reach, double most = 1e300) {
      return window_mean(size, x, y, reach, [&](int i, int j) { return std::min(grid(i, j), most); });
    };
  };
  const auto around = [&](const Grid& a, const Grid& b) {
    return tabulate(size, [&](int x, int y) {
      return model.spread * window_mean(size, x, y, 2, [&](int i, int j) {
               const double product = (a(i, j) - a(x, y)) * (b(i, j) - b(x, y));
               return std::isnan(product) ? 0.0 : product;
             });
    });
  };
  const Grid sxx = around(flow.u, flow.u), sxy = around(flow.u, flow.v), syy = around(flow.v, flow.v);
  Grid rxx(size), rxy(size), ryy(size), residual(size);  // of least squares
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const auto mean = mean_at(x, y);
      const double k = 0.001, gxx = mean(pxx, 3) + k, gxy = mean(pxy, 3), gyy = mean(pyy, 3) + k;
      residual(x, y) = mean(ptt, 3);
      const double factor = model.residual * residual(x, y) / (gxx * gyy - gxy * gxy);
      rxx(x, y) = factor * gyy, rxy(x, y) = -factor * gxy, ryy(x, y) = factor * gxx;
    }
  const Grid deviation = tabulate(size, [&](int x, int y) {
    return std::min(std::sqrt(rxx(x, y) + ryy(x, y) + sxx(x, y) + syy(x, y)), 4.0);
  });
  const auto center_of_cell = [](int i, int length) {
    return std::min(std::clamp(i, 0, (length + 7) / 8 - 1) * 8 + 4, length - 1);
  };
  FlowErrorGrids out{Grid(size), Grid(size), Grid(size), Grid(size), Grid(size), Grid(size)};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const auto mean = mean_at(x, y);
      double sum = 0;
      for (int j = -8; j <= 8; j += 2)
        for (int i = -8; i <= 8; i += 2)
          sum += deviation(std::clamp(x + i, 0, size.width - 1), std::clamp(y + j, 0, size.height - 1));
      const double wide = sum / 81 * sum / 81;
      double around = 0.01;
      for (int j = -8; j <= 8; ++j)
        for (int i = -8; i <= 8; ++i)
          around += deviation(center_of_cell(x / 8 + i, size.width), center_of_cell(y / 8 + j, size.height)) /
                    (17 * 17);
      const double u = flow.u(x, y), v = flow.v(x, y), length2 = u * u + v * v,
                   out2 = is_inside(x, y) ? 0 : length2, r2 = miss(x, y);
      const double equal = model.floor + model.back * r2 + model.outside * out2,
                   trace = 2 * equal + rxx(x, y) + ryy(x, y) + sxx(x, y) + syy(x, y);
      out.xx(x, y) = equal + model.wide * wide + rxx(x, y) + sxx(x, y);
      out.xy(x, y) = rxy(x, y) + sxy(x, y);
      out.yy(x, y) = equal + model.wide * wide + ryy(x, y) + syy(x, y);
      const auto probability = [&](const FlowErrorModel::Odds& o) {
        const double terms = o.trace * trace + o.wide * wide + o.back4 * mean(miss, 4, 4) +
                             o.back36 * mean(miss, 4, 36) + o.motion * std::sqrt(length2) * residual(x, y) +
                             o.not_valid * bad(x, y) + o.outside * out2;
        return around * terms / (1 + around * terms);
      };
      out.outlier(x, y) = probability(model.odds1);
      out.outlier3(x, y) = std::min(probability(model.odds3), out.outlier(x, y));
      const double texture = rxx(x, y) + ryy(x, y), boundary = sxx(x, y) + syy(x, y),
                   of_back = 2 * model.back * r2, tolerance = 0.5 + 0.05 * std::sqrt(length2);
      const ErrorCause cause = !is_inside(x, y)                        ? ErrorCause::left_frame
                               : r2 > tolerance * tolerance            ? ErrorCause::hidden
                               : out.xx(x, y) + out.yy(x, y) < 0.02    ? ErrorCause::fine
                               : of_back > std::max(texture, boundary) ? ErrorCause::inconsistent
                               : texture >= boundary                   ? ErrorCause::texture
                                                                       : ErrorCause::boundary;
      out.cause(x, y) = double(cause);
    }
  return out;
}

struct DisparityErrorGrids {
  Grid sigma, outlier, outlier3, cause;
};

inline DisparityErrorGrids disparity_error_grids(const Grid& left, const Grid& right_luma, const Grid& d,
                                                 const Grid& right, const Grid& valid, const Grid& confidence,
                                                 const DisparityErrorModel& model) {
  const Size size = d.size;
  const auto is_inside = [&](int x, int y) { return x - d(x, y) >= 0 && x - d(x, y) <= size.width - 1; };
  const Grid warped = tabulate(size, [&](int x, int y) {
    return is_inside(x, y) ? bicubic(right_luma, x - d(x, y), y) : std::numeric_limits<double>::quiet_NaN();
  });
  const TwoImages images(left, warped);
  const Grid texture = images.weighted(images.gx, images.gx, false);
  const auto column = [&](int x, int y) { return std::floor(x - d(x, y) + 0.5); };
  const auto has_column = [&](int x, int y) { return column(x, y) >= 0 && column(x, y) < size.width; };
  const auto ahead = [&](int x, int y) { return right(int(column(x, y)), y) - d(x, y); };
  const Grid apart = tabulate(
      size, [&](int x, int y) { return has_column(x, y) ? std::min(std::abs(ahead(x, y)), 2.0) : 2.0; });
  const Grid bad = tabulate(size, [&](int x, int y) { return valid(x, y) != 0 ? 0.0 : 1.0; });
  const auto extreme = [&](const Grid& grid, int x, int y, int reach, double sign) {
    double most = -1e300;
    window_mean(size, x, y, reach, [&](int i, int j) { return most = std::max(most, sign * grid(i, j)); });
    return sign * most;
  };
  const Grid range =
      tabulate(size, [&](int x, int y) { return extreme(d, x, y, 1, 1) - extreme(d, x, y, 1, -1); });
  DisparityErrorGrids out{Grid(size), Grid(size), Grid(size), Grid(size)};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const auto mean = [&](const Grid& grid, int reach) {
        return window_mean(size, x, y, reach, [&](int i, int j) { return grid(i, j); });
      };
      const double of_texture = model.texture / (mean(texture, 3) + 0.03), disagreement = mean(apart, 4),
                   of_apart = model.disagreement * disagreement;
      const double variance = model.floor + of_texture + of_apart + model.not_valid * bad(x, y);
      const double doubt = 1 / (confidence(x, y) + 1), step = bad(x, y) * extreme(range, x, y, 7, 1),
                   curve = d(x, y) - mean(d, 2);
      const auto probability = [&](const DisparityErrorModel::Odds& o) {
        const double odds = o.doubt * doubt * doubt + o.not_valid * mean(bad, 8) + o.step * step * step +
                            o.disagreement * disagreement + o.curvature * curve * curve;
        return odds / (1 + odds);
      };
      out.sigma(x, y) = std::sqrt(variance);
      out.outlier(x, y) = probability(model.odds1);
      out.outlier3(x, y) = std::min(probability(model.odds3), out.outlier(x, y));
      const ErrorCause cause = variance < 0.05                             ? ErrorCause::fine
                               : valid(x, y) != 0 && of_apart > of_texture ? ErrorCause::boundary
                               : valid(x, y) != 0                          ? ErrorCause::texture
                               : !has_column(x, y)                         ? ErrorCause::left_frame
                               : ahead(x, y) > 1                           ? ErrorCause::hidden
                                                                           : ErrorCause::inconsistent;
      out.cause(x, y) = double(cause);
    }
  return out;
}

}  // namespace parafield::oracle
