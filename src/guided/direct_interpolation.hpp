#pragma once
#include "guided/color_test/keep_better.hpp"
#include "guided/features/resample.hpp"
#include "guided/features/track_finder.hpp"
#include "guided/given_motion.hpp"
#include "guided/interpolation/interpolation.hpp"
#include "guided/support/colors.hpp"
#include "guided/support/tile.hpp"
#include "steps/consistency/consistency.hpp"
#include "steps/least_squares/least_squares.hpp"
#include "steps/median/median.hpp"

namespace parafield {

/// Kim's Alg. 1. A second round uses features of the first one's checked flow.
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
        given_(backend, workspace, method.tracking.max_features),
        finder_(backend, workspace, method.tracking, size, frames),
        colors_(backend, workspace, method.presmooth, size, frames) {
    const int capacity = larger(method.tracking.max_features, method.resampled);
    features_ = make_feature_memory(workspace, capacity);
    if (method.median) unsmoothed_ = workspace.flow(size);
    if (method.resampled || options.both_ways) accepted_ = workspace.image<std::uint8_t>(size);
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

  int take(const KnownMotion& known, bool on_host) { return given_.take(known, on_host); }

  void prepare(const Frame* frames, int slot, int count) {
    colors_.prepare(frames, slot, count, both_ways_);
    if (!given_.has_tracks() || method_.resampled) finder_.prepare(frames, slot, count);
  }

  /// Given tracks begin in slot 0. Without trust there is no color test, unless it decides between the
  /// features' flow and the rotation's.
  void solve(int first, const FlowView*, FlowPlanes result, Trust trust, bool) {
    const int second = 1 - first;
    const FlowPlanes interpolated = method_.median ? unsmoothed_ : result;
    const bool rotates = given_.rotation(false);
    const ColorTest last = color_test(first, trust.valid || !rotates ? trust.valid : accepted_);
    const ColorTest at_once = method_.median ? ColorTest{} : last;
    if (method_.resampled) {
      first_round(first, there_);
      first_round(second, back_);
      if (rotates) test_colors<Backend>(backend_, color_test(second, accepted_), back_);
      test_colors<Backend>(backend_, color_test(first, accepted_), there_);
      check_consistency<Backend>(backend_, there_, back_, method_.resampled_check, accepted_);
      resample_tracks<Backend>(backend_, there_, accepted_, grid_, resampled_);
      if (kept_) drop_outliers<Backend>(backend_, resampled_, grid_, method_.tracking.track_outliers, kept_);
      interpolate(first, {kept_ ? kept_ : resampled_, grid_.count(), false}, second_scale_, interpolated,
                  trust.confidence, at_once);
    } else {
      interpolate(first, tracks_from(first, given_, finder_), first_scale_, interpolated, trust.confidence,
                  at_once);
    }
    if (!method_.median) return;
    const View<float> from[] = {interpolated.u, interpolated.v}, to[] = {result.u, result.v};
    median(backend_, from, method_.median, to, 2);
    if (last.valid) test_colors<Backend>(backend_, last, result);
  }

 private:
  static constexpr int frames = DirectInterpolation::frames;

  /// Interpolates flow from the frame in slot `first` and refines it.
  void first_round(int first, FlowPlanes flow) {
    interpolate(first, tracks_from(first, given_, finder_), first_scale_, flow, {}, {});
    const View<float> luma0 = finder_.pyramid(first).level[0], luma1 = finder_.pyramid(1 - first).level[0];
    least_squares_step<Backend>(backend_, luma0, luma1, step_, {flow}, candidate_);
    keep_better<Backend>(backend_, luma0, luma1, candidate_, gain_, flow);
  }

  void interpolate(int first, const TrackList& tracks, LikelihoodScale scale, FlowPlanes flow,
                   View<float> likelihood, const ColorTest& test) {
    interpolate_flow<Backend>(backend_, tracks, features_, colors_.smoothed(first), scale,
                              method_.precision == Precision::fast, flow, likelihood, test);
  }

  ColorTest color_test(int first, View<std::uint8_t> valid) const {
    return {colors_.raw(first),    colors_.raw(1 - first),      method_.change_threshold,
            method_.change_window, given_.rotation(first == 1), valid};
  }

  Backend& backend_;
  const DirectInterpolation method_;
  const bool both_ways_;
  const LikelihoodScale first_scale_, second_scale_;
  const LeastSquares step_ = least_squares(11, 1e-5f);
  GivenMotion<Backend> given_;
  TrackFinder<Backend> finder_;
  FrameColors<Backend> colors_;
  FlowFeatures features_;
  FlowPlanes unsmoothed_;                // before the median
  FlowPlanes there_, back_, candidate_;  // the first of two rounds: its flow, and a refined one
  View<float> gain_;
  View<std::uint8_t> accepted_;  // where flow passes that `trust` does not ask for
  FeatureGrid grid_;
  Track* resampled_ = nullptr;  // features of the second round
  Track* kept_ = nullptr;       // those without outliers; null = all are kept
};

template <class Backend>
struct SolverOf<DirectInterpolation, Backend> : std::type_identity<DirectInterpolationSolver<Backend>> {};

}  // namespace parafield
