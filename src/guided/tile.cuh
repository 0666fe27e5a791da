#pragma once
#include "guided/likelihood.hpp"

/// Tiles of pixels on CUDA, a block each, and the guides that matter to them.
namespace parafield {

constexpr int lanes = 32;
static_assert(lanes == chunk_guides);

/// A warp's tile.
namespace tile {
constexpr int width = 8, height = 4, each = width * height / lanes;  // each: pixels of a lane
}
constexpr int guides_at_once = 4;  // of loops over them: so many do not wait for each other

inline dim3 tiles_of(Size size) {
  return {blocks_for(size.width, tile::width), blocks_for(size.height, tile::height)};
}

/// A lane and its pixels, in one column; they may lie beyond the image.
struct TileLane {
  int lane, x, y0;

  __device__ int y(int i) const { return y0 + i * (lanes / tile::width); }
};
__device__ inline TileLane tile_lane() {
  const int lane = int(threadIdx.x);
  return {lane, int(blockIdx.x) * tile::width + lane % tile::width,
          int(blockIdx.y) * tile::height + lane / tile::width};
}

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

/// A guide as it lies in memory: x, y, red, green; blue, u, v.
struct Record {
  float4 position, rest;

  __device__ Place place() const { return {position.x, position.y, position.z, position.w, rest.x}; }
};
__device__ inline Record record_of(const Guides& guides, int i) {
  const float4* const at = reinterpret_cast<const float4*>(guides.records) + 2 * i;
  return {at[0], at[1]};
}

/// The places of a lane's pixels; beyond the image those of the nearest ones.
__device__ inline void place_pixels(const TileLane& lane, const Colours& colours, LikelihoodScale scale,
                                    Place (&place)[tile::each]) {
  const int x = smaller(lane.x, colours.plane[0].width - 1);
  PF_UNROLL
  for (int i = 0; i < tile::each; ++i) {
    const int y = smaller(lane.y(i), colours.plane[0].height - 1);
    const auto channel = [&](int k) { return scaled_colour(colours.plane[k](x, y), scale.colour); };
    place[i] = {float(x) * scale.position, float(y) * scale.position, channel(0), channel(1), channel(2)};
  }
}

/// The box around the tile's places.
__device__ inline Box box_of(const Place (&place)[tile::each]) {
  constexpr int last = tile::each - 1;
  Box box{place[0], place[last]};
  PF_UNROLL
  for (int i = 0; i < tile::each; ++i) {
    box.low.red = smaller(i == 0 ? no_bound : box.low.red, place[i].red);
    box.low.green = smaller(i == 0 ? no_bound : box.low.green, place[i].green);
    box.low.blue = smaller(i == 0 ? no_bound : box.low.blue, place[i].blue);
    box.high.red = larger(i == 0 ? -no_bound : box.high.red, place[i].red);
    box.high.green = larger(i == 0 ? -no_bound : box.high.green, place[i].green);
    box.high.blue = larger(i == 0 ? -no_bound : box.high.blue, place[i].blue);
  }
  // Columns and rows grow with the lanes.
  box.low.x = __shfl_sync(~0u, place[0].x, 0);
  box.low.y = __shfl_sync(~0u, place[0].y, 0);
  box.high.x = __shfl_sync(~0u, place[last].x, lanes - 1);
  box.high.y = __shfl_sync(~0u, place[last].y, lanes - 1);
  for (float* low : {&box.low.red, &box.low.green, &box.low.blue}) *low = least_of_warp(*low);
  for (float* high : {&box.high.red, &box.high.green, &box.high.blue}) *high = most_of_warp(*high);
  return box;
}

/// The guides that may matter to a tile: their indices, in order, and least exponents. Where they do not find room all stand
/// in, which changes no bit.
template <int Most>
struct GuideList {
  unsigned short guide[Most];
  float least[Most];
  Record batch[lanes];  // see for_each_batch
  int index[lanes];
};

/// What a lane knows of the list.
struct Listing {
  int lane;
  int count = 0;
  bool listed = true;  // whether it found room

