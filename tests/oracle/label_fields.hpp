// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>

#include "parafield/methods/energy.hpp"
#include "steps.hpp"

namespace parafield::oracle {

/// Value of a label: a displacement, a disparity (y = 0), or 0 and 1 of a mask.
struct Value {
  int x = 0, y = 0;
};

/// Red, green and blue, 0..255. All three are equal for a gray frame.
using Color = std::array<Grid, 3>;

/// Census of pixel (x, y): which of the 24 other pixels of its 5x5 window are smaller.
inline std::vector<bool> census(const Grid& image, int x, int y) {
  std::vector<bool> bits;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i)
      if (i != 0 || j != 0) bits.push_back(image(x + i, y + j) < image(x, y));
  return bits;
}

/// Horizontal derivative: half the difference between the right and the left neighbor.
inline double central_difference(const Grid& image, int x, int y) {
  return (image(x + 1, y) - image(x - 1, y)) / 2;
}

/// How little texture there is around each pixel, 0..1: 1 - (T - 0.5) / 2, where T is the mean of the
/// strength of texture by a gaussian of sigma 3. The strength is the larger difference to the next pixel,
/// right or below.
inline Grid flatness(const Grid& luma) {
  const Grid strength = tabulate(luma.size, [&](int x, int y) {
    return std::max(std::abs(luma(x + 1, y) - luma(x, y)), std::abs(luma(x, y + 1) - luma(x, y)));
  });
  const Grid mean = smooth(strength, gaussian_taps(3));
  return tabulate(luma.size, [&](int x, int y) { return 1 - std::clamp((mean(x, y) - 0.5) / 2, 0.0, 1.0); });
}

/// Planes of a frame that data terms compare.
struct Compared {
  Grid luma;
  Color color;
  Color edge_color;  ///< what weights of edges compare
  Grid flat;         ///< flatness: 0 everywhere unless areas without texture are treated apart

  Compared(const Frame& frame, float presmooth, bool texture_aware = false)
      : luma(oracle::luma(frame)), color(colors(frame)), flat(frame.size()) {
    if (presmooth > 0) smooth_all([&](const Grid& plane) { return smooth(plane, gaussian_taps(presmooth)); });
    edge_color = color;
    if (!texture_aware) return;
    flat = flatness(luma);
    smooth_all([&](const Grid& plane) {
      const Grid smoothed = smooth(plane, gaussian_taps(1));
      return tabulate(plane.size, [&](int x, int y) {
        return plane(x, y) + flat(x, y) * (smoothed(x, y) - plane(x, y));
      });
    });
  }

 private:
  template <class Smooth>
  void smooth_all(Smooth smoothed) {
    luma = smoothed(luma);
    for (Grid& plane : color) plane = smoothed(plane);
  }
};

/// Difference of `mix`: intensities are rounded to whole numbers, derivatives to quarters; derivatives are
/// limited to -32..31.75 by reflection. Where pixel a is flat, intensities count less, in quarters of their
/// weight.
inline double mixed_difference(const Compared& a, int ax, int ay, const Compared& b, int bx, int by,
                               bool of_color) {
  const auto rounded = [](double value) { return std::floor(value + 0.5); };
  const auto intensity = [&](const Grid& plane, int x, int y) {
    return rounded(std::clamp(plane(x, y), 0.0, 255.0));
  };
  const auto quarters = [&](const Grid& plane, int x, int y) {
    double code = rounded(4 * central_difference(plane, x, y));
    while (code > 127 || code < -128) code = (code > 127 ? 255 : -257) - code;
    return code;
  };
  double absolute = 0, gradient = 0, bits = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const Grid &one = of_color ? a.color[i] : a.luma, &other = of_color ? b.color[i] : b.luma;
    absolute += std::abs(intensity(one, ax, ay) - intensity(other, bx, by)) / 3;
    gradient += std::abs(quarters(one, ax, ay) - quarters(other, bx, by)) / 12;
  }
  const auto bits_a = census(a.luma, ax, ay), bits_b = census(b.luma, bx, by);
  for (std::size_t i = 0; i < bits_a.size(); ++i) bits += bits_a[i] != bits_b[i];
  const double textured = rounded(4 * (1 - a.flat(ax, ay))) / 4;
  return 0.08 * std::min(bits, 10.0) + 0.048 * textured * std::min(absolute, 18.0) +
         0.48 * std::min(gradient, 2.0);
}

