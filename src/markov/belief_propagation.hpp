// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "core/workspace.hpp"
#include "markov/messages/messages.hpp"
#include "markov/mix/pack.hpp"
#include "parafield/methods/label_solvers.hpp"

namespace parafield {

/// Parameters of BeliefPropagation without its energy.
struct PropagationPlan {
  int levels = 0, iterations = 0, finest_iterations = 0;
  Precision precision = Precision::exact;
  int blocks = 1, block_overlap = 0, memory_limit = 0;
  UnitDemands demands = {};
  bool weighted = false;      // edges have individual weights
  bool has_flatness = false;  // edges have flatness
};

/// Hierarchical belief propagation of an image or a block (Grauer-Gray section 4). `Value` is the type of
/// messages and data costs: see messages.hpp.
template <class Backend, class Value>
class Propagation {
 public:
  /// `size`: of the image or block.
  Propagation(Backend& backend, Workspace& workspace, LabelGrid grid, const PairCost& pair, Size size,
              int levels, const PropagationPlan& plan)
      : backend_(backend), units_(pair_units<Value>(pair, grid, plan.demands)), plan_(plan) {
    for (int k = 0; k < levels; ++k) {
      PropagationLevel<Value> level{.width = size.width, .height = size.height};
      level.most_data = k == 0 ? units_.most_finest : smaller(4 * levels_.back().most_data, units_.most_data);
      const LevelCounts counts = level_counts<Backend, Value>(backend, units_, size);
      if (has_data(k, plan)) level.data = workspace.array<Value>(counts.data);
      for (int set = 0; set < sets(k, levels, plan); ++set)
        level.edges[set] = {workspace.array<Value>(counts.across), workspace.array<Value>(counts.down)};
      take_weights(level.weights, workspace, size, k);
      levels_.push_back(level);
      size = coarser(size);
    }
    std::size_t scratch = step_scratch<Value>(grid, levels_[0].width);
    if (fuses(levels, plan))
      scratch += sizeof(Value) * 4 * kept_count<Value>(grid, levels_[1].width, plan.iterations) +
                 4 * level_chunk_bytes * std::size_t(grid.count());
    backend.reserve_scratch(scratch);
  }

  /// Bytes of the data costs and messages of all levels.
  static double bytes(const Backend& backend, LabelGrid grid, const PairCost& pair, Size size, int levels,
                      const PropagationPlan& plan) {
    const PairUnits units = pair_units<Value>(pair, grid, {});
    double sum = 0;
    for (int k = 0; k < levels; ++k, size = coarser(size)) {
      const LevelCounts counts = level_counts<Backend, Value>(backend, units, size);
      sum += double(sizeof(Value)) * (has_data(k, plan) * double(counts.data) +
                                      sets(k, levels, plan) * (double(counts.across) + double(counts.down)));
    }
    return sum;
  }

