#pragma once
#include "guided/guides/record.cuh"
#include "guided/interpolate/interpolate.hpp"

/// Tiles of pixels on CUDA, a warp each, and the guides that matter to them.
namespace parafield {

constexpr int lanes = 32;
static_assert(lanes == chunk_guides);

/// A warp's tile: a lane has a pixel of its own, and where guides are weighed, a group of pixels in a row and each fourth guide:
/// so what it reads of a guide serves four pixels, and four guides are read at a time.
namespace tile {
constexpr int width = 8, height = 4, pixels = width * height, each = 4, groups = pixels / each;
static_assert(pixels == lanes);
}  // namespace tile
constexpr int guides_at_once = lanes / tile::groups;
constexpr int batch_guides = 16;  // in shared memory at a time
static_assert(batch_guides * 2 == lanes, "a lane brings half a guide");
constexpr int all_listed = 512;  // so few guides are listed without a look at their chunks

/// Blocks of so many warps.
inline dim3 tiles_of(Size size, int warps) {
  return {blocks_for(size.width, tile::width * warps), blocks_for(size.height, tile::height)};
}

/// A lane of a tile.
struct TileLane {
  int lane, column;  // column: of tiles

  __device__ int left() const { return column * tile::width; }
  __device__ int top() const { return int(blockIdx.y) * tile::height; }
  __device__ int group() const { return lane % tile::groups; }
  /// Of the guides that are weighed together.
  __device__ int turn() const { return lane / tile::groups; }
  __device__ int x() const { return left() + lane % tile::width; }
  __device__ int y() const { return top() + lane / tile::width; }
};

/// Floats in the order of numbers, for reductions of whole ones.
__device__ inline int ordered(float value) {
  const int bits = __float_as_int(value);
  return bits ^ (bits >> 31 & 0x7fffffff);
}
__device__ inline float from_ordered(int bits) { return __int_as_float(bits ^ (bits >> 31 & 0x7fffffff)); }
__device__ inline float least_of_warp(float value) {
#if __CUDA_ARCH__ >= 800
  return from_ordered(__reduce_min_sync(~0u, ordered(value)));
#else
  PF_UNROLL
  for (int step = lanes / 2; step > 0; step /= 2) value = smaller(value, __shfl_xor_sync(~0u, value, step));
  return value;
#endif
}
__device__ inline float most_of_warp(float value) { return -least_of_warp(-value); }

/// The guides that tiles are surrounded by, in whole chunks. `boxes` of the chunks: needed where they are more than all_listed.
struct Surrounding {
  const Record* record;
  int count;
  const Guides* boxes;

  __device__ Box box(int chunk) const { return chunk_box(*boxes, chunk); }
};

/// The guides of a tile that may matter, and their least exponents.
template <int Most>
struct Candidates {
  float least[Most];
  unsigned short guide[Most];
};

/// How many are picked; or all guides are, as candidates found no room.
struct Picks {
  int count;
  bool all = false;
};

/// Those picked of them, in order.
template <int Most>
struct Picked {
  unsigned short guide[Most];

  __device__ int operator()(const Picks& picks, int i) const { return picks.all ? i : guide[i]; }
};

/// What is read of some guides at a time.
struct Batch {
  Record guide[batch_guides];
};

/// The weights of a batch's guides for each pixel.
struct Weights {
  float of[batch_guides][tile::pixels];
};

/// What a lane knows of the least exponents that guides have for a tile: up to Most guides, those of all; of more, those of the
/// candidates. Where they do not find room, all guides count as picked, which changes no bit.
template <int Most>
struct Listing {
  int lane;
  Candidates<Most>& candidates;
  int count = 0;
  bool all = true, listed = true;
};

/// The same of never more than Most guides, in registers: of each chunk that of the lane's guide.
template <int Most>
struct RegisterListing {
  static constexpr int chunks = Most / chunk_guides, at_once = 4;

