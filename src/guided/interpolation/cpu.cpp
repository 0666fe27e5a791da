// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "guided/interpolation/interpolation.hpp"
#include "guided/support/tile.hpp"

// Each feature that supports a tile is added to all of the tile's pixels, whose sums stay in the cache. This
// takes about 35 operations per pixel and feature: 10 twice for the exponent, 12 for the exponential, 3 for
// the sums.
namespace parafield {
namespace {

void store(const Tile& tile, const float* best, const MeanPlanes& sums, bool any, FlowPlanes flow,
           View<float> likelihood) {
  for (int j = 0; j < tile.height; ++j) {
    float *const u = flow.u.row(tile.y0 + j) + tile.x0, *const v = flow.v.row(tile.y0 + j) + tile.x0;
    float* const to = likelihood ? likelihood.row(tile.y0 + j) + tile.x0 : nullptr;
    const int first = j * tile.width;
    const float none = __builtin_nanf("");
#pragma GCC ivdep
    for (int i = 0; i < tile.width; ++i) {
      const Motion motion = MeanFlow{sums.weight[first + i], sums.u[first + i], sums.v[first + i]}.motion();
      u[i] = any ? motion.u : none;
      v[i] = any ? motion.v : none;
    }
    if (!to) continue;
    for (int i = 0; i < tile.width; ++i) to[i] = any ? best_likelihood(best[first + i]) : 0.0f;
  }
}

}  // namespace

template <class Backend>
void interpolate_flow(Backend& cpu, const TrackList& tracks, const FlowFeatures& features,
                      const Colors& colors, LikelihoodScale scale, bool fast, FlowPlanes flow,
                      View<float> likelihood, const ColorTest& test) {
  gather_features(cpu, tracks, colors, scale, features);
  for_each_tile(cpu, flow.u.size(), features.capacity, [=](Tile& tile, float* best) {
    static_assert(interpolation_planes == 4);
    const MeanPlanes sums{best + tile_pixels, best + 2 * tile_pixels, best + 3 * tile_pixels};
    const float cutoff = cutoff_of(fast);
    const bool any = find_support(tile, colors, scale, features, cutoff, best);
    if (any) sum_flows(tile, features, cutoff, best, sums, [](int, float, float) { return 1.0f; });
    store(tile, best, sums, any, flow, likelihood);
  });
  if (test.valid) test_colors(cpu, test, flow);
}

PF_STEP(interpolate_flow<Cpu>);

}  // namespace parafield
