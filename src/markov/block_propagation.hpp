// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <string>
#include <variant>

#include "core/fail.hpp"
#include "markov/belief_propagation.hpp"
#include "markov/blocks.hpp"
#include "markov/progress.hpp"
#include "parafield/estimator.hpp"

namespace parafield {

/// Belief propagation of an image, block by block.
template <class Backend>
class BlockPropagation {
 public:
  /// Throws Error(memory), with the numbers, if costs and messages need more than memory_limit, or more than
  /// the available memory if there is no limit. If plan.blocks is 0, chooses the fewest blocks that fit.
  BlockPropagation(Backend& backend, Workspace& workspace, LabelGrid grid, const PairCost& pair, Size image,
                   const PropagationPlan& plan)
      : data_costs_(plan.reads_data_costs), is_free_(plan.blocks == 0 && plan.memory_limit == 0) {
    const auto mib_of = [&](Size block) { return this->mib_of(backend, grid, pair, block, plan); };
    const std::string what = text("belief-propagation: data costs and messages of ", grid.count(),
                                  " labels at ", image.width, "x", image.height, " px");
    blocks_ = plan.blocks > 0 ? given_blocks(backend, image, plan, mib_of, what)
                              : fewest_blocks(backend, image, plan, mib_of, what);
    mib_ = mib_of(blocks_.size);
    const int levels = levels_of(plan.levels, blocks_.size);
    const LevelIterations iterations = iterations_of(plan, image);
    seamless_ = blocks_.blocks.size() == 1 ||
                (plan.blocks == 0 && blocks_.margin >= iterations.reach() && levels == iterations.levels);
    const auto take = [&]<class Value>() {
      propagation_.template emplace<Propagation<Backend, Value>>(backend, workspace, grid, pair, blocks_.size,
                                                                 levels, plan);
    };
    plan.precision == Precision::exact ? take.template operator()<float>()
                                       : take.template operator()<std::uint16_t>();
  }

  Size size() const { return blocks_.size; }
  /// Whether there is plenty of memory for a second propagation of the same image, and it is worth it.
  bool leaves_room(const Backend& backend) const {
    return blocks_.blocks.size() == 1 && is_free_ && mib_ <= most_twice &&
           4 * mib_ * mib < double(backend.free_memory());
  }
  SolvedBlocks used() const { return {int(blocks_.blocks.size()), blocks_.size, blocks_.margin, seamless_}; }
  const std::vector<Block>& blocks() const { return blocks_.blocks; }

  /// Solves one block, an element of blocks(), with the block's `energy`. `labels` and `costs` are planes of
  /// the whole image; `costs` receives the beliefs, or data costs if the plan says so. `each` and `after` are
  /// as in Propagation::solve. Progress counts all blocks, which must be solved in order.
  template <class Data, class After>
  void solve(const Block& block, const Energy<Data>& energy, View<Label> labels, const CostsAround& costs,
             bool each, After after, Progress<Backend>& progress) {
    const double before = double(&block - blocks_.blocks.data()), count = double(blocks_.blocks.size());
    const auto done = [&](double share) { progress.report((before + share) / count); };
    const auto part = [&](auto view) { return part_of(view, block.x, block.y, blocks_.size); };
    const CostsAround around{part(costs.middle),   part(costs.before_x), part(costs.after_x),
                             part(costs.before_y), part(costs.after_y),  part(costs.margin)};
    const Beliefs beliefs{part(labels), around, data_costs_, block.x0, block.y0, block.x1, block.y1};
    std::visit(
        [&]<class P>(P& propagation) {
          if constexpr (!std::is_same_v<P, std::monostate>)
            propagation.solve(energy, beliefs, each, after, done);
        },
        propagation_);
  }

 private:
  static LevelIterations iterations_of(const PropagationPlan& plan, Size image) {
    int finest_fitted = 1;
    while (finest_fitted <= coarsest_sloped && !plan.fits(finest_fitted)) ++finest_fitted;
    return {levels_of(plan.levels, image), plan.iterations, plan.finest_iterations,
            plan.fits(finest_fitted) ? finest_fitted : 0};
  }

