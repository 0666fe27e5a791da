#pragma once
#include "core/fail.hpp"
#include "guided/change/change.hpp"
#include "guided/guides/guides.hpp"

/// The discretized flow space of the guides, and what each guide votes for (Kim, section 4.2, Fig. 1).
namespace parafield {

struct FlowSpace {
  bool grid;         ///< all nodes between the guides' flows, otherwise those that one is rounded to
  float step;        ///< px
  float vote_scale;  ///< flows times it have the exponent to base 2 as their squared distance
};
inline FlowSpace flow_space(bool grid, float step, float sigma_flow) {
  return {grid, step, likelihood_scale(sigma_flow * step, 1).position};
}

/// How many labels there are, or would have to be.
struct LabelCount {
  int labels;         ///< 0 where there are more than the capacity
  int columns, rows;  ///< of the grid
  long long needed;
};

constexpr int label_counts = 2;

/// Labels by v, then u, ascending; where the camera turns, one more, the last. A guide's votes are a row of the matrix.
struct Labels {
  float *u, *v;     ///< px
  float* votes;     ///< guide by guide, `pitch` labels each; 0 behind the last label, up to a multiple of 32
  unsigned* voted;  ///< guide by guide, pitch / 32 words: bit i for label i, where its vote is not 0
  LabelCount* count;  ///< label_counts of them: of the flow, and of the way back where it is checked
  unsigned long long *key, *first_key;  ///< of guides: their nodes; see make_labels
  int capacity, pitch;
};

inline Labels make_label_memory(Workspace& workspace, int guides, int capacity) {
  Labels labels{};
  labels.capacity = capacity;
  labels.pitch = (capacity + 1 + 31) / 32 * 32;
  labels.u = workspace.array<float>(std::size_t(labels.pitch));
  labels.v = workspace.array<float>(std::size_t(labels.pitch));
  labels.votes = workspace.array<float>(std::size_t(guides) * std::size_t(labels.pitch));
  labels.voted = workspace.array<unsigned>(std::size_t(guides) * std::size_t(labels.pitch / 32));
  labels.count = workspace.array<LabelCount>(label_counts);
  labels.key = workspace.array<unsigned long long>(std::size_t(guides));
  labels.first_key = workspace.array<unsigned long long>(std::size_t(guides));
  return labels;
}

/// Gathers the guides of the tracks (gather_guides), finds the labels of their flows and each guide's votes. turn: in the
/// backend's memory; null = none.
template <class Backend>
void make_labels(Backend& backend, const TrackList& tracks, const Colors& colors, LikelihoodScale scale,
                 const FlowSpace& space, const Homography* turn, const Guides& guides, const Labels& labels);

/// What the host makes of a count that it has read. Throws Error(invalid_argument) where the labels were too many.
inline void check_labels(const LabelCount& count, const FlowSpace& space, int capacity) {
  if (count.needed <= capacity) return;
  const std::string remedy = text(", more than max_labels = ", capacity, "; raise that or label_step");
  if (space.grid)
    fail(ErrorCode::invalid_argument, "the flow space of the tracks has ", count.columns, "x", count.rows,
         " = ", count.needed, " labels of ", space.step, " px", remedy, ", or take the distinct ones");
  fail(ErrorCode::invalid_argument, "the tracks have ", count.needed, " distinct flows of ", space.step,
       " px", remedy);
}

/// Nodes are numbered within +-most_node; flows beyond are taken for the last.
constexpr float most_node = 2097152;

PF_HD int node_of(float flow, float nodes_per_px) {
  return int((clamp(flow * nodes_per_px, -most_node, most_node) + 12582912.0f) -
             12582912.0f);  // to the nearest
}
PF_HD float flow_of(int node, float step) { return float(node) * step; }

/// A node as a number that sorts by v, then u.
using NodeKey = unsigned long long;
constexpr NodeKey no_node = ~0ull;

PF_HD bool is_somewhere(const Guides& guides, int i) { return guides.x[i] < nowhere; }
PF_HD NodeKey node_key(int column, int row) {
  return (NodeKey(unsigned(row + int(most_node))) << 32) | unsigned(column + int(most_node));
}
PF_HD NodeKey key_of(const Guides& guides, int i, float nodes_per_px) {
  return is_somewhere(guides, i)
             ? node_key(node_of(guides.u[i], nodes_per_px), node_of(guides.v[i], nodes_per_px))
             : no_node;
}
PF_HD Motion motion_of(NodeKey key, float step) {
  return {flow_of(int(unsigned(key)) - int(most_node), step),
          flow_of(int(unsigned(key >> 32)) - int(most_node), step)};
}

/// What the guides' nodes lie within.
struct NodeBounds {
  int left = int(most_node) + 1, top = left, right = -left, bottom = -left;

  PF_HD void add(int column, int row) {
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

/// A guide's vote for a label that differs that much from its flow; under 2^-cutoff none.
PF_HD float vote_of(float du, float dv, float vote_scale) {
  const float x = du * vote_scale, y = dv * vote_scale, e = fma(y, y, x * x);
  return e <= cutoff ? exponential2(-e) : 0.0f;
}

/// Where a guide at a scaled place would move if only the camera turned.
PF_HD Motion turned_from(float x, float y, LikelihoodScale scale, const Homography& turn) {
  return turn.flow(x / scale.position, y / scale.position);
}

}  // namespace parafield
