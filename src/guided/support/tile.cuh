// SPDX-License-Identifier: MIT
#pragma once
#include "core/cuda/warp_reductions.cuh"
#include "guided/support/features.hpp"

/// Tiles of pixels on CUDA, one per warp.
namespace parafield {

constexpr int lanes = 32;
static_assert(lanes == chunk_size);

/// A warp's tile. Each lane has a pixel of its own. For weights, a lane has a group of four adjacent pixels
/// and every fourth feature, so each feature is read once for four pixels, and four features are read at a
/// time.
namespace tile {
constexpr int width = 8, height = 4, pixels = width * height, each = 4, groups = pixels / each;
static_assert(pixels == lanes);
}  // namespace tile
constexpr int features_at_once = lanes / tile::groups;

/// Grid of blocks with `warps` warps, each of which has a tile.
inline dim3 tiles_of(Size size, int warps) {
  return {blocks_for(size.width, tile::width * warps), blocks_for(size.height, tile::height)};
}

struct TileLane {
  int lane, column;  // index in the warp; column of tiles

  __device__ int left() const { return column * tile::width; }
  __device__ int top() const { return int(blockIdx.y) * tile::height; }
  __device__ int group() const { return lane % tile::groups; }
  /// Index of the lane's feature among the features that are read at a time.
  __device__ int part() const { return lane / tile::groups; }
  __device__ int x() const { return left() + lane % tile::width; }
  __device__ int y() const { return top() + lane / tile::width; }
};

/// Computes the places of a lane's group of pixels, clamped to the image, and returns the tile's box.
/// `shared`: three planes.
__device__ inline PlaceBox place_pixels(const TileLane& lane, const Colors& colors, LikelihoodScale scale,
                                        float* shared, ColoredPlace (&place)[tile::each]) {
  const int right = colors.pixels.width - 1, bottom = colors.pixels.height - 1;
  const Color own = load(&colors.pixels(smaller(lane.x(), right), smaller(lane.y(), bottom)));
  PlaceBox box;
  const auto bring = [&](int channel, float own, float& low, float& high) {
    const float value = scaled_color(own, scale.color);
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

/// Value of the lane's own pixel, from the values that lanes hold for their groups.
__device__ inline float own_of(const TileLane& lane, const float (&values)[tile::each],
                               float (&shared)[tile::pixels]) {
  __syncwarp();
  if (lane.part() == 0) {
    PF_UNROLL
    for (int i = 0; i < tile::each; ++i) shared[lane.group() * tile::each + i] = values[i];
  }
  __syncwarp();
  const float own = shared[lane.lane];
  __syncwarp();
  return own;
}

}  // namespace parafield
