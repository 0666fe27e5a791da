// SPDX-License-Identifier: MIT
#pragma once
#include <limits>
#include <string_view>

#include "core/solver.hpp"
#include "markov/background/background.hpp"
#include "markov/background/state.hpp"
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
        progress_(backend, options.progress, 1) {
    if constexpr (!Method::learns)
      if (options.freeze || options.background)
        fail(ErrorCode::invalid_argument, options.freeze ? "freeze" : "background",
             " is for methods that learn a background, such as icm-background, not for ", Method::name);
    if (!options.region) return;
    region_ = workspace.image<std::uint8_t>(size);
    const auto active = backend.activate();
    backend.copy(region_.data, region_.pitch, options.region.data, options.region.pitch, size.width,
                 size.height);
    backend.synchronize();
  }

  /// Removes the values of a plane outside the region.
  template <class T>
  void confine(View<T> plane, T value) {
    if (region_) clear_outside<Backend, T>(backend_, region_, plane, value);
  }
  void confine(MotionMask& mask) {
    confine<std::uint8_t>(mask.moving, 0);
    confine<std::uint8_t>(mask.valid, 0);
    confine<float>(mask.confidence, 0);
  }

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
  View<std::uint8_t> region_;  // empty: the whole frame
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
    for (int i = 0; i < count; ++i) this->template confine<float>(frames_[slot + i].plane[0], nan);
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
    this->confine(result);
  }

 private:
  static constexpr float nan = std::numeric_limits<float>::quiet_NaN();
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
    background_.frozen = options.freeze;
    if (options.background) check_background(*options.background, Method::name, size);
    given_ = options.background;
    name_ = Method::name;
    model_.step = 3 * energy_.mean / top_difference;
    model_.scale = energy_.mean > 0 ? spread_unit / model_.step : 0;
    model_.pair = this->pair_.template cost<PairModel::linear>(1, 0);
    room_ = field_.room() ? field_.room() : binary_room<Backend>(workspace, size);
    if (!by_counts()) this->take_costs(workspace);
  }

  void prepare(const Frame* frames, int slot, int count) {
    luma_bytes(backend_, frames, luma_ + slot, count);
    for (int i = 0; i < count; ++i) this->template confine<std::uint8_t>(luma_[slot + i], no_luma);
  }

  bool starts_from_last() const { return true; }  // from the background, and from the mask if takes_start()

  void check_frame(const Frame& frame) {
    const ValueRange range = special_range(frame);
    if (given_ && range != given_->range)
      fail(ErrorCode::invalid_argument, "the background was learned from frames whose range is ",
           range_text(given_->range), ", but the frame's range is ", range_text(range));
    range_ = range;
  }
  /// Uploads the background of the options.
  void restore() {
    has_learned_ = true;
    if (!given_) return;
    const BackgroundState state = unpacked_background(*given_);
    const auto upload = [&]<class T>(const View<T>& plane, const Image<T>& from) {
      backend_.copy(plane.data, plane.pitch, from.view().data, from.view().pitch,
                    plane.width * std::ptrdiff_t(sizeof(T)), plane.height);
    };
    upload(background_.rows, state.rows);
    upload(background_.run, state.run);
    upload(background_.numbers, state.numbers);
    backend_.synchronize();
  }
  void forget() { has_learned_ = false; }
  LearnedBackground background() {
    if (!has_learned_) fail(ErrorCode::invalid_argument, "no background has been learned yet");
    BackgroundState state(this->size_);
    const auto download = [&]<class T>(const View<T>& plane, Image<T>& to) {
      backend_.copy(to.view().data, to.view().pitch, plane.data, plane.pitch,
                    plane.width * std::ptrdiff_t(sizeof(T)), plane.height);
    };
    download(background_.rows, state.rows);
    download(background_.run, state.run);
    download(background_.numbers, state.numbers);
    backend_.synchronize();
    return {std::string(name_), this->size_, range_, packed_background(state)};
  }

  /// Detects what moves in the second frame, compared with the given background or the first frame.
  void solve(int first, const MotionMaskView* start, MotionMask& result) {
    if (!given_) begin_background(backend_, luma_[first], background_);
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
    this->confine(result);
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
  std::shared_ptr<const LearnedBackground> given_;
  std::string_view name_;  // of the method
  ValueRange range_;       // of the newest frame; {0, 0} = the usual one of its format
  bool has_learned_ = false;
};

template <template <class> class Method, class Backend>
struct SolverOf<Method<ChangeEnergy>, Backend> : std::type_identity<ChangeSolver<Backend>> {};
template <template <class> class Method, class Backend>
struct SolverOf<Method<BackgroundEnergy>, Backend> : std::type_identity<BackgroundSolver<Backend>> {};

}  // namespace parafield
