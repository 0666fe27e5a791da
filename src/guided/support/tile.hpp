// SPDX-License-Identifier: MIT
#pragma once
#include "guided/support/features.hpp"

/// Tiles of pixels on the CPU, and the features that support each tile. A feature supports a tile if it can
/// have a weight above 0 for some pixel of the tile.
namespace parafield {

constexpr int tile_width = 64, tile_height = 8, tile_pixels = tile_width * tile_height;

/// A tile in scratch memory: the places of its pixels in row order, and its support. See likelihood.hpp for
/// places and exponents.
struct Tile {
  int x0, y0, width, height;
  int count = 0;                      // number of pixels
  float *x, *y, *red, *green, *blue;  // place of each pixel
  float *least, *chunk_least;         // per feature and per chunk: least exponent for any pixel of the tile
  int* support;                       // indices of the features that support the tile
  int support_count = 0;

  static constexpr int places = 5;  // values of a place
  /// Number of values for `capacity` features, in whole chunks, and one more vector.
  PF_HD static std::size_t room(int capacity) {
    return (std::size_t(capacity) + chunk_size - 1) / chunk_size * chunk_size + 16;
  }
  PF_HD static std::size_t bytes(int capacity) {
    return (sizeof(float) * (places * tile_pixels + 3 * room(capacity)) + 63) / 64 * 64;
  }
  PF_HD Tile(char* memory, int capacity, int left, int top, int right, int bottom)
      : x0(left), y0(top), width(right - left), height(bottom - top) {
    x = reinterpret_cast<float*>(memory), y = x + tile_pixels, red = y + tile_pixels,
    green = red + tile_pixels, blue = green + tile_pixels;
    least = blue + tile_pixels;
    chunk_least = least + room(capacity);
    support = reinterpret_cast<int*>(chunk_least + room(capacity));
  }
  PF_HD Places pixels() const { return {x, y, red, green, blue}; }
};

/// Bytes of scratch memory for each thread: a tile, followed by `planes` planes of one float per pixel.
PF_HD std::size_t tile_scratch(int capacity, int planes) {
  return Tile::bytes(capacity) + sizeof(float) * tile_pixels * std::size_t(planes);
}

/// Calls f(tile, planes after it) for all tiles of an image. Each thread processes whole rows of tiles.
template <class Backend, class F>
static inline void for_each_tile(Backend& cpu, Size size, int capacity, F f) {
  cpu.few_rows((size.height + tile_height - 1) / tile_height, [=](auto rows, char* scratch) {
    for (int row = rows.begin; row < rows.end; ++row)
      for (int x = 0; x < size.width; x += tile_width) {
        Tile tile(scratch, capacity, x, row * tile_height, smaller(x + tile_width, size.width),
                  smaller((row + 1) * tile_height, size.height));
        f(tile, reinterpret_cast<float*>(scratch + Tile::bytes(capacity)));
      }
  });
}

/// Reduces `first` and some values with pick(a, b), which returns the preferred value of two. A separate
/// result for each of 16 lanes lets the loop vectorize.
template <class Pick>
PF_HD float picked_of(const float* values, int count, float first, Pick pick) {
  constexpr int lanes = 16;
  float picked[lanes];
  for (int lane = 0; lane < lanes; ++lane) picked[lane] = first;
  int i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int lane = 0; lane < lanes; ++lane) picked[lane] = pick(picked[lane], values[i + lane]);
  for (; i < count; ++i) picked[0] = pick(picked[0], values[i]);
  for (int lane = 1; lane < lanes; ++lane) picked[0] = pick(picked[0], picked[lane]);
  return picked[0];
}
/// Smallest of some values and `most`.
PF_HD float least_of(const float* values, int count, float most) {
  return picked_of(values, count, most, [](float a, float b) { return smaller(a, b); });
}
/// Largest of some values and `least`.
PF_HD float most_of(const float* values, int count, float least) {
  return picked_of(values, count, least, [](float a, float b) { return larger(a, b); });
}

/// Computes the places of a tile's pixels. Returns the box around them.
PF_HD PlaceBox place_pixels(Tile& tile, const Colors& colors, LikelihoodScale scale) {
  float* const channels[] = {tile.red, tile.green, tile.blue};
  for (int j = 0; j < tile.height; ++j) {
    const int first = j * tile.width;
    float* __restrict x = tile.x + first, * __restrict y = tile.y + first;
    for (int i = 0; i < tile.width; ++i) {
      x[i] = float(tile.x0 + i) * scale.position;
      y[i] = float(tile.y0 + j) * scale.position;
    }
    for (int channel = 0; channel < 3; ++channel) {
      const float* const from = colors.plane[channel].row(tile.y0 + j) + tile.x0;
      float* __restrict out = channels[channel] + first;
      for (int i = 0; i < tile.width; ++i) out[i] = scaled_color(from[i], scale.color);
    }
  }
  tile.count = tile.width * tile.height;
  const int last = tile.count - 1;
  const auto low = [&](const float* values) { return least_of(values, tile.count, 3e38f); };
  const auto high = [&](const float* values) { return most_of(values, tile.count, -3e38f); };
  return {{tile.x[0], tile.y[0], low(tile.red), low(tile.green), low(tile.blue)},
          {tile.x[last], tile.y[last], high(tile.red), high(tile.green), high(tile.blue)}};
}

