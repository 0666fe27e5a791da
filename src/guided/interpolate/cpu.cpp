#include "core/cpu/backend.hpp"
#include "guided/interpolate/interpolate.hpp"
#include "guided/tile/tile.hpp"

// A thread takes tiles of its band of rows: the guides that matter to the tile, then for each guide all of its pixels, whose
// sums stay in the cache. A pixel and guide take about 35 operations: 10 twice for the exponent, 12 for the exponential, 3
// for the sums.

namespace parafield {
namespace {

/// What a tile's pixels add up.
struct Means {
  float *best, *weight, *u, *v;

  static constexpr int planes = 4;
  explicit Means(float* memory)
      : best(memory), weight(best + tile_pixels), u(weight + tile_pixels), v(u + tile_pixels) {}
};

void add_guides(const Tile& tile, const Guides& guides, float cutoff, const Means& means) {
  const int count = tile.count;
  const float *const x = tile.x, *const y = tile.y, *const red = tile.red, *const green = tile.green,
                     *const blue = tile.blue, *const best = means.best;
  float* __restrict weight = means.weight, * __restrict u = means.u, * __restrict v = means.v;
  for (int i = 0; i < count; ++i) weight[i] = u[i] = v[i] = 0;
  for (int k = 0; k < tile.guides; ++k) {
    const Place guide = place_of(guides, tile.guide[k]);
    const float guide_u = guides.u[tile.guide[k]], guide_v = guides.v[tile.guide[k]];
#pragma GCC ivdep
    for (int i = 0; i < count; ++i) {
      MeanFlow mean{weight[i], u[i], v[i]};
      mean.add(relative_likelihood(exponent({x[i], y[i], red[i], green[i], blue[i]}, guide), best[i], cutoff),
               guide_u, guide_v);
      weight[i] = mean.weight, u[i] = mean.u, v[i] = mean.v;
    }
  }
}

void store(const Tile& tile, const Means& means, bool any, FlowPlanes flow, View<float> likelihood) {
  for (int j = 0; j < tile.height; ++j) {
    float *const u = flow.u.row(tile.y0 + j) + tile.x0, *const v = flow.v.row(tile.y0 + j) + tile.x0;
    float* const to = likelihood ? likelihood.row(tile.y0 + j) + tile.x0 : nullptr;
    const int first = j * tile.width;
    const float none = __builtin_nanf("");
#pragma GCC ivdep
    for (int i = 0; i < tile.width; ++i) {
      const Motion motion =
          MeanFlow{means.weight[first + i], means.u[first + i], means.v[first + i]}.motion();
      u[i] = any ? motion.u : none;
      v[i] = any ? motion.v : none;
    }
    if (!to) continue;
    for (int i = 0; i < tile.width; ++i) to[i] = any ? best_likelihood(means.best[first + i]) : 0.0f;
  }
}

}  // namespace

template <>
std::size_t interpolation_scratch(const Cpu&, int capacity) {
  return Tile::scratch(capacity) + sizeof(float) * Means::planes * tile_pixels;
}

template <>
void interpolate_flow(Cpu& cpu, const TrackList& tracks, const Guides& guides, const Colors& colors,
                      LikelihoodScale scale, bool fast, FlowPlanes flow, View<float> likelihood,
                      const HypothesisTest& test) {
  gather_guides(cpu, tracks, colors, scale, guides);
  const int width = flow.u.width, height = flow.u.height;
  cpu.bands((height + tile_height - 1) / tile_height, [=](int first, int end, char* scratch) {
    const Means means(reinterpret_cast<float*>(scratch + Tile::scratch(guides.capacity)));
    for (int row = first; row < end; ++row)
      for (int x0 = 0; x0 < width; x0 += tile_width) {
        Tile tile(scratch, guides.capacity, x0, row * tile_height, smaller(x0 + tile_width, width),
                  smaller((row + 1) * tile_height, height));
        const Box box = place_pixels(tile, colors, scale);
        const bool any = find_guides(tile, box, guides, cutoff_of(fast), means.best);
        if (any) add_guides(tile, guides, cutoff_of(fast), means);
        store(tile, means, any, flow, likelihood);
      }
  });
  if (test.valid) test_change(cpu, test, flow);
}

}  // namespace parafield
