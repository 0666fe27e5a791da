// SPDX-License-Identifier: MIT
#pragma once
#include "core/cuda/kernel.cuh"
#include "guided/support/selection.cuh"

/// A tile on CUDA: each pixel's best exponent, the support, and weights in batches.
namespace parafield {

constexpr int batch_size = 16;  // features in shared memory at a time
static_assert(batch_size * 2 == lanes, "a lane loads half a feature");

struct Batch {
  Record feature[batch_size];
};

/// Weights of a batch's features for each pixel.
struct Weights {
  float of[batch_size][tile::pixels];
};

/// Loads the support in batches, in order, and calls f(index of the first feature, count). A batch is padded
/// with features that are nowhere to a multiple of features_at_once.
template <int Most, class F>
__device__ void for_each_batch(int lane, const FeatureRecords& features, const Support& support,
                               const SupportList<Most>& list, Batch& batch, F f) {
  for (int first = 0; first < support.count; first += batch_size) {
    const int at = first + lane / 2, half = lane % 2;
    const float4 none = make_float4(half == 0 ? nowhere : 0, 0, 0, 0);
    reinterpret_cast<float4*>(batch.feature)[lane] =
        at < support.count ? reinterpret_cast<const float4*>(features.record)[2 * list(support, at) + half]
                           : none;
    __syncwarp();
    const int count = smaller(batch_size, support.count - first);
    f(first, (count + features_at_once - 1) / features_at_once * features_at_once);
    __syncwarp();
  }
}

/// The same, with the features' weights for each pixel: weight_of(feature, pixel of the lane's group).
template <int Most, class WeightOf, class F>
__device__ void for_each_weighted_batch(TileLane lane, const FeatureRecords& features, const Support& support,
                                        const SupportList<Most>& list, Batch& batch, Weights& weights,
                                        WeightOf weight_of, F f) {
  for_each_batch(lane.lane, features, support, list, batch, [&](int first, int count) {
#pragma unroll 2
    for (int j = 0; j < count; j += features_at_once) {
      const Record feature = batch.feature[j + lane.part()];
      *reinterpret_cast<float4*>(&weights.of[j + lane.part()][lane.group() * tile::each]) = make_float4(
          weight_of(feature, 0), weight_of(feature, 1), weight_of(feature, 2), weight_of(feature, 3));
    }
    __syncwarp();
    f(first, count);
  });
}

/// Finds the best exponents of a lane's group of pixels, and the tile's support: see find_support in
/// tile.hpp. `exponents`: an ExponentList or a RegisterList.
template <class Exponents, int Most>
__device__ Support find_support(TileLane lane, const PlaceBox& box, const FeatureRecords& features,
                                float cutoff, const ColoredPlace (&place)[tile::each], Exponents exponents,
                                SupportList<Most>& list, Batch& batch, float (&best)[tile::each]) {
  const int count = features.count;
  float listed = no_feature;
  if (count > Most) {
    float nearest_chunk = no_feature;
    for (int chunk = lane.lane; chunk * chunk_size < count; chunk += lanes)
      nearest_chunk = smaller_number(nearest_chunk, least_exponent(box, features.box(chunk)));
    listed = limit_of(least_of_warp(nearest_chunk), cutoff);
  }
  PF_UNROLL
  for (int i = 0; i < tile::each; ++i) best[i] = no_feature;
  const auto compare = [&](const ColoredPlace& feature) {
    PF_UNROLL
    for (int i = 0; i < tile::each; ++i) best[i] = smaller_number(best[i], exponent(place[i], feature));
  };
  const auto highest_best = [&] {
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

  // The nearest feature of each group of lanes. The lanes of a part compare the features of two groups.
  Nearest nearest = list_features(exponents, box, features, listed);
  PF_UNROLL
  for (int step = tile::groups; step < lanes; step *= 2) {
    const Nearest other{__shfl_xor_sync(~0u, nearest.least, step),
                        __shfl_xor_sync(~0u, nearest.feature, step)};
    nearest = other.least < nearest.least ? other : nearest;
  }
  PF_UNROLL
  for (int group = 0; group < tile::groups; group += features_at_once) {
    const int feature = __shfl_sync(~0u, nearest.feature, group + lane.part());
    if (feature >= 0) compare(features.record[feature].place());
  }
  const float room = highest_best();
  if (!(room < no_feature) && listed >= no_feature) return {0};
  if (listed < limit_of(room, cutoff)) list_features(exponents, box, features, limit_of(room, cutoff));
  const Support near = select(exponents, features, reach_of(room), list);
  for_each_batch(lane.lane, features, near, list, batch, [&](int, int some) {
    for (int j = 0; j < some; j += features_at_once) compare(batch.feature[j + lane.part()].place());
  });
  return select(exponents, features, limit_of(highest_best(), cutoff), list);
}

/// Adds a weighted batch to the mean of the lane's own pixel.
__device__ inline void add_batch(TileLane lane, const Batch& batch, const Weights& weights, int count,
                                 MeanFlow& mean) {
  for (int j = 0; j < count; j += features_at_once) {
    PF_UNROLL
    for (int g = 0; g < features_at_once; ++g) {
      const float4 feature = batch.feature[j + g].rest;
      mean.add(weights.of[j + g][lane.lane], feature.y, feature.z);
    }
  }
}

/// relative_likelihood without a branch, so that several can be computed at a time. Fast: uses the device's
/// exponential.
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
