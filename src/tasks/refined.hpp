// SPDX-License-Identifier: MIT
#pragma once
#include "core/solver.hpp"
#include "parafield/flow.hpp"
#include "parafield/stereo.hpp"
#include "steps/color_median/color_median.hpp"
#include "steps/consistency/consistency.hpp"
#include "steps/error_bars/constants.hpp"
#include "steps/error_bars/disparity.hpp"
#include "steps/error_bars/flow.hpp"
#include "steps/fill/fill.hpp"
#include "steps/least_confidence/least_confidence.hpp"
#include "steps/median/median.hpp"
#include "steps/repetition/repetition.hpp"
#include "steps/speckle/speckle.hpp"
#include "steps/surfaces/surfaces.hpp"
#include "steps/variational/refiner.hpp"
#include "tasks/own_least.hpp"

/// Flow and stereo solvers, extended with the checks and filters that all methods of a task share.
namespace parafield {

/// Removes speckles from one or two planes, fills invalid pixels, and applies a median filter.
template <class Backend>
class Refinement {
 public:
  /// `checks`: FlowOptions or DisparityChecks.
  template <class Checks>
  Refinement(Backend& backend, Workspace& workspace, Size size, const Checks& checks, int planes)
      : backend_(backend), speckle_(checks.speckle), median_(checks.final_median), fills_(checks.fill) {
    if (speckle_ > 0) {
      components_ = workspace.image<std::int32_t>(size);
      counts_ = workspace.image<std::int32_t>(size);
    }
    for (int i = 0; i < planes && median_ > 0; ++i) unsmoothed_[i] = workspace.image<float>(size);
  }

  /// Returns the plane that smooth() reads: a plane of its own, or `result` itself if there is no median.
  View<float> unsmoothed(int plane, View<float> result) const {
    return median_ > 0 ? unsmoothed_[plane] : result;
  }

  /// Removes speckles in place, then calls fill() if filling is enabled.
  template <class Fill>
  void mend(const View<float>* planes, int count, View<std::uint8_t> valid, Fill fill) {
    constexpr float speckle_step = 1;  // px, largest difference between neighbors of one region
    if (speckle_ > 0)
      remove_speckles(backend_, planes, count, speckle_step, speckle_, valid, components_, counts_);
    if (fills_) fill();
  }
  /// Writes the median of unsmoothed(i, result[i]) into result[i]. Does nothing without a median.
  void smooth(const View<float>* result, int count) {
    if (median_ > 0) median(backend_, unsmoothed_, median_, result, count);
  }

 private:
  Backend& backend_;
  const int speckle_, median_;
  const bool fills_;
  View<std::int32_t> components_, counts_;
  View<float> unsmoothed_[2];
};

/// The parameters of a flow method's variational refinement.
template <class Method>
const VariationalRefinement& refinement_of(const Method& method) {
  if constexpr (requires { method.energy; })
    return method.energy.refinement;
  else
    return method.refinement;
}

/// Whether results have error bars.
inline bool has_bars(FieldPlanes planes) { return planes.covariance || planes.outlier || planes.cause; }

/// A flow solver with the variational refinement and FlowOptions. The forward-backward check solves with both
/// frames swapped.
template <class Backend, class Solver>
class RefinedFlow : public Solver {
  static_assert(Solves<Solver, const FlowView*, FlowPlanes, Trust, Purpose>);

