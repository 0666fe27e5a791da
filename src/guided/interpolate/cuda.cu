#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/interpolate/interpolate.hpp"
#include "guided/tile.cuh"

// A block is a tile of 16x8 pixels and four warps. Each warp has a group of the guides and all of the tile, four pixels a lane,
// so that what it reads of a guide serves four pixels: a value that all lanes read from shared memory takes as long as four
// operations. Guides that matter to no pixel of the tile are left out (find_best).
//
// Floor: 24 bytes a pixel read and 13 written, 0.9 us at 320x240 on an H100 (3.0 TB/s); 9 operations a pixel and guide for the
// best exponent, 9 + 11 + 4 for its weight and the sums: 200 guides take 17 us if none is left out.

namespace parafield {
namespace {

constexpr int warps = guide_groups, threads = lanes * warps, each = tile::pixels / lanes;
constexpr int most_listed = 512;

struct Memory {
  float best[2][warps][tile::pixels];
  float weight[warps][tile::pixels], u[warps][tile::pixels], v[warps][tile::pixels];
  GuideList<most_listed> list[warps];
};

template <bool Fast>
__global__ void __launch_bounds__(threads)
    interpolate_kernel(Guides guides, Colours colours, LikelihoodScale scale, FlowPlanes flow,
                       View<float> likelihood, HypothesisTest test) {
  __shared__ Memory memory;
  launch_next();
  const int thread = int(threadIdx.x), warp = thread / lanes, lane = thread % lanes;
  const int x0 = int(blockIdx.x) * tile::width, y0 = int(blockIdx.y) * tile::height;
  GuideList<most_listed>& list = memory.list[warp];
  Share share{warp, warps, lane};
  await_last();
  Place place[each];
  PF_UNROLL
  for (int i = 0; i < each; ++i) {
    const int pixel = lane + i * lanes;
    place[i] = place_of(x0 + pixel % tile::width, y0 + pixel / tile::width, colours, scale);
  }
  float best[each];
  int exchanged = 0;
  const float limit =
      find_best(share, box_of_warp(place), guides, place, list, best, [&](float(&of_warp)[each]) {
        auto& exchange = memory.best[exchanged++];
        PF_UNROLL
        for (int i = 0; i < each; ++i) exchange[warp][lane + i * lanes] = of_warp[i];
        __syncthreads();
        PF_UNROLL
        for (int i = 0; i < each; ++i) {
          PF_UNROLL
          for (int k = 0; k < warps; ++k) of_warp[i] = smaller(of_warp[i], exchange[k][lane + i * lanes]);
        }
      });
  MeanFlow sums[each];
  for_each_batch(share, guides, -1, limit, list, [&](int batch) {
#pragma unroll 2
    for (int j = 0; j < batch; ++j) {
      const Record guide = list.batch[j];
      PF_UNROLL
      for (int i = 0; i < each; ++i)
        sums[i].add(relative_likelihood_of<Fast>(exponent(place[i], guide.place()), best[i]), guide.rest.y,
                    guide.rest.z);
    }
  });
  PF_UNROLL
  for (int i = 0; i < each; ++i) {
    const int pixel = lane + i * lanes;
    memory.weight[warp][pixel] = sums[i].weight;
    memory.u[warp][pixel] = sums[i].u;
    memory.v[warp][pixel] = sums[i].v;
  }
  __syncthreads();

  const int x = x0 + thread % tile::width, y = y0 + thread / tile::width;
  if (x >= flow.u.width || y >= flow.u.height) return;
  const auto of_group = [&](int k) {
    return MeanFlow{memory.weight[k][thread], memory.u[k][thread], memory.v[k][thread]};
  };
  const MeanFlow mean = total(of_group(0), of_group(1), of_group(2), of_group(3));
  const bool any = limit >= 0;
  Motion motion = any ? Motion{mean.u / mean.weight, mean.v / mean.weight} : Motion{0, 0};
  if (test.valid) test.valid(x, y) = passes(test, x, y, motion);
  flow.u(x, y) = motion.u;
  flow.v(x, y) = motion.v;
  if (!likelihood) return;
  float least = no_feature;
  PF_UNROLL
  for (int k = 0; k < warps; ++k)
    least = smaller(least, smaller(memory.best[0][k][thread], memory.best[1][k][thread]));
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
  cuda.launch(fast ? interpolate_kernel<true> : interpolate_kernel<false>, tiles_of(flow.u.size()),
              dim3(threads), 0, guides, colours, scale, flow, likelihood, test);
}

}  // namespace parafield