/// Difference of pixel (ax, ay) of a and pixel (bx, by) of b, before weight and truncation: see DataTerm.
inline double difference(const Compared& a, int ax, int ay, const Compared& b, int bx, int by, DataTerm term,
                         bool of_color) {
  const auto mean_of_channels = [&](auto of) {
    if (!of_color) return of(a.luma(ax, ay) - b.luma(bx, by));
    double sum = 0;
    for (int i = 0; i < 3; ++i) sum += of(a.color[i](ax, ay) - b.color[i](bx, by));
    return sum / 3;
  };
  const auto absolute = [&] { return mean_of_channels([](double d) { return std::abs(d); }); };
  const auto hamming = [&] {
    const auto bits_a = census(a.luma, ax, ay), bits_b = census(b.luma, bx, by);
    double count = 0;
    for (std::size_t i = 0; i < bits_a.size(); ++i) count += bits_a[i] != bits_b[i];
    return count;
  };
  const auto gradient = [&] {
    return std::abs(central_difference(a.luma, ax, ay) - central_difference(b.luma, bx, by));
  };
  switch (term) {
    case DataTerm::absolute:
      return absolute();
    case DataTerm::squared:
      return mean_of_channels([](double d) { return d * d; });
    case DataTerm::census:
      return hamming();
    case DataTerm::gradient:
      return gradient();
    default:
      return mixed_difference(a, ax, ay, b, bx, by, of_color);
  }
}

/// Highest data cost that there can be: infinity without a limit. Matches outside the image have the limit.
inline double most_cost(const MatchingCost& cost) {
  if (cost.truncation > 0) return double(cost.weight) * cost.truncation;
  if (cost.data == DataTerm::census) return cost.weight * 24.0;
  if (cost.data == DataTerm::mix) return cost.weight * (0.08 * 10 + 0.048 * 18 + 0.48 * 2);
  return std::numeric_limits<double>::infinity();
}

/// Data costs of every pixel with its match `shift` away: weight * min(difference, truncation), as a mean
/// over the window. A match outside the image differs by the truncation; without one, the nearest pixel
/// stands in. Beyond the border of the image the window takes the cost of the nearest pixel.
inline Grid matching_costs(const Compared& a, const Compared& b, Value shift, const MatchingCost& cost) {
  const Size size = a.luma.size;
  const Grid costs = tabulate(size, [&](int x, int y) -> double {
    const int mx = x + shift.x, my = y + shift.y;
    const bool limited = cost.truncation > 0;
    if (limited && !inside(size, mx, my)) return double(cost.weight) * cost.truncation;
    const double d = difference(a, x, y, b, std::clamp(mx, 0, size.width - 1),
                                std::clamp(my, 0, size.height - 1), cost.data, cost.rgb);
    return cost.weight * (limited ? std::min(d, double(cost.truncation)) : d);
  });
  const int side = cost.aggregation, radius = side / 2;
  std::vector<double> weights;
  for (int i = -radius; i <= radius; ++i)
    weights.push_back(cost.aggregation_sigma > 0
                          ? std::exp(-0.5 * i * i / (double(cost.aggregation_sigma) * cost.aggregation_sigma))
                          : 1);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return smooth(costs, weights);
}

/// Energy of a label field: data costs of all labels at all pixels, and pair costs of neighbors.
struct LabelEnergy {
  Size size;
  std::vector<Value> values;    ///< of the labels
  std::vector<Grid> data = {};  ///< of each label
  int neighbors = 4;
  std::function<double(Value, Value)> pair = {};        ///< cost of two labels
  std::function<double(int, int, int, int)> edge = {};  ///< weight of the edge from (x, y) to (nx, ny)
  Grid flat = {};                                       ///< flatness; empty: 0

