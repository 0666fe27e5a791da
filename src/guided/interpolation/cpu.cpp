#include "core/cpu/backend.hpp"
#include "guided/interpolation/interpolation.hpp"
#include "guided/support/tile.hpp"

// A thread takes the tiles of its band of rows. It finds a tile's support, then adds each feature to all
// pixels of the tile, whose sums stay in the cache. A pixel and a feature take about 35 operations: 10 twice
// for the exponent, 12 for the exponential, 3 for the sums.

namespace parafield {
namespace {

/// Best exponents and sums of a tile's pixels.
struct Means {
  float *best, *weight, *u, *v;

  static_assert(interpolation_planes == 4);
  explicit Means(float* memory)
      : best(memory), weight(best + tile_pixels), u(weight + tile_pixels), v(u + tile_pixels) {}
};

void add_features(const Tile& tile, const FlowFeatures& features, float cutoff, const Means& means) {
  const int count = tile.count;
  const Places pixels = tile.pixels();
  const float* const best = means.best;
  float* __restrict weight = means.weight, * __restrict u = means.u, * __restrict v = means.v;
  for (int i = 0; i < count; ++i) weight[i] = u[i] = v[i] = 0;
  for (int k = 0; k < tile.support_count; ++k) {
    const int number = tile.support[k];
    const Place feature = places_of(features)[number];
    const float feature_u = features.u[number], feature_v = features.v[number];
#pragma GCC ivdep
    for (int i = 0; i < count; ++i) {
      MeanFlow mean{weight[i], u[i], v[i]};
      mean.add(relative_likelihood(exponent(pixels[i], feature), best[i], cutoff), feature_u, feature_v);
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
void interpolate_flow(Cpu& cpu, const TrackList& tracks, const FlowFeatures& features, const Colors& colors,
                      LikelihoodScale scale, bool fast, FlowPlanes flow, View<float> likelihood,
                      const ColorTest& test) {
  gather_features(cpu, tracks, colors, scale, features);
  const int width = flow.u.width, height = flow.u.height;
  cpu.bands((height + tile_height - 1) / tile_height, [=](int first, int end, char* scratch) {
    const Means means(reinterpret_cast<float*>(scratch + Tile::bytes(features.capacity)));
    for (int row = first; row < end; ++row)
      for (int x0 = 0; x0 < width; x0 += tile_width) {
        Tile tile(scratch, features.capacity, x0, row * tile_height, smaller(x0 + tile_width, width),
                  smaller((row + 1) * tile_height, height));
        const Box box = place_pixels(tile, colors, scale);
        const bool any = find_support(tile, box, features, cutoff_of(fast), means.best);
        if (any) add_features(tile, features, cutoff_of(fast), means);
        store(tile, means, any, flow, likelihood);
      }
  });
  if (test.valid) test_colors(cpu, test, flow);
}

}  // namespace parafield
