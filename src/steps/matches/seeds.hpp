// SPDX-License-Identifier: MIT
#pragma once
#include "steps/matches/descriptors.hpp"

/// Seeds of PatchMatch: their positions, what they try and how matches are compared.
namespace parafield {

/// Seeds of a level, every `stride` px. Seed (column, row) has number row * columns + column.
struct SeedGrid {
  int width = 0, height = 0;  ///< level, px
  int stride = 1, columns = 0, rows = 0;

  PF_HD int count() const { return columns * rows; }
  PF_HD Size seeds() const { return {columns, rows}; }
  PF_HD int x(int column) const { return smaller(stride / 2 + column * stride, width - 1); }
  PF_HD int y(int row) const { return smaller(stride / 2 + row * stride, height - 1); }
  /// Column of the seed nearest to column x of the level.
  PF_HD int column_near(int x) const { return clamp(x / stride, 0, columns - 1); }
  PF_HD int row_near(int y) const { return clamp(y / stride, 0, rows - 1); }
  PF_HD bool has_pixel(int x, int y) const { return (x >= 0) & (x < width) & (y >= 0) & (y < height); }
};

inline SeedGrid seed_grid_of(Size level, int stride) {
  const auto seeds = [=](int side) { return larger((side - stride / 2 + stride - 1) / stride, 1); };
  return {level.width, level.height, stride, seeds(level.width), seeds(level.height)};
}

/// A seed's match: its flow in px of the level, and its cost.
struct alignas(16) SeedMatch {
  int u, v, cost;
};

/// A patch is 4 x 4 points at a distance of patch_step px, centered on its pixel. The cost of a match is the
/// sum of absolute differences between two patches' bytes.
constexpr int patch_side = 4, patch_step = 4, patch_reach = 6;
constexpr int patch_words = patch_side * patch_side;
static_assert(patch_step == Descriptors::phases && patch_reach <= Descriptors::margin);
constexpr int outside_cost = 1 << 20;  ///< of a match outside the frame; above any sum of differences

/// The first word of a pixel's patch; the patch's next row is `patch_pitch` words further.
PF_HD const std::uint64_t* patch_at(const Descriptors& descriptors, int x, int y) {
  return descriptors.at(x - patch_reach, y - patch_reach);
}
PF_HD std::ptrdiff_t patch_pitch(const Descriptors& descriptors) {
  return patch_step * descriptors.rows.stride();
}

/// A place in halves of a pixel: the pixel to the upper left, and whether the place is between it and the next
/// pixel to the right or below (0 or 1).
struct HalfPlace {
  int x, y, right, below;

  PF_HD HalfPlace(int x2, int y2) : x(x2 >> 1), y(y2 >> 1), right(x2 & 1), below(y2 & 1) {}
};

/// The mean of each two bytes, rounded up.
PF_HD std::uint64_t mean_of_bytes(std::uint64_t a, std::uint64_t b) {
  return (a | b) - (((a ^ b) >> 1) & 0x7f7f7f7f7f7f7f7full);
}
/// Word `i` of the patch at a place between pixels.
PF_HD std::uint64_t word_between(const Descriptors& descriptors, const HalfPlace& place, int i) {
  const std::ptrdiff_t at = i / patch_side * patch_pitch(descriptors) + i % patch_side;
  const auto word = [&](int right, int below) {
    return patch_at(descriptors, place.x + right, place.y + below)[at];
  };
  return mean_of_bytes(mean_of_bytes(word(0, 0), word(place.right, 0)),
                       mean_of_bytes(word(0, place.below), word(place.right, place.below)));
}

/// An iteration of PatchMatch on a level: what its seeds try.
struct SeedSearch {
  int step;           ///< distance of the neighbors to try, in seeds
  int radius;         ///< radius of the first random flow around the best; halved down to 1
  std::uint32_t key;  ///< key of the random numbers, different for each iteration of each level
};

constexpr int seed_neighbors = 8;
constexpr int random_radius = 4;  ///< px; at levels other than the coarsest

constexpr int most_starts = 512;
/// Number of random positions that each seed of the coarsest level compares: more if there are few seeds.
inline int random_starts(const SeedGrid& grid) { return clamp((1 << 17) / grid.count(), 64, most_starts); }

/// The search in iteration `iteration` of `iterations` on a level. Seeds try distant neighbors first.
PF_HD SeedSearch seed_search(const SeedGrid& grid, int level, bool coarsest, int iteration, int iterations) {
  const int first = coarsest ? 4 : 2;
  return {iteration < iterations - 2 ? 1 << larger(0, first - iteration) : 1,
          coarsest ? larger(grid.width, grid.height) : random_radius,
          std::uint32_t(level * 8192 + (iteration + 1) * 32)};
}

/// A hash that mixes all bits into each other (Wellons' lowbias32).
PF_HD std::uint32_t mixed(std::uint32_t bits) {
  bits = (bits ^ (bits >> 16)) * 0x7feb352du;
  bits = (bits ^ (bits >> 15)) * 0x846ca68bu;
  return bits ^ (bits >> 16);
}

/// Two random integers, 0 to u_range - 1 and 0 to v_range - 1, that depend only on the seed and the key.
PF_HD SeedMatch random_pair(int seed, std::uint32_t key, int u_range, int v_range) {
  const std::uint32_t first = mixed(mixed(std::uint32_t(seed)) ^ key), second = mixed(first + 0x9e3779b9u);
  const auto below = [](std::uint32_t bits, int range) {
    return int((std::uint64_t(bits) * unsigned(range)) >> 32);
  };
  return {below(first, u_range), below(second, v_range), 0};
}

/// Random flow that leads a seed at (x, y) anywhere in the level. `k`: number of the start.
PF_HD SeedMatch random_start(const SeedGrid& grid, int seed, int x, int y, int k) {
  const SeedMatch place = random_pair(seed, 0x80000000u + std::uint32_t(k), grid.width, grid.height);
  return {place.u - x, place.v - y, 0};
}

/// Random flow within `radius` of the best one. `k` counts the radii of a search.
PF_HD SeedMatch random_flow(const SeedMatch& best, int seed, std::uint32_t key, int radius, int k) {
  const SeedMatch shift = random_pair(seed, key + std::uint32_t(k), 2 * radius + 1, 2 * radius + 1);
  return {best.u + shift.u - radius, best.v + shift.v - radius, 0};
}

/// Number of the seed's neighbor `k`, at a distance of `step` seeds; -1 if there is none.
PF_HD int neighbor_of(const SeedGrid& grid, int column, int row, int step, int k) {
  const int place = k < seed_neighbors / 2 ? k : k + 1;  // index in 3 x 3 without the middle
  const int x = column + (place % 3 - 1) * step, y = row + (place / 3 - 1) * step;
  const bool inside = (x >= 0) & (x < grid.columns) & (y >= 0) & (y < grid.rows);
  return inside ? y * grid.columns + x : -1;
}

/// Number of the coarser level's seed whose match a seed starts from.
PF_HD int coarser_seed(const SeedGrid& coarser, const SeedGrid& grid, int column, int row) {
  return coarser.row_near(grid.y(row) / 2) * coarser.columns + coarser.column_near(grid.x(column) / 2);
}

}  // namespace parafield
