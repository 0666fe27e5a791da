// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "core/fail.hpp"
#include "core/workspace.hpp"
#include "markov/blocks.hpp"
#include "markov/messages/messages.hpp"
#include "markov/progress.hpp"
#include "parafield/methods/label_solvers.hpp"

namespace parafield {

/// Parameters of BeliefPropagation without its energy.
struct PropagationPlan {
  int levels = 0, iterations = 0, finest_iterations = 0;
  Precision precision = Precision::exact;
  int blocks = 1, block_overlap = 0, memory_limit = 0;
  float most_cost = 1e30f;  // highest data cost, or 1e30 if it is not known
};

/// Hierarchical belief propagation of an image or a block (Grauer-Gray section 4). `Value` is the type of
/// messages and data costs: see messages.hpp.
template <class Backend, class Value>
class Propagation {
 public:
  /// `size`: of the image or block. `weighted`: edges have weights of their own.
  Propagation(Backend& backend, Workspace& workspace, LabelGrid grid, const PairCost& pair, Size size,
              int levels, const PropagationPlan& plan, bool weighted)
      : backend_(backend), units_(pair_units<Value>(pair, grid, plan.most_cost)), plan_(plan) {
    for (int k = 0; k < levels; ++k) {
      PropagationLevel<Value> level{.width = size.width, .height = size.height};
      level.most_data = k == 0 ? units_.most_finest : smaller(4 * levels_.back().most_data, units_.most_data);
      const LevelCounts counts = level_counts<Backend, Value>(backend, units_, size);
      level.data = workspace.array<Value>(counts.data);
      for (int set = 0; set < sets(k, plan); ++set)
        level.edges[set] = {workspace.array<Value>(counts.across), workspace.array<Value>(counts.down)};
      for (int j = 0; j < 2 && k > 0 && weighted; ++j) level.weights[j] = workspace.image<float>(size);
      levels_.push_back(level);
      size = coarser(size);
    }
    backend.reserve_scratch(larger(level_scratch(grid, levels_[0].width), message_scratch(grid)));
  }

  /// Bytes of the data costs and messages of all levels.
  static double bytes(const Backend& backend, LabelGrid grid, const PairCost& pair, Size size, int levels,
                      const PropagationPlan& plan) {
    const PairUnits units = pair_units<Value>(pair, grid, 0);
    double sum = 0;
    for (int k = 0; k < levels; ++k, size = coarser(size)) {
      const LevelCounts counts = level_counts<Backend, Value>(backend, units, size);
      sum += double(sizeof(Value)) *
             (double(counts.data) + sets(k, plan) * (double(counts.across) + double(counts.down)));
    }
    return sum;
  }

  /// Solves. Stores the labels of least belief and the beliefs around them in `beliefs` and calls
  /// after(iteration): once, after the last iteration, or with `each` after every iteration of the finest
  /// level; once, too, if that level has none. Calls done(share), 0 to 1, after every iteration of every level.
  template <class Data, class After, class Done>
  void solve(const Energy<Data>& energy, const Beliefs& beliefs, bool each, After after, Done done) {
    const int top = int(levels_.size()) - 1;
    for (int j = 0; j < 2; ++j) levels_[0].weights[j] = energy.edges.forward[j];
    pack_data(backend_, energy, units_, levels_[0]);
    for (int k = 1; k <= top; ++k) {
      sum_data(backend_, units_, levels_[k - 1], levels_[k]);
      if (levels_[k].weights[0]) mean_weights(backend_, levels_[k - 1].weights, levels_[k].weights);
    }
    double all = 0, passed = 0;  // pixels of all iterations, and of those so far
    const auto pixels_of = [](const PropagationLevel<Value>& level) {
      return double(level.width) * level.height;
    };
    for (int k = 0; k <= top; ++k) all += pixels_of(levels_[k]) * iterations_of(k);
    for (int k = top; k >= 0; --k)
      for (int i = 0; i < iterations_of(k); ++i) {
        const bool reads = k == 0 && (i == iterations_of(0) - 1 || each);
        const Iteration iteration = iteration_of(k, top, i, iterations_of(k), plan_.iterations);
        send_messages(backend_, units_, levels_[k], levels_[smaller(k + 1, top)], iteration,
                      reads ? beliefs : Beliefs{});
        if (reads) {
          read_beliefs(backend_, units_, levels_[0], 1 - (i & 1), beliefs);
          after(i);
        }
        passed += pixels_of(levels_[k]);
        done(passed / all);
      }
    if (iterations_of(0) > 0) return;
    read_coarse_beliefs(backend_, units_, levels_[0], top > 0 ? levels_[1] : PropagationLevel<Value>{},
                        (plan_.iterations - 1) & 1, beliefs);
    after(0);
    if (top == 0) done(1);
  }

