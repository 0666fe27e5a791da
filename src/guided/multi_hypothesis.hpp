#pragma once
#include "guided/colors/colors.hpp"
#include "guided/guidance.hpp"
#include "guided/guides/guides.hpp"
#include "guided/labels/labels.hpp"
#include "guided/track_finder.hpp"
#include "guided/vote/vote.hpp"

namespace parafield {

/// Kim's Algs. 2 and 3.
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
        guidance_(backend, workspace, method.tracking.max_features),
        finder_(backend, workspace, method.tracking, size, frames),
        colors_(backend, workspace, method.presmooth, size, frames),
        guides_(make_guides(workspace, method.tracking.max_features)),
        labels_(make_label_memory(workspace, method.tracking.max_features, method.max_labels)) {
    backend.reserve_scratch(vote_scratch(backend, method.tracking.max_features, method.max_labels));
  }

  int take(const KnownMotion& known, bool on_host) { return guidance_.take(known, on_host); }

  void prepare(const Frame* frames, int slot, int count) {
    colors_.prepare(frames, slot, count, both_ways_);
    if (!guidance_.has_tracks()) finder_.prepare(frames, slot, count);
  }

  /// Given tracks begin in slot 0. asked: this is the flow that was asked for, not the way back of a check.
  void solve(int first, const FlowView*, FlowPlanes result, Trust trust, bool asked) {
    if (guidance_.has_tracks()) {
      solve(first, guidance_.tracks(), guidance_.count(), first == 1, result, trust, asked);
    } else {
      finder_.find(first, 1 - first);
      solve(first, finder_.tracks(), finder_.count(), false, result, trust, asked);
    }
  }

  /// Waits for the last solve. Throws Error(invalid_argument) where its tracks had too many labels: then nothing is valid.
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
           " is of labels that pass or fail: not with change_softness = ", method.change_softness);
    return method;
  }

  void solve(int first, const Track* tracks, int count, bool reversed, FlowPlanes flow, Trust trust,
             bool asked) {
    const Colors colors = colors_.smoothed(first);
    const Homography* const turn = guidance_.turn(first == 1);
    Labels labels = labels_;
    labels.count += asked ? 0 : 1;
    make_labels<Backend>(backend_, {tracks, count, reversed}, colors, scale_, space_, turn, guides_, labels);
    vote<Backend>(backend_, guides_, labels, colors, colors_.raw(first), colors_.raw(1 - first), scale_,
                  {{method_.change_threshold, method_.change_window},
                   method_.change_softness,
                   method_.ranked,
                   method_.unvoted,
                   method_.sub_pixel,
                   method_.precision == Precision::fast,
                   space_.vote_scale},
                  turn, flow, trust.valid, trust.confidence);
  }

  Backend& backend_;
  const MultiHypothesis method_;
  const bool both_ways_;
  const LikelihoodScale scale_;
  const FlowSpace space_;
  Guidance<Backend> guidance_;
  TrackFinder<Backend> finder_;
  FrameColors<Backend> colors_;
  const Guides guides_;
  const Labels labels_;
};

template <class Backend>
struct SolverOf<MultiHypothesis, Backend> : std::type_identity<MultiHypothesisSolver<Backend>> {};

}  // namespace parafield