/// Lowers the best exponent of each pixel to the feature's, where that is lower.
PF_HD void lower_best(const Tile& tile, const ColoredPlace& feature, float* __restrict best) {
  const int count = tile.count;
  const Places pixels = tile.pixels();
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) best[i] = smaller(best[i], exponent(pixels[i], feature));
}

/// Computes `least` for the features of a chunk: their least exponents for any pixel of the box.
PF_HD void find_chunk_exponents(const Tile& tile, const PlaceBox& box, const FlowFeatures& features,
                                int chunk) {
  const Places places = places_of(features);
  float* __restrict least = tile.least;
  const int first = chunk * chunk_size;
#pragma GCC ivdep
  for (int i = first; i < first + chunk_size; ++i) least[i] = least_exponent(box, places[i]);
}

/// Computes the places of the pixels, their best exponents (`best`) and the tile's support, in the features'
/// order. Returns false if there are no features.
///
/// Pass 1 compares the pixels with the features nearest to the tile. This makes the bounds of pass 2 so low
/// that it skips most features. Pass 2 compares the pixels with all other features that can lower a best
/// exponent. Pass 3 takes as support all features that can have a weight above 0.
PF_HD bool find_support(Tile& tile, const Colors& colors, LikelihoodScale scale, const FlowFeatures& features,
                        float cutoff, float* __restrict best) {
  const PlaceBox box = place_pixels(tile, colors, scale);
  const int chunks = (*features.count + chunk_size - 1) / chunk_size;
  float* __restrict chunk_least = tile.chunk_least, * const least = tile.least;
#pragma GCC ivdep
  for (int chunk = 0; chunk < chunks; ++chunk)
    chunk_least[chunk] = least_exponent(box, chunk_box(features, chunk));
  tile.support_count = 0;
  const float nearest_chunk = least_of(chunk_least, chunks, no_feature);
  if (!(nearest_chunk < no_feature)) return false;

  const auto each_feature = [&](int chunk, float above, float most, auto f) {
    for (int i = chunk * chunk_size; i < (chunk + 1) * chunk_size; ++i)
      if (least[i] > above && least[i] <= most) f(i);
  };
  const auto compare = [&](int i) { lower_best(tile, places_of(features)[i], best); };
  for (int i = 0; i < tile.count; ++i) best[i] = no_feature;
  // Pass 1.
  const float first_chunks = nearest_chunk + first_reach;
  float nearest = no_feature;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    if (!(chunk_least[chunk] <= first_chunks)) continue;
    find_chunk_exponents(tile, box, features, chunk);
    nearest = smaller(nearest, least_of(least + chunk * chunk_size, chunk_size, no_feature));
  }
  const float first = nearest + first_reach;
  for (int chunk = 0; chunk < chunks; ++chunk)
    if (chunk_least[chunk] <= first_chunks) each_feature(chunk, -1, first, compare);

  // Pass 2.
  float most = most_of(best, tile.count, 0);
  const float reach = reach_of(most), room = limit_of(most, cutoff);
  for (int chunk = 0; chunk < chunks; ++chunk) {
    if (!(chunk_least[chunk] <= room)) continue;
    const bool is_first = chunk_least[chunk] <= first_chunks;
    if (!is_first) find_chunk_exponents(tile, box, features, chunk);
    each_feature(chunk, is_first ? first : -1, reach, compare);
  }

  // Pass 3.
  const float limit = limit_of(most_of(best, tile.count, 0), cutoff);
  for (int chunk = 0; chunk < chunks; ++chunk)
    if (chunk_least[chunk] <= limit)
      each_feature(chunk, -1, limit, [&](int i) { tile.support[tile.support_count++] = i; });
  return true;
}

/// Planes of sums for each pixel: of the weights, and of the flows times their weights. See MeanFlow.
struct MeanPlanes {
  float *weight, *u, *v;
};

/// Sums the flows of the tile's support for each pixel. A feature's weight is its likelihood times
/// factor(pixel, u, v), where (u, v) is its flow.
template <class Factor>
PF_HD void sum_flows(const Tile& tile, const FlowFeatures& features, float cutoff, const float* best,
                     const MeanPlanes& sums, Factor factor) {
  const int count = tile.count;
  const Places pixels = tile.pixels();
  float* __restrict weight = sums.weight, * __restrict u = sums.u, * __restrict v = sums.v;
  for (int i = 0; i < count; ++i) weight[i] = u[i] = v[i] = 0;
  for (int k = 0; k < tile.support_count; ++k) {
    const int number = tile.support[k];
    const ColoredPlace feature = places_of(features)[number];
    const float feature_u = features.u[number], feature_v = features.v[number];
#pragma GCC ivdep
    for (int i = 0; i < count; ++i) {
      MeanFlow mean{weight[i], u[i], v[i]};
      const float likelihood = relative_likelihood(exponent(pixels[i], feature), best[i], cutoff);
      mean.add(likelihood * factor(i, feature_u, feature_v), feature_u, feature_v);
      weight[i] = mean.weight, u[i] = mean.u, v[i] = mean.v;
    }
  }
}

}  // namespace parafield