 public:
  template <class Method>
  RefinedFlow(Backend& backend, Workspace& workspace, const Method& method, Size size,
              const FlowOptions& options)
      : Solver(backend, workspace, method, size,
               {options.energies, options.progress, options.fb_check > 0 || uses_back(method)}),
        backend_(backend),
        refinement_(backend, workspace, size, options, 2),
        fb_check_(options.fb_check),
        least_(least_confidence(method, options)),
        // Filling depends on what is valid, but not on the confidence.
        at_once_(Solver::applies_least && !options.fill),
        slots_(method.frames),
        uses_back_(uses_back(method)),
        is_rough_(is_rough(method)),
        has_bars_(has_bars(options.planes())) {
    if (has_bars_ && !has_error_bars(method))
      fail(ErrorCode::invalid_argument, "error bars (covariance, outlier, cause) are only for ",
           AdaptiveRidge::name, "; ", Method::name, " has none");
    if (has_bars_) {
      backend.reserve_scratch(flow_bars_scratch(size.width));
      deviation_ = workspace.image<float>(size);
      const FieldPlanes asked = options.planes();
      if (!asked.covariance)
        for (View<float>* plane :
             {&own_bars_.covariance.xx, &own_bars_.covariance.xy, &own_bars_.covariance.yy})
          *plane = workspace.image<float>(size);
      if (!asked.outlier)
        for (View<float>* plane : {&own_bars_.outlier, &own_bars_.outlier3})
          *plane = workspace.image<float>(size);
      if (!asked.cause) own_bars_.cause = workspace.image<std::uint8_t>(size);
    }
    if (refinement_of(method).refine > 0) {
      SharedWorkspace shared(workspace);
      Solver::lend(shared);
      refiner_.emplace(backend, shared, size, refinement_of(method), slots_, Solver::kept());
      if (uses_back_ && !Solver::keeps_back) back_ = workspace.flow(size);
    }
    if (fb_check_ > 0 && method.frames != 2)
      fail(ErrorCode::invalid_argument, "fb_check, the forward-backward check, is for methods of 2 frames; ",
           Method::name, " takes ", int(method.frames));
    if (fb_check_ > 0) backward_ = workspace.flow(size);
    // Solvers write both planes or none. Checks and filters use the valid plane.
    const bool checks = fb_check_ > 0 || options.speckle > 0 || options.fill || has_bars_;
    if (!Solver::always_trusts && !options.valid && !options.confidence && !checks) return;
    if (!options.valid) own_trust_.valid = workspace.image<std::uint8_t>(size);
    if (!options.confidence) own_trust_.confidence = workspace.image<float>(size);
  }

  void prepare(const Frame* frames, int slot, int count) {
    if (refiner_) refiner_->prepare(frames, slot, count);
    Solver::prepare(frames, slot, count);
  }
  void solve(int first, const FlowView* start, FlowField& result) {
    refine(first, result,
           [&](FlowPlanes flow, Trust trust) { Solver::solve(first, start, flow, trust, Purpose::result); });
  }
  void solve_newest(const Frame& newest, int slot, int first, const FlowView* start, FlowField& result) {
    if (refiner_) refiner_->prepare(&newest, slot, 1);
    refine(first, result, [&](FlowPlanes flow, Trust trust) {
      Solver::solve_newest(newest, slot, first, start, flow, trust, Purpose::result);
    });
  }

 private:
  /// Whether the refinement needs the flow back.
  template <class Method>
  static bool uses_back(const Method& method) {
    const VariationalRefinement& refinement = refinement_of(method);
    return refinement.refine > 0 && refinement.refine_back && method.frames == 2;
  }
  /// Whether the flow is not refined, or loses fast objects.
  template <class Method>
  static bool is_rough(const Method& method) {
    if constexpr (requires { method.matches; })
      if (method.matches == UseOfMatches::never || method.frames != 2) return true;
    return refinement_of(method).refine == 0;
  }
  /// Runs solve(flow, trust) and the refinement.
  template <class Solve>
  void refine(int first, FlowField& result, Solve solve) {
    const FlowPlanes flow{refinement_.unsmoothed(0, result.u), refinement_.unsmoothed(1, result.v)};
    const Trust trust{result.valid ? View<std::uint8_t>(result.valid) : own_trust_.valid,
                      result.confidence ? View<float>(result.confidence) : own_trust_.confidence,
                      at_once_ ? least_ : 0};
    solve(flow, trust);
    if (refiner_) {
      const int from = first + (slots_ - 1) / 2;
      refiner_->refine(from % slots_, (from + 1) % slots_, flow,
                       uses_back_ ? Solver::solve_back(first, back_) : FlowPlanes{});
    }
    if (fb_check_ > 0) {
      Solver::solve(1 - first, nullptr, backward_, {}, Purpose::check);
      check_consistency<Backend>(backend_, flow, backward_, fb_check_, trust.valid);
    }
    const View<float> planes[] = {flow.u, flow.v}, to[] = {result.u, result.v};
    refinement_.mend(planes, 2, trust.valid,
                     [&] { fill_from_row(backend_, flow, View<const std::uint8_t>(trust.valid)); });
    refinement_.smooth(to, 2);
    if (trust.valid && !at_once_ && least_ > 0)
      withhold_unsure(backend_, View<const float>(trust.confidence), least_, trust.valid);
    if (has_bars_) find_bars(first, trust.valid, result);
  }
  /// Computes the error bars of the result, with the flow back if there is one.
  void find_bars(int first, View<const std::uint8_t> valid, FlowField& result) {
    FlowPlanes back;
    if (fb_check_ > 0)
      back = backward_;  // the check has overwritten the solver's own
    else if (uses_back_ || Solver::keeps_back)
      back = Solver::keeps_back ? Solver::solve_back(first, FlowPlanes{}) : back_;
    const int from = first + (slots_ - 1) / 2;
    flow_error_bars(
        backend_,
        {Solver::luma(from % slots_), Solver::luma((from + 1) % slots_), {result.u, result.v}, back, valid},
        error_model(bool(back.u)), bars_of(result), deviation_);
  }
  const FlowErrorModel& error_model(bool with_back) const {
    if (with_back) return is_rough_ ? rough_flow_errors_with_back : flow_errors_with_back;
    return is_rough_ ? rough_flow_errors_without_back : flow_errors_without_back;
  }
  /// The planes of the error bars: of the result, or the solver's own if the result lacks them.
  FlowErrorBars bars_of(FlowField& result) const {
    FlowErrorBars bars = own_bars_;
    if (result.covariance)
      bars.covariance = {result.covariance.xx, result.covariance.xy, result.covariance.yy};
    if (result.outlier) bars.outlier = result.outlier, bars.outlier3 = result.outlier3;
    if (result.cause) bars.cause = result.cause;
    return bars;
  }

