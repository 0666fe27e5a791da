#pragma once
#include "guided/likelihood.hpp"

/// Tiles of pixels on the CPU, and the guides that matter to them.
namespace parafield {

constexpr int tile_width = 64, tile_height = 8, tile_pixels = tile_width * tile_height;

/// Memory for a tile: its pixels' places one after the other, row by row, and its guides' indices.
struct Tile {
  int x0, y0, width, height, count = 0, guides = 0;
  float *x, *y, *red, *green, *blue;  // of each pixel
  float *least, *chunk_least;         // exponents of each guide, and of each chunk
  int* guide;                         // those that matter

  static constexpr int places = 5;
  /// Room for so many guides: whole chunks, and a vector more.
  PF_HD static std::size_t room(int capacity) {
    return (std::size_t(capacity) + chunk_guides - 1) / chunk_guides * chunk_guides + 16;
  }
  PF_HD static std::size_t scratch(int capacity) {
    return sizeof(float) * (places * tile_pixels + 3 * room(capacity));
  }
  PF_HD Tile(char* memory, int capacity, int left, int top, int right, int bottom)
      : x0(left), y0(top), width(right - left), height(bottom - top) {
    float* const floats = reinterpret_cast<float*>(memory);
    x = floats, y = x + tile_pixels, red = y + tile_pixels, green = red + tile_pixels,
    blue = green + tile_pixels;
    least = blue + tile_pixels;
    chunk_least = least + room(capacity);
    guide = reinterpret_cast<int*>(chunk_least + room(capacity));
  }
};

/// The least of some values, which are at most `most`; lane by lane, so that it vectorizes.
PF_HD float least_of(const float* values, int count, float most) {
  constexpr int lanes = 16;
  float least[lanes];
  for (int lane = 0; lane < lanes; ++lane) least[lane] = most;
  int i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int lane = 0; lane < lanes; ++lane) least[lane] = smaller(least[lane], values[i + lane]);
  for (; i < count; ++i) least[0] = smaller(least[0], values[i]);
  for (int lane = 1; lane < lanes; ++lane) least[0] = smaller(least[0], least[lane]);
  return least[0];
}
PF_HD float most_of(const float* values, int count, float least) {
  constexpr int lanes = 16;
  float most[lanes];
  for (int lane = 0; lane < lanes; ++lane) most[lane] = least;
  int i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int lane = 0; lane < lanes; ++lane) most[lane] = larger(most[lane], values[i + lane]);
  for (; i < count; ++i) most[0] = larger(most[0], values[i]);
  for (int lane = 1; lane < lanes; ++lane) most[0] = larger(most[0], most[lane]);
  return most[0];
}

/// The pixels' places, and the box around them.
PF_HD Box place_pixels(Tile& tile, const Colors& colors, LikelihoodScale scale) {
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

PF_HD Place place_of(const Guides& guides, int i) {
  return {guides.x[i], guides.y[i], guides.red[i], guides.green[i], guides.blue[i]};
}

/// Lowers the pixels' least exponents to that guide's.
PF_HD void meet_guide(const Tile& tile, const Place& guide, float* __restrict best) {
  const int count = tile.count;
  const float *const x = tile.x, *const y = tile.y, *const red = tile.red, *const green = tile.green,
                     *const blue = tile.blue;
#pragma GCC ivdep
  for (int i = 0; i < count; ++i)
    best[i] = smaller(best[i], exponent({x[i], y[i], red[i], green[i], blue[i]}, guide));
}

/// The least exponents of a chunk's guides.
PF_HD void look_into_chunk(const Tile& tile, const Box& box, const Guides& guides, int chunk) {
  const float *const x = guides.x, *const y = guides.y, *const red = guides.red, *const green = guides.green,
                     *const blue = guides.blue;
  float* __restrict least = tile.least;
  const int first = chunk * chunk_guides;
#pragma GCC ivdep
  for (int i = first; i < first + chunk_guides; ++i)
    least[i] = least_exponent(box, Place{x[i], y[i], red[i], green[i], blue[i]});
}

/// The least exponent of each pixel, and the guides that matter to one of them, in their order. False where there is none at
/// all. The nearest guides are met first, so that most of the others need not be.
PF_HD bool find_guides(Tile& tile, const Box& box, const Guides& guides, float cutoff,
                       float* __restrict best) {
  const int chunks = (*guides.count + chunk_guides - 1) / chunk_guides;
  float* __restrict chunk_least = tile.chunk_least, * const least = tile.least;
#pragma GCC ivdep
  for (int chunk = 0; chunk < chunks; ++chunk)
    chunk_least[chunk] = least_exponent(box, chunk_box(guides, chunk));
  tile.guides = 0;
  const float nearest_chunk = least_of(chunk_least, chunks, no_feature);
  if (!(nearest_chunk < no_feature)) return false;

  const auto each_guide = [&](int chunk, float above, float most, auto f) {
    for (int i = chunk * chunk_guides; i < (chunk + 1) * chunk_guides; ++i)
      if (least[i] > above && least[i] <= most) f(i);
  };
  const auto meet = [&](int i) { meet_guide(tile, place_of(guides, i), best); };
  for (int i = 0; i < tile.count; ++i) best[i] = no_feature;
  const float first_chunks = nearest_chunk + first_reach;
  float nearest = no_feature;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    if (!(chunk_least[chunk] <= first_chunks)) continue;
    look_into_chunk(tile, box, guides, chunk);
    nearest = smaller(nearest, least_of(least + chunk * chunk_guides, chunk_guides, no_feature));
  }
  const float first = nearest + first_reach;
  for (int chunk = 0; chunk < chunks; ++chunk)
    if (chunk_least[chunk] <= first_chunks) each_guide(chunk, -1, first, meet);

  float most = most_of(best, tile.count, 0);
  const float reach = reach_of(most), room = limit_of(most, cutoff);
  for (int chunk = 0; chunk < chunks; ++chunk) {
    if (!(chunk_least[chunk] <= room)) continue;
    const bool is_first = chunk_least[chunk] <= first_chunks;
    if (!is_first) look_into_chunk(tile, box, guides, chunk);
    each_guide(chunk, is_first ? first : -1, reach, meet);
  }

  const float limit = limit_of(most_of(best, tile.count, 0), cutoff);
  for (int chunk = 0; chunk < chunks; ++chunk)
    if (chunk_least[chunk] <= limit)
      each_guide(chunk, -1, limit, [&](int i) { tile.guide[tile.guides++] = i; });
  return true;
}

}  // namespace parafield
