#pragma once
#include "core/cuda/kernel.cuh"
#include "guided/tile/listing.cuh"

/// A tile's pixels and guides, some at a time: each pixel's best exponent, and weights.
namespace parafield {

constexpr int batch_guides = 16;  // in shared memory at a time
static_assert(batch_guides * 2 == lanes, "a lane brings half a guide");

/// What is read of some guides at a time.
struct Batch {
  Record guide[batch_guides];
};

/// The weights of a batch's guides for each pixel.
struct Weights {
  float of[batch_guides][tile::pixels];
};

/// Brings the guides into the batch, some at a time and in order, and calls f(the first one's place, how many). Behind the last come
/// some that lie nowhere, up to a multiple of guides_at_once.
template <int Most, class F>
__device__ void for_each_batch(int lane, const Surrounding& guides, const Picks& picks,
                               const Picked<Most>& picked, Batch& batch, F f) {
  for (int first = 0; first < picks.count; first += batch_guides) {
    const int at = first + lane / 2, half = lane % 2;
    const float4 none = make_float4(half == 0 ? nowhere : 0, 0, 0, 0);
    reinterpret_cast<float4*>(batch.guide)[lane] =
        at < picks.count ? reinterpret_cast<const float4*>(guides.record)[2 * picked(picks, at) + half]
                         : none;
    __syncwarp();
    const int count = smaller(batch_guides, picks.count - first);
    f(first, (count + guides_at_once - 1) / guides_at_once * guides_at_once);
    __syncwarp();
  }
}

/// The same with the guides' weights for each pixel: weigh(guide, which of the lane's group).
template <int Most, class Weigh, class F>
__device__ void for_each_weighed_batch(TileLane lane, const Surrounding& guides, const Picks& picks,
                                       const Picked<Most>& picked, Batch& batch, Weights& weights,
                                       Weigh weigh, F f) {
  for_each_batch(lane.lane, guides, picks, picked, batch, [&](int first, int count) {
#pragma unroll 2
    for (int j = 0; j < count; j += guides_at_once) {
      const Record guide = batch.guide[j + lane.turn()];
      *reinterpret_cast<float4*>(&weights.of[j + lane.turn()][lane.group() * tile::each]) =
          make_float4(weigh(guide, 0), weigh(guide, 1), weigh(guide, 2), weigh(guide, 3));
    }
    __syncwarp();
    f(first, count);
  });
}

/// The least exponents of a lane's group of pixels. Returns the guides that matter to one of the tile's. Some near guides are met
/// first, so that most of the others need not be.
template <class AnyListing, int Most>
__device__ Picks find_best(TileLane lane, const Box& box, const Surrounding& guides, float cutoff,
                           const Place (&place)[tile::each], AnyListing listing, Picked<Most>& picked,
                           Batch& batch, float (&best)[tile::each]) {
  const int count = guides.count;
  float listed = no_feature;
  if (count > Most) {
    float nearest_chunk = no_feature;
    for (int chunk = lane.lane; chunk * chunk_guides < count; chunk += lanes)
      nearest_chunk = smaller_number(nearest_chunk, least_exponent(box, guides.box(chunk)));
    listed = limit_of(least_of_warp(nearest_chunk), cutoff);
  }
  PF_UNROLL
  for (int i = 0; i < tile::each; ++i) best[i] = no_feature;
  const auto meet = [&](const Place& guide) {
    PF_UNROLL
    for (int i = 0; i < tile::each; ++i) best[i] = smaller_number(best[i], exponent(place[i], guide));
  };
  const auto highest = [&] {
    float most = 0;
    PF_UNROLL
    for (int i = 0; i < tile::each; ++i) {
      PF_UNROLL
      for (int step = tile::groups; step < lanes; step *= 2)
        best[i] = smaller_number(best[i], __shfl_xor_sync(~0u, best[i], step));
      most = larger_number(most, best[i]);
    }
    return most_of_warp(most);
  };

  // The nearest of each group of lanes: the lanes of a turn meet those of two groups.
  Nearest nearest = list_guides(listing, box, guides, listed);
  PF_UNROLL
  for (int step = tile::groups; step < lanes; step *= 2) {
    const Nearest other{__shfl_xor_sync(~0u, nearest.least, step), __shfl_xor_sync(~0u, nearest.guide, step)};
    nearest = other.least < nearest.least ? other : nearest;
  }
  PF_UNROLL
  for (int group = 0; group < tile::groups; group += guides_at_once) {
    const int guide = __shfl_sync(~0u, nearest.guide, group + lane.turn());
    if (guide >= 0) meet(guides.record[guide].place());
  }
  const float room = highest();
  if (!(room < no_feature) && listed >= no_feature) return {0};
  if (listed < limit_of(room, cutoff)) list_guides(listing, box, guides, limit_of(room, cutoff));
  const Picks near = pick(listing, guides, reach_of(room), picked);
  for_each_batch(lane.lane, guides, near, picked, batch, [&](int, int some) {
    for (int j = 0; j < some; j += guides_at_once) meet(batch.guide[j + lane.turn()].place());
  });
  return pick(listing, guides, limit_of(highest(), cutoff), picked);
}

/// Adds a weighed batch to the mean of a lane's own pixel.
__device__ inline void add_batch(TileLane lane, const Batch& batch, const Weights& weights, int count,
                                 MeanFlow& mean) {
  for (int j = 0; j < count; j += guides_at_once) {
    PF_UNROLL
    for (int g = 0; g < guides_at_once; ++g) {
      const float4 guide = batch.guide[j + g].rest;
      mean.add(weights.of[j + g][lane.lane], guide.y, guide.z);
    }
  }
}

/// relative_likelihood without a branch, so that several are on their way at a time; fast: by the device's own exponential.
template <bool Fast>
__device__ float relative_likelihood_of(float exponent, float best) {
  constexpr float cutoff = cutoff_of(Fast);
  const float below = exponent - best;
  float power;
  if constexpr (Fast)
    power = device_exponential2(-below);
  else
    power = exponential2(-smaller_number(below, cutoff + 1));
  return below <= cutoff ? power : 0.0f;
}

}  // namespace parafield