  Backend& backend_;
  Refinement<Backend> refinement_;
  const float fb_check_, least_;
  const bool at_once_;  // whether the solver itself applies least_
  const int slots_;
  const bool uses_back_;
  const bool is_rough_;  // which constants the error bars take
  const bool has_bars_;
  std::optional<FlowRefiner<Backend>> refiner_;
  FlowPlanes back_;      // flow of the second frame for the refinement, unless the solver keeps it
  FlowPlanes backward_;  // flow from the second frame to the first
  FlowErrorBars own_bars_;
  View<float> deviation_;  // scratch memory of the error bars
  Trust own_trust_;        // planes that the solver needs but results lack
};

/// A stereo solver that applies DisparityChecks. Disparities are integers until the last step.
template <class Backend, class Solver>
class RefinedDisparities : public Solver {
  static_assert(Solves<Solver, const DisparityView*, View<float>, typename Solver::Fine, Trust, Purpose>);

 public:
  template <class Method>
  RefinedDisparities(Backend& backend, Workspace& workspace, const Method& method, Size size,
                     const StereoOptions& options)
      : Solver(backend, workspace, checked(method, size), size,
               {options.energies, options.progress, solves_right(method.energy.checks),
                method.energy.checks.color_median > 0 || method.energy.checks.lr_check > 0 ||
                    method.energy.sub_pixel || has_bars(options.planes())}),
        backend_(backend),
        refinement_(backend, workspace, size, method.energy.checks, 1),
        checks_(method.energy.checks),
        least_confidence_(least_confidence(method, options)),
        least_(method.energy.min_disparity),
        most_(least_ + method.energy.disparities - 1),
        has_bars_(has_bars(options.planes())) {
    if (has_bars_ && !has_error_bars(method))
      fail(ErrorCode::invalid_argument,
           "error bars (sigma, outlier, cause) are only for belief-propagation with the left-right check "
           "(lr_check above 0); the method is ",
           Method::name, " with lr_check ", checks_.lr_check);
    if (has_bars_) backend.reserve_scratch(disparity_bars_scratch(size.width));
    if (checks_.lr_check > 0) {
      right_ = workspace.image<float>(size);
      const Size blocks = repeated_blocks(size);
      repetition_ = {workspace.image<std::int32_t>(blocks), workspace.image<std::int32_t>(blocks),
                     workspace.image<std::uint8_t>(blocks)};
      backend.reserve_scratch(repetition_scratch(size.width));
    }
    if (checks_.color_median > 0) {
      unvoted_ = workspace.image<float>(size);
      if (checks_.lr_check > 0) unsure_ = workspace.image<std::uint8_t>(size);
    }
    if (method.energy.sub_pixel) {
      whole_ = workspace.image<float>(size);
      for (View<float>* plane : {&samples_.d, &samples_.trust, &samples_.luma, &samples_.certainty,
                                 &surfaces_.d, &surfaces_.slope_x, &surfaces_.slope_y})
        *plane = workspace.image<float>(sampled(size));
    }
  }

