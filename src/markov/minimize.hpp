// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <utility>

#include "core/solver.hpp"
#include "core/workspace.hpp"
#include "markov/belief_propagation.hpp"
#include "markov/binary/binary.hpp"
#include "markov/progress.hpp"
#include "markov/sweep/sweep.hpp"
#include "parafield/estimator.hpp"
#include "parafield/methods/label_solvers.hpp"
#include "steps/reduce/reduce.hpp"

namespace parafield {

/// Parameters of a solver without its energy: see WinnerTakesAll, Icm, Annealing and BeliefPropagation.
struct Optimizer {
  enum class Kind { winner_takes_all, icm, annealing, belief_propagation };
  Kind kind = Kind::winner_takes_all;
  int sweeps = 0;
  SiteOrder order = SiteOrder::colored;
  double t_max = 1, t_min = 1;
  std::uint32_t seed = 0;
  PropagationPlan propagation = {};

  /// Number of energies in a report of all sweeps (EnergyReport::sweeps).
  int records() const {
    if (kind != Kind::belief_propagation) return sweeps + 1;
    return propagation.blocks <= 1 ? larger(propagation.finest_iterations, 1) : 1;
  }

  /// Temperature of a sweep: it falls from t_max to t_min by the same factor each time.
  Temperature temperature(int sweep) const {
    const double share = sweeps > 1 ? double(sweep) / (sweeps - 1) : 0;
    return {float(1 / (t_max * std::pow(t_min / t_max, share))),
            scrambled(std::uint32_t(sweep) + scrambled(seed))};
  }
};

template <class E>
Optimizer optimizer_of(const WinnerTakesAll<E>&) {
  return {};
}
template <class E>
Optimizer optimizer_of(const Icm<E>& method) {
  return {.kind = Optimizer::Kind::icm, .sweeps = method.sweeps, .order = method.order};
}
template <class E>
Optimizer optimizer_of(const Annealing<E>& method) {
  return {.kind = Optimizer::Kind::annealing,
          .sweeps = method.sweeps,
          .t_max = method.t_max,
          .t_min = method.t_min,
          .seed = std::uint32_t(method.seed)};
}
template <class E>
Optimizer optimizer_of(const BeliefPropagation<E>& method) {
  PropagationPlan plan{method.levels,
                       method.iterations,
                       method.finest_iterations < 0 ? method.iterations : method.finest_iterations,
                       method.precision,
                       method.blocks,
                       method.block_overlap,
                       method.memory_limit};
  if constexpr (requires { method.surfaces.slant; }) plan.slant = method.surfaces.slant;
  return {.kind = Optimizer::Kind::belief_propagation, .propagation = plan};
}

/// Smoothness as a pair cost.
inline PairCost pair_cost_of(const Smoothness& smoothness) {
  PairCost pair{.model = PairModel::linear, .slope = smoothness.beta, .neighbors = smoothness.neighbors};
  float most = smoothness.smoothness_truncation > 0 ? smoothness.smoothness_truncation : 1e30f;
  if (smoothness.smoothness == SmoothnessModel::potts) most = smaller(most, 1.0f);
  if (smoothness.smoothness == SmoothnessModel::quadratic) pair.model = PairModel::quadratic;
  if (smoothness.smoothness == SmoothnessModel::linear && most == 1e30f) pair.model = PairModel::separable;
  if (most < 1e30f) pair.limit = smoothness.beta * most;
  return pair;
}

/// Label field of a solve. Runs the sweeps that improve it, and records its energies.
template <class Backend>
class LabelField {
 public:
  LabelField(Backend& backend, Workspace& workspace, Size size, LabelGrid grid, const Optimizer& optimizer,
             EnergyReport report)
      : backend_(backend), optimizer_(optimizer), report_(report) {
    labels_ = workspace.image<Label>(size);
    if (optimizer.kind == Optimizer::Kind::icm) {
      if (optimizer.order == SiteOrder::all_at_once) other_ = workspace.image<Label>(size);
      if (other_ && grid.count() == 2) binary_ = binary_room<Backend>(workspace, size);
      changes_ = workspace.image<int>({optimizer.sweeps + 1, 1});
    }
    if (optimizer.sweeps > 0)
      backend.reserve_scratch(sweep_scratch(grid, optimizer.kind == Optimizer::Kind::annealing));
    if (report == EnergyReport::none) return;
    terms_ = workspace.image<float>(size);
    row_sums_ = workspace.image<double>({size.height, 1});
    energies_ = workspace.image<double>({report == EnergyReport::sweeps ? optimizer.records() : 1, 1});
  }

