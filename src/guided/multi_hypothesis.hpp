// SPDX-License-Identifier: MIT
#pragma once
#include "guided/candidates/labels.hpp"
#include "guided/candidates/scores.hpp"
#include "guided/guided_solver.hpp"
#include "guided/support/tile.hpp"

namespace parafield {

/// Kim's Algs. 2 and 3: chooses among many hypotheses of flow.
template <class Backend>
class MultiHypothesisSolver : public GuidedSolver<MultiHypothesisSolver<Backend>, Backend, MultiHypothesis> {
  using Base = GuidedSolver<MultiHypothesisSolver<Backend>, Backend, MultiHypothesis>;
  using Base::backend_, Base::method_, Base::colors_;

 public:
  MultiHypothesisSolver(Backend& backend, Workspace& workspace, const MultiHypothesis& method, Size size,
                        const SolverOptions& options)
      : Base(backend, workspace, method, size, options.both_ways, false),
        scale_(likelihood_scale(method.sigma_position, method.sigma_color)),
        space_(flow_space(method.labels == FlowLabels::grid, method.label_step, method.sigma_flow)),
        features_(make_feature_memory(workspace, method.tracking.max_features)),
        labels_(make_label_memory(workspace, method.tracking.max_features, method.max_labels)) {
    backend.reserve_scratch(tile_scratch(method.tracking.max_features, choice_planes(method.max_labels)));
  }

  void solve(int first, const FlowView*, FlowPlanes result, Trust trust, Purpose purpose) {
    const Colors colors = colors_.smoothed(first);
    const ColorTest test = this->color_test(first, trust.valid);
    Labels labels = labels_;
    labels.count += purpose == Purpose::result ? 0 : 1;
    make_labels(backend_, this->tracks_from(first), colors, scale_, space_, test.rotation, features_, labels);
    choose_labels(backend_, LabelChoice{features_, labels, colors, scale_, test,
                                        choice_parameters(method_, space_), result, trust.confidence});
  }

  /// Waits for the last solve. Throws Error(invalid_argument) if it needed too many labels; no pixel is valid
  /// then.
  void check() const {
    LabelCount counts[label_counts];
    copy_to_host(backend_, counts, labels_.count, sizeof counts);
    for (const LabelCount& count : counts) check_labels(count, space_, method_.max_labels);
  }

 private:
  const LikelihoodScale scale_;
  const FlowSpace space_;
  const FlowFeatures features_;
  const Labels labels_;
};

template <class Backend>
struct SolverOf<MultiHypothesis, Backend> : std::type_identity<MultiHypothesisSolver<Backend>> {};

}  // namespace parafield
