// SPDX-License-Identifier: MIT
#pragma once
#include "core/solver.hpp"
#include "markov/background/background.hpp"
#include "markov/mask/mask.hpp"
#include "markov/minimize.hpp"
#include "parafield/fields.hpp"
#include "steps/convert/convert.hpp"

namespace parafield {

/// Base of the solvers of motion detection (Jodoin section 3.1): a field of two labels, static and moving.
template <class Solver, class Backend, class EnergyType>
class MaskSolver : public SolverBase<Solver> {
 public:
  static constexpr int slots = 2;

  bool takes_start() const {
    return energy_.temporal > 0 && optimizer_.kind != Optimizer::Kind::winner_takes_all;
  }
  View<double> energies() const { return field_.energies(); }

 protected:
  template <class Method>
  MaskSolver(Backend& backend, Workspace& workspace, const Method& method, Size size,
             const SolverOptions& options)
      : backend_(backend),
        energy_(method.energy),
        optimizer_(optimizer_of(method)),
        size_(size),
        pair_{
            .model = PairModel::linear, .slope = 2 * energy_.beta, .limit = 2 * energy_.beta, .neighbors = 8},
        field_(backend, workspace, size, grid, optimizer_, options.energies),
        progress_(backend, options.progress, 1) {}

  ChangeModel change_model() const {
    return {
        .mean = energy_.mean, .weight = 1 / (energy_.sigma * energy_.sigma), .temporal = energy_.temporal};
  }
  void take_costs(Workspace& workspace) {
    const View<float> costs = workspace.image<float>({size_.width, 2 * size_.height});
    costs_ = {costs.data, costs.stride(), 2};
  }
  /// Minimizes the energy with the stored data costs.
  View<Label> minimize() {
    return field_.minimize(Energy<StoredCosts>{size_.width, size_.height, grid, pair_, {}, {costs_, 2}},
                           Purpose::result, progress_);
  }

  static constexpr LabelGrid grid{.nx = 2};
  Backend& backend_;
  const EnergyType energy_;
  const Optimizer optimizer_;
  const Size size_;
  const PairCost pair_;
  Volume costs_;
  LabelField<Backend> field_;
  Progress<Backend> progress_;
};

/// Compares two frames.
template <class Backend>
class ChangeSolver : public MaskSolver<ChangeSolver<Backend>, Backend, ChangeEnergy> {
  using Base = MaskSolver<ChangeSolver, Backend, ChangeEnergy>;
  using Base::backend_, Base::energy_, Base::costs_, Base::field_, Base::slots;

 public:
  template <class Method>
  ChangeSolver(Backend& backend, Workspace& workspace, const Method& method, Size size,
               const SolverOptions& options)
      : Base(backend, workspace, method, size, options) {
    for (FramePlanes& frame : frames_)
      for (int i = 0; i < channels(); ++i) frame.plane[i] = workspace.image<float>(size);
    known_ = workspace.image<std::uint8_t>(size);
    last_ = workspace.image<Label>(size);
    this->take_costs(workspace);
  }

  void prepare(const Frame* frames, int slot, int count) {
    if (!energy_.rgb) {
      View<float> luma[slots];
      for (int i = 0; i < count; ++i) luma[i] = frames_[slot + i].plane[0];
      convert(backend_, frames, luma, count);
    }
    for (int i = 0; i < count && energy_.rgb; ++i)
      convert_color(backend_, frames[i], frames_[slot + i].plane);
  }

  bool starts_from_last() const { return this->takes_start(); }

  void solve(int first, const MotionMaskView* start, MotionMask& result) {
    Change change;
    static_cast<ChangeModel&>(change) = this->change_model();
    change.channels = channels();
    if (energy_.temporal_fades && energy_.mean > 0) change.rise = 1 / energy_.mean;
    for (int i = 0; i < channels(); ++i)
      change.frame0[i] = frames_[first].plane[i], change.frame1[i] = frames_[1 - first].plane[i];
    if (start) {
      labels_of_mask(backend_, start->moving, last_);
      change.last = last_;
    }
    change_costs(backend_, change, costs_, field_.labels(), known_);
    this->progress_.begin(0);
    const View<Label> labels = this->minimize();
    mask_of(backend_, {labels, costs_, this->pair_, known_}, result.moving,
            {result.valid, result.confidence});
  }

 private:
  struct FramePlanes {
    View<float> plane[3];
  };

  int channels() const { return energy_.rgb ? 3 : 1; }

  FramePlanes frames_[slots];
  View<Label> last_;
  View<std::uint8_t> known_;
};

/// Compares a frame with samples of the past instead of a second frame: a learned background.
template <class Backend>
class BackgroundSolver : public MaskSolver<BackgroundSolver<Backend>, Backend, BackgroundEnergy> {
  using Base = MaskSolver<BackgroundSolver, Backend, BackgroundEnergy>;
  using Base::backend_, Base::energy_, Base::costs_, Base::field_, Base::progress_, Base::slots;

 public:
  template <class Method>
  BackgroundSolver(Backend& backend, Workspace& workspace, const Method& method, Size size,
                   const SolverOptions& options)
      : Base(backend, workspace, method, size, options), model_{this->change_model()} {
    for (View<std::uint8_t>& luma : luma_) luma = workspace.image<std::uint8_t>(size);
    background_.rows = workspace.image<std::uint8_t>({size.width, row_planes * size.height});
    background_.run = workspace.image<std::uint16_t>(size);
    background_.numbers = workspace.image<int>({number_count, 1});
    background_.least_spread = int(spread_unit * energy_.least_spread + 0.5f);
    background_.renewal = energy_.renewal;
    background_.absorb = energy_.absorb;
    model_.step = 3 * energy_.mean / top_difference;
    model_.scale = energy_.mean > 0 ? spread_unit / model_.step : 0;
    model_.pair = this->pair_.template cost<PairModel::linear>(1, 0);
    room_ = field_.room() ? field_.room() : binary_room<Backend>(workspace, size);
    if (!by_counts()) this->take_costs(workspace);
  }

  void prepare(const Frame* frames, int slot, int count) {
    luma_bytes(backend_, frames, luma_ + slot, count);
  }

  bool starts_from_last() const { return true; }  // from the background, and from the mask if takes_start()

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
    find(luma_[slot], this->takes_start() ? last : nullptr, result);
  }

 private:
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
    if (by_counts()) return binary_sweeps(backend_, room_, this->size_, this->optimizer_.sweeps);
    background_costs(backend_, background_, model_, last, costs_, field_.labels());
    store_labels(backend_, Base::minimize(), room_);
    return first_labels(room_);
  }

  View<std::uint8_t> luma_[slots];
  Background background_;
  BackgroundModel model_;
  BinaryRoom room_;
};

template <template <class> class Method, class Backend>
struct SolverOf<Method<ChangeEnergy>, Backend> : std::type_identity<ChangeSolver<Backend>> {};
template <template <class> class Method, class Backend>
struct SolverOf<Method<BackgroundEnergy>, Backend> : std::type_identity<BackgroundSolver<Backend>> {};

}  // namespace parafield
