// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "core/workspace.hpp"
#include "markov/messages/messages.hpp"
#include "markov/slopes/slopes.hpp"
#include "parafield/methods/label_solvers.hpp"

namespace parafield {

/// Parameters of BeliefPropagation without its energy.
struct PropagationPlan {
  int levels = 0, iterations = 0, finest_iterations = 0;
  Precision precision = Precision::exact;
  int blocks = 1, block_overlap = 0, memory_limit = 0;
  UnitDemands demands = {};
  bool weighted = false;          // edges have individual weights
  bool has_flatness = false;      // edges have flatness
  bool stores_costs = false;      // a volume stores the data costs of a block
  bool reads_data_costs = false;  // the costs around the result's labels are data costs, not beliefs
  CoarseEdges edges = CoarseEdges::crossed;
  Slant slant = Slant::none;  // needs margins and colors

  /// Iterations of level k of `levels`.
  Iterations iterations_of(int k, int levels) const {
    return {.level = k,
            .top = levels - 1,
            .count = k > 0 ? iterations : finest_iterations,
            .coarser = iterations,
            .is_read = k == 1 && levels > 1 && finest_iterations == 0};
  }
  /// Whether planes are fitted to the labels of level k, whose slopes the next finer level follows.
  bool fits(int k) const {
    const int finest = slant == Slant::all && finest_iterations > 0 ? 1
                       : slant == Slant::quick                      ? finest_quick
                                                                    : last_solved_twice;
    return slant != Slant::none && k >= finest && k <= coarsest_sloped;
  }
  /// How often the messages of level k are sent: a second time if they follow slopes of the level itself.
  int solves(int k) const { return fits(k) && slant != Slant::quick && k >= last_solved_twice ? 2 : 1; }
  /// Whether the messages of level k follow slopes.
  bool rises(int k) const { return solves(k) > 1 || fits(k + 1); }
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
    backend.reserve_scratch(
        message_scratch<Backend, Value>(backend, grid, size.width, plan.iterations_of(1, levels)));
    for (int k = 0; k < levels; ++k, size = coarser(size)) {
      PropagationLevel<Value> level{.width = size.width, .height = size.height};
      level.most_data = k == 0 ? units_.most_finest : smaller(4 * levels_.back().most_data, units_.most_data);
      const LevelCounts counts = level_counts<Backend, Value>(backend, units_, size);
      if (has_data(k, plan)) level.data = workspace.array<Value>(counts.data);
      for (int set = 0; set < sets(backend, k, levels, size, plan); ++set)
        level.edges[set] = {workspace.array<Value>(counts.across), workspace.array<Value>(counts.down)};
      take_weights(level.weights, workspace, size, k);
      colors_.push_back(plan.slant != Slant::none && k > 0 && k <= coarsest_sloped
                            ? workspace.image<std::uint32_t>(size)
                            : View<std::uint32_t>{});
      if (k > 0) level.weights.color = colors_.back();
      if (plan.rises(k) && k < levels)
        for (View<float>& rise : rises_[k]) rise = workspace.image<float>(size);
      if (plan.fits(k) && !labels_.labels) take_slope_planes(workspace, size);
      levels_.push_back(level);
    }
  }

  /// Bytes of the data costs and messages of all levels.
  static double bytes(const Backend& backend, LabelGrid grid, const PairCost& pair, Size size, int levels,
                      const PropagationPlan& plan) {
    const PairUnits units = pair_units<Value>(pair, grid, {});
    double sum = 0;
    for (int k = 0; k < levels; ++k, size = coarser(size)) {
      const LevelCounts counts = level_counts<Backend, Value>(backend, units, size);
      sum += double(sizeof(Value)) *
             (has_data(k, plan) * double(counts.data) +
              sets(backend, k, levels, size, plan) * (double(counts.across) + double(counts.down)));
    }
    return sum;
  }

  /// Stores the labels of least belief and the beliefs around them in `beliefs`, then calls after(iteration).
  /// This happens once, after the last iteration, or with `each` after every iteration of the finest level.
  /// If the finest level has no iterations, it also happens once. Calls done(share) with the completed
  /// fraction, 0 to 1, as iterations complete.
  template <class Data, class After, class Done>
  void solve(const Energy<Data>& energy, const Beliefs& beliefs, bool each, After after, Done done) {
    find_data(energy);
    double all = 0, passed = 0;  // pixels of all iterations, and of those on the levels so far
    for (int k = 0; k <= top(); ++k) all += plan_.solves(k) * work_of(k);
    for (int k = top(); k >= 0; --k) {
      Iterations iterations = plan_.iterations_of(k, int(levels_.size()));
      iterations.each = each && k == 0;
      const int turns = turns_of(backend_, levels_[k].height, iterations);
      for (int i = 0; i < 2; ++i)
        levels_[k].rise[i] = k < top() && plan_.fits(k + 1) ? rises_[k][i] : View<float>{};
      for (int solve = 0; solve < plan_.solves(k); ++solve) {
        const LevelLabels labels = plan_.fits(k) ? labels_of(k) : LevelLabels{};
        const Size size = labels.size();
        const Beliefs read =
            k == 0 ? beliefs : Beliefs{labels.labels, labels.costs, false, 0, 0, size.width, size.height};
        for (int turn = 0; turn < turns; ++turn) {
          send_messages(backend_, units_, levels_[k], level_or_none(k + 1), iterations, turn, read);
          if (k == 0 && (each || turn == turns - 1)) after(turn);
          done((passed + work_of(k) * (turn + 1) / turns) / all);
        }
        passed += work_of(k);
        if (plan_.fits(k)) find_slopes(labels, solve + 1 < plan_.solves(k) ? k : k - 1);
      }
    }
    if (plan_.finest_iterations > 0) return;
    read_coarse_beliefs(backend_, energy, units_, levels_[0], level_or_none(1), level_or_none(2),
                        plan_.iterations_of(1, int(levels_.size())), beliefs);
    after(0);
    done(1);
  }