  int labels() const { return int(values.size()); }
  double pair_cost(int x, int y, int label, int nx, int ny, int other) const {
    return edge(x, y, nx, ny) * pair(values[std::size_t(label)], values[std::size_t(other)]);
  }
};

/// Labels in row order.
using Labels = std::vector<int>;

/// Calls f(nx, ny) for the neighbors of (x, y) that come before it in row order. So each edge counts once.
template <class F>
void for_each_earlier_neighbor(Size size, int neighbors, int x, int y, F f) {
  const std::vector<Value> offsets = neighbors == 4 ? std::vector<Value>{{-1, 0}, {0, -1}}
                                                    : std::vector<Value>{{-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
  for (const Value& to : offsets)
    if (inside(size, x + to.x, y + to.y)) f(x + to.x, y + to.y);
}

/// Energy that pixel (x, y) adds to the energy of the pixels before it in row order.
inline double added_energy(const LabelEnergy& energy, const Labels& labels, int x, int y) {
  const auto label_at = [&](int px, int py) { return labels[std::size_t(py) * energy.size.width + px]; };
  const int label = label_at(x, y);
  double sum = energy.data[std::size_t(label)](x, y);
  for_each_earlier_neighbor(energy.size, energy.neighbors, x, y, [&](int nx, int ny) {
    sum += energy.pair_cost(nx, ny, label_at(nx, ny), x, y, label);
  });
  return sum;
}

/// Energy of a label field (Jodoin eq. 3), each edge once.
inline double total(const LabelEnergy& energy, const Labels& labels) {
  double sum = 0;
  for (int y = 0; y < energy.size.height; ++y)
    for (int x = 0; x < energy.size.width; ++x) sum += added_energy(energy, labels, x, y);
  return sum;
}

/// Cost of two labels: see Smoothness.
inline double pair_cost(const Smoothness& smoothness, Value a, Value b) {
  const double dx = std::abs(a.x - b.x), dy = std::abs(a.y - b.y);
  double cost = 0;
  switch (smoothness.smoothness) {
    case SmoothnessModel::potts:
      cost = dx != 0 || dy != 0;
      break;
    case SmoothnessModel::linear:
      cost = dx + dy;
      break;
    case SmoothnessModel::quadratic:
      cost = dx * dx + dy * dy;
      break;
  }
  if (smoothness.smoothness_truncation > 0) cost = std::min(cost, double(smoothness.smoothness_truncation));
  return smoothness.beta * cost;
}

/// Energy of matching two frames. A label of value (x, y) moves a pixel by (step * x, y) px.
inline LabelEnergy matching_energy(const Frame& frame0, const Frame& frame1, std::vector<Value> values,
                                   int step, const MatchingCost& cost, const Smoothness& smoothness) {
  const bool texture_aware = cost.texture_aware && cost.data == DataTerm::mix;
  const Compared a(frame0, cost.presmooth, texture_aware), b(frame1, cost.presmooth, texture_aware);
  LabelEnergy energy{.size = frame0.size(), .values = std::move(values), .neighbors = smoothness.neighbors};
  for (const Value& value : energy.values)
    energy.data.push_back(matching_costs(a, b, {step * value.x, value.y}, cost));
  energy.pair = [=](Value one, Value other) { return pair_cost(smoothness, one, other); };
  if (texture_aware) energy.flat = a.flat;
  energy.edge = [=, image = a.edge_color](int x, int y, int nx, int ny) {
    if (smoothness.edge_scale == 0) return 1.0;
    double difference = 0;
    for (const Grid& plane : image) difference = std::max(difference, std::abs(plane(x, y) - plane(nx, ny)));
    return smoothness.edge_floor +
           (1 - double(smoothness.edge_floor)) * std::exp(-difference / smoothness.edge_scale);
  };
  return energy;
}

/// Energy of disparities (Jodoin eqs. 8, 9). Label i is disparity min_disparity + i.
inline LabelEnergy energy_of(const Frame& left, const Frame& right, const StereoEnergy& energy) {
  std::vector<Value> values;
  for (int i = 0; i < energy.disparities; ++i) values.push_back({energy.min_disparity + i, 0});
  return matching_energy(left, right, std::move(values), -1, energy.cost, energy.smoothness);
}

/// Energy of displacements (Jodoin eq. 7). Labels are in row order of their displacements.
inline LabelEnergy energy_of(const Frame& frame0, const Frame& frame1, const DisplacementEnergy& energy) {
  const int most = energy.max_displacement;
  std::vector<Value> values;
  for (int v = -most; v <= most; ++v)
    for (int u = -most; u <= most; ++u) values.push_back({u, v});
  return matching_energy(frame0, frame1, std::move(values), 1, energy.cost, energy.smoothness);
}

/// Energy of motion detection (Jodoin eqs. 4 to 6): labels 0 static, 1 moving. `last`: last mask's labels.
inline LabelEnergy energy_of(const Frame& frame0, const Frame& frame1, const ChangeEnergy& energy,
                             const Labels& last = {}) {
  const Compared a(frame0, 0), b(frame1, 0);
  const Size size = frame0.size();
  LabelEnergy result{.size = size, .values = {{0, 0}, {1, 0}}, .neighbors = 8};
  for (int label = 0; label < 2; ++label)
    result.data.push_back(tabulate(size, [&](int x, int y) {
      const double y_s = difference(b, x, y, a, x, y, DataTerm::absolute, energy.rgb);
      const double off = y_s - energy.mean * label;
      double cost = off * off / (double(energy.sigma) * energy.sigma);
      if (!last.empty()) {
        const int before = last[std::size_t(y) * size.width + x];
        double weight = energy.temporal;
        if (energy.temporal_fades && before == 1 && y_s < energy.mean) weight *= y_s / energy.mean;
        cost += before == label ? -weight : weight;
      }
      return cost;
    }));
  result.pair = [beta = double(energy.beta)](Value one, Value other) {
    return one.x == other.x ? -beta : beta;
  };
  result.edge = [](int, int, int, int) { return 1.0; };
  return result;
}

/// Number of edges between neighbors.
inline int edges(Size size, int neighbors) {
  int count = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for_each_earlier_neighbor(size, neighbors, x, y, [&](int, int) { ++count; });
  return count;
}

/// Label field of least energy, by trying all of them (branch and bound): first pixels that cannot lead below
/// the least energy so far are not continued.
class ExhaustiveMinimum {
 public:
  explicit ExhaustiveMinimum(const LabelEnergy& energy)
      : energy_(energy), pixels_(std::size_t(energy.size.width) * energy.size.height), labels_(pixels_, 0) {
    // Lower bound of the energy that pixels i and later add.
    rest_.assign(pixels_ + 1, 0);
    for (std::size_t i = pixels_; i-- > 0;) {
      const int x = int(i) % energy.size.width, y = int(i) / energy.size.width;
      double least = std::numeric_limits<double>::infinity();
      for (const Grid& costs : energy.data) least = std::min(least, costs(x, y));
      for_each_earlier_neighbor(energy.size, energy.neighbors, x, y, [&](int nx, int ny) {
        double edge = std::numeric_limits<double>::infinity();
        for (int a = 0; a < energy.labels(); ++a)
          for (int b = 0; b < energy.labels(); ++b)
            edge = std::min(edge, energy.pair_cost(nx, ny, a, x, y, b));
        least += edge;
      });
      rest_[i] = rest_[i + 1] + least;
    }
    extend(0, 0);
  }

  double energy() const { return least_; }
  const Labels& labels() const { return best_; }

 private:
  void extend(std::size_t i, double so_far) {
    if (so_far + rest_[i] >= least_) return;
    if (i == pixels_) {
      least_ = so_far;
      best_ = labels_;
      return;
    }
    for (int label = 0; label < energy_.labels(); ++label) {
      labels_[i] = label;
      extend(i + 1, so_far + added_energy(energy_, labels_, int(i) % energy_.size.width,
                                          int(i) / energy_.size.width));
    }
  }

  const LabelEnergy& energy_;
  std::size_t pixels_;
  Labels labels_, best_;
  std::vector<double> rest_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace parafield::oracle
