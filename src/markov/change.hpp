// SPDX-License-Identifier: MIT
#pragma once
#include "core/solver.hpp"
#include "markov/mask/mask.hpp"
#include "markov/minimize.hpp"
#include "parafield/fields.hpp"
#include "steps/convert/convert.hpp"

namespace parafield {

/// Motion detection (Jodoin section 3.1). The data costs of its two labels are stored.
template <class Backend>
class ChangeSolver : public SolverBase<ChangeSolver<Backend>> {
 public:
  static constexpr int slots = 2;

  template <class Method>
  ChangeSolver(Backend& backend, Workspace& workspace, const Method& method, Size size,
               const SolverOptions& options)
      : backend_(backend),
        energy_(method.energy),
        optimizer_(optimizer_of(method)),
        size_(size),
        field_(backend, workspace, size, grid, optimizer_, options.energies),
        progress_(backend, options.progress, 1) {
    for (FramePlanes& frame : frames_)
      for (int i = 0; i < channels(); ++i) frame.plane[i] = workspace.image<float>(size);
    known_ = workspace.image<std::uint8_t>(size);
    last_ = workspace.image<Label>(size);
    const View<float> costs = workspace.image<float>({size.width, 2 * size.height});
    costs_ = {costs.data, costs.stride(), 2};
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

  bool takes_start() const {
    return energy_.temporal > 0 && optimizer_.kind != Optimizer::Kind::winner_takes_all;
  }
  bool starts_from_last() const { return takes_start(); }
  View<double> energies() const { return field_.energies(); }

  void solve(int first, const MotionMaskView* start, MotionMask& result) {
    const FramePlanes &frame0 = frames_[first], &frame1 = frames_[1 - first];
    Change change;
    change.channels = channels();
    change.mean = energy_.mean;
    change.weight = 1 / (energy_.sigma * energy_.sigma);
    change.temporal = energy_.temporal;
    if (energy_.temporal_fades && energy_.mean > 0) change.rise = 1 / energy_.mean;
    for (int i = 0; i < channels(); ++i)
      change.frame0[i] = frame0.plane[i], change.frame1[i] = frame1.plane[i];
    if (start) {
      labels_of_mask(backend_, start->moving, last_);
      change.last = last_;
    }
    change_costs(backend_, change, costs_, field_.labels(), known_);
    const PairCost pair{
        .model = PairModel::linear, .slope = 2 * energy_.beta, .limit = 2 * energy_.beta, .neighbors = 8};
    const Energy<StoredCosts> energy{size_.width, size_.height, grid, pair, {}, {costs_, 2}};
    progress_.begin(0);
    const View<Label> labels = field_.minimize(energy, true, progress_);
    mask_of(backend_, {labels, costs_, pair, known_}, result.moving, {result.valid, result.confidence});
  }

 private:
  static constexpr LabelGrid grid{.nx = 2};
  struct FramePlanes {
    View<float> plane[3];
  };

  int channels() const { return energy_.rgb ? 3 : 1; }

  Backend& backend_;
  const ChangeEnergy energy_;
  const Optimizer optimizer_;
  const Size size_;
  FramePlanes frames_[slots];
  View<Label> last_;
  View<std::uint8_t> known_;
  Volume costs_;
  LabelField<Backend> field_;
  Progress<Backend> progress_;
};

template <template <class> class Method, class Backend>
struct SolverOf<Method<ChangeEnergy>, Backend> : std::type_identity<ChangeSolver<Backend>> {};

}  // namespace parafield
