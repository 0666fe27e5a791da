// SPDX-License-Identifier: MIT
#pragma once
#include "core/solver.hpp"
#include "parafield/flow.hpp"
#include "parafield/stereo.hpp"
#include "steps/consistency/consistency.hpp"
#include "steps/fill/fill.hpp"
#include "steps/median/median.hpp"
#include "steps/speckle/speckle.hpp"

/// Solvers of flow and stereo with the checks and filters that every method of the task has.
namespace parafield {

/// Removes speckles, fills, and takes a median, of one or two planes.
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

  /// The plane that the solver writes: the result itself, or the median's input.
  View<float> solved(int plane, View<float> result) const {
    return median_ > 0 ? unsmoothed_[plane] : result;
  }

  /// Refines the planes `solved` and writes the result.
  template <class Fill>
  void operator()(const View<float>* planes, const View<float>* result, int count, View<std::uint8_t> valid,
                  Fill fill) {
    constexpr float speckle_step = 1;  // px between neighbors of one region
    if (speckle_ > 0)
      remove_speckles(backend_, planes, count, speckle_step, speckle_, valid, components_, counts_);
    if (fills_) fill();
    if (median_ > 0) median(backend_, planes, median_, result, count);
  }

 private:
  Backend& backend_;
  const int speckle_, median_;
  const bool fills_;
  View<std::int32_t> components_, counts_;
  View<float> unsmoothed_[2];
};

/// A solver of flow and FlowOptions. For the forward-backward check the frames of its slots change places.
template <class Backend, class Solver>
class RefinedFlow : public Solver {
  static_assert(Solves<Solver, const FlowView*, FlowPlanes, Trust, bool>);

 public:
  template <class Method>
  RefinedFlow(Backend& backend, Workspace& workspace, const Method& method, Size size,
              const FlowOptions& options)
      : Solver(backend, workspace, method, size, {options.energies, options.progress, options.fb_check > 0}),
        backend_(backend),
        refinement_(backend, workspace, size, options, 2),
        fb_check_(options.fb_check) {
    if (fb_check_ > 0 && method.frames != 2)
      fail(ErrorCode::invalid_argument, "fb_check, the forward-backward check, is for methods of 2 frames; ",
           Method::name, " takes ", int(method.frames));
    if (fb_check_ > 0) backward_ = workspace.flow(size);
  }

  void solve(int first, const FlowView* start, FlowField& result) {
    refine(first, result,
           [&](FlowPlanes flow, Trust trust) { Solver::solve(first, start, flow, trust, true); });
  }
  void solve_newest(const Frame& newest, int slot, int first, const FlowView* start, FlowField& result) {
    refine(first, result, [&](FlowPlanes flow, Trust trust) {
      Solver::solve_newest(newest, slot, first, start, flow, trust, true);
    });
  }

 private:
  /// Runs solve(flow, trust) and the refinement.
  template <class Solve>
  void refine(int first, FlowField& result, Solve solve) {
    const FlowPlanes flow{refinement_.solved(0, result.u), refinement_.solved(1, result.v)};
    const Trust trust{result.valid, result.confidence};
    solve(flow, trust);
    if (fb_check_ > 0) {
      Solver::solve(1 - first, nullptr, backward_, {}, false);
      check_consistency<Backend>(backend_, flow, backward_, fb_check_, trust.valid);
    }
    const View<float> planes[] = {flow.u, flow.v}, to[] = {result.u, result.v};
    refinement_(planes, to, 2, trust.valid,
                [&] { fill_from_row(backend_, flow, View<const std::uint8_t>(trust.valid)); });
  }

  Backend& backend_;
  Refinement<Backend> refinement_;
  const float fb_check_;
  FlowPlanes backward_;  // flow of the second frame to the first
};

/// A solver of stereo and DisparityChecks.
template <class Backend, class Solver>
class RefinedDisparities : public Solver {
  static_assert(Solves<Solver, const DisparityView*, View<float>, Trust, bool>);

 public:
  template <class Method>
  RefinedDisparities(Backend& backend, Workspace& workspace, const Method& method, Size size,
                     const StereoOptions& options)
      : Solver(backend, workspace, checked(method, size), size,
               {options.energies, options.progress, solves_right(method.energy.checks)}),
        backend_(backend),
        refinement_(backend, workspace, size, method.energy.checks, 1),
        lr_check_(method.energy.checks.lr_check),
        solves_right_(solves_right(method.energy.checks)) {
    if (lr_check_ > 0) right_ = workspace.image<float>(size);
  }

  void solve(int, const DisparityView* start, DisparityField& result) {
    const View<float> left = refinement_.solved(0, result.d), to = result.d;
    const View<std::uint8_t> valid = result.valid;
    Solver::solve(0, start, left, {valid, result.confidence}, true);
    if (lr_check_ > 0) {
      if (solves_right_)
        Solver::solve(1, nullptr, right_, {}, false);
      else
        project_disparities(backend_, View<const float>(left), right_);
      check_disparities(backend_, View<const float>(left), View<const float>(right_), lr_check_, valid);
    }
    refinement_(&left, &to, 1, valid,
                [&] { fill_from_row(backend_, left, View<const std::uint8_t>(valid)); });
  }

 private:
  static bool solves_right(const DisparityChecks& checks) {
    return checks.lr_check > 0 && checks.right_view == RightView::solved;
  }
  /// Throws Error(invalid_argument) for disparities that no pixel can have.
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
  const float lr_check_;
  const bool solves_right_;
  View<float> right_;  // disparities of the right image
};

}  // namespace parafield
