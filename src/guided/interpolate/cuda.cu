#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/interpolate/interpolate.hpp"

// A block is a tile of 16x8 pixels and four warps. Each warp has a group of the guides and all of the tile, four pixels a lane,
// so that what it reads of a guide serves four pixels: a value that all lanes read from shared memory takes as long as four
// operations. A warp first leaves out the guides that matter to no pixel of the tile, a lane each; then it goes through the
// others twice, for the pixels' best exponents and for their sums, which the warps add up at last.
//
// Floor: 24 bytes a pixel read and 13 written, 0.9 us at 320x240 on an H100 (3.0 TB/s); 9 operations a pixel and guide for the
// best exponent, 9 + 11 + 4 for its weight and the sums: 200 guides take 17 us if none is left out.

namespace parafield {
namespace {

constexpr int width = 16, height = 8, pixels = width * height;
constexpr int lanes = 32, warps = guide_groups, threads = lanes * warps, each = pixels / lanes;
constexpr int most_listed =
    512;  // of a warp's guides; of more that matter it takes all, which changes no bit

struct Memory {
  float bound[warps];
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
};

__device__ Place place_of(const Guides& guides, int i) {
  return {guides.x[i], guides.y[i], guides.red[i], guides.green[i], guides.blue[i]};
}

__device__ Box place_pixels(Warp& warp, const Colours& colours, LikelihoodScale scale, int x0, int y0) {
  const int last = colours.plane[0].width - 1, bottom = colours.plane[0].height - 1;
  Box box{{3e38f, 3e38f, 3e38f, 3e38f, 3e38f}, {-3e38f, -3e38f, -3e38f, -3e38f, -3e38f}};
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

/// Whether there is a guide at all.
__device__ bool choose_guides(Warp& warp, const Box& box, const Guides& guides, Memory& memory) {
  const int count = *guides.count;
  float most = no_feature;
  for (int i = warp.warp + warp.lane * warps; i < count; i += lanes * warps)
    most = smaller(most, most_exponent(box, place_of(guides, i)));
  most = least_of_warp(most);
  if (warp.lane == 0) memory.bound[warp.warp] = most;
  __syncthreads();
  PF_UNROLL
  for (int k = 0; k < warps; ++k) most = smaller(most, memory.bound[k]);

  const float limit = limit_of(most);
  for (int first = warp.warp; first < count; first += lanes * warps) {
    const int i = first + warp.lane * warps;
    const bool matters = i < count && least_exponent(box, place_of(guides, i)) <= limit;
    const unsigned votes = __ballot_sync(~0u, matters);
    const int place = warp.count + __popc(votes & ((1u << warp.lane) - 1));
    if (matters && place < most_listed) memory.guide[warp.warp][place] = static_cast<unsigned short>(i);
    warp.count += __popc(votes);
  }
  warp.listed = warp.count <= most_listed;
  if (!warp.listed) warp.count = (count - warp.warp + warps - 1) / warps;
  __syncwarp();
  return most < no_feature;
}

/// The warp's guides from `first` on, a lane each. Returns how many there are.
__device__ int load_batch(const Warp& warp, const Guides& guides, int first, Memory& memory) {
  const int count = smaller(lanes, warp.count - first);
  __syncwarp();
  if (warp.lane < count) {
    const int i = warp.guide(memory, first + warp.lane);
    const Place place = place_of(guides, i);
    memory.position[warp.warp][warp.lane] = make_float4(place.x, place.y, place.red, place.green);
    memory.rest[warp.warp][warp.lane] = make_float4(place.blue, guides.u[i], guides.v[i], 0);
  }
  __syncwarp();
  return count;
}

/// The least exponent of each of the lane's pixels, over all warps.
__device__ void find_best(const Warp& warp, const Guides& guides, Memory& memory, float (&best)[each]) {
  PF_UNROLL
  for (int i = 0; i < each; ++i) best[i] = no_feature;
  for (int first = 0; first < warp.count; first += lanes) {
    const int count = load_batch(warp, guides, first, memory);
#pragma unroll 2
    for (int j = 0; j < count; ++j) {
      const float4 position = memory.position[warp.warp][j];
      const Place guide{position.x, position.y, position.z, position.w, memory.rest[warp.warp][j].x};
      PF_UNROLL
      for (int i = 0; i < each; ++i) best[i] = smaller(best[i], exponent(warp.place[i], guide));
    }
  }
  PF_UNROLL
  for (int i = 0; i < each; ++i) memory.best[warp.warp][warp.pixel(i)] = best[i];
  __syncthreads();
  PF_UNROLL
  for (int i = 0; i < each; ++i) PF_UNROLL
  for (int k = 0; k < warps; ++k) best[i] = smaller(best[i], memory.best[k][warp.pixel(i)]);
}

/// 2^-(exponent - best), by the device's own exponential.
__device__ float relative_likelihood_fast(float exponent, float best) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(best - exponent));
  return power;
}

template <bool Fast>
__device__ void add_guides(const Warp& warp, const Guides& guides, const float (&best)[each],
                           Memory& memory) {
  MeanFlow mean[each];
  for (int first = 0; first < warp.count; first += lanes) {
    const int count = warp.count <= lanes ? warp.count : load_batch(warp, guides, first, memory);
#pragma unroll 2
    for (int j = 0; j < count; ++j) {
      const float4 position = memory.position[warp.warp][j], rest = memory.rest[warp.warp][j];
      const Place guide{position.x, position.y, position.z, position.w, rest.x};
      PF_UNROLL
      for (int i = 0; i < each; ++i) {
        const float e = exponent(warp.place[i], guide);
        mean[i].add(Fast ? relative_likelihood_fast(e, best[i]) : relative_likelihood(e, best[i]), rest.y,
                    rest.z);
      }
    }
  }
  PF_UNROLL
  for (int i = 0; i < each; ++i) memory.mean[warp.warp][warp.pixel(i)] = mean[i];
  __syncthreads();
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
  const Box box = place_pixels(warp, colours, scale, x0, y0);
  const bool any = choose_guides(warp, box, guides, memory);
  float best[each];
  find_best(warp, guides, memory, best);
  add_guides<Fast>(warp, guides, best, memory);

  const int x = x0 + thread % width, y = y0 + thread / width;
  if (x >= flow.u.width || y >= flow.u.height) return;
  const MeanFlow mean =
      total(memory.mean[0][thread], memory.mean[1][thread], memory.mean[2][thread], memory.mean[3][thread]);
  const float none = __int_as_float(0x7fc00000);
  Motion motion = any ? Motion{mean.u / mean.weight, mean.v / mean.weight} : Motion{none, none};
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