  /// MiB of the messages and data costs of a block.
  static double mib_of(const Backend& backend, LabelGrid grid, const PairCost& pair, Size block,
                       const PropagationPlan& plan) {
    const auto bytes_of = [&]<class Value>() {
      return Propagation<Backend, Value>::bytes(backend, grid, pair, block, levels_of(plan.levels, block),
                                                plan);
    };
    const double volume =
        plan.stores_costs ? double(sizeof(float)) * grid.count() * block.width * block.height : 0;
    return (volume + (plan.precision == Precision::exact ? bytes_of.template operator()<float>()
                                                         : bytes_of.template operator()<std::uint16_t>())) /
           mib;
  }

  /// Chooses the fewest blocks that memory allows. Throws Error(memory) if none fit; `what` begins its
  /// message.
  template <class MibOf>
  static BlockGrid fewest_blocks(const Backend& backend, Size image, const PropagationPlan& plan,
                                 MibOf mib_of, const std::string& what) {
    // Leave a tenth of the free memory to other users. Frames, planes and results also need memory.
    constexpr double bytes_beside = 192;  // per pixel, for frames, planes and results
    const double beside = bytes_beside * image.width * image.height;
    const double most = plan.memory_limit > 0
                            ? plan.memory_limit
                            : larger(0.9 * double(backend.free_memory()) - beside, 0.0) / mib;
    double least = 1e30;
    const auto chosen = chosen_blocks(image, iterations_of(plan, image), plan.block_overlap, [&](Size block) {
      const double needed = mib_of(block);
      least = smaller(least, needed);
      return needed <= most;
    });
    if (chosen) return *chosen;
    fail(ErrorCode::memory, what, " take ", rounded_up(mib_of(image)), " MiB, in the smallest blocks ",
         rounded_up(least), " MiB; ", plan.memory_limit > 0 ? "memory_limit allows " : "they may take ",
         std::int64_t(most), " MiB", plan.memory_limit > 0 ? "" : " of the free memory");
  }

  /// Divides the image into plan.blocks blocks. Throws Error(memory) if there is not enough memory; the
  /// message names a number of blocks that fits, if there is one.
  template <class MibOf>
  static BlockGrid given_blocks(const Backend& backend, Size image, const PropagationPlan& plan, MibOf mib_of,
                                const std::string& what) {
    const BlockGrid given(image, plan.blocks, plan.block_overlap);
    const double needed = mib_of(given.size);
    const double most = plan.memory_limit > 0 ? plan.memory_limit : double(backend.usable_memory()) / mib;
    if (needed <= most) return given;
    std::string advice = "; no number of blocks makes them fit";
    const int pixels = image.width / 2 * (image.height / 2);
    for (int blocks = plan.blocks + 1; blocks <= smaller(4096, pixels); ++blocks) {
      if (!BlockGrid::fits(image, blocks, plan.block_overlap)) continue;
      const double then = mib_of(BlockGrid(image, blocks, plan.block_overlap).size);
      if (then > most) continue;
      advice = text("; with blocks = ", blocks, " they take ", rounded_up(then), " MiB");
      break;
    }
    fail(ErrorCode::memory, what, plan.blocks > 1 ? text(" in ", plan.blocks, " blocks") : "", " take ",
         rounded_up(needed), " MiB; ", plan.memory_limit > 0 ? "memory_limit allows " : "the device has ",
         std::int64_t(most), " MiB", advice);
  }
  static std::int64_t rounded_up(double value) { return std::int64_t(std::ceil(value)); }

  static constexpr double mib = 1 << 20;
  static constexpr double most_twice = 512;  // MiB; images with more messages fill a GPU one by one

  BlockGrid blocks_;
  const bool data_costs_;
  const bool is_free_;    // the user has not limited memory or chosen blocks
  double mib_ = 0;        // of messages and data costs
  bool seamless_ = true;  // the result is the same as with one block
  std::variant<std::monostate, Propagation<Backend, float>, Propagation<Backend, std::uint16_t>> propagation_;
};

}  // namespace parafield
