// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/interpolation/interpolation.hpp"
#include "guided/support/weights.cuh"

// Each warp has a tile of 8x4 pixels, finds its support and computes weights in batches for all pixels; each
// lane then adds up the weights of its own pixel. Warps do not wait for each other.
//
// Lower bound: 48 bytes per pixel are read and 13 written, 1.6 us at 320x240 on an H100 (3.0 TB/s). Per pixel
// and feature, the best exponent takes 10 operations, and the weight and the sums take 26: 17 us for 200
// features, 2 us for the 26 that are left in a colored texture. The call takes 16.8 us (fast 14.7), including
// launches (commit 375afe2). The rest is latency, because only 4 or 5 warps are available to keep a scheduler
// busy.

namespace parafield {
namespace {

/// Warps of a block, and the number of features that fit into a list.
template <bool Gathers>
constexpr int warps_of = Gathers ? 4 : 1;
template <bool Gathers>
constexpr int list_size = Gathers ? few_features : max_listed;

template <int Most>
struct Memory {
  SupportList<Most> support;
  Batch batch;
  union {
    ExponentMemory<Most> exponents;
    Weights weights;
    float plane[3][tile::pixels];
  };
};

/// Gathers: each block gathers the features itself (at most few_features), which is faster than a separate
/// kernel.
template <bool Fast, bool Gathers>
__global__ void __launch_bounds__(lanes* warps_of<Gathers>)
    interpolate_kernel(TrackList tracks, FlowFeatures features, Colors colors, LikelihoodScale scale,
                       FlowPlanes flow, View<float> likelihood, ColorTest test) {
  constexpr int warps = warps_of<Gathers>;
  __shared__ Memory<list_size<Gathers>> memories[warps];
  __shared__ Record gathered[Gathers ? few_features : 1];
  launch_next();
  const int warp = int(threadIdx.x) / lanes;
  const TileLane lane{int(threadIdx.x) % lanes, int(blockIdx.x) * warps + warp};
  auto& memory = memories[warp];
  await_last();
  FeatureRecords records;
  if constexpr (Gathers) {
    constexpr int apart = lanes * warps;
    FlowFeature own[few_features / apart];
    load_features(tracks, int(threadIdx.x), apart, colors, scale, own);
    PF_UNROLL
    for (int k = 0; k < few_features / apart; ++k) gathered[int(threadIdx.x) + k * apart] = record_of(own[k]);
    records = {gathered, tracks.count, nullptr};
  } else {
    records = {reinterpret_cast<const Record*>(features.records), *features.count, &features};
  }
  ColoredPlace place[tile::each];
  float best[tile::each];
  const PlaceBox box = place_pixels(lane, colors, scale, memory.plane[0], place);
  if constexpr (Gathers) __syncthreads();
  const auto exponents = [&] {
    if constexpr (Gathers)
      return RegisterList<few_features>{lane.lane};
    else
      return ExponentList<max_listed>{lane.lane, memory.exponents};
  };
  const Support support = find_support(lane, box, records, cutoff_of(Fast), place, exponents(),
                                       memory.support, memory.batch, best);
  const float own_best = own_of(lane, best, memory.plane[0]);
  MeanFlow mean;
  for_each_weighted_batch(
      lane, records, support, memory.support, memory.batch, memory.weights,
      [&](const Record& feature, int i) {
        return relative_likelihood_of<Fast>(exponent(place[i], feature.place()), best[i]);
      },
      [&](int, int count) { add_batch(lane, memory.batch, memory.weights, count, mean); });
  const int x = lane.x(), y = lane.y();
  if (x >= flow.u.width || y >= flow.u.height) return;
  const float none = __int_as_float(0x7fc00000);
  const bool any = support.count > 0;
  Motion motion = any ? mean.motion() : Motion{none, none};
  if (test.valid) test.valid(x, y) = passes_test(test, x, y, motion);
  flow.u(x, y) = motion.u;
  flow.v(x, y) = motion.v;
  if (likelihood) likelihood(x, y) = any ? best_likelihood(own_best) : 0.0f;
}

}  // namespace

template <class Backend>
void interpolate_flow(Backend& cuda, const TrackList& tracks, const FlowFeatures& features,
                      const Colors& colors, LikelihoodScale scale, bool fast, FlowPlanes flow,
                      View<float> likelihood, const ColorTest& test) {
  const bool gathers = tracks.count <= few_features;
  if (!gathers) gather_features(cuda, tracks, colors, scale, features);
  const int warps = gathers ? warps_of<true> : warps_of<false>;
  const auto kernel = gathers ? fast ? interpolate_kernel<true, true> : interpolate_kernel<false, true>
                      : fast ? interpolate_kernel<true, false>
                              : interpolate_kernel<false, false>;
  cuda.launch_input(kernel, tiles_of(flow.u.size(), warps), dim3(lanes * warps), tracks, features, colors,
                    scale, flow, likelihood, test);
}

PF_STEP(interpolate_flow<Cuda>);

}  // namespace parafield