 private:
  /// Finds the data costs and the weights of all levels (section 4, steps 1 and 2).
  template <class Data>
  void find_data(const Energy<Data>& energy) {
    LevelWeights& finest = levels_[0].weights;
    for (int j = 0; j < 2; ++j) {
      finest.plain[j] = energy.edges.forward[j];
      finest.used[j] = plan_.has_flatness ? energy.edges.used[j] : finest.plain[j];
    }
    finest.flatness = energy.edges.flatness;
    finest.color = energy.edges.color;
    pack_data(backend_, energy, units_, levels_[0], level_or_none(1), level_or_none(2));
    for (int k = 1; k <= top(); k += 2) {
      CoarserLevels<Value> coarser{.number = k, .edges = plan_.edges};
      for (int i = 0; i < 2 && k + i <= top(); ++i)
        coarser.level[i] = levels_[k + i], coarser.color[i] = colors_[k + i];
      find_coarser(backend_, units_, levels_[k - 1], coarser);
    }
  }

  /// Allocates the planes that slopes need, for levels of at most this size.
  void take_slope_planes(Workspace& workspace, Size size) {
    labels_.labels = workspace.image<Label>(size);
    for (View<float>* plane :
         {&labels_.costs.middle, &labels_.costs.before_x, &labels_.costs.after_x, &labels_.costs.margin})
      *plane = workspace.image<float>(size);
    for (View<float>* plane : {&slopes_.x, &slopes_.y}) *plane = workspace.image<float>(size);
    if constexpr (!Backend::is_gpu) {
      samples_.d = workspace.image<float>(padded(size));
      samples_.trust = workspace.image<float>(padded(size));
      samples_.color = workspace.image<std::uint32_t>(padded(size));
    }
  }
  /// The planes of labels, as large as level k.
  LevelLabels labels_of(int k) const {
    const Size size{levels_[k].width, levels_[k].height};
    const auto part = [=](const auto& plane) { return part_of(plane, 0, 0, size); };
    return {part(labels_.labels),
            {.middle = part(labels_.costs.middle),
             .before_x = part(labels_.costs.before_x),
             .after_x = part(labels_.costs.after_x),
             .margin = part(labels_.costs.margin)},
            colors_[k],
            k};
  }
  /// Fits planes to the labels of a level, and lets the messages of level `to`, the same or the next finer
  /// level, follow their slopes.
  void find_slopes(const LevelLabels& labels, int to) {
    const Size size = labels.size();
    const auto part = [](const auto& plane, Size size) { return part_of(plane, 0, 0, size); };
    const SlopeSamples samples{part(samples_.d, padded(size)), part(samples_.trust, padded(size)),
                               part(samples_.color, padded(size))};
    const Slopes slopes{part(slopes_.x, size), part(slopes_.y, size)};
    find_rises(backend_, labels, samples, slopes, to < labels.level, to, rises_[to]);
    for (int i = 0; i < 2; ++i) levels_[to].rise[i] = rises_[to][i];
  }

  static Size coarser(Size size) { return {(size.width + 1) / 2, (size.height + 1) / 2}; }
  /// Number of sets of edges in a level: see PropagationLevel.
  static int sets(const Backend& backend, int k, int levels, Size size, const PropagationPlan& plan) {
    if (turns_of(backend, size.height, plan.iterations_of(k, levels)) == 0) return 0;
    return k > 0 ? 2 : 1;
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

  int top() const { return int(levels_.size()) - 1; }
  PropagationLevel<Value> level_or_none(int k) const {
    return k <= top() ? levels_[k] : PropagationLevel<Value>{};
  }
  /// Pixels of all iterations of level k.
  double work_of(int k) const {
    return double(levels_[k].width) * levels_[k].height * plan_.iterations_of(k, int(levels_.size())).count;
  }

  Backend& backend_;
  const PairUnits units_;
  const PropagationPlan plan_;
  std::vector<PropagationLevel<Value>> levels_;  // finest first
  std::vector<View<std::uint32_t>> colors_;      // colors of the levels that planes are fitted to, or empty
  View<float> rises_[coarsest_sloped + 1][2];    // see PropagationLevel::rise
  // For slopes; as large as the finest level that planes are fitted to.
  LevelLabels labels_;
  SlopeSamples samples_;
  Slopes slopes_;
};

}  // namespace parafield
