// SPDX-License-Identifier: MIT
#pragma once
#include <optional>

#include "label_fields.hpp"
#include "slopes.hpp"

namespace parafield::oracle {

/// Costs as whole numbers of units, for Precision::fast. A pair cost is at most about 7168 units; the slope
/// of linear smoothness is a whole number of units if it is at least one. Data costs reach 28672 units. If a
/// cost may be above 8190 units, they count from the least of their pixel.
struct Units {
  double per_cost = 1;  ///< units in a cost of 1
  bool quadratic = false;
  double slope = 0, limit = 0;  ///< of the pair cost, in units
  bool relative = false;        ///< whether data costs count from the least of their pixel

  /// `most_data`: upper limit of data costs. `step`: if not 0, data costs are whole multiples of it, and it
  /// is a whole number of units instead of the slope. `most_weight`: highest weight of an edge whose pair
  /// costs are not clipped.
  Units(const Smoothness& smoothness, const std::vector<Value>& values, double most_data, double step = 0,
        double most_weight = 1)
      : quadratic(smoothness.smoothness == SmoothnessModel::quadratic) {
    const double beta = smoothness.beta;
    double most = 1e-20;
    for (const Value& a : values)
      for (const Value& b : values) most = std::max(most, oracle::pair_cost(smoothness, a, b));
    const double steps = std::floor(7168 * beta / (most * most_weight));
    const double whole = step > 0 ? std::min(std::floor(7168 * step / (most * most_weight)),
                                             std::floor(8190 * step / most_data))
                                  : 0;
    per_cost = whole >= 1 ? whole / step : steps >= 1 ? steps / beta : 7168 / (most * most_weight);
    limit = std::round(most * per_cost);
    slope = quadratic ? beta * per_cost : std::min(std::round(beta * per_cost), limit);
    relative = most_data * per_cost + 1 > 8190;
  }

  static double rounded(double value) { return std::floor(value + 0.5); }

  void round_data(std::vector<double>& costs, bool finest) const {
    // Sums of a coarser level always count from the least.
    const double least = relative || !finest ? *std::min_element(costs.begin(), costs.end()) : 0;
    for (double& cost : costs) cost = std::min(rounded((cost - least) * (finest ? per_cost : 1)), 4.0 * 7168);
  }
  double pair_cost(double weight, Value a, Value b) const {
    const double dx = std::abs(a.x - b.x), dy = std::abs(a.y - b.y),
                 most = std::min(rounded(weight * limit), 7168.0);
    const double cost = quadratic ? rounded(weight * slope * dx * dx) + rounded(weight * slope * dy * dy)
                                  : rounded(weight * slope) * (dx + dy);
    return std::min(cost, most);
  }
};

/// Slanted surfaces: planes are fitted to the labels of levels 4 to 2, or 1, and messages follow their
/// slopes. For linear smoothness of disparities.
struct Slanted {
  bool on_all_levels = false;
  bool twice =
      true;  ///< coarse levels follow their own slopes, too; otherwise, only levels 4 and 3 have planes
  Smoothness smoothness;
  std::array<Grid, 3> color;  ///< bytes of the frame's colors
};

/// Hierarchical min-sum belief propagation (Grauer-Gray sections 3 and 4). Each pixel keeps the messages that
/// it has received from its neighbors: left, up, right, down.
class BeliefPropagation {
 public:
  /// `on_finest`: iterations on the finest level, -1 = `iterations`. `units`: for Precision::fast; beliefs
  /// are then in units.
  BeliefPropagation(const LabelEnergy& energy, int levels, int iterations, int on_finest = -1,
                    std::optional<Units> units = {}, std::optional<Slanted> slanted = {})
      : energy_(energy), units_(std::move(units)), slanted_(std::move(slanted)) {
    for (const Value& a : energy.values)
      for (const Value& b : energy.values) pairs_.push_back(energy.pair(a, b));
    levels_.push_back(finest());
    while (int(levels_.size()) < levels && longest(coarser(levels_.back().size)) >= 2)
      levels_.push_back(summed(levels_.back()));
    for (std::size_t k = levels_.size(); k-- > 0;) {
      const int count = k == 0 && on_finest >= 0 ? on_finest : iterations;
      const bool fits = slanted_ && k <= 4 && k >= (slanted_->on_all_levels ? 1 : slanted_->twice ? 2 : 3);
      for (int solve = fits && slanted_->twice && k >= 2 ? 0 : 1; solve < 2; ++solve) {
        levels_[k].received = empty(levels_[k].size).received;
        if (k + 1 < levels_.size()) receive_from_blocks(levels_[k], levels_[k + 1]);
        for (int i = 0; i < count; ++i) send(levels_[k], i % 2);
        if (fits) follow_slopes(int(k), solve == 0 ? int(k) : int(k) - 1);
      }
    }
  }

