// SPDX-License-Identifier: MIT
#pragma once
#include <limits>
#include <string_view>

#include "core/solver.hpp"
#include "markov/background/decide.hpp"
#include "markov/background/learn.hpp"
#include "markov/background/shadow.hpp"
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
    const bool colors = energy_.rgb;
    background_.size = size;
    background_.colors = colors;
    for (FrameBytes& frame : frames_) {
      frame.luma = workspace.image<std::uint8_t>(size);
      if (colors) frame.blue = workspace.image<std::uint8_t>(size);
      if (colors) frame.red = workspace.image<std::uint8_t>(size);
    }
    background_.rows =
        workspace.image<std::uint8_t>({size.width, (colors ? color_planes : gray_planes) * size.height});
    background_.words =
        workspace.image<std::uint16_t>({size.width, (colors ? color_words : gray_words) * size.height});
    background_.numbers = workspace.image<int>({number_count, 1});
    background_.sums = workspace.image<long long>({sum_count, 1});
    background_.tile_votes = workspace.image<int>(tiles_of(size));
    background_.tiles = workspace.image<std::uint8_t>(tiles_of(size));
    background_.least_spread = int(spread_unit * energy_.least_spread + 0.5f);
    background_.renewal = energy_.renewal;
    background_.absorb = energy_.absorb;
    background_.frozen = options.freeze;
    if (options.background) check_background(*options.background, Method::name, size, colors);
    given_ = options.background;
    name_ = Method::name;
    if (!this->takes_start()) model_.temporal = 0;
    model_.step = 3 * energy_.mean / top_difference;
    model_.scale = energy_.mean > 0 ? spread_unit / model_.step : 0;
    model_.pair = this->pair_.template cost<PairModel::linear>(1, 0);
    room_ = field_.room() ? field_.room() : binary_room<Backend>(workspace, size);
    if (!by_counts()) this->take_costs(workspace);
  }

  void prepare(const Frame* frames, int slot, int count) {
    frame_bytes(backend_, frames, frames_ + slot, count);
    for (int i = 0; i < count; ++i) this->template confine<std::uint8_t>(frames_[slot + i].luma, no_luma);
  }

  bool starts_from_last() const { return true; }  // from the background, which also has the last mask

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
    const BackgroundState state = unpacked_background(*given_, background_.colors);
    const Image<long long> sums({sum_count, 1});  // zeros
    const auto upload = [&]<class T>(const View<T>& plane, const Image<T>& from) {
      backend_.copy(plane.data, plane.pitch, from.view().data, from.view().pitch,
                    plane.width * std::ptrdiff_t(sizeof(T)), plane.height);
    };
    upload(background_.rows, state.rows);
    upload(background_.words, state.words);
    upload(background_.numbers, state.numbers);
    upload(background_.sums, sums);
    backend_.synchronize();
  }
  void forget() { has_learned_ = false; }
  LearnedBackground background() {
    if (!has_learned_) fail(ErrorCode::invalid_argument, "no background has been learned yet");
    BackgroundState state(this->size_, background_.colors);
    const auto download = [&]<class T>(const View<T>& plane, Image<T>& to) {
      backend_.copy(to.view().data, to.view().pitch, plane.data, plane.pitch,
                    plane.width * std::ptrdiff_t(sizeof(T)), plane.height);
    };
    download(background_.rows, state.rows);
    download(background_.words, state.words);
    download(background_.numbers, state.numbers);
    backend_.synchronize();
    return {std::string(name_), this->size_, range_, packed_background(state)};
  }

  /// Detects what moves in the second frame, compared with the given background or the first frame.
  void solve(int first, const MotionMaskView* start, MotionMask& result) {
    if (!given_) begin_background(backend_, frames_[first], background_);
    if (start && this->takes_start()) begin_mask(backend_, start->moving, background_);
    find(frames_[1 - first], result);
  }

  /// Detects what moves in a frame. Without a `last` mask, the background starts from the previous frame.
  void solve_newest(const Frame& newest, int slot, int first, const MotionMaskView* last,
                    MotionMask& result) {
    prepare(&newest, slot, 1);
    if (!last) return solve(first, nullptr, result);
    find(frames_[slot], result);
  }

 private:
  /// Whether the labels follow from thresholds alone.
  bool by_counts() const { return field_.is_by_counts(progress_); }

  void find(const SeenFrame& frame, MotionMask& result) {
    if (energy_.shift) find_shift(backend_, frame.luma, background_);
    find_gain(backend_, frame.luma, background_);
    choose_gains(backend_, frame.luma, background_);
    compare_background(backend_, frame, background_, model_);
    if (energy_.rgb && energy_.shadows != Shadows::keep) drop_shadows(backend_, background_, model_);
    decide_background(backend_, background_, model_, room_);
    progress_.begin(0);
    const BinaryLabels labels = minimize();
    background_mask(backend_, background_, model_, labels, result.moving, {result.valid, result.confidence});
    if (!background_.frozen) vote_on_ghosts(backend_, background_, labels);
    learn_background(backend_, background_, labels);
    this->confine(result);
  }

  BinaryLabels minimize() {
    if (by_counts()) return binary_sweeps(backend_, room_, this->size_, this->optimizer_.sweeps);
    background_costs(backend_, background_, model_, costs_, field_.labels());
    store_labels(backend_, Base::minimize(), room_);
    return first_labels(room_);
  }

  FrameBytes frames_[slots];
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
