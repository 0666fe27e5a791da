// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/matches/descriptors.hpp"

// Two launches describe all levels of one or two frames. The first pools gradients: each block has the
// gradients of its tile and 3 px around it in shared memory. The second normalizes them by the energy within
// 6 px.
//
// Lower bound: each pixel reads 4 bytes of luma, writes and reads 20 bytes of intermediate values, and writes
// 8. For both frames at 1242x375 with their levels that is 65 MB: 22 us from an H100's memory (3.0 TB/s), and
// less from its 50 MB cache, which holds the intermediate values. 910 instructions per pixel take 33 us.
// Levels of 160x120 to 40x30 of two frames take 6.8 and 7.3 us (ncu, H100, commit 979f4b7), which is the
// latency of one block.

namespace parafield {
namespace {

constexpr int pooled_width = 32, pooled_height = 16, pooling_threads = 256;
constexpr int pool_width = pooled_width + 2 * pool_reach, pool_height = pooled_height + 2 * pool_reach;
constexpr int energy_width = pooled_width + 2 * energy_reach,
              energy_height = pooled_height + 2 * energy_reach;
constexpr int pairs = Descriptors::directions / 2;

/// A level of a frame, and where its blocks and its intermediate pixels begin.
struct DescribedLevel {
  View<const float> luma;
  Descriptors out;
  long long first_pixel;
  int first_block, columns;  ///< columns of tiles
};
struct DescribedLevels {
  int levels;
  DescribedLevel level[2][Pyramid::max_levels];
  DescriptorScratch scratch[2];
};

/// A block's tile.
struct DescribedTile {
  DescribedLevel level;
  int x0, y0;
};

__device__ DescribedTile tile_of(const DescribedLevels& all) {
  const int frame = int(blockIdx.z), block = int(blockIdx.x);
  int level = 0;
  while (level + 1 < all.levels && block >= all.level[frame][level + 1].first_block) ++level;
  const DescribedLevel of = all.level[frame][level];
  const int tile = block - of.first_block;
  return {of, tile % of.columns * pooled_width, tile / of.columns * pooled_height};
}

/// Values of a pixel in eight directions, two per word, for sums that stay below 2^16.
struct alignas(16) ChannelPairs {
  std::uint32_t pair[pairs];
};

/// `pooled` of two values in one word.
__device__ std::uint32_t pooled_pair(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d,
                                     std::uint32_t e, std::uint32_t f, std::uint32_t g) {
  return ((4 * d + 3 * (c + e) + 2 * (b + f) + (a + g) + 0x00080008u) >> 4) & 0x0fff0fffu;
}

/// Triangle filter over seven pixels at distance `step` from each other, beginning with `first`.
__device__ ChannelPairs pooled_pairs(const ChannelPairs* first, int step) {
  ChannelPairs result;
  PF_UNROLL
  for (int k = 0; k < pairs; ++k)
    result.pair[k] =
        pooled_pair(first[0].pair[k], first[step].pair[k], first[2 * step].pair[k], first[3 * step].pair[k],
                    first[4 * step].pair[k], first[5 * step].pair[k], first[6 * step].pair[k]);
  return result;
}

__device__ ChannelPairs directed_pairs(View<const float> luma, int x, int y) {
  const int right = luma.width - 1, bottom = luma.height - 1;
  const float gx = half_difference(luma(larger(x - 1, 0), y), luma(smaller(x + 1, right), y));
  const float gy = half_difference(luma(x, larger(y - 1, 0)), luma(x, smaller(y + 1, bottom)));
  const float scale = sharpening(gx, gy);
  ChannelPairs result;
  PF_UNROLL
  for (int k = 0; k < pairs; ++k)
    result.pair[k] = std::uint32_t(directed(gx, gy, scale, direction(2 * k))) |
                     std::uint32_t(directed(gx, gy, scale, direction(2 * k + 1))) << 16;
  return result;
}

__global__ void __launch_bounds__(pooling_threads)
    pool_gradients_kernel(const __grid_constant__ DescribedLevels all) {
  begin_kernel();
  __shared__ ChannelPairs raw[pool_height * pool_width], smoothed[pooled_height * pool_width];
  const auto [level, x0, y0] = tile_of(all);
  const int width = level.luma.width, height = level.luma.height, thread = int(threadIdx.x);
  for (int i = thread; i < pool_height * pool_width; i += pooling_threads)
    raw[i] = directed_pairs(level.luma, clamp(x0 - pool_reach + i % pool_width, 0, width - 1),
                            clamp(y0 - pool_reach + i / pool_width, 0, height - 1));
  __syncthreads();
  for (int i = thread; i < pooled_height * pool_width; i += pooling_threads)
    smoothed[i] = pooled_pairs(raw + i, pool_width);
  __syncthreads();
  const DescriptorScratch scratch = all.scratch[blockIdx.z];
  for (int i = thread; i < pooled_height * pooled_width; i += pooling_threads) {
    const int column = i % pooled_width, row = i / pooled_width, x = x0 + column, y = y0 + row;
    if (x >= width || y >= height) continue;
    const ChannelPairs result = pooled_pairs(smoothed + row * pool_width + column, 1);
    int energy = 0;
    PF_UNROLL
    for (int k = 0; k < pairs; ++k) {
      const int low = int(result.pair[k] & 0xffffu), high = int(result.pair[k] >> 16);
      energy += low * low + high * high;
    }
    const long long pixel = level.first_pixel + (long long)y * width + x;
    reinterpret_cast<ChannelPairs*>(scratch.channels)[pixel] = result;
    scratch.energy[pixel] = float(energy);
  }
}

__device__ std::uint64_t descriptor_of(const ChannelPairs& channels, float scale) {
  std::uint64_t word = 0;
  PF_UNROLL
  for (int k = 0; k < pairs; ++k) {
    const auto byte = [=](std::uint32_t channel) {
      return std::uint64_t(descriptor_byte(std::uint16_t(channel), scale));
    };
    word |= (byte(channels.pair[k] & 0xffffu) | byte(channels.pair[k] >> 16) << 8) << (16 * k);
  }
  return word;
}

/// Weighted sum of 13 energies at distance `step` from each other, around `middle`.
__device__ float energy_around(const float* middle, int step) {
  float total = energy_weight(0) * middle[0];
  PF_UNROLL
  for (int k = 1; k <= energy_reach; ++k)
    total = fma(energy_weight(k), middle[-k * step] + middle[k * step], total);
  return total;
}

__global__ void __launch_bounds__(pooling_threads)
    normalize_kernel(const __grid_constant__ DescribedLevels all) {
  begin_kernel();
  __shared__ float energy[energy_height * energy_width], summed[pooled_height * energy_width];
  __shared__ std::uint64_t words[pooled_height][pooled_width];
  const auto [level, x0, y0] = tile_of(all);
  const int width = level.luma.width, height = level.luma.height, thread = int(threadIdx.x);
  const DescriptorScratch scratch = all.scratch[blockIdx.z];
  const auto pixel_at = [=, &level](int x, int y) { return level.first_pixel + (long long)y * width + x; };
  for (int i = thread; i < energy_height * energy_width; i += pooling_threads)
    energy[i] = scratch.energy[pixel_at(clamp(x0 - energy_reach + i % energy_width, 0, width - 1),
                                        clamp(y0 - energy_reach + i / energy_width, 0, height - 1))];
  __syncthreads();
  for (int i = thread; i < pooled_height * energy_width; i += pooling_threads)
    summed[i] = energy_around(energy + i + energy_reach * energy_width, energy_width);
  __syncthreads();
  for (int i = thread; i < pooled_height * pooled_width; i += pooling_threads) {
    const int column = i % pooled_width, row = i / pooled_width, x = x0 + column, y = y0 + row;
    if (x >= width || y >= height) continue;
    const float scale = normalization(energy_around(summed + row * energy_width + column + energy_reach, 1));
    const std::uint64_t word =
        descriptor_of(reinterpret_cast<const ChannelPairs*>(scratch.channels)[pixel_at(x, y)], scale);
    *level.out.at(x, y) = words[row][column] = word;
  }
  constexpr int margin = Descriptors::margin;
  const int columns = smaller(pooled_width, width - x0), rows = smaller(pooled_height, height - y0);
  const int left = x0 == 0 ? -margin : 0, right = x0 + columns == width ? columns + margin : columns,
            top = y0 == 0 ? -margin : 0, bottom = y0 + rows == height ? rows + margin : rows;
  const int across = right - left, count = across * (bottom - top);
  if (count == rows * columns) return;
  __syncthreads();  // each block also writes the margin next to its tile
  for (int i = thread; i < count; i += pooling_threads) {
    const int row = top + i / across, column = left + i % across;
    *level.out.at(x0 + column, y0 + row) = words[clamp(row, 0, rows - 1)][clamp(column, 0, columns - 1)];
  }
}

}  // namespace

template <class Backend>
void describe(Backend& cuda, const Pyramid* pyramids, int count, const Descriptors* descriptors,
              const DescriptorScratch* scratch) {
  DescribedLevels all{};
  all.levels = pyramids[0].levels;
  int blocks = 0;
  for (int frame = 0; frame < count; ++frame) {
    all.scratch[frame] = scratch[frame];
    long long pixels = 0;
    blocks = 0;
    for (int level = 0; level < all.levels; ++level) {
      const View<const float> luma = pyramids[frame].level[level];
      const auto columns = int(blocks_for(luma.width, pooled_width));
      all.level[frame][level] = {luma, descriptors[frame * all.levels + level], pixels, blocks, columns};
      pixels += (long long)luma.width * luma.height;
      blocks += columns * int(blocks_for(luma.height, pooled_height));
    }
  }
  const dim3 grid(unsigned(blocks), 1, unsigned(count)), block(pooling_threads);
  cuda.launch(pool_gradients_kernel, grid, block, 0, all);
  cuda.hold_next_for_throughput();
  cuda.launch(normalize_kernel, grid, block, 0, all);
  cuda.hold_next_for_throughput();
}

PF_STEP(describe<Cuda>);

}  // namespace parafield
