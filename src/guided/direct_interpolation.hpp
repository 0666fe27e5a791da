#pragma once
#include "steps/consistency/consistency.hpp"
#include "steps/least_squares/least_squares.hpp"
#include "steps/median/median.hpp"
#include "guided/better/better.hpp"
#include "guided/colors/colors.hpp"
#include "guided/guidance.hpp"
#include "guided/guides/guides.hpp"
#include "guided/interpolate/interpolate.hpp"
#include "guided/resample/resample.hpp"
#include "guided/track_finder.hpp"

namespace parafield {

/// Kim's Alg. 1, and a second round of it on the checked flow of the first.
template <class Backend>
class DirectInterpolationSolver : public SolverBase<DirectInterpolationSolver<Backend>> {
 public:
  DirectInterpolationSolver(Backend& backend, Workspace& workspace, const DirectInterpolation& method,
                            Size size, const SolverOptions& options)
      : backend_(backend),
        method_(method),
        both_ways_(method.resampled > 0 || options.both_ways),
        first_scale_(likelihood_scale(method.sigma_position, method.sigma_color)),
        second_scale_(likelihood_scale(method.resampled_position, method.resampled_color)),
        guidance_(backend, workspace, method.tracking.max_features),
        finder_(backend, workspace, method.tracking, size, frames),
        colors_(backend, workspace, method.presmooth, size, frames) {
    const int capacity = larger(method.tracking.max_features, method.resampled);
    guides_ = make_guides(workspace, capacity);
    if (method.median) unsmoothed_ = workspace.flow(size);
    if (method.resampled || options.both_ways) accepted_ = workspace.image<std::uint8_t>(size);
    std::size_t scratch = interpolation_scratch(backend, capacity);
    if (method.resampled) {
      grid_ = feature_grid_of(size, method.resampled);
      resampled_ = workspace.array<Track>(std::size_t(grid_.count()));
      if (method.tracking.track_outliers > 0) kept_ = workspace.array<Track>(std::size_t(grid_.count()));
      for (FlowPlanes* planes : {&there_, &back_, &candidate_}) *planes = workspace.flow(size);
      gain_ = workspace.image<float>(size);
      scratch = larger(scratch, least_squares_scratch(step_));
    }
    backend.reserve_scratch(scratch);
  }

  int take(const KnownMotion& known, bool on_host) { return guidance_.take(known, on_host); }

  void prepare(const Frame* frames, int slot, int count) {
    colors_.prepare(frames, slot, count, both_ways_);
    if (!guidance_.has_tracks() || method_.resampled) finder_.prepare(frames, slot, count);
  }

  /// Given tracks begin in slot 0. Without trust there is no test, unless it decides between the features' flow and the camera's.
  void solve(int first, const FlowView*, FlowPlanes result, Trust trust, bool) {
    const int second = 1 - first;
    const FlowPlanes interpolated = method_.median ? unsmoothed_ : result;
    const bool turns = guidance_.turn(false);
    const HypothesisTest last = test(first, trust.valid || !turns ? trust.valid : accepted_);
    const HypothesisTest at_once = method_.median ? HypothesisTest{} : last;
    if (method_.resampled) {
      first_round(first, there_);
      first_round(second, back_);
      if (turns) test_change<Backend>(backend_, test(second, accepted_), back_);
      test_change<Backend>(backend_, test(first, accepted_), there_);
      check_consistency<Backend>(backend_, there_, back_, method_.resampled_check, accepted_);
      resample_tracks<Backend>(backend_, there_, accepted_, grid_, resampled_);
      if (kept_) drop_outliers<Backend>(backend_, resampled_, grid_, method_.tracking.track_outliers, kept_);
      interpolate(first, kept_ ? kept_ : resampled_, grid_.count(), false, second_scale_, interpolated,
                  trust.confidence, at_once);
    } else {
      interpolate(first, interpolated, trust.confidence, at_once);
    }
    if (!method_.median) return;
    const View<float> from[] = {interpolated.u, interpolated.v}, to[] = {result.u, result.v};
    median(backend_, from, method_.median, to, 2);
    if (last.valid) test_change<Backend>(backend_, last, result);
  }

 private:
  static constexpr int frames = DirectInterpolation::frames;

  /// Interpolated flow from the frame in slot `first`, refined.
  void first_round(int first, FlowPlanes flow) {
    interpolate(first, flow, {}, {});
    const View<float> luma0 = finder_.pyramid(first).level[0], luma1 = finder_.pyramid(1 - first).level[0];
    least_squares_step<Backend>(backend_, luma0, luma1, step_, {flow}, candidate_);
    keep_better<Backend>(backend_, luma0, luma1, candidate_, gain_, flow);
  }

  /// From the tracks that are given, or found.
  void interpolate(int first, FlowPlanes flow, View<float> likelihood, const HypothesisTest& test) {
    if (guidance_.has_tracks()) {
      interpolate(first, guidance_.tracks(), guidance_.count(), first == 1, first_scale_, flow, likelihood,
                  test);
    } else {
      finder_.find(first, 1 - first);
      interpolate(first, finder_.tracks(), finder_.count(), false, first_scale_, flow, likelihood, test);
    }
  }
  void interpolate(int first, const Track* tracks, int count, bool reversed, LikelihoodScale scale,
                   FlowPlanes flow, View<float> likelihood, const HypothesisTest& test) {
    const Colors colors = colors_.smoothed(first);
    interpolate_flow<Backend>(backend_, {tracks, count, reversed}, guides_, colors, scale,
                              method_.precision == Precision::fast, flow, likelihood, test);
  }

  HypothesisTest test(int first, View<std::uint8_t> valid) const {
    return {colors_.raw(first),
            colors_.raw(1 - first),
            {method_.change_threshold, method_.change_window},
            guidance_.turn(first == 1),
            valid};
  }

  Backend& backend_;
  const DirectInterpolation method_;
  const bool both_ways_;
  const LikelihoodScale first_scale_, second_scale_;
  const LeastSquares step_ = least_squares(11, 1e-5f);
  Guidance<Backend> guidance_;
  TrackFinder<Backend> finder_;
  FrameColors<Backend> colors_;
  Guides guides_;
  FlowPlanes unsmoothed_;  // before the median
  // Of the first of two rounds.
  FlowPlanes there_, back_, candidate_;
  View<float> gain_;
  View<std::uint8_t> accepted_;  // also of a flow whose test nobody asked for
  FeatureGrid grid_;
  Track *resampled_ = nullptr, *kept_ = nullptr;  // kept_: without outliers; null where none are dropped
};

template <class Backend>
struct SolverOf<DirectInterpolation, Backend> : std::type_identity<DirectInterpolationSolver<Backend>> {};

}  // namespace parafield
