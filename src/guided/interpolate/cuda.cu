#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/change/passes.cuh"
#include "guided/interpolate/interpolate.hpp"
#include "guided/tile/weighing.cuh"

// A warp has a tile of 8x4 pixels. It finds the guides that matter to one of them (find_best), weighs some at a time for all
// pixels, and each lane adds up those of its own pixel: warps do not wait for each other.
//
// Floor: 48 bytes a pixel read and 13 written, 1.6 us at 320x240 on an H100 (3.0 TB/s); 10 operations a pixel and guide for the
// best exponent, 10 + 12 + 4 for its weight and the sums: 200 guides take 17 us if none is left out, 2 us of the 26 that are
// left in a colored texture with the default sigmas. The call takes 16.8 us (fast 14.7), colors and launches
// included (commit 375afe2). What is left over is waiting: 4 or 5 warps have to fill a scheduler.

namespace parafield {
namespace {

/// Warps of a block, and guides that find room in a list.
template <bool Gathers>
constexpr int warps_of = Gathers ? 4 : 1;
template <bool Gathers>
constexpr int most_listed = Gathers ? few_guides : all_listed;

template <int Most>
struct Memory {
  Picked<Most> picked;
  Batch batch;
  union {
    Candidates<Most> candidates;
    Weights weights;
    float plane[3][tile::pixels];
  };
};

/// Gathers: the guides of a block's tiles are gathered by the block itself, which is sooner done than waiting for a kernel; there
/// are at most few_guides.
template <bool Fast, bool Gathers>
__global__ void __launch_bounds__(lanes* warps_of<Gathers>)
    interpolate_kernel(TrackList tracks, Guides guides, Colors colors, LikelihoodScale scale,
                       FlowPlanes flow, View<float> likelihood, HypothesisTest test) {
  constexpr int warps = warps_of<Gathers>;
  __shared__ Memory<most_listed<Gathers>> memories[warps];
  __shared__ Record gathered[Gathers ? few_guides : 1];
  launch_next();
  const int warp = int(threadIdx.x) / lanes;
  const TileLane lane{int(threadIdx.x) % lanes, int(blockIdx.x) * warps + warp};
  auto& memory = memories[warp];
  await_last();
  Surrounding surrounding;
  if constexpr (Gathers) {
    constexpr int apart = lanes * warps;
    Guide own[few_guides / apart];
    get_guides(tracks, int(threadIdx.x), apart, colors, scale, own);
    PF_UNROLL
    for (int k = 0; k < few_guides / apart; ++k) gathered[int(threadIdx.x) + k * apart] = record_of(own[k]);
    surrounding = {gathered, tracks.count, nullptr};
  } else {
    surrounding = {reinterpret_cast<const Record*>(guides.records), *guides.count, &guides};
  }
  Place place[tile::each];
  float best[tile::each];
  const Box box = place_pixels(lane, colors, scale, memory.plane[0], place);
  if constexpr (Gathers) __syncthreads();
  const auto listing = [&] {
    if constexpr (Gathers)
      return RegisterListing<few_guides>{lane.lane};
    else
      return Listing<all_listed>{lane.lane, memory.candidates};
  };
  const Picks picks =
      find_best(lane, box, surrounding, cutoff_of(Fast), place, listing(), memory.picked, memory.batch, best);
  const float own_best = own_of(lane, best, memory.plane[0]);
  MeanFlow mean;
  for_each_weighed_batch(
      lane, surrounding, picks, memory.picked, memory.batch, memory.weights,
      [&](const Record& guide, int i) {
        return relative_likelihood_of<Fast>(exponent(place[i], guide.place()), best[i]);
      },
      [&](int, int count) { add_batch(lane, memory.batch, memory.weights, count, mean); });
  const int x = lane.x(), y = lane.y();
  if (x >= flow.u.width || y >= flow.u.height) return;
  const float none = __int_as_float(0x7fc00000);
  const bool any = picks.count > 0;
  Motion motion = any ? mean.motion() : Motion{none, none};
  if (test.valid) test.valid(x, y) = passes(test, x, y, motion);
  flow.u(x, y) = motion.u;
  flow.v(x, y) = motion.v;
  if (likelihood) likelihood(x, y) = any ? best_likelihood(own_best) : 0.0f;
}

}  // namespace

template <>
std::size_t interpolation_scratch(const Cuda&, int) {
  return 0;
}

template <>
void interpolate_flow(Cuda& cuda, const TrackList& tracks, const Guides& guides, const Colors& colors,
                      LikelihoodScale scale, bool fast, FlowPlanes flow, View<float> likelihood,
                      const HypothesisTest& test) {
  const bool gathers = tracks.count <= few_guides;
  if (!gathers) gather_guides(cuda, tracks, colors, scale, guides);
  const int warps = gathers ? warps_of<true> : warps_of<false>;
  const auto kernel = gathers ? fast ? interpolate_kernel<true, true> : interpolate_kernel<false, true>
                      : fast ? interpolate_kernel<true, false>
                              : interpolate_kernel<false, false>;
  cuda.launch_input(kernel, tiles_of(flow.u.size(), warps), dim3(lanes * warps), tracks, guides, colors,
                    scale, flow, likelihood, test);
}

}  // namespace parafield