  /// Labels that a solve starts from.
  View<Label> labels() const { return labels_; }

  /// Energies that were recorded last.
  View<double> energies() const { return energies_; }

  /// Whether an energy of two labels with 8 neighbors can be minimized by thresholds alone: see binary.hpp.
  /// That path reports neither energies nor progress.
  bool is_by_counts(const Progress<Backend>& progress) const {
    const bool has_sweeps = optimizer_.kind != Optimizer::Kind::winner_takes_all;
    return (binary_ || !has_sweeps) && report_ == EnergyReport::none && !progress.is_asked();
  }
  /// Memory of the sweeps by thresholds; empty if the solver does not use them.
  const BinaryRoom& room() const { return binary_; }

  /// Runs all sweeps, starting from labels(), and returns the final labels. Records energies of results.
  template <class Data>
  View<Label> minimize(const Energy<Data>& energy, Purpose purpose, Progress<Backend>& progress) {
    const bool reports = purpose == Purpose::result;
    const bool is_icm = optimizer_.kind == Optimizer::Kind::icm, at_once = is_icm && other_;
    const int colors = at_once ? 1 : energy.pair.neighbors == 4 ? 2 : 4;
    View<Label> labels = labels_, next = at_once ? other_ : labels_;
    const bool each = reports && records_sweeps();
    if constexpr (std::is_same_v<Data, StoredCosts>)
      if (binary_ && !each && !progress.is_asked() && energy.is_binary() && energy.pair.neighbors == 8) {
        store_thresholds(backend_, energy, labels, binary_);
        binary_sweeps(backend_, binary_, {energy.width, energy.height}, optimizer_.sweeps, labels);
        if (reports && report_ == EnergyReport::result) record(energy, labels, 0);
        return labels;
      }
    if (each) record(energy, labels, 0);
    if (is_icm) clear_changes(backend_, changes_);
    for (int sweep = 0; sweep < optimizer_.sweeps; ++sweep) {
      for (int color = 0; color < colors; ++color)
        if (is_icm)
          icm_sweep(backend_, energy, labels, next, {colors, color}, changes_, sweep);
        else
          gibbs_sweep(backend_, energy, labels, {colors, color}, optimizer_.temperature(sweep));
      std::swap(labels, next);
      if (each) record(energy, labels, sweep + 1);
      progress.report(double(sweep + 1) / optimizer_.sweeps);
    }
    if (reports && report_ == EnergyReport::result) record(energy, labels, 0);
    return labels;
  }

  bool records_sweeps() const { return report_ == EnergyReport::sweeps; }

  /// Records the energy of `labels` as number i of the report.
  template <class Data>
  void record(const Energy<Data>& energy, View<const Label> labels, int i) {
    energy_terms(backend_, energy, labels, terms_);
    sum(backend_, terms_, row_sums_, energies_.data + i);
  }

 private:
  Backend& backend_;
  const Optimizer optimizer_;
  const EnergyReport report_;
  View<Label> labels_, other_;
  BinaryRoom binary_;
  View<int> changes_;  // see clear_changes
  View<float> terms_;
  View<double> row_sums_, energies_;
};

}  // namespace parafield