  int levels() const { return int(levels_.size()); }

  /// Belief of each label: its data cost plus the received messages.
  std::vector<double> beliefs(int x, int y) const { return beliefs(levels_[0], x, y); }

 private:
  using Costs = std::vector<double>;  // of each label
  static constexpr Value to_neighbor[4] = {{-1, 0}, {0, -1}, {1, 0}, {0, 1}};

  struct Level {
    Size size;
    std::vector<Costs> data;
    std::array<std::vector<Costs>, 4> received;
    Grid right, down;            // weights of the edges to the right and down
    Grid flat;                   // flatness
    double growth = 1;           // factor of a weight between flat pixels
    Grid rise_right, rise_down;  // by how many labels surfaces rise to the right and down
    std::array<Grid, 3> color;   // of slanted surfaces

    std::size_t index(int x, int y) const { return std::size_t(y) * size.width + x; }
    double along(const Grid& to_right, const Grid& to_down, int x, int y, int k) const {
      return k == 0   ? to_right(x - 1, y)
             : k == 1 ? to_down(x, y - 1)
             : k == 2 ? to_right(x, y)
                      : to_down(x, y);
    }
    double weight(int x, int y, int k) const {
      const double both = std::min(flat(x, y), flat(x + to_neighbor[k].x, y + to_neighbor[k].y));
      return along(right, down, x, y, k) * (1 + (growth - 1) * both);
    }
    double rise(int x, int y, int k) const {
      return (k < 2 ? -1 : 1) * along(rise_right, rise_down, x, y, k);
    }
  };

  Costs beliefs(const Level& level, int x, int y) const {
    std::vector<double> sums = level.data[level.index(x, y)];
    for (const auto& received : level.received)
      for (std::size_t l = 0; l < sums.size(); ++l) sums[l] += received[level.index(x, y)][l];
    return sums;
  }

  /// Fits planes to the labels of level k; level `to`, the same or the next finer one, follows their slopes.
  void follow_slopes(int k, int to) {
    const Level& level = levels_[std::size_t(k)];
    SlopeLevel slopes;
    slopes.level = k, slopes.color = level.color;
    slopes.d = slopes.trust = Grid(level.size);
    for (int y = 0; y < level.size.height; ++y)
      for (int x = 0; x < level.size.width; ++x) {
        Costs costs = beliefs(level, x, y);
        for (double& cost : costs) cost /= units_ ? units_->per_cost : 1;
        const auto best = std::size_t(std::min_element(costs.begin(), costs.end()) - costs.begin());
        double offset = 0, rest = std::numeric_limits<double>::infinity();
        if (best > 0 && best + 1 < costs.size()) {
          const double before = costs[best - 1] - costs[best], after = costs[best + 1] - costs[best];
          if (std::max(before, after) > 0) offset = (before - after) / std::max(before, after) / 2;
        }
        for (std::size_t l = 0; l < costs.size(); ++l)
          if (l + 1 < best || l > best + 1) rest = std::min(rest, costs[l]);
        slopes.d(x, y) = double(best) + (std::abs(offset) < 0.08 ? 0 : offset);
        slopes.trust(x, y) = std::clamp((rest - costs[best]) / (0.5 * (1 << k)), 0.1, 1.0);
      }
    slopes.fit();
    Level& target = levels_[std::size_t(to)];
    const auto rise = [&](const Grid& slope, int x, int y, int nx, int ny) {
      const int shift = k - to;
      return SlopeLevel::rise(slope(x >> shift, y >> shift), slope(nx >> shift, ny >> shift), to, shift == 1);
    };
    for (int y = 0; y < target.size.height; ++y)
      for (int x = 0; x < target.size.width; ++x) {
        if (x + 1 < target.size.width) target.rise_right(x, y) = rise(slopes.slope_x, x, y, x + 1, y);
        if (y + 1 < target.size.height) target.rise_down(x, y) = rise(slopes.slope_y, x, y, x, y + 1);
      }
  }

