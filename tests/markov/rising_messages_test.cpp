// SPDX-License-Identifier: MIT
// Messages of edges that rise, against plain loops over all pairs of labels.
#include <cmath>

#include "core/workspace.hpp"
#include "markov/messages/messages.hpp"
#include "oracle/grid.hpp"
#include "steps/guarded.hpp"

namespace parafield {
namespace {

class RisingMessages : public OnTarget {};

struct RisingCase {
  Size size;
  int labels, iterations;
  bool weighted;
};
constexpr RisingCase rising_cases[] = {
    {{1, 1}, 4, 2, false},    {{2, 1}, 1, 1, true},   {{5, 4}, 7, 3, true},    {{9, 6}, 16, 2, true},
    {{33, 5}, 33, 3, true},   {{70, 4}, 20, 2, true}, {{140, 3}, 12, 3, true}, {{300, 3}, 9, 2, true},
    {{12, 30}, 70, 4, false}, {{6, 5}, 140, 2, true}, {{4, 3}, 530, 2, true},  {{3, 2}, 1100, 2, true}};

/// Random costs, weights and rises of one level. All are such that 16-bit units are exact.
struct RisingLevel {
  RisingCase of;
  float most_rise;
  Guarded costs, weights[2], rises[2];
  GuardedImage<Label> labels;
  Guarded middle, before, after, margin;

  static constexpr float beta = 0.5f, limit = 2;

  RisingLevel(const RisingCase& of, unsigned seed)
      : of(of),
        most_rise(float(1 << seed % 5) / 2),
        costs({of.size.width, of.size.height * of.labels}),
        weights{Guarded(of.size), Guarded(of.size)},
        rises{Guarded(of.size), Guarded(of.size)},
        labels(of.size),
        middle(of.size),
        before(of.size),
        after(of.size),
        margin(of.size) {
    std::mt19937 random(seed);
    const auto fill = [&](Guarded& image, auto value) {
      for (int y = 0; y < image.view().height; ++y)
        for (int x = 0; x < image.view().width; ++x) image.view()(x, y) = value();
    };
    fill(costs, [&] { return float(random() % 512) / 128; });
    for (int j = 0; j < 2; ++j) {
      fill(weights[j], [&] { return float(1 + random() % 16) / 16; });
      // Half of the edges are even, as on surfaces that face the camera.
      fill(rises[j], [&] { return random() % 2 ? 0 : most_rise * (float(random() % 129) - 64) / 64; });
    }
  }
  std::vector<Movable*> images() {
    return {&costs,  &weights[0], &weights[1], &rises[0], &rises[1],
            &labels, &middle,     &before,     &after,    &margin};
  }
  PairCost pair() const { return {.model = PairModel::linear, .slope = beta, .limit = limit}; }
  UnitDemands demands() const { return {.most_cost = 4, .cost_step = 1.0f / 128}; }
  LabelGrid grid() const { return {.nx = of.labels}; }

  template <class Value, class Backend>
  void solve(Backend& backend, Workspace& workspace) {
    const PairUnits units = pair_units<Value>(pair(), grid(), demands());
    const Iterations iterations{.level = 0, .top = 0, .count = of.iterations, .coarser = of.iterations};
    PropagationLevel<Value> level{.width = of.size.width, .height = of.size.height};
    level.most_data = units.most_finest;
    const LevelCounts counts = level_counts<Backend, Value>(backend, units, of.size);
    level.data = workspace.array<Value>(counts.data);
    level.edges[0] = {workspace.array<Value>(counts.across), workspace.array<Value>(counts.down)};
    for (int j = 0; j < 2; ++j) {
      if (of.weighted) level.weights.plain[j] = level.weights.used[j] = weights[j].view();
      level.rise[j] = rises[j].view();
    }
    const View<float> all = costs.view();
    const StoredCosts data{Volume{all.data, all.stride(), of.labels}, of.labels};
    const Energy<StoredCosts> energy{of.size.width, of.size.height, grid(), pair(), {}, data};
    const Beliefs beliefs{labels.view(),
                          {.middle = middle.view(),
                           .before_x = before.view(),
                           .after_x = after.view(),
                           .margin = margin.view()},
                          false,
                          0,
                          0,
                          of.size.width,
                          of.size.height};
    backend.reserve_scratch(message_scratch<Backend, Value>(backend, grid(), of.size.width, iterations));
    backend.replay({}, [&] {
      pack_data(backend, energy, units, level, PropagationLevel<Value>{}, PropagationLevel<Value>{});
      for (int turn = 0; turn < turns_of(backend, of.size.height, iterations); ++turn)
        send_messages(backend, units, level, PropagationLevel<Value>{}, iterations, turn, beliefs);
    });
    backend.synchronize();
  }