  /// Of the lanes with `in`, how many come before.
  __device__ int rank(unsigned votes) const { return __popc(votes & ((1u << lane) - 1)); }
};

/// Lists the guides of least exponents up to `most`; those in chunks of least exponents above it are not looked at. Returns the
/// lowest.
template <int Most>
__device__ float list_guides(Listing& listing, const Box& box, const Guides& guides, int count, float most,
                             GuideList<Most>& list) {
  listing.count = 0;
  float nearest = no_feature;
  const auto add = [&](int chunk) {
    const int i = chunk * chunk_guides + listing.lane;
    const float least = i < count ? least_exponent(box, record_of(guides, i).place()) : no_bound;
    nearest = smaller(nearest, least);
    const bool in = least <= most;
    const unsigned votes = __ballot_sync(~0u, in);
    const int at = listing.count + listing.rank(votes);
    if (in && at < Most) {
      list.guide[at] = static_cast<unsigned short>(i);
      list.least[at] = least;
    }
    listing.count += __popc(votes);
  };
  const int chunks = (count + chunk_guides - 1) / chunk_guides;
  if (count <= Most) {
#pragma unroll 2
    for (int chunk = 0; chunk < chunks; ++chunk) add(chunk);
  } else {
    for (int first = 0; first < chunks; first += lanes) {
      const int chunk = smaller(first + listing.lane, chunks - 1);
      unsigned near = __ballot_sync(
          ~0u, first + listing.lane < chunks && least_exponent(box, chunk_box(guides, chunk)) <= most);
      for (; near; near &= near - 1) add(first + __ffs(int(near)) - 1);
    }
  }
  listing.listed = listing.count <= Most;
  if (!listing.listed) listing.count = count;
  __syncwarp();
  return least_of_warp(nearest);
}

/// Keeps of the list those of least exponents up to `most`.
template <int Most>
__device__ void shorten(Listing& listing, float most, GuideList<Most>& list) {
  if (!listing.listed) return;
  int kept = 0;
  for (int first = 0; first < listing.count; first += lanes) {
    const int at = first + listing.lane;
    const float least = at < listing.count ? list.least[at] : no_bound;
    const unsigned short guide = at < listing.count ? list.guide[at] : 0;
    const bool in = least <= most;
    const unsigned votes = __ballot_sync(~0u, in);
    __syncwarp();
    if (in) {  // never behind what has been read
      const int to = kept + listing.rank(votes);
      list.guide[to] = guide;
      list.least[to] = least;
    }
    kept += __popc(votes);
  }
  listing.count = kept;
  __syncwarp();
}

/// Brings the listed guides of least exponents above `above` and up to `most` into the list's batch, some at a time and in order,
/// and calls f(how many). (Those that found no room have 0.)
template <int Most, class F>
__device__ void for_each_batch(const Listing& listing, const Guides& guides, float above, float most,
                               GuideList<Most>& list, F f) {
  for (int first = 0; first < listing.count; first += lanes) {
    const int at = first + listing.lane;
    const float least = at < listing.count ? listing.listed ? list.least[at] : 0.0f : no_bound;
    const bool in = (least > above) & (least <= most);
    const unsigned votes = __ballot_sync(~0u, in);
    if (!votes) continue;
    if (in) {
      const int i = listing.listed ? list.guide[at] : at, place = listing.rank(votes);
      list.batch[place] = record_of(guides, i);
      list.index[place] = i;
    }
    __syncwarp();
    f(__popc(votes));
    __syncwarp();
  }
  __syncwarp();
}

/// The least exponents of a lane's pixels, and the list of the guides. Returns the most that a guide's least exponent can be, if
/// it matters; less than none at all. The nearest guides are met first, so that most of the others need not be.
template <int Most>
__device__ float find_best(Listing& listing, const Box& box, const Guides& guides,
                           const Place (&place)[tile::each], GuideList<Most>& list,
                           float (&best)[tile::each]) {
  const int count = *guides.count;
  float listed = no_feature;
  if (count > Most) {
    float nearest_chunk = no_feature;
    for (int chunk = listing.lane; chunk * chunk_guides < count; chunk += lanes)
      nearest_chunk = smaller(nearest_chunk, least_exponent(box, chunk_box(guides, chunk)));
    listed = limit_of(least_of_warp(nearest_chunk));
  }
  const float nearest = list_guides(listing, box, guides, count, listed, list);
  const float first = nearest < no_feature ? nearest + first_reach : -1;
  PF_UNROLL
  for (int i = 0; i < tile::each; ++i) best[i] = no_feature;
  const auto meet = [&](float above, float most) {
    for_each_batch(listing, guides, above, most, list, [&](int batch) {
#pragma unroll guides_at_once
      for (int j = 0; j < batch; ++j) {
        const Place guide = list.batch[j].place();
        PF_UNROLL
        for (int i = 0; i < tile::each; ++i) best[i] = smaller(best[i], exponent(place[i], guide));
      }
    });
    float highest = best[0];
    PF_UNROLL
    for (int i = 1; i < tile::each; ++i) highest = larger(highest, best[i]);
    return most_of_warp(highest);
  };
  const float room = smaller(limit_of(meet(-1, first)), no_feature);
  if (listed < room)
    list_guides(listing, box, guides, count, room, list);
  else
    shorten(listing, room, list);
  const float highest = meet(first, room - cutoff);
  return highest < no_feature ? limit_of(highest) : -1;
}

/// relative_likelihood without a branch, so that several are on their way at a time; fast: by the device's own exponential.
template <bool Fast>
__device__ float relative_likelihood_of(float exponent, float best) {
  const float below = exponent - best;
  float power;
  if constexpr (Fast)
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(-below));
  else
    power = exponential2(-smaller(below, cutoff + 1));
  return power * (below <= cutoff ? 1.0f : 0.0f);
}

}  // namespace parafield
