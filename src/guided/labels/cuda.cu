#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/guides/record.cuh"
#include "guided/labels/labels.hpp"

// Few guides: one kernel makes everything (few_labels_kernel). It took 8 us off a call that had a kernel for each step on an H100.
//
// More: how many guides and labels there are, only the device knows: grids are made for the capacities, and threads beyond end
// at once. Distinct labels are found without sorting: a warp compares a guide with all others, coalesced; 65536 guides
// take 4e9 comparisons twice, some ms.

namespace parafield {
namespace {

constexpr int warps = 4, threads = 32 * warps, few_threads = 1024;

__device__ int warp_of_grid() { return int(blockIdx.x) * warps + int(threadIdx.x) / 32; }

__device__ int least_of_warp(int value) {
  for (int step = 16; step > 0; step /= 2) value = smaller(value, __shfl_xor_sync(~0u, value, step));
  return value;
}
__device__ int sum_of_warp(int value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

/// A guide's votes for all labels, the camera's too, by a warp.
template <class LabelMotion>
__device__ void write_votes(Motion guide, Motion turned, bool votes, int count, int all, float vote_scale,
                            float* row, unsigned* voted, LabelMotion label_motion) {
  const int lane = int(threadIdx.x) % 32;
  for (int first = 0; first < all; first += 32) {
    const int i = first + lane;
    float vote = 0;
    if (votes && i < all) {
      const Motion motion = i < count ? label_motion(i) : turned;
      vote = vote_of(guide.u - motion.u, guide.v - motion.v, vote_scale);
    }
    row[i] = vote;
    const unsigned bits = __ballot_sync(~0u, vote != 0);
    if (lane == 0) voted[first / 32] = bits;
  }
}

/// What a block of few_threads knows of the labels.
struct FewLabels {
  LabelCount count;
  int left, top;  // nodes of the grid
  int distinct;
  float u[few_threads], v[few_threads];  // of distinct ones
  NodeKey key[few_threads];              // of those, in no order
  NodeKey table[2 * few_threads];        // no_node, or one of them, at or behind the place that it names
  int of_warp[4][32];
};

/// The bounds of all threads of a block of few_threads.
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

/// All labels of the grid of the threads' guides.
__device__ void find_grid(bool somewhere, const Motion& flow, const FlowSpace& space, int capacity,
                          FewLabels& few) {
  const float nodes_per_px = 1 / space.step;
  NodeBounds bounds;
  if (somewhere) bounds.add(node_of(flow.u, nodes_per_px), node_of(flow.v, nodes_per_px));
  bounds = bounds_of_block(bounds, few.of_warp);
  if (threadIdx.x == 0) {
    few.left = bounds.left, few.top = bounds.top;
    few.count = count_grid(bounds, capacity);
  }
  __syncthreads();
}
__device__ Motion grid_motion(int left, int top, int columns, float step, int i) {
  return {flow_of(left + i % columns, step), flow_of(top + i / columns, step)};
}

/// The distinct nodes of the threads' guides, in order.
__device__ void find_distinct(bool somewhere, const Motion& flow, const FlowSpace& space, int capacity,
                              FewLabels& few) {
  constexpr int places = 2 * few_threads;
  const int thread = int(threadIdx.x);
  few.table[thread] = few.table[thread + few_threads] = no_node;
  if (thread == 0) few.distinct = 0;
  __syncthreads();
  if (somewhere) {
    const float nodes_per_px = 1 / space.step;
    const NodeKey key = node_key(node_of(flow.u, nodes_per_px), node_of(flow.v, nodes_per_px));
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
  if (thread == 0) few.count = {found <= capacity ? found : 0, 0, 0, found};
  __syncthreads();
}

/// Of few guides: a block gathers them all, a thread each, and finds all labels, which is sooner done than waiting for another
/// kernel; it writes one chunk and its votes, a warp a guide. The first block writes the labels.
__global__ void __launch_bounds__(few_threads)
    few_labels_kernel(TrackList tracks, Colors colors, LikelihoodScale scale, FlowSpace space,
                      const Homography* turn, Guides guides, Labels labels) {
  __shared__ FewLabels few;
  __shared__ Guide chunk[chunk_guides];
  await_last();  // vote_kernel is not launched early
  const int thread = int(threadIdx.x), warp = thread / 32, first = int(blockIdx.x) * chunk_guides;
  if (first > 0 && first >= tracks.count) return;
  const Guide guide = guide_of(tracks, thread, colors, scale);
  if (warp == int(blockIdx.x)) {
    store_chunk(guide, thread, guides);
    chunk[thread % 32] = guide;
  }
  const bool somewhere = guide.place.x < nowhere;
  if (space.grid)
    find_grid(somewhere, guide.flow, space, labels.capacity, few);
  else
    find_distinct(somewhere, guide.flow, space, labels.capacity, few);
  const int count = few.count.labels, columns = few.count.columns;
  const auto label_motion = [&](int i) {
    return space.grid ? grid_motion(few.left, few.top, columns, space.step, i) : Motion{few.u[i], few.v[i]};
  };
  if (first == 0) {
    if (thread == 0) *guides.count = tracks.count, *labels.count = few.count;
    for (int i = thread; i < count; i += few_threads) {
      const Motion motion = label_motion(i);
      labels.u[i] = motion.u, labels.v[i] = motion.v;
    }
  }
  const int i = first + warp;
  if (i >= tracks.count) return;
  const Guide& own = chunk[warp];
  const Motion turned = turn ? turned_from(own.place.x, own.place.y, scale, *turn) : Motion{};
  write_votes(own.flow, turned, own.place.x<nowhere, count, count> 0 && turn ? count + 1 : count,
              space.vote_scale, labels.votes + std::size_t(i) * std::size_t(labels.pitch),
              labels.voted + std::size_t(i) * std::size_t(labels.pitch / 32), label_motion);
}

/// One block: all labels of the grid.
__global__ void __launch_bounds__(few_threads) grid_kernel(Guides guides, FlowSpace space, Labels labels) {
  begin_kernel();
  __shared__ int of_warp[4][32];
  const int thread = int(threadIdx.x), count = *guides.count;
  const float nodes_per_px = 1 / space.step;
  NodeBounds bounds;
  for (int i = thread; i < count; i += few_threads)
    if (is_somewhere(guides, i))
      bounds.add(node_of(guides.u[i], nodes_per_px), node_of(guides.v[i], nodes_per_px));
  bounds = bounds_of_block(bounds, of_warp);
  const LabelCount found = count_grid(bounds, labels.capacity);
  if (thread == 0) *labels.count = found;
  for (int i = thread; i < found.labels; i += few_threads) {
    const Motion motion = grid_motion(bounds.left, bounds.top, found.columns, space.step, i);
    labels.u[i] = motion.u, labels.v[i] = motion.v;
  }
}

/// Each guide's node, unless a guide before it has the same.
__global__ void __launch_bounds__(threads) first_kernel(Guides guides, FlowSpace space, Labels labels) {
  begin_kernel();
  const int i = warp_of_grid(), lane = int(threadIdx.x) % 32;
  if (i >= *guides.count) return;
  const float nodes_per_px = 1 / space.step;
  const NodeKey key = key_of(guides, i, nodes_per_px);
  bool met = false;
  for (int j = lane; j < i && !met; j += 32) met = key_of(guides, j, nodes_per_px) == key;
  met = __any_sync(~0u, met);
  if (lane == 0) labels.first_key[i] = met ? no_node : key;
}

/// The first of each node becomes the label of its rank among them. The warp of guide 0 counts them all.
__global__ void __launch_bounds__(threads) rank_kernel(Guides guides, FlowSpace space, Labels labels) {
  begin_kernel();
  const int i = warp_of_grid(), lane = int(threadIdx.x) % 32, count = *guides.count;
  if (i == 0) {
    int found = 0;
    for (int j = lane; j < count; j += 32) found += labels.first_key[j] != no_node;
    found = sum_of_warp(found);
    if (lane == 0) *labels.count = {found <= labels.capacity ? found : 0, 0, 0, found};
  }
  if (i >= count) return;
  const NodeKey key = labels.first_key[i];
  if (key == no_node) return;
  int rank = 0;
  for (int j = lane; j < count; j += 32) rank += labels.first_key[j] < key;
  rank = sum_of_warp(rank);
  if (lane != 0 || rank >= labels.capacity) return;
  const Motion motion = motion_of(key, space.step);
  labels.u[rank] = motion.u, labels.v[rank] = motion.v;
}

/// A warp a guide, a lane a label.
__global__ void __launch_bounds__(threads)
    vote_for_labels_kernel(Guides guides, LikelihoodScale scale, FlowSpace space, const Homography* turn,
                           Labels labels) {
  begin_kernel();
  const int guide = warp_of_grid();
  if (guide >= *guides.count) return;
  const int count = labels.count->labels, all = count > 0 && turn ? count + 1 : count;
  const Motion turned = turn ? turned_from(guides.x[guide], guides.y[guide], scale, *turn) : Motion{};
  write_votes({guides.u[guide], guides.v[guide]}, turned, is_somewhere(guides, guide), count, all,
              space.vote_scale, labels.votes + std::size_t(guide) * std::size_t(labels.pitch),
              labels.voted + std::size_t(guide) * std::size_t(labels.pitch / 32), [&](int i) {
                return Motion{labels.u[i], labels.v[i]};
              });
}

}  // namespace

template <>
void make_labels(Cuda& cuda, const TrackList& tracks, const Colors& colors, LikelihoodScale scale,
                 const FlowSpace& space, const Homography* turn, const Guides& guides, const Labels& labels) {
  if (guides.capacity <= few_threads)
    return cuda.launch_input(few_labels_kernel, dim3(unsigned(guides.chunks)), dim3(few_threads), tracks,
                             colors, scale, space, turn, guides, labels);
  gather_guides(cuda, tracks, colors, scale, guides);
  const dim3 a_warp_each(blocks_for(guides.capacity, warps));
  if (space.grid) {
    cuda.launch(grid_kernel, dim3(1), dim3(few_threads), 0, guides, space, labels);
  } else {
    cuda.launch(first_kernel, a_warp_each, dim3(threads), 0, guides, space, labels);
    cuda.launch(rank_kernel, a_warp_each, dim3(threads), 0, guides, space, labels);
  }
  cuda.launch(vote_for_labels_kernel, a_warp_each, dim3(threads), 0, guides, scale, space, turn, labels);
}

}  // namespace parafield
