#pragma once
#include "guided/likelihood.hpp"

/// Tiles of pixels on CUDA, a block each, and the guides that matter to them.
namespace parafield {

namespace tile {
constexpr int width = 16, height = 8, pixels = width * height;
}  // namespace tile
constexpr int lanes = 32;
static_assert(lanes == chunk_guides);

inline dim3 tiles_of(Size size) {
  return {blocks_for(size.width, tile::width), blocks_for(size.height, tile::height)};
}

__device__ inline float least_of_warp(float value) {
  PF_UNROLL
  for (int step = lanes / 2; step > 0; step /= 2) value = smaller(value, __shfl_xor_sync(~0u, value, step));
  return value;
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

/// The place of a pixel; beyond the image that of the nearest one.
__device__ inline Place place_of(int x, int y, const Colours& colours, LikelihoodScale scale) {
  x = smaller(x, colours.plane[0].width - 1);
  y = smaller(y, colours.plane[0].height - 1);
  const auto channel = [&](int k) { return scaled_colour(colours.plane[k](x, y), scale.colour); };
  return {float(x) * scale.position, float(y) * scale.position, channel(0), channel(1), channel(2)};
}

/// The box around the places of a warp.
template <int Pixels>
__device__ Box box_of_warp(const Place (&place)[Pixels]) {
  Box box{place[0], place[0]};
  PF_UNROLL
  for (int i = 1; i < Pixels; ++i) {
    box.low = {smaller(box.low.x, place[i].x), smaller(box.low.y, place[i].y),
               smaller(box.low.red, place[i].red), smaller(box.low.green, place[i].green),
               smaller(box.low.blue, place[i].blue)};
    box.high = {larger(box.high.x, place[i].x), larger(box.high.y, place[i].y),
                larger(box.high.red, place[i].red), larger(box.high.green, place[i].green),
                larger(box.high.blue, place[i].blue)};
  }
  for (float* low : {&box.low.x, &box.low.y, &box.low.red, &box.low.green, &box.low.blue})
    *low = least_of_warp(*low);
  for (float* high : {&box.high.x, &box.high.y, &box.high.red, &box.high.green, &box.high.blue})
    *high = most_of_warp(*high);
  return box;
}

/// A warp's share of the guides: every `step`-th from `first` on; of those that may matter to its pixels their indices, in
/// order, and least exponents. Where they do not find room all of the share stand in, which changes no bit.
template <int Most>
struct GuideList {
  unsigned short guide[Most];
  float least[Most];
  Record batch[lanes];  // see for_each_batch
  int index[lanes];
};

struct Share {
  int first, step, lane;
  int count = 0;       // of the list
  bool listed = true;  // whether it found room
};

/// Lists the share's guides of least exponents up to `most`; those in chunks of least exponents above it are not looked at.
/// Returns the lowest.
template <int Most>
__device__ float list_guides(Share& share, const Box& box, const Guides& guides, int count, float most,
                             GuideList<Most>& list) {
  share.count = 0;
  float nearest = no_feature;
  const auto add = [&](bool is, int i) {
    const float least = is ? least_exponent(box, record_of(guides, i).place()) : no_bound;
    nearest = smaller(nearest, least);
    const bool in = least <= most;
    const unsigned votes = __ballot_sync(~0u, in);
    const int at = share.count + __popc(votes & ((1u << share.lane) - 1));
    if (in && at < Most) {
      list.guide[at] = static_cast<unsigned short>(i);
      list.least[at] = least;
    }
    share.count += __popc(votes);
  };
  const int of_share = (count - share.first + share.step - 1) / share.step;
  if (of_share <= Most) {
#pragma unroll 2
    for (int k = 0; k < of_share; k += lanes) {
      const int i = (k + share.lane) * share.step + share.first;
      add(i < count, smaller(i, count - 1));
    }
  } else {
    const int chunks = (count + chunk_guides - 1) / chunk_guides, of_chunk = lanes / share.step;
    for (int first = 0; first < chunks; first += lanes) {
      const int chunk = smaller(first + share.lane, chunks - 1);
      unsigned near = __ballot_sync(
          ~0u, first + share.lane < chunks && least_exponent(box, chunk_box(guides, chunk)) <= most);
      while (near) {  // so many chunks at a time that the share has a lane's guide of each
        int mine = -1;
        for (int k = 0; k < share.step; ++k) {
          mine = share.lane / of_chunk == k ? __ffs(int(near)) - 1 : mine;
          near &= near - 1;
        }
        add(mine >= 0,
            (first + larger(mine, 0)) * chunk_guides + share.lane % of_chunk * share.step + share.first);
      }
    }
  }
  share.listed = share.count <= Most;
  if (!share.listed) share.count = of_share;
  __syncwarp();
  return least_of_warp(nearest);
}

/// Brings the listed guides of least exponents above `above` and up to `most` into the list's batch, some at a time and in order,
/// and calls f(how many). (Those that found no room have 0.)
template <int Most, class F>
__device__ void for_each_batch(const Share& share, const Guides& guides, float above, float most,
                               GuideList<Most>& list, F f) {
  for (int first = 0; first < share.count; first += lanes) {
    const int at = first + share.lane;
    const float least = at < share.count ? share.listed ? list.least[at] : 0.0f : no_bound;
    const bool in = (least > above) & (least <= most);
    const unsigned votes = __ballot_sync(~0u, in);
    if (in) {
      const int i = share.listed ? list.guide[at] : at * share.step + share.first,
                place = __popc(votes & ((1u << share.lane) - 1));
      list.batch[place] = record_of(guides, i);
      list.index[place] = i;
    }
    __syncwarp();
    if (votes) f(__popc(votes));
    __syncwarp();
  }
}

/// The least exponents of a lane's pixels, and the list of the share's guides. exchange(best): takes those of the shares of
/// other warps in. Returns the most that a guide's least exponent can be, if it matters; less than none at all. The nearest
/// guides are met first, so that most of the others need not be.
template <int Most, int Pixels, class Exchange>
__device__ float find_best(Share& share, const Box& box, const Guides& guides, const Place (&place)[Pixels],
                           GuideList<Most>& list, float (&best)[Pixels], Exchange exchange) {
  const int count = *guides.count;
  float listed = no_feature;
  if (count > Most * share.step) {
    float nearest_chunk = no_feature;
    for (int chunk = share.lane; chunk * chunk_guides < count; chunk += lanes)
      nearest_chunk = smaller(nearest_chunk, least_exponent(box, chunk_box(guides, chunk)));
    listed = limit_of(least_of_warp(nearest_chunk));
  }
  const float nearest = list_guides(share, box, guides, count, listed, list);
  const float first = nearest < no_feature ? nearest + first_reach : -1;
  PF_UNROLL
  for (int i = 0; i < Pixels; ++i) best[i] = no_feature;
  const auto meet = [&](float above, float most) {
    for_each_batch(share, guides, above, most, list, [&](int batch) {
#pragma unroll 2
      for (int j = 0; j < batch; ++j) {
        const Place guide = list.batch[j].place();
        PF_UNROLL
        for (int i = 0; i < Pixels; ++i) best[i] = smaller(best[i], exponent(place[i], guide));
      }
    });
    exchange(best);
    float highest = best[0];
    PF_UNROLL
    for (int i = 1; i < Pixels; ++i) highest = larger(highest, best[i]);
    return most_of_warp(highest);
  };
  float highest = meet(-1, first);
  if (listed < limit_of(highest))
    list_guides(share, box, guides, count, smaller(limit_of(highest), no_feature), list);
  highest = meet(first, reach_of(highest));
  return highest < no_feature ? limit_of(highest) : -1;
}

/// 2^-(exponent - best), by the device's own exponential where that is allowed.
template <bool Fast>
__device__ float relative_likelihood_of(float exponent, float best) {
  if constexpr (!Fast) return relative_likelihood(exponent, best);
  float power = 0;
  if (exponent - best <= cutoff) asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(best - exponent));
  return power;
}

}  // namespace parafield