  /// Whether labels are disparities.
  bool keeps_edges() const {
    return std::all_of(energy_.values.begin(), energy_.values.end(), [](Value v) { return v.y == 0; });
  }
  static Size coarser(Size size) { return {(size.width + 1) / 2, (size.height + 1) / 2}; }
  static int longest(Size size) { return std::max(size.width, size.height); }

  Level empty(Size size) const {
    const std::vector<Costs> none(std::size_t(size.width) * size.height,
                                  Costs(std::size_t(energy_.labels()), 0.0));
    return {size,       none, {none, none, none, none}, Grid(size), Grid(size), Grid(size), 1, Grid(size),
            Grid(size), {}};
  }

  Level finest() const {
    Level level = empty(energy_.size);
    if (!energy_.flat.values.empty()) level.flat = energy_.flat;
    level.growth = 2;
    if (slanted_) level.color = slanted_->color;
    for (int y = 0; y < level.size.height; ++y)
      for (int x = 0; x < level.size.width; ++x) {
        Costs& costs = level.data[level.index(x, y)];
        for (std::size_t l = 0; l < costs.size(); ++l) costs[l] = energy_.data[l](x, y);
        if (units_) units_->round_data(costs, true);
        if (x + 1 < level.size.width) level.right(x, y) = energy_.edge(x, y, x + 1, y);
        if (y + 1 < level.size.height) level.down(x, y) = energy_.edge(x, y, x, y + 1);
      }
    return level;
  }

  /// Coarser level: data costs are sums over 2 x 2 pixels; an edge's weight is the mean of the one or two
  /// fine edges across their border, for disparities after each has taken the least of itself and the edges
  /// before and after it; flatness is the least, and counts 1.5 times as much, up to 8.
  Level summed(const Level& fine) const {
    Level level = empty(coarser(fine.size));
    level.growth = std::min(1.5 * fine.growth, 8.0);
    for (int y = 0; y < level.size.height; ++y)
      for (int x = 0; x < level.size.width; ++x) {
        Costs& costs = level.data[level.index(x, y)];
        const auto for_each_inside = [&](std::initializer_list<Value> pixels, auto f) {
          for (const Value& p : pixels)
            if (inside(fine.size, 2 * x + p.x, 2 * y + p.y)) f(2 * x + p.x, 2 * y + p.y);
        };
        for_each_inside({{0, 0}, {1, 0}, {0, 1}, {1, 1}}, [&](int fx, int fy) {
          for (std::size_t l = 0; l < costs.size(); ++l) costs[l] += fine.data[fine.index(fx, fy)][l];
        });
        if (units_) units_->round_data(costs, false);
        if (slanted_)
          for (std::size_t i = 0; i < 3; ++i) {
            if (x == 0 && y == 0) level.color[i] = Grid(level.size);
            double sum = 0;
            for (int j = 0; j < 4; ++j)
              sum += fine.color[i](std::min(2 * x + j % 2, fine.size.width - 1),
                                   std::min(2 * y + j / 2, fine.size.height - 1));
            level.color[i](x, y) = std::floor((sum + 2) / 4);
          }
        level.flat(x, y) = 1;
        for_each_inside({{0, 0}, {1, 0}, {0, 1}, {1, 1}}, [&](int fx, int fy) {
          level.flat(x, y) = std::min(level.flat(x, y), fine.flat(fx, fy));
        });
        const auto mean = [&](std::initializer_list<Value> pixels, const Grid& weights, Value along) {
          double sum = 0;
          int count = 0;
          for_each_inside(pixels, [&](int fx, int fy) {
            double least = weights(fx, fy);
            for (const int step : {-1, 1}) {
              const int px = fx + step * along.x, py = fy + step * along.y;
              if (keeps_edges() && inside(fine.size, px + along.x, py + along.y))
                least = std::min(least, weights(px, py));
            }
            sum += least, ++count;
          });
          return sum / count;
        };
        if (x + 1 < level.size.width) level.right(x, y) = mean({{1, 0}, {1, 1}}, fine.right, {1, 0});
        if (y + 1 < level.size.height) level.down(x, y) = mean({{0, 1}, {1, 1}}, fine.down, {0, 1});
      }
    return level;
  }

  static void receive_from_blocks(Level& fine, const Level& coarse) {
    for (int y = 0; y < fine.size.height; ++y)
      for (int x = 0; x < fine.size.width; ++x)
        for (std::size_t k = 0; k < 4; ++k)
          fine.received[k][fine.index(x, y)] = coarse.received[k][coarse.index(x / 2, y / 2)];
  }

