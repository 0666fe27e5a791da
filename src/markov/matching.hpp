// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <optional>

#include "core/solver.hpp"
#include "markov/block_propagation.hpp"
#include "markov/match/match.hpp"
#include "markov/minimize.hpp"
#include "markov/prepared_frames.hpp"
#include "markov/values/values.hpp"
#include "parafield/fields.hpp"

namespace parafield {

/// Label field solver whose data costs compare the pixels of two frames: stereo, a field of disparities
/// (Jodoin section 3.3), or optical flow, a field of whole displacements (section 3.2). Each of the two slots
/// holds a frame, slot 0 the left image; either frame can be matched with the other.
template <class Backend>
class MatchingSolver : public SolverBase<MatchingSolver<Backend>> {
 public:
  static constexpr int slots = PreparedFrames<Backend>::slots;

  template <class Method>
  MatchingSolver(Backend& backend, Workspace& workspace, const Method& method, Size size,
                 const SolverOptions& options)
      : backend_(backend),
        cost_(method.energy.cost),
        smoothness_(method.energy.smoothness),
        pair_(pair_cost_of(smoothness_)),
        grid_(grid_of(method.energy)),
        sub_pixel_(method.energy.sub_pixel),
        reports_(options.energies != EnergyReport::none),
        optimizer_(optimizer_of(method)),
        uniqueness_(uniqueness_of(method)),
        size_(size),
        window_(window_of(cost_)),
        frames_(backend, workspace, planes_needed(method, options), size),
        own_(*this, workspace, options.energies),
        progress_(backend, options.progress, options.both_ways ? 2 : 1) {
    if (Backend::is_gpu && options.both_ways && grid_.ny == 1 && propagates() && !reports_ &&
        !progress_.is_asked() && own_.beliefs->leaves_room(backend))
      other_.emplace(*this, workspace, EnergyReport::none);
    backend.reserve_scratch(match_scratch(matching(0, 1, size)));
  }

  using Fine = RefinedLabels;
  /// Computes whole disparities, and refined ones.
  void solve(int first, const DisparityView* start, View<float> whole, const Fine& fine, Trust trust,
             Purpose purpose) {
    solve_field(first, first == 0 ? -1 : 1, start ? &start->d : nullptr, nullptr, {whole, {}}, fine, trust,
                purpose);
  }
  /// Whether the two frames may be solved concurrently, for the result and for its check. A GPU has room for
  /// that on the levels of few pixels.
  bool solves_both_at_once() const { return other_.has_value(); }
  /// Computes flow.
  void solve(int first, const FlowView* start, FlowPlanes result, Trust trust, Purpose purpose) {
    solve_field(first, 1, start ? &start->u : nullptr, start ? &start->v : nullptr, result, {}, trust,
                purpose);
  }

  /// Prepares `count` frames in the slots from `slot` on.
  void prepare(const Frame* frames, int slot, int count) { frames_.prepare(frames, slot, count); }
  /// Prepares a pair of video frames. If it follows the last pair, its frames are averaged with the means
  /// that the slots hold.
  void prepare_next(const Frame* pair, bool follows) { frames_.prepare_next(pair, follows); }
  bool averages() const { return frames_.averages(); }

  /// Color words of the frame in a slot: see mix.hpp. Empty unless SolverOptions asked for them.
  View<const std::uint32_t> colors(int slot) const { return frames_.color_words(slot); }
  /// Margins of the last solve, of the check if there is one; empty if the method has none: see CostsAround.
  View<const float> margins() const { return (other_ ? *other_ : own_).costs.margin; }

  bool takes_start() const { return !is_winner() && !propagates(); }
  View<double> energies() const {
    View<double> all = own_.field.energies();
    if (blocks().count > 1) all.width = smaller(all.width, 1);  // only the energy of the result
    return all;
  }
  SolvedBlocks blocks() const { return own_.beliefs ? own_.beliefs->used() : SolvedBlocks{}; }

 private:
  /// What a solve writes: its label field, and what leads to it.
  struct Side {
    EdgeWeights edges;
    Volume volume;
    CostsAround costs, at_labels;  // at_labels: data costs of the final labels of all blocks
    std::optional<BlockPropagation<Backend>> beliefs;
    LabelField<Backend> field;

