#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/labels/labels.hpp"

// How many guides and labels there are, only the device knows: grids are made for the capacities, and threads beyond end at
// once. Distinct labels are found without sorting: a warp compares a guide with all others, coalesced; 1000 guides take
// 1e6 comparisons twice, about 1 us of an H100, and 65536 guides 4e9, some ms.

namespace parafield {
namespace {

constexpr int warps = 4, threads = 32 * warps, grid_threads = 1024;

__device__ int warp_of_grid() { return int(blockIdx.x) * warps + int(threadIdx.x) / 32; }

__device__ int least_of_warp(int value) {
  for (int step = 16; step > 0; step /= 2) value = smaller(value, __shfl_xor_sync(~0u, value, step));
  return value;
}
__device__ int sum_of_warp(int value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

/// One block: all labels of the grid.
__global__ void __launch_bounds__(grid_threads) grid_kernel(Guides guides, FlowSpace space, Labels labels) {
  begin_kernel();
  __shared__ int of_warp[4][32];
  const int thread = int(threadIdx.x), lane = thread % 32, count = *guides.count;
  const float nodes_per_px = 1 / space.step;
  NodeBounds bounds;
  for (int i = thread; i < count; i += grid_threads)
    if (is_somewhere(guides, i))
      bounds.add(node_of(guides.u[i], nodes_per_px), node_of(guides.v[i], nodes_per_px));
  const int side[4] = {bounds.left, bounds.top, -bounds.right, -bounds.bottom};
  PF_UNROLL
  for (int k = 0; k < 4; ++k) {
    const int least = least_of_warp(side[k]);
    if (lane == 0) of_warp[k][thread / 32] = least;
  }
  __syncthreads();
  bounds = {least_of_warp(of_warp[0][lane]), least_of_warp(of_warp[1][lane]),
            -least_of_warp(of_warp[2][lane]), -least_of_warp(of_warp[3][lane])};
  const LabelCount found = count_grid(bounds, labels.capacity);
  if (thread == 0) *labels.count = found;
  for (int i = thread; i < found.labels; i += grid_threads) {
    labels.u[i] = flow_of(bounds.left + i % found.columns, space.step);
    labels.v[i] = flow_of(bounds.top + i / found.columns, space.step);
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
  const int guide = warp_of_grid(), lane = int(threadIdx.x) % 32;
  if (guide >= *guides.count) return;
  const int count = labels.count->labels, all = count > 0 && turn ? count + 1 : count;
  const float guide_u = guides.u[guide], guide_v = guides.v[guide];
  const bool votes = is_somewhere(guides, guide);
  float* const row = labels.votes + std::size_t(guide) * std::size_t(labels.pitch);
  unsigned* const voted = labels.voted + std::size_t(guide) * std::size_t(labels.pitch / 32);
  for (int first = 0; first < all; first += 32) {
    const int i = first + lane;
    float vote = 0;
    if (votes && i < all) {
      const Motion motion =
          i < count ? Motion{labels.u[i], labels.v[i]} : turned(guides, guide, scale, *turn);
      vote = vote_of(guide_u - motion.u, guide_v - motion.v, space.vote_scale);
    }
    row[i] = vote;
    const unsigned bits = __ballot_sync(~0u, vote != 0);
    if (lane == 0) voted[first / 32] = bits;
  }
}

}  // namespace

template <>
void make_labels(Cuda& cuda, const Guides& guides, LikelihoodScale scale, const FlowSpace& space,
                 const Homography* turn, const Labels& labels) {
  const dim3 a_warp_each(blocks_for(guides.capacity, warps));
  if (space.grid) {
    cuda.launch(grid_kernel, dim3(1), dim3(grid_threads), 0, guides, space, labels);
  } else {
    cuda.launch(first_kernel, a_warp_each, dim3(threads), 0, guides, space, labels);
    cuda.launch(rank_kernel, a_warp_each, dim3(threads), 0, guides, space, labels);
  }
  cuda.launch(vote_for_labels_kernel, a_warp_each, dim3(threads), 0, guides, scale, space, turn, labels);
}

}  // namespace parafield
