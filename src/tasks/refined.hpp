#pragma once
#include "steps/consistency/consistency.hpp"
#include "steps/fill/fill.hpp"
#include "steps/median/median.hpp"
#include "steps/speckle/speckle.hpp"
#include "core/workspace.hpp"
#include "parafield/flow.hpp"
#include "parafield/stereo.hpp"

/// What a task's options add to a method's solver, for a session.
namespace parafield {

/// Removing speckles, filling, and a median: of one or two planes.
template <class Backend>
class Refinement {
 public:
  template <class Options>
  Refinement(Backend& backend, Workspace& workspace, Size size, const Options& options, int planes)
      : backend_(backend), speckle_(options.speckle), median_(options.final_median), fills_(options.fill) {
    if (speckle_ > 0) {
      components_ = workspace.image<std::int32_t>(size);
      counts_ = workspace.image<std::int32_t>(size);
    }
    for (int i = 0; i < planes && median_ > 0; ++i) unsmoothed_[i] = workspace.image<float>(size);
  }

  /// Where the solver writes: the result itself, or what the median makes it of.
  View<float> solved(int plane, View<float> result) const {
    return median_ > 0 ? unsmoothed_[plane] : result;
  }

  /// `planes` is `solved`.
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

template <class Solver>
concept SolvesWithNewest = requires(Solver solver, const Frame& newest) {
  solver.solve_with(newest, 0, FlowPlanes{}, Trust{});
};

/// A solver of flow and FlowOptions. The frames of its slots go both ways.
template <template <class> class Solver>
struct RefinedFlow {
  template <class Backend>
  class Type {
   public:
    template <class Method>
    Type(Backend& backend, Workspace& workspace, const Method& method, Size size, const FlowOptions& options)
        : backend_(backend),
          fb_check_(options.fb_check),
          solver_(backend, workspace, method, size, options),
          refinement_(backend, workspace, size, options, 2) {
      if (fb_check_ > 0) backward_ = workspace.flow(size);
    }

    /// What guides the flow. Throws Error(invalid_argument) where the method has no use for it.
    int take(const FlowInput& input, bool on_host) {
      if constexpr (requires { solver_.take(input, on_host); }) return solver_.take(input, on_host);
      if (input.tracks || input.rotation)
        fail(ErrorCode::invalid_argument, "the method has no use for ",
             input.tracks ? "tracks" : "a camera's rotation");
      return 0;
    }

    void prepare(const Frame* frames, int slot, int count) { solver_.prepare(frames, slot, count); }

    void solve(int first, const FlowView* start, FlowField& result) {
      refine(first, result,
             [&](FlowPlanes flow, Trust trust) { solver_.solve(first, start, flow, trust, true); });
    }

    /// Of solvers that prepare the newest frame as they solve.
    void solve_with(const Frame& newest, int first,
                    FlowField& result) requires SolvesWithNewest<Solver<Backend>> {
      refine(first, result,
             [&](FlowPlanes flow, Trust trust) { solver_.solve_with(newest, first, flow, trust); });
    }

    /// Of solvers that can fail on the device.
    void check() requires requires(Solver<Backend> solver) { solver.check(); }
    { solver_.check(); }

    bool takes_start() const { return solver_.takes_start(); }
    bool starts_from_last() const { return solver_.starts_from_last(); }
    View<double> energies() const { return solver_.energies(); }

   private:
    /// What `solve(flow, trust)` makes, refined.
    template <class Solve>
    void refine(int first, FlowField& result, Solve solve) {
      const FlowPlanes flow{refinement_.solved(0, result.u), refinement_.solved(1, result.v)};
      const Trust trust{result.valid, result.confidence};
      solve(flow, trust);
      if (fb_check_ > 0) {  // of two frames
        solver_.solve(1 - first, nullptr, backward_, {}, false);
        check_consistency<Backend>(backend_, flow, backward_, fb_check_, trust.valid);
      }
      const View<float> planes[] = {flow.u, flow.v}, to[] = {result.u, result.v};
      refinement_(planes, to, 2, trust.valid,
                  [&] { fill_from_row(backend_, flow, View<const std::uint8_t>(trust.valid)); });
    }

    Backend& backend_;
    const float fb_check_;
    Solver<Backend> solver_;
    Refinement<Backend> refinement_;
    FlowPlanes backward_;  // flow of the second frame to the first
  };
};

/// A solver of stereo and StereoOptions.
template <template <class> class Solver>
struct RefinedDisparities {
  template <class Backend>
  class Type {
   public:
    template <class Method>
    Type(Backend& backend, Workspace& workspace, const Method& method, Size size,
         const StereoOptions& options)
        : backend_(backend),
          lr_check_(options.lr_check),
          solver_(backend, workspace, method, size, options),
          refinement_(backend, workspace, size, options, 1) {
      if (lr_check_ > 0) right_ = workspace.image<float>(size);
    }

    void prepare(const Frame* frames, int slot, int count) { solver_.prepare(frames, slot, count); }

    void solve(int, const DisparityView* start, DisparityField& result) {
      const View<float> left = refinement_.solved(0, result.d), to = result.d;
      const View<std::uint8_t> valid = result.valid;
      solver_.solve(0, start, left, {valid, result.confidence}, true);
      if (lr_check_ > 0) {
        solver_.solve(1, nullptr, right_, {}, false);
        check_disparities(backend_, View<const float>(left), View<const float>(right_), lr_check_, valid);
      }
      refinement_(&left, &to, 1, valid,
                  [&] { fill_from_row(backend_, left, View<const std::uint8_t>(valid)); });
    }

    bool takes_start() const { return solver_.takes_start(); }
    bool starts_from_last() const { return solver_.starts_from_last(); }
    View<double> energies() const { return solver_.energies(); }

   private:
    Backend& backend_;
    const float lr_check_;
    Solver<Backend> solver_;
    Refinement<Backend> refinement_;
    View<float> right_;  // disparities of the right image
  };
};

}  // namespace parafield