 private:
  static Size coarser(Size size) { return {(size.width + 1) / 2, (size.height + 1) / 2}; }
  /// Number of sets of edges in a level: see PropagationLevel.
  static int sets(int level, const PropagationPlan& plan) {
    return level > 0 ? 2 : plan.finest_iterations > 0 ? 1 : 0;
  }
  int iterations_of(int level) const { return level > 0 ? plan_.iterations : plan_.finest_iterations; }

  Backend& backend_;
  const PairUnits units_;
  const PropagationPlan plan_;
  std::vector<PropagationLevel<Value>> levels_;  // finest first
};

/// Belief propagation of an image, block by block.
template <class Backend>
class BlockPropagation {
 public:
  /// `weighted`: edges have weights of their own. `stored`: a volume stores the data costs of a block, and
  /// its memory counts. Throws Error(memory), with the numbers, if costs and messages take more than
  /// memory_limit, or more than the available memory if there is no limit.
  BlockPropagation(Backend& backend, Workspace& workspace, LabelGrid grid, const PairCost& pair, Size image,
                   const PropagationPlan& plan, bool weighted, bool stored)
      : blocks_(image, plan.blocks, plan.block_overlap) {
    check_memory(backend, grid, pair, image, plan, stored);
    const int levels = levels_of(plan.levels, blocks_.size);
    const auto take = [&]<class Value>() {
      propagation_.template emplace<Propagation<Backend, Value>>(backend, workspace, grid, pair, blocks_.size,
                                                                 levels, plan, weighted);
    };
    plan.precision == Precision::exact ? take.template operator()<float>()
                                       : take.template operator()<std::uint16_t>();
  }

  Size size() const { return blocks_.size; }
  const std::vector<Block>& blocks() const { return blocks_.blocks; }

  /// Solves one block. `energy` is that of the block. `labels` and `costs` are planes of the whole image;
  /// `costs` receives the beliefs. `each` and `after` are as in Propagation::solve. Progress counts all
  /// blocks, which must be solved in order.
  template <class Data, class After>
  void solve(const Block& block, const Energy<Data>& energy, View<Label> labels, const CostsAround& costs,
             bool each, After after, Progress<Backend>& progress) {
    const double before = double(&block - blocks_.blocks.data()), count = double(blocks_.blocks.size());
    const auto done = [&](double share) { progress.report((before + share) / count); };
    const auto part = [&](auto view) { return part_of(view, block.x, block.y, blocks_.size); };
    const CostsAround around{part(costs.middle), part(costs.before_x), part(costs.after_x),
                             part(costs.before_y), part(costs.after_y)};
    const Beliefs beliefs{part(labels), around, block.x0, block.y0, block.x1, block.y1};
    std::visit(
        [&]<class P>(P& propagation) {
          if constexpr (!std::is_same_v<P, std::monostate>)
            propagation.solve(energy, beliefs, each, after, done);
        },
        propagation_);
  }

 private:
  /// Throws Error(memory) if the memory is not enough; the message names a number of blocks that fits.
  static void check_memory(const Backend& backend, LabelGrid grid, const PairCost& pair, Size image,
                           const PropagationPlan& plan, bool stored) {
    constexpr double mib = 1 << 20;
    const auto mib_of = [&](int blocks) {  // messages and data costs of a block
      const Size size = BlockGrid(image, blocks, plan.block_overlap).size;
      const int levels = levels_of(plan.levels, size);
      const double volume = stored ? double(sizeof(float)) * grid.count() * size.width * size.height : 0;
      const double rest =
          plan.precision == Precision::exact
              ? Propagation<Backend, float>::bytes(backend, grid, pair, size, levels, plan)
              : Propagation<Backend, std::uint16_t>::bytes(backend, grid, pair, size, levels, plan);
      return (volume + rest) / mib;
    };
    const double needed = mib_of(plan.blocks);
    const double most = plan.memory_limit > 0 ? plan.memory_limit : double(backend.available_memory()) / mib;
    if (needed <= most) return;
    std::string advice = "; no number of blocks makes them fit";
    const int pixels = image.width / 2 * (image.height / 2);
    for (int blocks = plan.blocks + 1; blocks <= smaller(4096, pixels); ++blocks) {
      if (!BlockGrid::fits(image, blocks, plan.block_overlap)) continue;
      const double then = mib_of(blocks);
      if (then > most) continue;
      advice = text("; with blocks = ", blocks, " they take ", rounded_up(then), " MiB");
      break;
    }
    fail(ErrorCode::memory, "belief-propagation: data costs and messages of ", grid.count(), " labels at ",
         image.width, "x", image.height, " px", plan.blocks > 1 ? text(" in ", plan.blocks, " blocks") : "",
         " take ", rounded_up(needed), " MiB; ",
         plan.memory_limit > 0 ? "memory_limit allows " : "the device has ", std::int64_t(most), " MiB",
         advice);
  }
  static std::int64_t rounded_up(double value) { return std::int64_t(std::ceil(value)); }

  const BlockGrid blocks_;
  std::variant<std::monostate, Propagation<Backend, float>, Propagation<Backend, std::uint16_t>> propagation_;
};

}  // namespace parafield
