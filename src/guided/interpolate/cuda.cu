#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/interpolate/interpolate.hpp"
#include "guided/tile.cuh"

// A block is one warp and a tile of 8x4 pixels, one a lane. It finds the guides that matter to one of them (find_best), and each
// lane goes through them: no block waits for another warp. (Tiles of more pixels a lane read each guide for several at once, but
// leave out fewer guides, and are too few for small images.)
//
// Floor: 24 bytes a pixel read and 13 written, 0.9 us at 320x240 on an H100 (3.0 TB/s); 10 operations a pixel and guide for the
// best exponent, 10 + 12 + 4 for its weight and the sums: 200 guides take 17 us if none is left out.

namespace parafield {
namespace {

constexpr int most_listed = 1024;

template <bool Fast>
__global__ void __launch_bounds__(lanes)
    interpolate_kernel(Guides guides, Colours colours, LikelihoodScale scale, FlowPlanes flow,
                       View<float> likelihood, HypothesisTest test) {
  __shared__ GuideList<most_listed> list;
  launch_next();
  const TileLane lane = tile_lane();
  Listing listing{lane.lane};
  await_last();
  Place place[tile::each];
  place_pixels(lane, colours, scale, place);
  float best[tile::each];
  const float limit = find_best(listing, box_of(place), guides, place, list, best);
  MeanFlow mean[tile::each];
  for_each_batch(listing, guides, -1, limit, list, [&](int batch) {
#pragma unroll guides_at_once
    for (int j = 0; j < batch; ++j) {
      const Record guide = list.batch[j];
      PF_UNROLL
      for (int i = 0; i < tile::each; ++i)
        mean[i].add(relative_likelihood_of<Fast>(exponent(place[i], guide.place()), best[i]), guide.rest.y,
                    guide.rest.z);
    }
  });
  const float none = __int_as_float(0x7fc00000);
  PF_UNROLL
  for (int i = 0; i < tile::each; ++i) {
    const int x = lane.x, y = lane.y(i);
    if (x >= flow.u.width || y >= flow.u.height) continue;
    Motion motion = limit >= 0 ? mean[i].motion() : Motion{none, none};
    if (test.valid) test.valid(x, y) = passes(test, x, y, motion);
    flow.u(x, y) = motion.u;
    flow.v(x, y) = motion.v;
    if (likelihood) likelihood(x, y) = limit >= 0 ? best_likelihood(best[i]) : 0.0f;
  }
}

}  // namespace

template <>
std::size_t interpolation_scratch(const Cuda&, int) {
  return 0;
}

template <>
void interpolate_flow(Cuda& cuda, const Guides& guides, const Colours& colours, LikelihoodScale scale,
                      bool fast, FlowPlanes flow, View<float> likelihood, const HypothesisTest& test) {
  cuda.launch(fast ? interpolate_kernel<true> : interpolate_kernel<false>, tiles_of(flow.u.size()),
              dim3(lanes), 0, guides, colours, scale, flow, likelihood, test);
}

}  // namespace parafield
