#include "core/cpu/backend.hpp"
#include "guided/labels/labels.hpp"

namespace parafield {
namespace {

/// Puts a key among the sorted ones; returns how many there are then.
int insert(NodeKey* keys, int count, NodeKey key) {
  int low = 0, high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (keys[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < count && keys[low] == key) return count;
  for (int i = count; i > low; --i) keys[i] = keys[i - 1];
  keys[low] = key;
  return count + 1;
}

void label_distinct(const Guides& guides, const FlowSpace& space, const Labels& labels) {
  const float nodes_per_px = 1 / space.step;
  int found = 0;
  for (int i = 0; i < *guides.count; ++i)
    if (is_somewhere(guides, i)) found = insert(labels.key, found, key_of(guides, i, nodes_per_px));
  *labels.count = {found <= labels.capacity ? found : 0, 0, 0, found};
  for (int i = 0; i < labels.count->labels; ++i) {
    const Motion motion = motion_of(labels.key[i], space.step);
    labels.u[i] = motion.u, labels.v[i] = motion.v;
  }
}

void label_grid(const Guides& guides, const FlowSpace& space, const Labels& labels) {
  const float nodes_per_px = 1 / space.step;
  NodeBounds bounds;
  for (int i = 0; i < *guides.count; ++i)
    if (is_somewhere(guides, i))
      bounds.add(node_of(guides.u[i], nodes_per_px), node_of(guides.v[i], nodes_per_px));
  const LabelCount count = count_grid(bounds, labels.capacity);
  *labels.count = count;
  for (int i = 0; i < count.labels; ++i) {
    labels.u[i] = flow_of(bounds.left + i % count.columns, space.step);
    labels.v[i] = flow_of(bounds.top + i / count.columns, space.step);
  }
}

}  // namespace

template <>
void make_labels(Cpu& cpu, const TrackList& tracks, const Colors& colors, LikelihoodScale scale,
                 const FlowSpace& space, const Homography* turn, const Guides& guides, const Labels& labels) {
  gather_guides(cpu, tracks, colors, scale, guides);
  if (space.grid)
    label_grid(guides, space, labels);
  else
    label_distinct(guides, space, labels);
  const int count = labels.count->labels;
  const int padded = (count + (turn ? 1 : 0) + 31) / 32 * 32;
  cpu.rows(*guides.count, [=](int guide) {
    const float guide_u = guides.u[guide], guide_v = guides.v[guide], vote_scale = space.vote_scale;
    const float *const u = labels.u, *const v = labels.v;
    float* __restrict votes = labels.votes + std::size_t(guide) * std::size_t(labels.pitch);
    unsigned* const voted = labels.voted + std::size_t(guide) * std::size_t(labels.pitch / 32);
    for (int i = 0; i < padded; ++i) votes[i] = 0;
    if (is_somewhere(guides, guide)) {
#pragma GCC ivdep
      for (int i = 0; i < count; ++i) votes[i] = vote_of(guide_u - u[i], guide_v - v[i], vote_scale);
      if (turn && count > 0) {
        const Motion motion = turned_from(guides.x[guide], guides.y[guide], scale, *turn);
        votes[count] = vote_of(guide_u - motion.u, guide_v - motion.v, vote_scale);
      }
    }
    for (int word = 0; word < padded / 32; ++word) {
      unsigned bits = 0;
      for (int i = 0; i < 32; ++i) bits |= unsigned(votes[word * 32 + i] != 0) << i;
      voted[word] = bits;
    }
  });
}

}  // namespace parafield
