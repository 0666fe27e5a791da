// SPDX-License-Identifier: MIT
#pragma once
#include "core/fail.hpp"
#include "guided/color_test/color_test.hpp"
#include "guided/support/features.hpp"

/// Candidates for a pixel's flow: labels, which are nodes of the flow space, and their votes (Kim, section
/// 4.2, Fig. 1).
namespace parafield {

/// Discretized flow.
struct FlowSpace {
  bool grid;  ///< labels are all nodes between the features' flows; otherwise only the nodes of rounded flows
  float step;        ///< distance between nodes, px
  float vote_scale;  ///< factor of flows that turns their squared distance into an exponent to base 2
};
inline FlowSpace flow_space(bool grid, float step, float sigma_flow) {
  return {grid, step, likelihood_scale(sigma_flow * step, 1).position};
}

/// A node as an integer that sorts by v, then u.
using NodeKey = unsigned long long;
constexpr NodeKey no_node = ~0ull;

/// Number of labels.
struct LabelCount {
  int labels;         ///< 0 if more are needed than fit into memory
  int columns, rows;  ///< of the grid
  long long needed;
};

constexpr int label_counts = 2;

/// Labels, sorted by v, then u. A camera's rotation is one more, at the end. Each feature has a row of votes.
struct Labels {
  float *u, *v;       ///< px
  float* votes;       ///< rows of `stride` labels; 0 after the last label, up to a multiple of 32
  unsigned* voted;    ///< rows of stride / 32 words: bit i is set if the vote for label i is not 0
  LabelCount* count;  ///< label_counts entries: for the flow, and for the flow back if it is checked
  NodeKey* key;       ///< scratch memory: a node for each feature
  int capacity, stride;

  PF_HD float* votes_of(int feature) const { return votes + std::size_t(feature) * std::size_t(stride); }
  PF_HD unsigned* voted_by(int feature) const {
    return voted + std::size_t(feature) * std::size_t(stride / 32);
  }
  PF_HD void set(int label, const Motion& flow) const { u[label] = flow.u, v[label] = flow.v; }
};

inline Labels make_label_memory(Workspace& workspace, int features, int capacity) {
  Labels labels{};
  labels.capacity = capacity;
  labels.stride = (capacity + 1 + 31) / 32 * 32;
  labels.u = workspace.array<float>(std::size_t(labels.stride));
  labels.v = workspace.array<float>(std::size_t(labels.stride));
  labels.votes = workspace.array<float>(std::size_t(features) * std::size_t(labels.stride));
  labels.voted = workspace.array<unsigned>(std::size_t(features) * std::size_t(labels.stride / 32));
  labels.count = workspace.array<LabelCount>(label_counts);
  labels.key = workspace.array<NodeKey>(std::size_t(features));
  return labels;
}

/// Gathers the features of tracks (gather_features), and computes the labels of their flows and each
/// feature's votes. `rotation` is in the backend's memory; null = none.
template <class Backend>
void make_labels(Backend& backend, const TrackList& tracks, const Colors& colors, LikelihoodScale scale,
                 const FlowSpace& space, const Homography* rotation, const FlowFeatures& features,
                 const Labels& labels);

/// Throws Error(invalid_argument) if more labels were needed than fit into memory. `count` must be in host
/// memory.
inline void check_labels(const LabelCount& count, const FlowSpace& space, int capacity) {
  if (count.needed <= capacity) return;
  const std::string remedy = text(", more than max_labels = ", capacity, "; raise max_labels or label_step");
  if (space.grid)
    fail(ErrorCode::invalid_argument, "the flow space of the tracks has ", count.columns, "x", count.rows,
         " = ", count.needed, " labels of ", space.step, " px", remedy, ", or set labels = distinct");
  fail(ErrorCode::invalid_argument, "the tracks have ", count.needed, " distinct flows of ", space.step,
       " px", remedy);
}

/// Nodes have indices from -most_node to most_node; larger flows belong to the outermost node.
constexpr float most_node = 2097152;

PF_HD int node_of(float flow, const FlowSpace& space) {
  constexpr float rounds = 12582912;  // adding it rounds to an integer
  return int((clamp(flow * (1 / space.step), -most_node, most_node) + rounds) - rounds);
}
PF_HD float flow_of(int node, float step) { return float(node) * step; }

PF_HD NodeKey key_of(const Motion& flow, const FlowSpace& space) {
  const int column = node_of(flow.u, space), row = node_of(flow.v, space);
  return (NodeKey(unsigned(row + int(most_node))) << 32) | unsigned(column + int(most_node));
}
PF_HD NodeKey key_of(const FlowFeatures& features, int i, const FlowSpace& space) {
  return is_somewhere(features, i) ? key_of({features.u[i], features.v[i]}, space) : no_node;
}
PF_HD Motion motion_of(NodeKey key, float step) {
  return {flow_of(int(unsigned(key)) - int(most_node), step),
          flow_of(int(unsigned(key >> 32)) - int(most_node), step)};
}

/// Bounds of the features' nodes.
struct NodeBounds {
  int left = int(most_node) + 1, top = left, right = -left, bottom = -left;

  PF_HD void add(const Motion& flow, const FlowSpace& space) {
    const int column = node_of(flow.u, space), row = node_of(flow.v, space);
    left = smaller(left, column), right = larger(right, column);
    top = smaller(top, row), bottom = larger(bottom, row);
  }
};
PF_HD LabelCount count_grid(const NodeBounds& bounds, int capacity) {
  if (bounds.right < bounds.left) return {};
  const int columns = bounds.right - bounds.left + 1, rows = bounds.bottom - bounds.top + 1;
  const long long needed = (long long)(columns)*rows;
  return {needed <= capacity ? int(needed) : 0, columns, rows, needed};
}
PF_HD LabelCount count_distinct(int found, int capacity) {
  return {found <= capacity ? found : 0, 0, 0, found};
}

/// Flow of a label of the grid whose first node is (left, top).
PF_HD Motion grid_motion(int left, int top, int columns, float step, int label) {
  return {flow_of(left + label % columns, step), flow_of(top + label / columns, step)};
}

/// Vote of a feature for a label whose flow differs by (du, dv): a gaussian, or 0 if it is below 2^-cutoff.
PF_HD float vote_of(float du, float dv, float vote_scale) {
  const float x = du * vote_scale, y = dv * vote_scale, e = fma(y, y, x * x);
  return e <= cutoff ? exponential2(-e) : 0.0f;
}

/// Flow at a feature's scaled position if only the camera rotates.
PF_HD Motion rotation_flow(float x, float y, LikelihoodScale scale, const Homography& rotation) {
  return rotation.flow(x / scale.position, y / scale.position);
}

}  // namespace parafield