  int lane;
  int count;  // of guides
  float least[chunks];
};

/// Of the lanes with `votes`, how many come before.
__device__ inline int rank(unsigned votes, int lane) { return __popc(votes & ((1u << lane) - 1)); }

/// The places of a lane's group of pixels, and the box around all; beyond the image stand the nearest pixels. By way of `shared`,
/// three planes of the tile.
__device__ inline Box place_pixels(const TileLane& lane, const Colours& colours, LikelihoodScale scale,
                                   float* shared, Place (&place)[tile::each]) {
  const int right = colours.pixels.width - 1, bottom = colours.pixels.height - 1;
  const Colour own = load(&colours.pixels(smaller(lane.x(), right), smaller(lane.y(), bottom)));
  Box box;
  const auto bring = [&](int channel, float own, float& low, float& high) {
    const float value = scaled_colour(own, scale.colour);
    shared[channel * tile::pixels + lane.lane] = value;
    low = least_of_warp(value), high = most_of_warp(value);
  };
  bring(0, own.red, box.low.red, box.high.red);
  bring(1, own.green, box.low.green, box.high.green);
  bring(2, own.blue, box.low.blue, box.high.blue);
  const int left = lane.left(), top = lane.top();
  const auto scaled = [&](int at, int last) { return float(smaller(at, last)) * scale.position; };
  box.low.x = scaled(left, right), box.high.x = scaled(left + tile::width - 1, right);
  box.low.y = scaled(top, bottom), box.high.y = scaled(top + tile::height - 1, bottom);
  __syncwarp();
  const int first = lane.group() * tile::each;
  PF_UNROLL
  for (int i = 0; i < tile::each; ++i)
    place[i] = {scaled(left + (first + i) % tile::width, right), scaled(top + first / tile::width, bottom),
                shared[first + i], shared[tile::pixels + first + i], shared[2 * tile::pixels + first + i]};
  __syncwarp();
  return box;
}

/// Of the guides that a lane has looked at.
struct Nearest {
  float least = no_feature;
  int guide = -1;
};

/// Looks at a guide and returns its least exponent.
__device__ inline float look_at(const Surrounding& guides, int i, const Box& box, Nearest& nearest) {
  const float least = least_exponent(box, guides.record[i].place());
  nearest = least < nearest.least ? Nearest{least, i} : nearest;
  return least;
}

/// Lists the guides of least exponents up to `most`; those in chunks of least exponents above it are not looked at.
template <int Most>
__device__ Nearest list_guides(Listing<Most>& listing, const Box& box, const Surrounding& guides,
                               float most) {
  const int count = guides.count, chunks = (count + chunk_guides - 1) / chunk_guides, lane = listing.lane;
  Candidates<Most>& candidates = listing.candidates;
  Nearest nearest;
  __syncwarp();
  listing.all = count <= Most;
  if (listing.all) {
#pragma unroll 2
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const int i = chunk * chunk_guides + lane;
      candidates.least[i] = look_at(guides, i, box, nearest);
    }
    listing.count = count;
  } else {
    listing.count = 0;
    for (int first = 0; first < chunks; first += lanes) {
      const int chunk = smaller(first + lane, chunks - 1);
      unsigned near =
          __ballot_sync(~0u, first + lane < chunks && least_exponent(box, guides.box(chunk)) <= most);
      for (; near; near &= near - 1) {
        const int i = (first + __ffs(int(near)) - 1) * chunk_guides + lane;
        const float least = look_at(guides, i, box, nearest);
        const bool in = least <= most;
        const unsigned votes = __ballot_sync(~0u, in);
        const int at = listing.count + rank(votes, lane);
        if (in && at < Most) {
          candidates.least[at] = least;
          candidates.guide[at] = static_cast<unsigned short>(i);
        }
        listing.count += __popc(votes);
      }
    }
    listing.listed = listing.count <= Most;
  }
  __syncwarp();
  return nearest;
}
template <int Most>
__device__ Nearest list_guides(RegisterListing<Most>& listing, const Box& box, const Surrounding& guides,
                               float) {
  listing.count = guides.count;
  const int last = (guides.count - 1) / chunk_guides;
  Nearest nearest;
  PF_UNROLL
  for (int first = 0; first < listing.chunks; first += listing.at_once) {
    if (first > last) break;
    PF_UNROLL
    for (int chunk = first; chunk < first + listing.at_once; ++chunk)
      listing.least[chunk] =
          look_at(guides, smaller(chunk, last) * chunk_guides + listing.lane, box, nearest);
  }
  return nearest;
}

