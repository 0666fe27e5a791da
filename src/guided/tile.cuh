#pragma once
#include "guided/likelihood.hpp"

/// Tiles of pixels on CUDA, a block each and a thread a pixel, and the guides that matter to them.
namespace parafield {

namespace tile {
constexpr int width = 16, height = 8, threads = width * height, warps = threads / 32;
constexpr int most_listed = 2048;  // guides that matter; of more all are taken, which changes no bit
}  // namespace tile

inline dim3 tiles_of(Size size) {
  return {blocks_for(size.width, tile::width), blocks_for(size.height, tile::height)};
}

/// What a block shares.
struct TileMemory {
  float bound[7][tile::warps];  // the box's colours, and the least of the guides' most exponents
  int chosen[tile::warps];
  unsigned short guide[tile::most_listed];
  float4 position[tile::threads];  // of a batch of guides: x, y, red, green
  float4 flow[tile::threads];      // blue, u, v
};

__device__ inline float least_of_warp(float value) {
  PF_UNROLL
  for (int step = 16; step > 0; step /= 2) value = smaller(value, __shfl_xor_sync(~0u, value, step));
  return value;
}

/// A thread's pixel; beyond the image the nearest one.
struct TilePixel {
  int x, y, thread;
  bool inside;
  Place place;
};

__device__ inline TilePixel tile_pixel(Size size) {
  const int thread = int(threadIdx.x);
  const int x = int(blockIdx.x) * tile::width + thread % tile::width,
            y = int(blockIdx.y) * tile::height + thread / tile::width;
  return {smaller(x, size.width - 1),
          smaller(y, size.height - 1),
          thread,
          x < size.width && y < size.height,
          {}};
}

__device__ inline void place_pixel(TilePixel& pixel, const Colours& colours, LikelihoodScale scale) {
  pixel.place = {float(pixel.x) * scale.position, float(pixel.y) * scale.position,
                 scaled_colour(colours.plane[0](pixel.x, pixel.y), scale.colour),
                 scaled_colour(colours.plane[1](pixel.x, pixel.y), scale.colour),
                 scaled_colour(colours.plane[2](pixel.x, pixel.y), scale.colour)};
}

__device__ inline Place place_of(const Guides& guides, int i) {
  return {guides.x[i], guides.y[i], guides.red[i], guides.green[i], guides.blue[i]};
}

/// The guides that matter to a tile.
struct ChosenGuides {
  int count;
  bool listed;  ///< otherwise all of them, in order
  bool any;     ///< whether there is a guide at all
};

/// All threads of a block.
__device__ inline ChosenGuides choose_guides(const Guides& guides, const TilePixel& pixel, Size size,
                                             LikelihoodScale scale, TileMemory& memory) {
  const int thread = pixel.thread, warp = thread / 32, lane = thread % 32;
  const float sides[6] = {pixel.place.red,  pixel.place.green,  pixel.place.blue,
                          -pixel.place.red, -pixel.place.green, -pixel.place.blue};
  PF_UNROLL
  for (int i = 0; i < 6; ++i) {
    const float least = least_of_warp(sides[i]);
    if (lane == 0) memory.bound[i][warp] = least;
  }
  __syncthreads();
  float bound[6];
  PF_UNROLL
  for (int i = 0; i < 6; ++i) {
    bound[i] = memory.bound[i][0];
    PF_UNROLL
    for (int k = 1; k < tile::warps; ++k) bound[i] = smaller(bound[i], memory.bound[i][k]);
  }
  const int x0 = int(blockIdx.x) * tile::width, y0 = int(blockIdx.y) * tile::height;
  const int x1 = smaller(x0 + tile::width, size.width) - 1, y1 = smaller(y0 + tile::height, size.height) - 1;
  const Box box{{float(x0) * scale.position, float(y0) * scale.position, bound[0], bound[1], bound[2]},
                {float(x1) * scale.position, float(y1) * scale.position, -bound[3], -bound[4], -bound[5]}};

  const int count = *guides.count;
  float most = no_feature;
  for (int i = thread; i < count; i += tile::threads)
    most = smaller(most, most_exponent(box, place_of(guides, i)));
  most = least_of_warp(most);
  if (lane == 0) memory.bound[6][warp] = most;
  __syncthreads();
  PF_UNROLL
  for (int k = 0; k < tile::warps; ++k) most = smaller(most, memory.bound[6][k]);

  const float limit = limit_of(most);
  int chosen = 0;
  for (int first = 0; first < count; first += tile::threads) {
    const int i = first + thread;
    const bool matters = i < count && least_exponent(box, place_of(guides, i)) <= limit;
    const unsigned votes = __ballot_sync(~0u, matters);
    if (lane == 0) memory.chosen[warp] = __popc(votes);
    __syncthreads();
    int place = chosen + __popc(votes & ((1u << lane) - 1));
    PF_UNROLL
    for (int k = 0; k < tile::warps; ++k) {
      place += k < warp ? memory.chosen[k] : 0;
      chosen += memory.chosen[k];
    }
    if (matters && place < tile::most_listed) memory.guide[place] = static_cast<unsigned short>(i);
    __syncthreads();
  }
  const bool listed = chosen <= tile::most_listed;
  return {listed ? chosen : count, listed, most < no_feature};
}

/// f(j, guide's index) for what a batch holds at j; the block's threads together bring the batch of chosen guides from
/// `first` on. Returns how many there are.
__device__ inline int load_batch(const Guides& guides, const ChosenGuides& chosen, int first, int thread,
                                 TileMemory& memory) {
  const int count = smaller(tile::threads, chosen.count - first);
  __syncthreads();
  if (thread < count) {
    const int i = chosen.listed ? memory.guide[first + thread] : first + thread;
    memory.position[thread] = make_float4(guides.x[i], guides.y[i], guides.red[i], guides.green[i]);
    memory.flow[thread] = make_float4(guides.blue[i], guides.u[i], guides.v[i], 0);
  }
  __syncthreads();
  return count;
}

__device__ inline float exponent_of(const TileMemory& memory, int j, const Place& pixel) {
  const float4 position = memory.position[j];
  return exponent(pixel, {position.x, position.y, position.z, position.w, memory.flow[j].x});
}

/// The least exponent of the thread's pixel. Afterwards the last batch is in memory.
__device__ inline float find_best(const Guides& guides, const ChosenGuides& chosen, const TilePixel& pixel,
                                  TileMemory& memory) {
  float best = no_feature;
  for (int first = 0; first < chosen.count; first += tile::threads) {
    const int count = load_batch(guides, chosen, first, pixel.thread, memory);
#pragma unroll 4
    for (int j = 0; j < count; ++j) best = smaller(best, exponent_of(memory, j, pixel.place));
  }
  return best;
}

/// 2^-(exponent - best), by the device's own exponential.
__device__ inline float relative_likelihood_fast(float exponent, float best) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(best - exponent));
  return power;
}

template <bool Fast>
__device__ float relative_likelihood_of(float exponent, float best) {
  if constexpr (Fast) return relative_likelihood_fast(exponent, best);
  return relative_likelihood(exponent, best);
}

}  // namespace parafield