  void solve(int, const DisparityView* start, DisparityField& result) {
    const View<float> to = result.d, whole = whole_ ? whole_ : to;  // whole: the final integer disparities
    const View<float> unsmoothed = refinement_.unsmoothed(0, whole);
    const View<float> left = unvoted_ ? unvoted_ : unsmoothed;
    const View<std::uint8_t> valid = result.valid;
    const auto solve_left = [&] {
      Solver::solve(0, start, left, {samples_.d, samples_.certainty}, {valid, result.confidence},
                    Purpose::result);
    };
    const auto solve_right = [&] { Solver::solve(1, nullptr, right_, {}, {}, Purpose::check); };
    const auto solve_both = [&] {
      if (Solver::solves_both_at_once()) return backend_.beside(solve_right, solve_left);
      solve_left();
      if (solves_right(checks_)) solve_right();
    };
    const auto find_all_periods = [&] {
      if (repetition_.repeated) find_periods(backend_, Solver::colors(0), most_ - least_ + 1, repetition_);
    };
    // Periods take little of a GPU, and so do the coarse levels. A start is in the user's memory, which steps
    // must not read while other steps run.
    if (repetition_.repeated && !start) {
      backend_.beside(find_all_periods, solve_both);
    } else {
      find_all_periods();
      solve_both();
    }
    if (checks_.lr_check > 0) {
      solves_right(checks_)
          ? check_disparities<Backend>(backend_, left, right_, checks_.lr_check, valid, unsure_)
          : project_disparities<Backend>(backend_, left, right_, checks_.lr_check, valid, unsure_);
    }
    refinement_.mend(&left, 1, valid,
                     [&] { fill_from_row(backend_, left, View<const std::uint8_t>(valid)); });
    if (unvoted_)
      color_median(backend_,
                   {unvoted_, Solver::colors(0), valid, unsure_, checks_.color_median, least_, most_},
                   unsmoothed);
    refinement_.smooth(&whole, 1);
    if (Solver::margins())
      disparity_confidence(backend_,
                           {whole, right_, solves_right(checks_) ? Solver::margins() : View<const float>{}},
                           result.confidence);
    if (whole_) {
      sample_disparities<Backend>(backend_, whole, valid, Solver::colors(0), samples_);
      fit_surfaces(backend_, samples_, surfaces_);
      take_surfaces<Backend>(backend_, whole, valid, surfaces_, float(least_), float(most_),
                             refinement_.unsmoothed(0, to));
      refinement_.smooth(&to, 1);
    }
    // What follows comes last, because filling and refinement depend on what is valid.
    if (repetition_.repeated) {
      find_repetition(backend_, {Solver::colors(0), Solver::colors(1), to, int(least_), int(most_)},
                      repetition_);
      withhold_repeated<Backend>(backend_, repetition_.repeated, least_confidence_, valid, result.confidence);
    } else if (least_confidence_ > 0) {
      withhold_unsure(backend_, View<const float>(result.confidence), least_confidence_, valid);
    }
    if (has_bars_)
      disparity_error_bars(backend_,
                           {Solver::colors(0), Solver::colors(1), to, right_, valid, result.confidence},
                           disparity_errors, {result.sigma, result.outlier, result.outlier3, result.cause});
  }

 private:
  static bool solves_right(const DisparityChecks& checks) {
    return checks.lr_check > 0 && checks.right_view == RightView::solved;
  }
  /// Throws Error(invalid_argument) if some of the disparities are impossible for every pixel.
  template <class Method>
  static const Method& checked(const Method& method, Size size) {
    const int least = method.energy.min_disparity, most = least + method.energy.disparities - 1;
    if (least <= -size.width || most >= size.width)
      fail(ErrorCode::invalid_argument, "disparities from ", least, " to ", most, " do not fit into images ",
           size.width, " px wide: they lie between ", 1 - size.width, " and ", size.width - 1);
    return method;
  }

  Backend& backend_;
  Refinement<Backend> refinement_;
  const DisparityChecks checks_;
  const float least_confidence_;
  const int least_, most_;  // range of disparities
  const bool has_bars_;
  View<float> right_;  // integer disparities of the right image
  View<std::uint8_t> unsure_;
  RepeatedBlocks repetition_;
  View<float> unvoted_;  // input of the color median
  View<float> whole_;    // empty if the result is whole, and then there are no samples and surfaces
  DisparitySamples samples_;
  Surfaces surfaces_;
};

}  // namespace parafield
