#pragma once
#include "guided/candidates/labels.hpp"
#include "guided/candidates/scores.hpp"
#include "guided/features/track_finder.hpp"
#include "guided/given_motion.hpp"
#include "guided/support/colors.hpp"
#include "guided/support/tile.hpp"

namespace parafield {

/// Kim's Algs. 2 and 3: choice among many hypotheses of flow.
template <class Backend>
class MultiHypothesisSolver : public SolverBase<MultiHypothesisSolver<Backend>> {
 public:
  MultiHypothesisSolver(Backend& backend, Workspace& workspace, const MultiHypothesis& method, Size size,
                        const SolverOptions& options)
      : backend_(backend),
        method_(checked(method)),
        both_ways_(options.both_ways),
        scale_(likelihood_scale(method.sigma_position, method.sigma_color)),
        space_(flow_space(method.labels == FlowLabels::grid, method.label_step, method.sigma_flow)),
        given_(backend, workspace, method.tracking.max_features),
        finder_(backend, workspace, method.tracking, size, frames),
        colors_(backend, workspace, method.presmooth, size, frames),
        features_(make_feature_memory(workspace, method.tracking.max_features)),
        labels_(make_label_memory(workspace, method.tracking.max_features, method.max_labels)) {
    backend.reserve_scratch(tile_scratch(method.tracking.max_features, choice_planes(method.max_labels)));
  }

  int take(const KnownMotion& known, bool on_host) { return given_.take(known, on_host); }

  void prepare(const Frame* frames, int slot, int count) {
    colors_.prepare(frames, slot, count, both_ways_);
    if (!given_.has_tracks()) finder_.prepare(frames, slot, count);
  }

  /// Given tracks begin in slot 0. `asked`: this is the flow that the caller asked for, not the way back of a
  /// check.
  void solve(int first, const FlowView*, FlowPlanes result, Trust trust, bool asked) {
    const Colors colors = colors_.smoothed(first);
    const Homography* const rotation = given_.rotation(first == 1);
    Labels labels = labels_;
    labels.count += asked ? 0 : 1;
    make_labels<Backend>(backend_, tracks_from(first, given_, finder_), colors, scale_, space_, rotation,
                         features_, labels);
    const ColorTest test{
        colors_.raw(first), colors_.raw(1 - first), method_.change_threshold, method_.change_window, rotation,
        trust.valid};
    choose_labels<Backend>(backend_, {features_, labels, colors, scale_, test,
                                      choice_parameters(method_, space_), result, trust.confidence});
  }

  /// Waits for the last solve. Throws Error(invalid_argument) where its tracks needed too many labels; then
  /// nothing is valid.
  void check() const {
    LabelCount counts[label_counts];
    copy_to_host(backend_, counts, labels_.count, sizeof counts);
    for (const LabelCount& count : counts) check_labels(count, space_, method_.max_labels);
  }

 private:
  static constexpr int frames = MultiHypothesis::frames;

  static const MultiHypothesis& checked(const MultiHypothesis& method) {
    if (method.ranked > 0 && method.change_softness > 0)
      fail(ErrorCode::invalid_argument, "multi-hypothesis: ranked = ", method.ranked,
           " and change_softness = ", method.change_softness, ": one of them must be 0");
    return method;
  }

  Backend& backend_;
  const MultiHypothesis method_;
  const bool both_ways_;
  const LikelihoodScale scale_;
  const FlowSpace space_;
  GivenMotion<Backend> given_;
  TrackFinder<Backend> finder_;
  FrameColors<Backend> colors_;
  const FlowFeatures features_;
  const Labels labels_;
};

template <class Backend>
struct SolverOf<MultiHypothesis, Backend> : std::type_identity<MultiHypothesisSolver<Backend>> {};

}  // namespace parafield
