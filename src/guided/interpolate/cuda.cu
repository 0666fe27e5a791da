#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/interpolate/interpolate.hpp"

// A block is a tile of 16x8 pixels and four warps. Each warp has a group of the guides and all of the tile, four pixels a lane,
// so that what it reads of a guide serves four pixels: a value that all lanes read from shared memory takes as long as four
// operations. A warp first leaves out the guides that matter to no pixel of the tile, whole chunks at first where they are many;
// then it goes through the others twice, for the pixels' best exponents and for their sums, which the warps add up at last.
// Fast: once, with weights relative to the likelihood of the guide that suits the whole tile best.
//
// Floor: 24 bytes a pixel read and 13 written, 0.9 us at 320x240 on an H100 (3.0 TB/s); 9 operations a pixel and guide for the
// best exponent, 9 + 11 + 4 for its weight and the sums: 200 guides take 17 us if none is left out.

namespace parafield {
namespace {

constexpr int width = 16, height = 8, pixels = width * height;
constexpr int lanes = 32, warps = guide_groups, threads = lanes * warps, each = pixels / lanes;
constexpr int most_listed =
    512;  // of a warp's guides; of more that matter it takes all, which changes no bit
constexpr int held =
    2;  // guides of a lane that wait in registers: with no more, there are no chunks to look at
constexpr int few = held * lanes * warps;

using Key = unsigned long long;

struct Memory {
  Key nearest[warps];
  float best[warps][pixels];
  MeanFlow mean[warps][pixels];
  unsigned short guide[warps][most_listed];
  float4 position[warps][lanes];  // of a batch of a warp's guides: x, y, red, green
  float4 rest[warps][lanes];      // blue, u, v
};

__device__ float least_of_warp(float value) {
  PF_UNROLL
  for (int step = lanes / 2; step > 0; step /= 2) value = smaller(value, __shfl_xor_sync(~0u, value, step));
  return value;
}

struct Record {
  float4 position, rest;

  __device__ Place place() const { return {position.x, position.y, position.z, position.w, rest.x}; }
};
__device__ Record record_of(const Guides& guides, int i) {
  const float4* const at = reinterpret_cast<const float4*>(guides.records) + 2 * i;
  return {at[0], at[1]};
}

/// A warp's guides that matter to the tile, and its lane's pixels.
struct Warp {
  int warp, lane;
  int count = 0;       // of guides
  bool listed = true;  // otherwise all of the group, in order
  Place place[each];

  /// Pixel `i` of the lane, as one of the tile's.
  __device__ int pixel(int i) const { return lane + i * lanes; }
  __device__ int guide(const Memory& memory, int k) const {
    return listed ? memory.guide[warp][k] : k * warps + warp;
  }
  /// The lane's `k`-th guide of the warp's group.
  __device__ int guide_of_lane(int k) const { return (k * lanes + lane) * warps + warp; }