    Side(const MatchingSolver& of, Workspace& workspace, EnergyReport report)
        : field(of.backend_, workspace, of.size_, of.grid_, of.optimizer_, report) {
      const Size size = of.size_;
      const bool one_row = of.grid_.ny == 1;
      if (of.uses_edges())
        for (int j = 0; j < of.smoothness_.neighbors / 2; ++j)
          edges.forward[j] = workspace.image<float>(size);
      for (int j = 0; j < 2 && of.flattens() && of.propagates(); ++j)
        edges.used[j] = workspace.image<float>(size);
      if (of.propagates()) {
        beliefs.emplace(of.backend_, workspace, of.grid_, of.pair_, size, of.plan());
        if (one_row || of.uniqueness_ > 0) costs.margin = workspace.image<float>(size);
        if (beliefs->blocks().size() > 1 && of.reports_ && of.stores_costs())
          at_labels.middle = workspace.image<float>(size);
      }
      if (of.stores_costs()) volume = of.take_volume(workspace, beliefs ? beliefs->size() : size);
      for (View<float>* plane : {&costs.middle, &costs.before_x, &costs.after_x})
        *plane = workspace.image<float>(size);
      if (one_row) return;
      for (View<float>* plane : {&costs.before_y, &costs.after_y}) *plane = workspace.image<float>(size);
    }
  };

  PropagationPlan plan() const {
    PropagationPlan plan = optimizer_.propagation;
    plan.demands.most_cost = most_cost();
    if (is_lazy() && mixes() && cost_.truncation == 0) plan.demands.cost_step = cost_.weight * mix_unit;
    if (flattens()) plan.demands.most_weight = most_growth;
    plan.weighted = uses_edges();
    plan.has_flatness = flattens();
    plan.stores_costs = stores_costs();
    plan.reads_data_costs = grid_.ny == 1;
    if (grid_.ny == 1) plan.edges = CoarseEdges::kept;
    return plan;
  }

  /// Computes the field of the frame in slot `first`. A label of value (x, y) moves a pixel by (x * step, y)
  /// px. `start_u`, `start_v`: the user's initial field, or null.
  void solve_field(int first, int step, const View<const float>* start_u, const View<const float>* start_v,
                   FlowPlanes result, const Fine& fine, Trust trust, Purpose purpose) {
    progress_.begin(purpose == Purpose::result ? 0 : 1);
    Side& side = purpose == Purpose::check && other_ ? *other_ : own_;
    if (uses_edges()) find_edges(side, first);
    const View<Label> labels = propagates() ? propagate(side, first, step, purpose)
                                            : minimize(side, first, step, start_u, start_v, purpose);
    label_values(backend_, {labels, side.costs, frames_.known(first), grid_, step, sub_pixel_, uniqueness_},
                 result.u, result.v, trust, fine);
  }

  /// Whether to record energies.
  bool reports(Purpose purpose) const { return reports_ && purpose == Purpose::result; }

  /// Solves by sweeps, or by winner-takes-all.
  View<Label> minimize(Side& side, int first, int step, const View<const float>* start_u,
                       const View<const float>* start_v, Purpose purpose) {
    const Matching matching = this->matching(first, step, size_);
    const bool one_row = grid_.ny == 1;
    Winners winners{start_u ? View<Label>{} : side.field.labels(),
                    one_row && is_winner() ? side.costs : CostsAround{}};
    if (start_u)
      nearest_labels(backend_, *start_u, start_v ? *start_v : View<const float>{}, grid_,
                     side.field.labels());
    if (side.volume || winners.labels) match(backend_, matching, side.volume, winners);
    View<Label> labels = side.field.labels();
    if (!is_winner() || !one_row || reports(purpose))
      with_data(side.volume, matching, [&]<class Data>(const Data& data) {
        const Energy<Data> energy{size_.width, size_.height, grid_, pair_, side.edges, data};
        labels = side.field.minimize(energy, purpose, progress_);
        if (!winners.costs.middle) costs_around(backend_, energy, labels, side.costs);
      });
    return labels;
  }