  /// Stores the labels of least belief and the beliefs around them in `beliefs`, then calls after(iteration).
  /// This happens once, after the last iteration, or with `each` after every iteration of the finest level.
  /// If the finest level has no iterations, it also happens once. Calls done(share) with the completed
  /// fraction, 0 to 1, as iterations complete.
  template <class Data, class After, class Done>
  void solve(const Energy<Data>& energy, const Beliefs& beliefs, bool each, After after, Done done) {
    const int top = int(levels_.size()) - 1;
    LevelWeights& finest = levels_[0].weights;
    for (int j = 0; j < 2; ++j) {
      finest.plain[j] = energy.edges.forward[j];
      finest.used[j] = plan_.has_flatness ? energy.edges.used[j] : finest.plain[j];
    }
    finest.flatness = energy.edges.flatness;
    const PropagationLevel<Value> none{}, &second = top > 0 ? levels_[1] : none,
                                          &third = top > 1 ? levels_[2] : none;
    pack_data(backend_, energy, units_, levels_[0], second, third);
    for (int k = 1; k <= top; ++k) {
      if (k > 2) sum_data(backend_, units_, levels_[k - 1], levels_[k]);
      if (plan_.weighted) mean_weights(backend_, levels_[k - 1].weights, levels_[k].weights, k);
    }
    double all = 0, passed = 0;  // pixels of all iterations, and of the iterations so far
    const auto pixels_of = [](const PropagationLevel<Value>& level) {
      return double(level.width) * level.height;
    };
    for (int k = 0; k <= top; ++k) all += pixels_of(levels_[k]) * iterations_of(k);
    const bool fused = fuses(top + 1, plan_);
    for (int k = top; k >= (fused ? 2 : 0); --k) {
      const PropagationLevel<Value>&level = levels_[k], &coarser = levels_[smaller(k + 1, top)];
      const Iterations iterations{k, top, iterations_of(k), plan_.iterations};
      const auto passes = [&](double count) {
        passed += count * pixels_of(level);
        done(passed / all);
      };
      if constexpr (!Backend::is_gpu)
        if (!(k == 0 && each) && sends_in_bands(level.height, iterations.count)) {
          const Beliefs result = k == 0 ? beliefs : Beliefs{};
          const int count = backend_.band_count(level.height, most_band_rows), together = backend_.threads();
          const auto send = [&](int begin, int end, bool seams) {
            send_in_bands(backend_, units_, level, coarser, iterations, count, begin, end, seams, result);
          };
          for (int band = 0; band < count; band += together) {
            send(band, smaller(band + together, count), false);
            if (band + together < count) passes(double(iterations.count) * together / count);
          }
          send(0, count - 1, true);
          if (k == 0) after(iterations.count - 1);
          passes(double(iterations.count) * (count - (count - 1) / together * together) / count);
          continue;
        }
      for (int i = 0; i < iterations.count; ++i) {
        const bool reads = k == 0 && (i == iterations.count - 1 || each);
        send_messages(backend_, units_, level, coarser, iterations[i], reads ? beliefs : Beliefs{});
        if (reads) {
          read_beliefs(backend_, units_, level, 1 - (i & 1), beliefs);
          after(i);
        }
        passes(1);
      }
    }
    if (iterations_of(0) > 0) return;
    if constexpr (!Backend::is_gpu)
      if (fused) {
        send_and_read(backend_, energy, units_, levels_[0], levels_[1], levels_[smaller(2, top)], top,
                      plan_.iterations, beliefs);
        after(0);
        return done(1);
      }
    read_coarse_beliefs(backend_, energy, units_, levels_[0], second, (plan_.iterations - 1) & 1, beliefs);
    after(0);
    if (top == 0) done(1);
  }

 private:
  static Size coarser(Size size) { return {(size.width + 1) / 2, (size.height + 1) / 2}; }
  /// Whether the iterations of level 1 run together with reading the finest level: see send_and_read. With
  /// more iterations the rows would not stay in a cache.
  static bool fuses(int levels, const PropagationPlan& plan) {
    return !Backend::is_gpu && levels > 1 && plan.finest_iterations == 0 && plan.iterations <= 8;
  }
  /// Whether bands of rows are high enough for the iterations of a level: see send_in_bands.
  bool sends_in_bands(int height, int iterations) const {
    return iterations > 1 && height / backend_.band_count(height, most_band_rows) > 2 * (iterations + 1);
  }
  /// Number of sets of edges in a level: see PropagationLevel.
  static int sets(int level, int levels, const PropagationPlan& plan) {
    if (fuses(levels, plan) && level == 1) return 0;
    return level > 0 ? 2 : plan.finest_iterations > 0 ? 1 : 0;
  }
  /// Whether a level's data costs are stored. If the finest level has no iterations, its costs are read only
  /// for their sums and for the final beliefs, and a CPU computes them both times, because that is faster
  /// than loading them.
  static bool has_data(int level, const PropagationPlan& plan) {
    return Backend::is_gpu || level > 0 || plan.finest_iterations > 0;
  }
  /// Allocates the planes of weights of level k. The finest level uses the energy's planes.
  void take_weights(LevelWeights& weights, Workspace& workspace, Size size, int k) const {
    if (!plan_.weighted || k == 0) return;
    for (int j = 0; j < 2; ++j) {
      weights.plain[j] = workspace.image<float>(size);
      weights.used[j] = plan_.has_flatness ? workspace.image<float>(size) : weights.plain[j];
    }
    if (plan_.has_flatness) weights.flatness = workspace.image<float>(size);
  }
  int iterations_of(int level) const { return level > 0 ? plan_.iterations : plan_.finest_iterations; }

  Backend& backend_;
  const PairUnits units_;
  const PropagationPlan plan_;
  std::vector<PropagationLevel<Value>> levels_;  // finest first
};

}  // namespace parafield