  /// Adds the lanes' guides `i` that matter to the list.
  __device__ void list(bool matters, int i, Memory& memory) {
    const unsigned votes = __ballot_sync(~0u, matters);
    const int at = count + __popc(votes & ((1u << lane) - 1));
    if (matters && at < most_listed) memory.guide[warp][at] = static_cast<unsigned short>(i);
    count += __popc(votes);
  }
};

__device__ Box place_pixels(Warp& warp, const Colours& colours, LikelihoodScale scale, int x0, int y0) {
  const int last = colours.plane[0].width - 1, bottom = colours.plane[0].height - 1;
  Box box{{no_bound, no_bound, no_bound, no_bound, no_bound},
          {-no_bound, -no_bound, -no_bound, -no_bound, -no_bound}};
  PF_UNROLL
  for (int i = 0; i < each; ++i) {  // beyond the image the nearest pixel
    const int x = smaller(x0 + warp.pixel(i) % width, last), y = smaller(y0 + warp.pixel(i) / width, bottom);
    const auto channel = [&](int k) { return scaled_colour(colours.plane[k](x, y), scale.colour); };
    const Place place{float(x) * scale.position, float(y) * scale.position, channel(0), channel(1),
                      channel(2)};
    box.low = {float(x0) * scale.position, float(y0) * scale.position, smaller(box.low.red, place.red),
               smaller(box.low.green, place.green), smaller(box.low.blue, place.blue)};
    box.high = {float(smaller(x0 + width - 1, last)) * scale.position,
                float(smaller(y0 + height - 1, bottom)) * scale.position, larger(box.high.red, place.red),
                larger(box.high.green, place.green), larger(box.high.blue, place.blue)};
    warp.place[i] = place;
  }
  for (float* low : {&box.low.red, &box.low.green, &box.low.blue}) *low = least_of_warp(*low);
  for (float* high : {&box.high.red, &box.high.green, &box.high.blue}) *high = -least_of_warp(-*high);
  return box;
}

/// f(whether there is one, its index) for the warp's guides in chunks that may matter, a lane each, in order.
template <class F>
__device__ void visit_chunks(const Warp& warp, const Box& box, const Guides& guides, int chunks, float limit,
                             F f) {
  constexpr int at_once = warps, share = lanes / at_once;  // a warp's share of so many chunks are its lanes
  for (int first = 0; first < chunks; first += lanes) {
    const int chunk = first + warp.lane;
    unsigned near = __ballot_sync(
        ~0u, chunk < chunks && least_exponent(box, chunk_box(guides, smaller(chunk, chunks - 1))) <= limit);
    while (near) {
      int mine = -1;
      PF_UNROLL
      for (int k = 0; k < at_once; ++k) {
        mine = warp.lane / share == k ? __ffs(int(near)) - 1 : mine;
        near &= near - 1;
      }
      f(mine >= 0, (first + larger(mine, 0)) * chunk_guides + warp.lane % share * warps + warp.warp);
    }
  }
}

/// The block's nearest guide by its most exponent: that and, below, its index.
__device__ Key nearest_of_block(const Warp& warp, Key nearest, Memory& memory) {
  PF_UNROLL
  for (int step = lanes / 2; step > 0; step /= 2)
    nearest = smaller(nearest, __shfl_xor_sync(~0u, nearest, step));
  if (warp.lane == 0) memory.nearest[warp.warp] = nearest;
  __syncthreads();
  PF_UNROLL
  for (int k = 0; k < warps; ++k) nearest = smaller(nearest, memory.nearest[k]);
  return nearest;
}
__device__ Key key_of(float most, int i) { return (Key(__float_as_uint(most)) << 32) | unsigned(i); }
__device__ float most_of(Key key) { return __uint_as_float(unsigned(key >> 32)); }

/// The nearest guide of all. first: the lane's first guides, whether there are so many or not.
__device__ Key choose_guides(Warp& warp, const Box& box, const Guides& guides, int count,
                             const Record (&first)[held], Memory& memory) {
  Key nearest = key_of(no_feature, 0);
  if (count <= few) {
    PF_UNROLL
    for (int k = 0; k < held; ++k)
      if (const int i = warp.guide_of_lane(k); i < count)
        nearest = smaller(nearest, key_of(most_exponent(box, first[k].place()), i));
    nearest = nearest_of_block(warp, nearest, memory);
    const float limit = limit_of(most_of(nearest));
    PF_UNROLL
    for (int k = 0; k < held; ++k) {
      const int i = warp.guide_of_lane(k);
      warp.list(i < count && least_exponent(box, first[k].place()) <= limit, i, memory);
    }
  } else {
    const int chunks = (count + chunk_guides - 1) / chunk_guides;
    float most = no_feature;
    for (int chunk = warp.lane; chunk < chunks; chunk += lanes)
      most = smaller(most, most_exponent(box, chunk_box(guides, chunk)));
    const float chunk_limit = limit_of(least_of_warp(most));
    visit_chunks(warp, box, guides, chunks, chunk_limit, [&](bool is, int i) {
      if (is) nearest = smaller(nearest, key_of(most_exponent(box, record_of(guides, i).place()), i));
    });
    nearest = nearest_of_block(warp, nearest, memory);
    const float limit = limit_of(most_of(nearest));
    visit_chunks(warp, box, guides, chunks, chunk_limit, [&](bool is, int i) {
      warp.list(is && least_exponent(box, record_of(guides, i).place()) <= limit, i, memory);
    });
  }
  warp.listed = warp.count <= most_listed;
  if (!warp.listed) warp.count = (count - warp.warp + warps - 1) / warps;
  return nearest;
}

/// f(guide's place, u, v) for each of the warp's guides, in order.
template <class F>
__device__ void for_each_guide(const Warp& warp, const Guides& guides, Memory& memory, F f) {
  for (int first = 0; first < warp.count; first += lanes) {
    const int count = smaller(lanes, warp.count - first);
    __syncwarp();
    if (warp.lane < count) {
      const Record record = record_of(guides, warp.guide(memory, first + warp.lane));
      memory.position[warp.warp][warp.lane] = record.position;
      memory.rest[warp.warp][warp.lane] = record.rest;
    }
    __syncwarp();
#pragma unroll 2
    for (int j = 0; j < count; ++j) {
      const Record record{memory.position[warp.warp][j], memory.rest[warp.warp][j]};
      f(record.place(), record.rest.y, record.rest.z);
    }
  }
}

__device__ void exchange_best(const Warp& warp, Memory& memory, float (&best)[each]) {
  PF_UNROLL
  for (int i = 0; i < each; ++i) memory.best[warp.warp][warp.pixel(i)] = best[i];
  __syncthreads();
  PF_UNROLL
  for (int i = 0; i < each; ++i) {
    PF_UNROLL
    for (int k = 0; k < warps; ++k) best[i] = smaller(best[i], memory.best[k][warp.pixel(i)]);
  }
}

/// The sums of the lane's pixels over the warp's guides.
__device__ void add_guides(const Warp& warp, const Guides& guides, Memory& memory, MeanFlow (&mean)[each]) {
  float best[each];
  PF_UNROLL
  for (int i = 0; i < each; ++i) best[i] = no_feature, mean[i] = {};
  for_each_guide(warp, guides, memory, [&](const Place& guide, float, float) {
    PF_UNROLL
    for (int i = 0; i < each; ++i) best[i] = smaller(best[i], exponent(warp.place[i], guide));
  });
  exchange_best(warp, memory, best);
  for_each_guide(warp, guides, memory, [&](const Place& guide, float u, float v) {
    PF_UNROLL
    for (int i = 0; i < each; ++i)
      mean[i].add(relative_likelihood(exponent(warp.place[i], guide), best[i]), u, v);
  });
}

/// The same, but for a common factor of a pixel's sums, by the device's own exponential. False where a weight is too large: a
/// pixel is so unlike the tile's others that `nearest` does not suit it.
__device__ bool add_guides_fast(const Warp& warp, const Guides& guides, const Place& nearest, Memory& memory,
                                MeanFlow (&mean)[each]) {
  constexpr float largest = 64;  // exponent of a weight
  float best[each], reference[each];
  PF_UNROLL
  for (int i = 0; i < each; ++i) {
    reference[i] = exponent(warp.place[i], nearest);
    best[i] = no_feature, mean[i] = {};
  }
  for_each_guide(warp, guides, memory, [&](const Place& guide, float u, float v) {
    PF_UNROLL
    for (int i = 0; i < each; ++i) {
      const float e = exponent(warp.place[i], guide);
      best[i] = smaller(best[i], e);
      float weight;
      asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(weight) : "f"(reference[i] - e));
      mean[i].add(weight, u, v);
    }
  });
  bool fits = true;
  PF_UNROLL
  for (int i = 0; i < each; ++i) {
    memory.best[warp.warp][warp.pixel(i)] = best[i];
    fits &= reference[i] - best[i] <= largest;
  }
  return __syncthreads_and(fits);
}

template <bool Fast>
__global__ void __launch_bounds__(threads)
    interpolate_kernel(Guides guides, Colours colours, LikelihoodScale scale, FlowPlanes flow,
                       View<float> likelihood, HypothesisTest test) {
  __shared__ Memory memory;
  launch_next();
  const int thread = int(threadIdx.x), x0 = int(blockIdx.x) * width, y0 = int(blockIdx.y) * height;
  Warp warp{thread / lanes, thread % lanes};
  await_last();
  const int count = *guides.count;
  const Record first[held] = {record_of(guides, warp.guide_of_lane(0)),
                              record_of(guides, warp.guide_of_lane(1))};
  const Box box = place_pixels(warp, colours, scale, x0, y0);
  const Key nearest = choose_guides(warp, box, guides, count, first, memory);
  const bool any = most_of(nearest) < no_feature;
  MeanFlow mean_of_group[each];
  bool done = false;
  if constexpr (Fast)
    done = add_guides_fast(warp, guides, record_of(guides, int(unsigned(nearest))).place(), memory,
                           mean_of_group);
  if (!done) add_guides(warp, guides, memory, mean_of_group);
  PF_UNROLL
  for (int i = 0; i < each; ++i) memory.mean[warp.warp][warp.pixel(i)] = mean_of_group[i];
  __syncthreads();

  const int x = x0 + thread % width, y = y0 + thread / width;
  if (x >= flow.u.width || y >= flow.u.height) return;
  const MeanFlow mean =
      total(memory.mean[0][thread], memory.mean[1][thread], memory.mean[2][thread], memory.mean[3][thread]);
  Motion motion = any ? Motion{mean.u / mean.weight, mean.v / mean.weight} : Motion{0, 0};
  if (test.valid) test.valid(x, y) = passes(test, x, y, motion);
  flow.u(x, y) = motion.u;
  flow.v(x, y) = motion.v;
  if (!likelihood) return;
  float least = memory.best[0][thread];
  PF_UNROLL
  for (int k = 1; k < warps; ++k) least = smaller(least, memory.best[k][thread]);
  likelihood(x, y) = any ? best_likelihood(least) : 0.0f;
}

}  // namespace

template <>
std::size_t interpolation_scratch(const Cuda&, int) {
  return 0;
}

template <>
void interpolate_flow(Cuda& cuda, const Guides& guides, const Colours& colours, LikelihoodScale scale,
                      bool fast, FlowPlanes flow, View<float> likelihood, const HypothesisTest& test) {
  const dim3 tiles(blocks_for(flow.u.width, width), blocks_for(flow.u.height, height));
  cuda.launch(fast ? interpolate_kernel<true> : interpolate_kernel<false>, tiles, dim3(threads), 0, guides,
              colours, scale, flow, likelihood, test);
}

}  // namespace parafield