  /// Solves by belief propagation.
  View<Label> propagate(Side& side, int first, int step, Purpose purpose) {
    const bool reports = this->reports(purpose);
    const View<Label> labels = side.field.labels();
    const bool whole = side.beliefs->blocks().size() == 1,
               each = whole && reports && side.field.records_sweeps();
    const Size size = side.beliefs->size();
    for (const Block& block : side.beliefs->blocks()) {
      const Matching matching = this->matching(first, step, size, block.x, block.y);
      if (side.volume) match(backend_, matching, side.volume, {});
      EdgeWeights edges;
      for (int j = 0; j < 2; ++j) edges.forward[j] = part_of(side.edges.forward[j], block.x, block.y, size);
      for (int j = 0; j < 2; ++j) edges.used[j] = part_of(side.edges.used[j], block.x, block.y, size);
      edges.flatness = part_of(side.edges.flatness, block.x, block.y, size);
      if (follows_slopes()) edges.color = part_of(frames_.color_words(first), block.x, block.y, size);
      const auto solve = [&]<class Data>(const Data& data) {
        const Energy<Data> energy{size.width, size.height, grid_, pair_, edges, data};
        constexpr bool can_report = !std::is_same_v<Data, MixedCosts>;
        const auto record = [&](int i) {
          if constexpr (can_report)
            if (whole && reports) side.field.record(energy, labels, each ? i : 0);
        };
        side.beliefs->solve(block, energy, labels, side.costs, each, record, progress_);
        if constexpr (can_report)
          if (reports && side.at_labels.middle)
            costs_around(backend_, energy, part_of(labels, block.x, block.y, size),
                         {part_of(side.at_labels.middle, block.x, block.y, size)});
      };
      if (is_lazy() && mixes()) {
        MixedCosts data = lazy_costs<MixedCosts>(matching, matching.frame0.mix, matching.frame1.mix);
        data.gray = frames_.is_gray();
        solve(data);
      } else {
        with_data(side.volume, matching, solve);
      }
    }
    if (reports && !whole) record_blocks(side, matching(first, step, size_), labels);
    return labels;
  }

  /// Records the energy of a field that was solved in blocks.
  void record_blocks(Side& side, const Matching& matching, View<const Label> labels) {
    const auto record = [&]<class Data>(const Data& data) {
      side.field.record(Energy<Data>{size_.width, size_.height, grid_, pair_, side.edges, data}, labels, 0);
    };
    side.at_labels.middle ? record(KnownCosts{side.at_labels.middle})
                          : with_data(side.volume, matching, record);
  }

  /// Window of the aggregation: a box or a gaussian.
  static Window window_of(const MatchingCost& cost) {
    Window window{.side = cost.aggregation};
    double sum = 0, weights[Window::max_side];
    for (int i = 0; i < window.side; ++i) {
      const double sigma = cost.aggregation_sigma, at = i - window.side / 2;
      weights[i] = sigma > 0 ? std::exp(-0.5 * at * at / (sigma * sigma)) : 1;
      sum += weights[i];
    }
    for (int i = 0; i < window.side; ++i) window.weight[i] = float(weights[i] / sum);
    return window;
  }
  static LabelGrid grid_of(const StereoEnergy& energy) {
    return {.nx = energy.disparities, .x0 = energy.min_disparity};
  }
  static LabelGrid grid_of(const DisplacementEnergy& energy) {
    const int most = energy.max_displacement, side = 2 * most + 1;
    return {.nx = side, .ny = side, .x0 = -most, .y0 = -most};
  }
  template <class Method>
  static float uniqueness_of(const Method& method) {
    if constexpr (requires { method.uniqueness; }) return method.uniqueness;
    return 0;
  }
  template <class Method>
  static float noise_of(const Method& method) {
    if constexpr (requires { method.energy.noise; }) return method.energy.noise;
    return 0;
  }
  template <class Method>
  PlanesNeeded planes_needed(const Method& method, const SolverOptions& options) const {
    const auto furthest = [](int low, int count) {
      return larger(magnitude_of(low), magnitude_of(low + count - 1));
    };
    return {.cost = cost_,
            .edges = uses_edges(),
            .words = options.colors || follows_slopes(),
            .noise = noise_of(method),
            .columns = furthest(grid_.x0, grid_.nx),
            .rows = grid_.ny > 1 ? furthest(grid_.y0, grid_.ny) : 0};
  }
  static int magnitude_of(int value) { return value < 0 ? -value : value; }
  bool propagates() const { return optimizer_.kind == Optimizer::Kind::belief_propagation; }
  bool follows_slopes() const { return optimizer_.propagation.slant != Slant::none; }
  bool is_winner() const { return optimizer_.kind == Optimizer::Kind::winner_takes_all; }
  bool mixes() const { return cost_.data == DataTerm::mix; }
  /// Whether areas without texture get special treatment.
  bool flattens() const { return mixes() && cost_.texture_aware; }
  /// Whether the smoothness is used and its weight varies from edge to edge.
  bool uses_edges() const {
    return (smoothness_.edge_scale > 0 || (flattens() && propagates())) && (!is_winner() || reports_);
  }
  /// Whether data costs are computed when they are read, which takes no longer than loading them. This
  /// includes the costs of `mix` in belief propagation, which reads each of them only once.
  bool is_lazy() const {
    if (cost_.aggregation > 1) return false;
    return cost_.data == DataTerm::absolute || (mixes() && propagates() && !reports_);
  }
  /// Highest possible data cost; weight * 1e30 if there is no limit. A match outside the image costs the
  /// truncation, even where that is more than any difference.
  float most_cost() const {
    return cost_.weight * (cost_.truncation > 0 ? cost_.truncation : most_difference(cost_.data));
  }
  /// Whether data costs are stored, for solvers that read them repeatedly.
  bool stores_costs() const { return !is_lazy() && (!is_winner() || grid_.ny > 1 || reports_); }

