// SPDX-License-Identifier: MIT
#pragma once
#include "core/cuda/backend.hpp"
#include "steps/matches/patch_match.hpp"

/// Comparison of patches, by a single thread or by the lanes of a seed together.
namespace parafield {

constexpr int patch_lanes = 8;
constexpr unsigned whole_warp = ~0u;

__device__ inline unsigned difference(std::uint64_t a, std::uint64_t b) {
  return __vsadu4(unsigned(a), unsigned(b)) + __vsadu4(unsigned(a >> 32), unsigned(b >> 32));
}

/// A seed's patch in registers.
struct SeedPatch {
  std::uint64_t words[patch_words];

  __device__ SeedPatch(const Descriptors& descriptors, int x, int y) {
    const std::uint64_t* const from = patch_at(descriptors, x, y);
    const std::ptrdiff_t pitch = patch_pitch(descriptors);
    PF_UNROLL
    for (int i = 0; i < patch_words; ++i) words[i] = from[i / patch_side * pitch + i % patch_side];
  }
  /// Cost of the match at (x, y).
  __device__ int cost(const SeedGrid& grid, const Descriptors& descriptors, int x, int y) const {
    if (!grid.has_pixel(x, y)) return outside_cost;
    const SeedPatch other(descriptors, x, y);
    unsigned sum = 0;
    PF_UNROLL
    for (int i = 0; i < patch_words; ++i) sum += difference(words[i], other.words[i]);
    return int(sum);
  }
  /// Cost of the match at (x2, y2), in halves of a pixel.
  __device__ int half_cost(const SeedGrid& grid, const Descriptors& descriptors, int x2, int y2) const {
    const HalfPlace place(x2, y2);
    if (!grid.has_pixel(place.x, place.y) || !grid.has_pixel(place.x + place.right, place.y + place.below))
      return outside_cost;
    unsigned sum = 0;
    PF_UNROLL
    for (int i = 0; i < patch_words; ++i) sum += difference(words[i], word_between(descriptors, place, i));
    return int(sum);
  }
  /// Cost of the flow of a seed at (x, y).
  __device__ int cost(const SeedGrid& grid, const Descriptors& descriptors, int x, int y,
                      const FlowAtSeed& flow) const {
    return flow_cost(
        flow, [&](int u, int v) { return cost(grid, descriptors, x + u, y + v); },
        [&](int u2, int v2) { return half_cost(grid, descriptors, 2 * x + u2, 2 * y + v2); });
  }
  __device__ int texture() const {
    unsigned sum = 0;
    PF_UNROLL
    for (int i = 0; i < patch_words; ++i) sum += difference(words[i], 0);
    return int(sum);
  }
};

/// A lane's eighth of a patch: one word of a row, and the word two rows below. This way eight lanes read
/// whole rows, each of which is contiguous in memory.
struct PatchPart {
  std::uint64_t words[2];

  PatchPart() = default;
  /// `from`: the lane's first word.
  __device__ PatchPart(const std::uint64_t* from, std::ptrdiff_t two_rows) : words{from[0], from[two_rows]} {}
  __device__ unsigned cost(const PatchPart& other) const {
    return difference(words[0], other.words[0]) + difference(words[1], other.words[1]);
  }
};

/// A lane's parts of all patches of a frame.
struct PatchParts {
  const std::uint64_t* first;  // for the patch that begins with the frame's first word
  std::ptrdiff_t two_rows;

  __device__ PatchParts(const Descriptors& descriptors, int lane)
      : first(descriptors.rows.data + lane / patch_side * patch_pitch(descriptors) + lane % patch_side),
        two_rows(2 * patch_pitch(descriptors)) {}
  __device__ PatchPart at(unsigned place) const { return {first + place, two_rows}; }
};

constexpr unsigned nowhere = ~0u;

/// The place of the patch at (x, y): its offset from the frame's first word, in words. Outside the frame:
/// nowhere.
__device__ inline unsigned patch_place(const SeedGrid& grid, const Descriptors& descriptors, int x, int y) {
  return grid.has_pixel(x, y) ? unsigned(patch_at(descriptors, x, y) - descriptors.rows.data) : nowhere;
}

/// Cost of the match at (x, y), in all lanes of the seed.
__device__ inline int cost_of(const PatchPart& part, const SeedGrid& grid, const Descriptors& to,
                              const PatchParts& parts, int x, int y) {
  const unsigned place = patch_place(grid, to, x, y);
  unsigned sum = place == nowhere ? 0 : part.cost(parts.at(place));
  PF_UNROLL
  for (int step = 1; step < patch_lanes; step *= 2) sum += __shfl_xor_sync(whole_warp, sum, step);
  return place == nowhere ? outside_cost : int(sum);
}

/// Costs of several matches of a seed. Each of the seed's first `Count` lanes, 4 or 8, passes the place of
/// one match and gets its cost. A lane gets outside_cost if its place is nowhere or a lower lane has the same
/// place.
template <int Count>
__device__ int cost_of_each(const PatchPart& part, const PatchParts& parts, unsigned place) {
  const int lane = int(threadIdx.x) % patch_lanes;
  unsigned places[Count];
  PF_UNROLL
  for (int k = 0; k < Count; ++k) {
    places[k] = __shfl_sync(whole_warp, place, k, patch_lanes);
    if (lane > k && place == places[k]) place = nowhere;
  }
  if (!__any_sync(whole_warp, place != nowhere)) return outside_cost;
  PatchPart others[Count];
  PF_UNROLL
  for (int k = 0; k < Count; ++k) others[k] = parts.at(places[k] == nowhere ? 0 : places[k]);  // in parallel
  unsigned sums[Count];
  PF_UNROLL
  for (int k = 0; k < Count; ++k) {
    sums[k] = part.cost(others[k]);
    if (Count < patch_lanes) sums[k] += __shfl_xor_sync(whole_warp, sums[k], Count);
  }
  PF_UNROLL
  for (int step = Count / 2; step >= 1; step /= 2) {  // each lane keeps the half with its own sum
    const bool upper = lane & step;
    PF_UNROLL
    for (int k = 0; k < step; ++k) {
      const unsigned given = upper ? sums[k] : sums[k + step];
      sums[k] = (upper ? sums[k + step] : sums[k]) + __shfl_xor_sync(whole_warp, given, step);
    }
  }
  return place == nowhere ? outside_cost : int(sums[0]);
}

}  // namespace parafield