  void send(Level& level, int color) const {
    for (int y = 0; y < level.size.height; ++y)
      for (int x = (y + color) % 2; x < level.size.width; x += 2)
        for (int k = 0; k < 4; ++k) {
          const int nx = x + to_neighbor[k].x, ny = y + to_neighbor[k].y;
          if (!inside(level.size, nx, ny)) continue;
          Costs sum = level.data[level.index(x, y)];
          for (std::size_t from = 0; from < 4; ++from)
            for (std::size_t l = 0; l < sum.size() && from != std::size_t(k); ++l)
              sum[l] += level.received[from][level.index(x, y)][l];
          level.received[std::size_t((k + 2) % 4)][level.index(nx, ny)] =
              message(sum, level.weight(x, y, k), level.rise(x, y, k));
        }
  }

  Costs message(const Costs& sum, double weight, double rise) const {
    Costs result(sum.size(), std::numeric_limits<double>::infinity());
    for (std::size_t l = 0; l < sum.size(); ++l)
      for (std::size_t other = 0; other < sum.size(); ++other)
        result[l] = std::min(result[l], sum[other] + (rise == 0 ? pair(weight, l, other)
                                                                : rising_pair(weight, l, other, rise)));
    const double least = *std::min_element(result.begin(), result.end());
    for (double& cost : result) cost -= least;
    return result;
  }

  /// Cost of two labels whose difference is compared with a rise. In units, the part of the rise between two
  /// labels is rounded.
  double rising_pair(double weight, std::size_t l, std::size_t other, double rise) const {
    const auto rounded = [&](double value) { return units_ ? std::floor(value + 0.5) : value; };
    const double slope = rounded(weight * (units_ ? units_->slope : slanted_->smoothness.beta));
    const double most = rounded(
        weight * (units_ ? units_->limit
                         : double(slanted_->smoothness.beta) * slanted_->smoothness.smoothness_truncation));
    const double whole = std::floor(rise), part = rounded((rise - whole) * slope);
    const double apart = double(l) - double(other) - whole;
    return std::min(apart > 0 ? slope * apart - part : part - slope * apart, most);
  }

  double pair(double weight, std::size_t l, std::size_t other) const {
    return units_ ? units_->pair_cost(weight, energy_.values[l], energy_.values[other])
                  : weight * pairs_[l * energy_.values.size() + other];
  }

  const LabelEnergy& energy_;
  const std::optional<Units> units_;
  const std::optional<Slanted> slanted_;
  std::vector<double> pairs_;  // pair costs of all labels
  std::vector<Level> levels_;
};

/// Least energy of an image of one row or one column (Viterbi).
inline double chain_minimum(const LabelEnergy& energy) {
  const Size size = energy.size;
  const std::size_t labels = std::size_t(energy.labels());
  std::vector<double> least(labels,
                            0.0);  // least energy of the pixels so far, for each label of the last one
  for (int i = 0; i < std::max(size.width, size.height); ++i) {
    const int x = size.width > 1 ? i : 0, y = size.width > 1 ? 0 : i;
    const int before_x = size.width > 1 ? x - 1 : 0, before_y = size.width > 1 ? 0 : y - 1;
    std::vector<double> now(labels, std::numeric_limits<double>::infinity());
    for (std::size_t l = 0; l < labels; ++l) {
      for (std::size_t other = 0; other < labels; ++other)
        now[l] = std::min(
            now[l],
            least[other] + (i == 0 ? 0 : energy.pair_cost(before_x, before_y, int(other), x, y, int(l))));
      now[l] += energy.data[l](x, y);
    }
    least = now;
  }
  return *std::min_element(least.begin(), least.end());
}

/// Energy of pixels [x, x + size.width) x [y, y + size.height) alone.
inline LabelEnergy part_of(const LabelEnergy& energy, int x, int y, Size size) {
  LabelEnergy part = energy;
  part.size = size;
  for (Grid& costs : part.data) costs = tabulate(size, [&](int i, int j) { return costs(x + i, y + j); });
  part.edge = [=, edge = energy.edge](int ax, int ay, int bx, int by) {
    return edge(x + ax, y + ay, x + bx, y + by);
  };
  if (!energy.flat.values.empty())
    part.flat = tabulate(size, [&](int i, int j) { return energy.flat(x + i, y + j); });
  return part;
}

}  // namespace parafield::oracle