/// Picks of `count` places those whose guide `is_in`: in order.
template <int Most, class IsIn, class GuideAt>
__device__ int pick(int lane, int count, Picked<Most>& picked, IsIn is_in, GuideAt guide_at) {
  __syncwarp();  // what was picked before has been read
  int found = 0;
#pragma unroll 2
  for (int first = 0; first < count; first += lanes) {
    const int at = first + lane;
    const bool in = at < count && is_in(at);
    const unsigned votes = __ballot_sync(~0u, in);
    if (in) picked.guide[found + rank(votes, lane)] = static_cast<unsigned short>(guide_at(at));
    found += __popc(votes);
  }
  __syncwarp();
  return found;
}

/// Those of least exponents up to `most`.
template <int Most>
__device__ Picks pick(const Listing<Most>& listing, const Surrounding& guides, float most,
                      Picked<Most>& picked) {
  if (!listing.listed) return {guides.count, true};
  const Candidates<Most>& candidates = listing.candidates;
  return {pick(
      listing.lane, listing.count, picked, [&](int at) { return candidates.least[at] <= most; },
      [&](int at) { return listing.all ? at : candidates.guide[at]; })};
}
template <int Most>
__device__ Picks pick(const RegisterListing<Most>& listing, const Surrounding&, float most,
                      Picked<Most>& picked) {
  int found = 0;
  __syncwarp();
  PF_UNROLL
  for (int first = 0; first < listing.chunks; first += listing.at_once) {
    if (first * chunk_guides >= listing.count) break;
    PF_UNROLL
    for (int chunk = first; chunk < first + listing.at_once; ++chunk) {
      const int i = chunk * chunk_guides + listing.lane;
      const bool in = (i < listing.count) & (listing.least[chunk] <= most);
      const unsigned votes = __ballot_sync(~0u, in);
      if (in) picked.guide[found + rank(votes, listing.lane)] = static_cast<unsigned short>(i);
      found += __popc(votes);
    }
  }
  __syncwarp();
  return {found};
}

/// Brings the guides into the batch, some at a time and in order, and calls f(the first one's place, how many). Behind the last come
/// some that lie nowhere, up to a multiple of guides_at_once.
template <int Most, class F>
__device__ void for_each_batch(int lane, const Surrounding& guides, const Picks& picks,
                               const Picked<Most>& picked, Batch& batch, F f) {
  for (int first = 0; first < picks.count; first += batch_guides) {
    const int at = first + lane / 2, half = lane % 2;
    const float4 none = make_float4(half == 0 ? nowhere : 0, 0, 0, 0);
    reinterpret_cast<float4*>(batch.guide)[lane] =
        at < picks.count ? reinterpret_cast<const float4*>(guides.record)[2 * picked(picks, at) + half]
                         : none;
    __syncwarp();
    const int count = smaller(batch_guides, picks.count - first);
    f(first, (count + guides_at_once - 1) / guides_at_once * guides_at_once);
    __syncwarp();
  }
}

/// The same with the guides' weights for each pixel: weigh(guide, which of the lane's group).
template <int Most, class Weigh, class F>
__device__ void for_each_weighed_batch(TileLane lane, const Surrounding& guides, const Picks& picks,
                                       const Picked<Most>& picked, Batch& batch, Weights& weights,
                                       Weigh weigh, F f) {
  for_each_batch(lane.lane, guides, picks, picked, batch, [&](int first, int count) {
#pragma unroll 2
    for (int j = 0; j < count; j += guides_at_once) {
      const Record guide = batch.guide[j + lane.turn()];
      *reinterpret_cast<float4*>(&weights.of[j + lane.turn()][lane.group() * tile::each]) =
          make_float4(weigh(guide, 0), weigh(guide, 1), weigh(guide, 2), weigh(guide, 3));
    }
    __syncwarp();
    f(first, count);
  });
}

