// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "core/cuda/warp_reductions.cuh"
#include "guided/candidates/labels.hpp"
#include "guided/support/record.cuh"

// For few features, one kernel does everything, which takes 8 us less on an H100 than one kernel per step.
// With more features, each step has its own kernel. Only the device knows the numbers of features and labels,
// so grids are sized for the capacities. Distinct labels are found without sorting: each warp compares one
// feature with all others, in coalesced reads. For 65536 features this makes 4e9 comparisons twice, which
// take a few ms.

namespace parafield {
namespace {

constexpr int warps = 4, threads = 32 * warps, few_threads = 1024;

__device__ int warp_of_grid() { return int(blockIdx.x) * warps + int(threadIdx.x) / 32; }

/// Writes a feature's votes for all labels, including the rotation's, using one warp.
template <class LabelMotion>
__device__ void write_votes(int feature, Motion flow, Motion rotated, bool votes, int count, int all,
                            float vote_scale, const Labels& labels, LabelMotion label_motion) {
  float* const row = labels.votes_of(feature);
  unsigned* const voted = labels.voted_by(feature);
  const int lane = int(threadIdx.x) % 32;
  for (int first = 0; first < all; first += 32) {
    const int i = first + lane;
    float vote = 0;
    if (votes && i < all) {
      const Motion motion = i < count ? label_motion(i) : rotated;
      vote = vote_of(flow.u - motion.u, flow.v - motion.v, vote_scale);
    }
    row[i] = vote;
    const unsigned bits = __ballot_sync(~0u, vote != 0);
    if (lane == 0) voted[first / 32] = bits;
  }
}

/// The labels that a block of few_threads finds.
struct FewLabels {
  LabelCount count;
  int left, top;                         // first node of the grid
  int distinct;                          // number of distinct labels
  float u[few_threads], v[few_threads];  // flows of distinct labels
  NodeKey key[few_threads];              // nodes of distinct labels, unsorted
  NodeKey table[2 * few_threads];        // hash table of these nodes, with linear probing; no_node = free
  int of_warp[4][32];
};

/// Bounds over the nodes of all threads of a block of few_threads.
__device__ NodeBounds bounds_of_block(const NodeBounds& bounds, int (&of_warp)[4][32]) {
  const int lane = int(threadIdx.x) % 32;
  const int side[4] = {bounds.left, bounds.top, -bounds.right, -bounds.bottom};
  PF_UNROLL
  for (int k = 0; k < 4; ++k) {
    const int least = least_of_warp(side[k]);
    if (lane == 0) of_warp[k][threadIdx.x / 32] = least;
  }
  __syncthreads();
  return {least_of_warp(of_warp[0][lane]), least_of_warp(of_warp[1][lane]), -least_of_warp(of_warp[2][lane]),
          -least_of_warp(of_warp[3][lane])};
}

/// Computes the grid of the nodes of the threads' features.
__device__ void find_grid(bool somewhere, const Motion& flow, const FlowSpace& space, int capacity,
                          FewLabels& few) {
  NodeBounds bounds;
  if (somewhere) bounds.add(flow, space);
  bounds = bounds_of_block(bounds, few.of_warp);
  if (threadIdx.x == 0) {
    few.left = bounds.left, few.top = bounds.top;
    few.count = count_grid(bounds, capacity);
  }
  __syncthreads();
}

/// Finds the distinct nodes of the threads' features, sorted.
__device__ void find_distinct(bool somewhere, const Motion& flow, const FlowSpace& space, int capacity,
                              FewLabels& few) {
  constexpr int places = 2 * few_threads;
  const int thread = int(threadIdx.x);
  few.table[thread] = few.table[thread + few_threads] = no_node;
  if (thread == 0) few.distinct = 0;
  __syncthreads();
  if (somewhere) {
    const NodeKey key = key_of(flow, space);
    for (unsigned at = unsigned((key * 0x9e3779b97f4a7c15ull) >> 32);; ++at) {
      const NodeKey there = atomicCAS(&few.table[at % places], no_node, key);
      if (there == no_node) few.key[atomicAdd(&few.distinct, 1)] = key;
      if (there == no_node || there == key) break;
    }
  }
  __syncthreads();
  const int found = few.distinct;
  if (thread < found) {
    const NodeKey key = few.key[thread];
    int rank = 0;
    for (int i = 0; i < found; ++i) rank += few.key[i] < key;
    const Motion motion = motion_of(key, space.step);
    few.u[rank] = motion.u, few.v[rank] = motion.v;
  }
  if (thread == 0) few.count = count_distinct(found, capacity);
  __syncthreads();
}

/// Makes the labels of few features. Each block gathers all features, one per thread, and finds all labels,
/// which is faster than another kernel. It then writes the features and votes of its own chunk, one feature
/// per warp; the first block also writes the labels.
__global__ void __launch_bounds__(few_threads)
    few_labels_kernel(TrackList tracks, Colors colors, LikelihoodScale scale, FlowSpace space,
                      const Homography* rotation, FlowFeatures features, Labels labels) {
  __shared__ FewLabels few;
  __shared__ FlowFeature chunk[chunk_size];
  await_last();  // no launch_next: choice_kernel is not launched early
  const int thread = int(threadIdx.x), warp = thread / 32, first = int(blockIdx.x) * chunk_size;
  if (first > 0 && first >= tracks.count) return;
  const FlowFeature feature = flow_feature(tracks, thread, colors, scale);
  if (warp == int(blockIdx.x)) {
    store_chunk(feature, thread, features);
    chunk[thread % 32] = feature;
  }
  const bool somewhere = feature.place.x < nowhere;
  space.grid ? find_grid(somewhere, feature.flow, space, labels.capacity, few)
             : find_distinct(somewhere, feature.flow, space, labels.capacity, few);
  const int count = few.count.labels, columns = few.count.columns;
  const auto label_motion = [&](int i) {
    return space.grid ? grid_motion(few.left, few.top, columns, space.step, i) : Motion{few.u[i], few.v[i]};
  };
  if (first == 0) {
    if (thread == 0) *features.count = tracks.count, *labels.count = few.count;
    for (int i = thread; i < count; i += few_threads) labels.set(i, label_motion(i));
  }
  const int i = first + warp;
  if (i >= tracks.count) return;
  const FlowFeature& own = chunk[warp];
  const Motion rotated = rotation ? rotation_flow(own.place.x, own.place.y, scale, *rotation) : Motion{};
  const bool votes = own.place.x < nowhere;
  const int all = count > 0 && rotation ? count + 1 : count;
  write_votes(i, own.flow, rotated, votes, count, all, space.vote_scale, labels, label_motion);
}

/// Computes all labels of the grid, using one block.
__global__ void __launch_bounds__(few_threads)
    grid_kernel(FlowFeatures features, FlowSpace space, Labels labels) {
  begin_kernel();
  __shared__ int of_warp[4][32];
  const int thread = int(threadIdx.x), count = *features.count;
  NodeBounds bounds;
  for (int i = thread; i < count; i += few_threads)
    if (is_somewhere(features, i)) bounds.add({features.u[i], features.v[i]}, space);
  bounds = bounds_of_block(bounds, of_warp);
  const LabelCount found = count_grid(bounds, labels.capacity);
  if (thread == 0) *labels.count = found;
  for (int i = thread; i < found.labels; i += few_threads)
    labels.set(i, grid_motion(bounds.left, bounds.top, found.columns, space.step, i));
}

/// Writes each feature's node, or no_node if an earlier feature has the same node.
__global__ void __launch_bounds__(threads)
    first_kernel(FlowFeatures features, FlowSpace space, Labels labels) {
  begin_kernel();
  const int i = warp_of_grid(), lane = int(threadIdx.x) % 32;
  if (i >= *features.count) return;
  const NodeKey key = key_of(features, i, space);
  bool met = false;
  for (int j = lane; j < i && !met; j += 32) met = key_of(features, j, space) == key;
  met = __any_sync(~0u, met);
  if (lane == 0) labels.key[i] = met ? no_node : key;
}

/// Turns the nodes that first_kernel wrote into labels, numbered by rank. The warp of feature 0 counts them.
__global__ void __launch_bounds__(threads)
    rank_kernel(FlowFeatures features, FlowSpace space, Labels labels) {
  begin_kernel();
  const int i = warp_of_grid(), lane = int(threadIdx.x) % 32, count = *features.count;
  if (i == 0) {
    int found = 0;
    for (int j = lane; j < count; j += 32) found += labels.key[j] != no_node;
    found = sum_of_warp(found);
    if (lane == 0) *labels.count = count_distinct(found, labels.capacity);
  }
  if (i >= count) return;
  const NodeKey key = labels.key[i];
  if (key == no_node) return;
  int rank = 0;
  for (int j = lane; j < count; j += 32) rank += labels.key[j] < key;
  rank = sum_of_warp(rank);
  if (lane != 0 || rank >= labels.capacity) return;
  labels.set(rank, motion_of(key, space.step));
}

/// Each warp has a feature, and each lane a label.
__global__ void __launch_bounds__(threads)
    vote_for_labels_kernel(FlowFeatures features, LikelihoodScale scale, FlowSpace space,
                           const Homography* rotation, Labels labels) {
  begin_kernel();
  const int feature = warp_of_grid();
  if (feature >= *features.count) return;
  const int count = labels.count->labels, all = count > 0 && rotation ? count + 1 : count;
  const Motion rotated =
      rotation ? rotation_flow(features.x[feature], features.y[feature], scale, *rotation) : Motion{};
  const auto label_motion = [&](int i) { return Motion{labels.u[i], labels.v[i]}; };
  write_votes(feature, {features.u[feature], features.v[feature]}, rotated, is_somewhere(features, feature),
              count, all, space.vote_scale, labels, label_motion);
}

}  // namespace

template <class Backend>
void make_labels(Backend& cuda, const TrackList& tracks, const Colors& colors, LikelihoodScale scale,
                 const FlowSpace& space, const Homography* rotation, const FlowFeatures& features,
                 const Labels& labels) {
  if (features.capacity <= few_threads)
    return cuda.launch_input(few_labels_kernel, dim3(unsigned(features.chunks)), dim3(few_threads), tracks,
                             colors, scale, space, rotation, features, labels);
  gather_features(cuda, tracks, colors, scale, features);
  const dim3 a_warp_each(blocks_for(features.capacity, warps));
  if (space.grid) {
    cuda.launch(grid_kernel, dim3(1), dim3(few_threads), 0, features, space, labels);
  } else {
    cuda.launch(first_kernel, a_warp_each, dim3(threads), 0, features, space, labels);
    cuda.launch(rank_kernel, a_warp_each, dim3(threads), 0, features, space, labels);
  }
  cuda.launch(vote_for_labels_kernel, a_warp_each, dim3(threads), 0, features, scale, space, rotation,
              labels);
}

PF_STEP(make_labels<Cuda>);

}  // namespace parafield
