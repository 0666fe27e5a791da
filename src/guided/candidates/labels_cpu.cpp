// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "guided/candidates/labels.hpp"

namespace parafield {
namespace {

/// Inserts a key into sorted keys unless it is already there. Returns the new number of keys.
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

void label_distinct(const FlowFeatures& features, const FlowSpace& space, const Labels& labels) {
  int found = 0;
  for (int i = 0; i < *features.count; ++i)
    if (is_somewhere(features, i)) found = insert(labels.key, found, key_of(features, i, space));
  *labels.count = count_distinct(found, labels.capacity);
  for (int i = 0; i < labels.count->labels; ++i) labels.set(i, motion_of(labels.key[i], space.step));
}

void label_grid(const FlowFeatures& features, const FlowSpace& space, const Labels& labels) {
  NodeBounds bounds;
  for (int i = 0; i < *features.count; ++i)
    if (is_somewhere(features, i)) bounds.add({features.u[i], features.v[i]}, space);
  const LabelCount count = count_grid(bounds, labels.capacity);
  *labels.count = count;
  for (int i = 0; i < count.labels; ++i)
    labels.set(i, grid_motion(bounds.left, bounds.top, count.columns, space.step, i));
}

}  // namespace

template <class Backend>
void make_labels(Backend& cpu, const TrackList& tracks, const Colors& colors, LikelihoodScale scale,
                 const FlowSpace& space, const Homography* rotation, const FlowFeatures& features,
                 const Labels& labels) {
  gather_features(cpu, tracks, colors, scale, features);
  space.grid ? label_grid(features, space, labels) : label_distinct(features, space, labels);
  const int count = labels.count->labels;
  const int padded = (count + (rotation ? 1 : 0) + 31) / 32 * 32;
  cpu.rows(*features.count, [=](int feature) {
    const float feature_u = features.u[feature], feature_v = features.v[feature],
                vote_scale = space.vote_scale;
    const float *const u = labels.u, *const v = labels.v;
    float* __restrict votes = labels.votes_of(feature);
    unsigned* const voted = labels.voted_by(feature);
    for (int i = 0; i < padded; ++i) votes[i] = 0;
    if (is_somewhere(features, feature)) {
#pragma GCC ivdep
      for (int i = 0; i < count; ++i) votes[i] = vote_of(feature_u - u[i], feature_v - v[i], vote_scale);
      if (rotation && count > 0) {
        const Motion motion = rotation_flow(features.x[feature], features.y[feature], scale, *rotation);
        votes[count] = vote_of(feature_u - motion.u, feature_v - motion.v, vote_scale);
      }
    }
    for (int word = 0; word < padded / 32; ++word) {
      unsigned bits = 0;
      for (int i = 0; i < 32; ++i) bits |= unsigned(votes[word * 32 + i] != 0) << i;
      voted[word] = bits;
    }
  });
}

PF_STEP(make_labels<Cpu>);

}  // namespace parafield
