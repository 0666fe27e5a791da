// SPDX-License-Identifier: MIT
#pragma once
#include "core/solver.hpp"
#include "markov/background/background.hpp"
#include "markov/minimize.hpp"
#include "parafield/fields.hpp"

namespace parafield {

/// Motion detection against a learned background. The energy is ChangeSolver's, with differences from samples
/// of the past instead of a second frame.
template <class Backend>
class BackgroundSolver : public SolverBase<BackgroundSolver<Backend>> {
 public:
  static constexpr int slots = 2;

  template <class Method>
  BackgroundSolver(Backend& backend, Workspace& workspace, const Method& method, Size size,
                   const SolverOptions& options)
      : backend_(backend),
        energy_(method.energy),
        optimizer_(optimizer_of(method)),
        size_(size),
        pair_{
            .model = PairModel::linear, .slope = 2 * energy_.beta, .limit = 2 * energy_.beta, .neighbors = 8},
        field_(backend, workspace, size, grid, optimizer_, options.energies),
        progress_(backend, options.progress, 1) {
    for (View<std::uint8_t>& luma : luma_) luma = workspace.image<std::uint8_t>(size);
    background_.rows = workspace.image<std::uint8_t>({size.width, row_planes * size.height});
    background_.run = workspace.image<std::uint16_t>(size);
    background_.numbers = workspace.image<int>({number_count, 1});
    background_.least_spread = int(spread_unit * energy_.least_spread + 0.5f);
    background_.renewal = energy_.renewal;
    background_.absorb = energy_.absorb;
    model_.mean = energy_.mean;
    model_.weight = 1 / (energy_.sigma * energy_.sigma);
    model_.temporal = energy_.temporal;
    model_.step = 3 * energy_.mean / top_difference;
    model_.scale = energy_.mean > 0 ? spread_unit / model_.step : 0;
    model_.pair = pair_.cost<PairModel::linear>(1, 0);
    room_ = field_.room() ? field_.room() : binary_room<Backend>(workspace, size);
    if (by_counts()) return;
    const View<float> costs = workspace.image<float>({size.width, 2 * size.height});
    costs_ = {costs.data, costs.stride(), 2};
  }

  void prepare(const Frame* frames, int slot, int count) {
    luma_bytes(backend_, frames, luma_ + slot, count);
  }

  bool takes_start() const {
    return energy_.temporal > 0 && optimizer_.kind != Optimizer::Kind::winner_takes_all;
  }
  bool starts_from_last() const { return true; }  // from the background, and from the mask if takes_start()
  View<double> energies() const { return field_.energies(); }

  /// Detects what moves in the second frame, compared with the first alone.
  void solve(int first, const MotionMaskView* start, MotionMask& result) {
    begin_background(backend_, luma_[first], background_);
    find(luma_[1 - first], start, result);
  }

  /// Detects what moves in a frame. Without a `last` mask, the background starts from the previous frame.
  void solve_newest(const Frame& newest, int slot, int first, const MotionMaskView* last,
                    MotionMask& result) {
    prepare(&newest, slot, 1);
    if (!last) return solve(first, nullptr, result);
    find(luma_[slot], takes_start() ? last : nullptr, result);
  }

 private:
  static constexpr LabelGrid grid{.nx = 2};

  /// Whether the labels follow from thresholds alone.
  bool by_counts() const { return field_.is_by_counts(progress_); }

  void find(View<const std::uint8_t> luma, const MotionMaskView* last, MotionMask& result) {
    const View<const std::uint8_t> mask = last ? last->moving : View<const std::uint8_t>{};
    find_gain(backend_, luma, background_);
    compare_background(backend_, luma, background_, model_, mask, room_);
    progress_.begin(0);
    const BinaryLabels labels = minimize(mask);
    learn_background(backend_, background_, model_, labels, mask, result.moving,
                     {result.valid, result.confidence});
  }

  BinaryLabels minimize(View<const std::uint8_t> last) {
    if (by_counts()) return binary_sweeps(backend_, room_, size_, optimizer_.sweeps);
    background_costs(backend_, background_, model_, last, costs_, field_.labels());
    const Energy<StoredCosts> energy{size_.width, size_.height, grid, pair_, {}, {costs_, 2}};
    store_labels(backend_, field_.minimize(energy, true, progress_), room_);
    return first_labels(room_);
  }

  Backend& backend_;
  const BackgroundEnergy energy_;
  const Optimizer optimizer_;
  const Size size_;
  const PairCost pair_;
  View<std::uint8_t> luma_[slots];
  Background background_;
  BackgroundModel model_;
  Volume costs_;
  LabelField<Backend> field_;
  BinaryRoom room_;
  Progress<Backend> progress_;
};

template <template <class> class Method, class Backend>
struct SolverOf<Method<BackgroundEnergy>, Backend> : std::type_identity<BackgroundSolver<Backend>> {};

}  // namespace parafield