  /// Beliefs in float64, in units: messages over all pairs of labels.
  std::vector<std::vector<double>> expected(const PairUnits& units, bool rounds) {
    const int width = of.size.width, height = of.size.height, n = of.labels;
    const auto rounded = [=](double value) { return rounds ? std::floor(value + 0.5) : value; };
    using Values = std::vector<double>;
    std::vector<Values> in[4], data;
    for (auto& received : in) received.assign(std::size_t(width * height), Values(std::size_t(n)));
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        Values& own = data.emplace_back();
        for (int l = 0; l < n; ++l)
          own.push_back(rounded(double(Volume{costs.view().data, costs.view().stride(), n}.row(y, l)[x]) *
                                units.per_cost));
      }
    const auto at = [=](int x, int y) { return std::size_t(y * width + x); };
    for (int i = 0; i < of.iterations; ++i)
      for (int y = 0; y < height; ++y)
        for (int x = (y + i) % 2; x < width; x += 2)
          for (int k = 0; k < 4; ++k) {
            const Offset to = neighbor_offset(k);
            const int qx = x + to.x, qy = y + to.y;
            if (qx < 0 || qy < 0 || qx >= width || qy >= height) continue;
            const int ex = std::min(x, qx), ey = std::min(y, qy);
            const double weight = of.weighted ? weights[k % 2].view()(ex, ey) : 1;
            const double rise = (k < 2 ? -1 : 1) * rises[k % 2].view()(ex, ey);
            const double slope = rounded(weight * units.slope), most = rounded(weight * units.limit);
            Values h = data[at(x, y)];
            for (int from = 0; from < 4; ++from)
              for (int l = 0; l < n && from != k; ++l)
                h[std::size_t(l)] += in[from][at(x, y)][std::size_t(l)];
            const double least = *std::min_element(h.begin(), h.end());
            Values& out = in[(k + 2) % 4][at(qx, qy)];
            // The part of the rise between two labels is rounded to whole units.
            const double whole = std::floor(rise), part = rounded((rise - whole) * slope);
            for (int l = 0; l < n; ++l) {
              out[std::size_t(l)] = most;
              for (int other = 0; other < n; ++other) {
                const double apart = l - other - whole;  // less the part
                const double cost = apart > 0 ? slope * apart - part : part - slope * apart;
                out[std::size_t(l)] = std::min(out[std::size_t(l)], h[std::size_t(other)] - least + cost);
              }
            }
          }
    for (std::size_t i = 0; i < data.size(); ++i)
      for (const auto& received : in)
        for (std::size_t l = 0; l < data[i].size(); ++l) data[i][l] += received[i][l];
    return data;
  }
};

template <class Value>
void solve(RisingLevel& level, const Target& target) {
  const Forced forced(target);
  const Device device = target.device(2);
  with_backend(device, [&]<class Backend>() {
    Backend backend(device, {});
    Workspace workspace(backend.memory());
    for (Movable* image : level.images()) image->move(backend.memory());
    level.solve<Value>(backend, workspace);
    for (Movable* image : level.images()) image->move(Memory::host());
  });
}

template <class Value>
void expect_messages(const Target& target) {
  unsigned seed = 0;
  for (const RisingCase& of : rising_cases)
    for (int repeated = 0; repeated < 3; ++repeated) {
      RisingLevel level(of, ++seed);
      solve<Value>(level, target);
      const PairUnits units = pair_units<Value>(level.pair(), level.grid(), level.demands());
      const auto expected = level.expected(units, sizeof(Value) == 2);
      const double tolerance = sizeof(Value) == 2 ? 1e-3 : 1e-4;  // units, costs
      for (int y = 0; y < of.size.height; ++y)
        for (int x = 0; x < of.size.width; ++x) {
          const std::vector<double>& beliefs = expected[std::size_t(y * of.size.width + x)];
          const int label = level.labels.view()(x, y), last = of.labels - 1;
          ASSERT_LE(label, last);
          const std::string what = text_of(of.size) + ", labels: " + std::to_string(of.labels) + ", seed " +
                                   std::to_string(seed) + " at " + std::to_string(x) + ", " +
                                   std::to_string(y);
          const auto in_units = [&](Guarded& plane) { return double(plane.view()(x, y)) * units.per_cost; };
          const double own = beliefs[std::size_t(label)];
          ASSERT_NEAR(own, *std::min_element(beliefs.begin(), beliefs.end()), tolerance) << what;
          if constexpr (sizeof(Value) == 2) {
            ASSERT_EQ(label, std::min_element(beliefs.begin(), beliefs.end()) - beliefs.begin()) << what;
          }
          ASSERT_NEAR(in_units(level.middle), own, 4 * tolerance) << what;
          if (label > 0 && label < last) {
            ASSERT_NEAR(in_units(level.before), beliefs[std::size_t(label - 1)], 4 * tolerance) << what;
            ASSERT_NEAR(in_units(level.after), beliefs[std::size_t(label + 1)], 4 * tolerance) << what;
          }
          double rest = std::numeric_limits<double>::infinity();
          for (int l = 0; l <= last; ++l)
            if (std::abs(l - label) > 1) rest = std::min(rest, beliefs[std::size_t(l)]);
          if (std::isfinite(rest)) {
            ASSERT_NEAR(in_units(level.margin), rest - own, 4 * tolerance) << what;
          }
        }
    }
}

TEST_P(RisingMessages, InFloatsAgreeWithPlainLoops) { expect_messages<float>(GetParam()); }
TEST_P(RisingMessages, InUnitsAgreeWithPlainLoops) { expect_messages<std::uint16_t>(GetParam()); }

// Backends compute several messages together, as if all of them rose if one of them does.
TEST_P(RisingMessages, ARiseChangesNoBitOfMessagesFarFromIt) {
  const RisingCase of{{70, 6}, 20, 2, true};
  const auto solved = [&](float rise) {
    RisingLevel level(of, 1);
    const View<float> costs = level.costs.view();
    for (int y = 0; y < costs.height; ++y)
      for (int x = 0; x < costs.width; ++x) costs(x, y) *= 1.0f / 3;  // sums are rounded
    for (Guarded& rises : level.rises)
      for (int y = 0; y < of.size.height; ++y)
        for (int x = 0; x < of.size.width; ++x) rises.view()(x, y) = 0;
    level.rises[0].view()(20, 2) = rise;
    solve<float>(level, GetParam());
    std::vector<float> far;
    for (Guarded* plane : {&level.middle, &level.before, &level.after, &level.margin})
      for (int y = 0; y < of.size.height; ++y)
        for (int x = 0; x < of.size.width; ++x)
          if (std::abs(x - 20) + std::abs(y - 2) > 3) far.push_back(plane->view()(x, y));
    return far;
  };
  EXPECT_EQ(solved(0.25f), solved(0));
}

INSTANTIATE_TEST_SUITE_P(Targets, RisingMessages, every_target(), target_name);

}  // namespace
}  // namespace parafield