/// The least exponents of a lane's group of pixels. Returns the guides that matter to one of the tile's. Some near guides are met
/// first, so that most of the others need not be.
template <class AnyListing, int Most>
__device__ Picks find_best(TileLane lane, const Box& box, const Surrounding& guides, float cutoff,
                           const Place (&place)[tile::each], AnyListing listing, Picked<Most>& picked,
                           Batch& batch, float (&best)[tile::each]) {
  const int count = guides.count;
  float listed = no_feature;
  if (count > Most) {
    float nearest_chunk = no_feature;
    for (int chunk = lane.lane; chunk * chunk_guides < count; chunk += lanes)
      nearest_chunk = smaller_number(nearest_chunk, least_exponent(box, guides.box(chunk)));
    listed = limit_of(least_of_warp(nearest_chunk), cutoff);
  }
  PF_UNROLL
  for (int i = 0; i < tile::each; ++i) best[i] = no_feature;
  const auto meet = [&](const Place& guide) {
    PF_UNROLL
    for (int i = 0; i < tile::each; ++i) best[i] = smaller_number(best[i], exponent(place[i], guide));
  };
  const auto highest = [&] {
    float most = 0;
    PF_UNROLL
    for (int i = 0; i < tile::each; ++i) {
      PF_UNROLL
      for (int step = tile::groups; step < lanes; step *= 2)
        best[i] = smaller_number(best[i], __shfl_xor_sync(~0u, best[i], step));
      most = larger_number(most, best[i]);
    }
    return most_of_warp(most);
  };

  // The nearest of each group of lanes: the lanes of a turn meet those of two groups.
  Nearest nearest = list_guides(listing, box, guides, listed);
  PF_UNROLL
  for (int step = tile::groups; step < lanes; step *= 2) {
    const Nearest other{__shfl_xor_sync(~0u, nearest.least, step), __shfl_xor_sync(~0u, nearest.guide, step)};
    nearest = other.least < nearest.least ? other : nearest;
  }
  PF_UNROLL
  for (int group = 0; group < tile::groups; group += guides_at_once) {
    const int guide = __shfl_sync(~0u, nearest.guide, group + lane.turn());
    if (guide >= 0) meet(guides.record[guide].place());
  }
  const float room = highest();
  if (!(room < no_feature) && listed >= no_feature) return {0};
  if (listed < limit_of(room, cutoff)) list_guides(listing, box, guides, limit_of(room, cutoff));
  const Picks near = pick(listing, guides, reach_of(room), picked);
  for_each_batch(lane.lane, guides, near, picked, batch, [&](int, int some) {
    for (int j = 0; j < some; j += guides_at_once) meet(batch.guide[j + lane.turn()].place());
  });
  return pick(listing, guides, limit_of(highest(), cutoff), picked);
}

/// A lane's own pixel of what it has of its group, by way of shared memory.
__device__ inline float own_of(const TileLane& lane, const float (&of)[tile::each],
                               float (&shared)[tile::pixels]) {
  __syncwarp();
  if (lane.turn() == 0) {
    PF_UNROLL
    for (int i = 0; i < tile::each; ++i) shared[lane.group() * tile::each + i] = of[i];
  }
  __syncwarp();
  const float own = shared[lane.lane];
  __syncwarp();
  return own;
}

/// Adds a weighed batch to the mean of a lane's own pixel.
__device__ inline void add_batch(TileLane lane, const Batch& batch, const Weights& weights, int count,
                                 MeanFlow& mean) {
  for (int j = 0; j < count; j += guides_at_once) {
    PF_UNROLL
    for (int g = 0; g < guides_at_once; ++g) {
      const float4 guide = batch.guide[j + g].rest;
      mean.add(weights.of[j + g][lane.lane], guide.y, guide.z);
    }
  }
}

/// relative_likelihood without a branch, so that several are on their way at a time; fast: by the device's own exponential.
template <bool Fast>
__device__ float relative_likelihood_of(float exponent, float best) {
  constexpr float cutoff = cutoff_of(Fast);
  const float below = exponent - best;
  float power;
  if constexpr (Fast)
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(-below));
  else
    power = exponential2(-smaller_number(below, cutoff + 1));
  return below <= cutoff ? power : 0.0f;
}

}  // namespace parafield
