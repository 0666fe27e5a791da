// SPDX-License-Identifier: MIT
#pragma once
#include "guided/guided_solver.hpp"
#include "guided/interpolation/interpolation.hpp"
#include "guided/support/tile.hpp"
#include "steps/affine/interpolation.hpp"
#include "steps/consistency/consistency.hpp"
#include "steps/least_squares/least_squares.hpp"
#include "steps/median/median.hpp"

namespace parafield {

/// Kim's Alg. 1, or affine models of matches. A second round, if any, uses features resampled from the first
/// round's checked flow.
template <class Backend>
class DirectInterpolationSolver
    : public GuidedSolver<DirectInterpolationSolver<Backend>, Backend, DirectInterpolation> {
  using Base = GuidedSolver<DirectInterpolationSolver<Backend>, Backend, DirectInterpolation>;
  using Base::backend_, Base::method_, Base::finder_, Base::color_test;

 public:
  DirectInterpolationSolver(Backend& backend, Workspace& workspace, const DirectInterpolation& method,
                            Size size, const SolverOptions& options)
      : Base(backend, workspace, method, size, has_rounds(method) || options.both_ways, has_rounds(method)),
        first_scale_(likelihood_scale(method.sigma_position, method.sigma_color)),
        second_scale_(likelihood_scale(method.resampled_position, method.resampled_color)) {
    if (method.median) unsmoothed_ = workspace.flow(size);
    if (has_rounds(method) || options.both_ways) accepted_ = workspace.image<std::uint8_t>(size);
    if (method.model == MotionModel::affine) {
      affine_.emplace(backend, workspace, seed_grid_of(size, method.tracking.matching.match_stride));
      return;
    }
    const int capacity = larger(method.tracking.max_features, method.resampled);
    features_ = make_feature_memory(workspace, capacity);
    std::size_t scratch = tile_scratch(capacity, interpolation_planes);
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

  int take(const KnownMotion& known, bool on_host) {
    if (affine_ && known.tracks)
      fail(ErrorCode::invalid_argument,
           "tracks are given, but model = affine finds matches itself; tracks are for model = constant");
    return Base::take(known, on_host);
  }

  /// Without `trust`, colors are tested only if the test must choose between the features' flow and the
  /// rotation's.
  void solve(int first, const FlowView*, FlowPlanes result, Trust trust, Purpose) {
    const int second = 1 - first;
    const FlowPlanes interpolated = method_.median ? unsmoothed_ : result;
    const bool rotates = color_test(first, {}).rotation != nullptr;
    const ColorTest last = color_test(first, trust.valid || !rotates ? trust.valid : accepted_);
    const ColorTest at_once = method_.median ? ColorTest{} : last;
    if (affine_) {
      affine_->interpolate(finder_.find_matches(first, second), this->colors_.smoothed(first), interpolated,
                           trust.confidence);
      if (at_once.valid) test_colors(backend_, at_once, interpolated);
    } else if (method_.resampled) {
      first_round(first, there_);
      first_round(second, back_);
      if (rotates) test_colors(backend_, color_test(second, accepted_), back_);
      test_colors(backend_, color_test(first, accepted_), there_);
      check_consistency(backend_, there_, back_, method_.resampled_check, accepted_);
      resample_tracks(backend_, there_, accepted_, grid_, resampled_);
      if (kept_) drop_outliers(backend_, resampled_, grid_, method_.tracking.track_outliers, kept_);
      interpolate(first, {kept_ ? kept_ : resampled_, grid_.count(), false}, second_scale_, interpolated,
                  trust.confidence, at_once);
    } else {
      interpolate(first, this->tracks_from(first), first_scale_, interpolated, trust.confidence, at_once);
    }
    if (!method_.median) return;
    const View<float> from[] = {interpolated.u, interpolated.v}, to[] = {result.u, result.v};
    median(backend_, from, method_.median, to, 2);
    if (last.valid) test_colors(backend_, last, result);
  }

 private:
  /// Whether there are two rounds. Affine models need one.
  static bool has_rounds(const DirectInterpolation& method) {
    return method.resampled > 0 && method.model == MotionModel::constant;
  }

  /// Interpolates flow from the frame in slot `first` and refines it.
  void first_round(int first, FlowPlanes flow) {
    interpolate(first, this->tracks_from(first), first_scale_, flow, {}, {});
    const View<float> luma0 = finder_.pyramid(first).level[0], luma1 = finder_.pyramid(1 - first).level[0];
    least_squares_step(backend_, luma0, luma1, step_, {flow}, candidate_);
    keep_better(backend_, luma0, luma1, candidate_, gain_, flow);
  }

  void interpolate(int first, const TrackList& tracks, LikelihoodScale scale, FlowPlanes flow,
                   View<float> likelihood, const ColorTest& test) {
    interpolate_flow(backend_, tracks, features_, this->colors_.smoothed(first), scale,
                     method_.precision == Precision::fast, flow, likelihood, test);
  }

  const LikelihoodScale first_scale_, second_scale_;
  const LeastSquares step_ = least_squares(11, 1e-5f);
  std::optional<AffineInterpolation<Backend>> affine_;  // for model = affine, without tracks or rounds
  FlowFeatures features_;
  FlowPlanes unsmoothed_;                // before the median
  FlowPlanes there_, back_, candidate_;  // first round: flow, flow back, and a refined flow
  View<float> gain_;
  View<std::uint8_t> accepted_;  // results of color tests that are not part of `trust`
  FeatureGrid grid_;
  Track* resampled_ = nullptr;  // features of the second round
  Track* kept_ = nullptr;       // features without outliers; null = no outlier test
};

template <class Backend>
struct SolverOf<DirectInterpolation, Backend> : std::type_identity<DirectInterpolationSolver<Backend>> {};

}  // namespace parafield