  Volume take_volume(Workspace& workspace, Size size) const {
    const std::int64_t rows = std::int64_t(size.height) * grid_.count();
    if (rows > (1 << 30))
      fail(ErrorCode::memory, "data costs of ", grid_.count(), " labels at ", size.width, "x", size.height,
           " px take ", rows * size.width * 4 / (1 << 20), " MiB; use fewer labels");
    const View<float> all = workspace.image<float>({size.width, int(rows)});
    return {all.data, all.stride(), grid_.count()};
  }

  void find_edges(Side& side, int slot) {
    View<const float> planes[3];
    for (int i = 0; i < 3; ++i) planes[i] = frames_.color(slot, i);
    if (flattens() && propagates()) side.edges.flatness = frames_.flatness(slot);
    const bool same = smoothness_.edge_scale == 0;  // all weights are 1
    edge_weights(backend_, planes, same ? 1 : smoothness_.edge_scale, same ? 1 : smoothness_.edge_floor,
                 side.edges);
  }

  /// Matching of the part of the image that starts at pixel (x, y).
  Matching matching(int first, int step, Size size, int x = 0, int y = 0) const {
    return {.frame0 = frames_.compared(first, x, y),
            .frame1 = frames_.compared(1 - first, x, y),
            .width = size.width,
            .height = size.height,
            .pitch = frames_.pitch(),
            .grid = grid_,
            .step = step,
            .term = cost_.data,
            .color = cost_.rgb,
            .weight = cost_.weight,
            .limit = cost_.truncation > 0 ? cost_.truncation : 1e30f,
            .window = window_,
            .left = x,
            .above = y,
            .right = size_.width - x - size.width,
            .below = size_.height - y - size.height};
  }

  /// Calls use(data) with the energy's data cost: stored, or computed when it is read.
  template <class Use>
  void with_data(const Volume& volume, const Matching& m, Use use) {
    if (volume) return use(StoredCosts{volume, grid_.nx});
    cost_.rgb ? use(lazy_costs<Differences<3>>(m, m.frame0.color, m.frame1.color))
              : use(lazy_costs<Differences<1>>(m, &m.frame0.luma, &m.frame1.luma));
  }
  template <class Costs>
  static Costs lazy_costs(const Matching& m, const typename Costs::Value* const* frame0,
                          const typename Costs::Value* const* frame1) {
    Costs costs{};
    for (int i = 0; i < Costs::planes; ++i) costs.frame0[i] = frame0[i], costs.frame1[i] = frame1[i];
    costs.pitch = m.pitch, costs.x0 = m.grid.x0, costs.y0 = m.grid.y0, costs.step = m.step;
    costs.weight = m.weight, costs.limit = m.limit;
    return costs;
  }

  Backend& backend_;
  const MatchingCost cost_;
  const Smoothness smoothness_;
  const PairCost pair_;
  const LabelGrid grid_;
  const bool sub_pixel_, reports_;
  const Optimizer optimizer_;
  const float uniqueness_;
  const Size size_;
  const Window window_;
  PreparedFrames<Backend> frames_;
  Side own_;
  std::optional<Side> other_;  // of the check, if both are solved at once
  Progress<Backend> progress_;
};

template <template <class> class Method, class Backend>
struct SolverOf<Method<DisplacementEnergy>, Backend> : std::type_identity<MatchingSolver<Backend>> {};
template <template <class> class Method, class Backend>
struct SolverOf<Method<StereoEnergy>, Backend> : std::type_identity<MatchingSolver<Backend>> {};

}  // namespace parafield
