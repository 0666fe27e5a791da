// SPDX-License-Identifier: MIT
#pragma once
// Connected components on CUDA. First the components within each tile are found, in shared memory, which keeps
// the ways to the roots short. Then tiles are joined along their edges. Components are joined by atomic minima
// (Playne and Hawick 2018). The shape of the forest on the way depends on the order of the threads; the
// components do not.
//
// `Links` says which neighbors are linked: linked(x0, y0, x1, y1) for two pixels inside, which are beside or
// above each other, or at a corner if `Links::corners`. With corners, links are those of a mask: two neighbors
// are linked if both are set.
#include "core/cuda/kernel.cuh"
#include "parafield/image.hpp"
#include "steps/components/components.hpp"

namespace parafield {

/// Joins the components of pixels i and j, while other threads join theirs.
__device__ inline void join_components(int* labels, int i, int j) {
  for (;;) {
    i = root_of(labels, i);
    j = root_of(labels, j);
    if (i == j) return;
    const int low = smaller(i, j), high = larger(i, j);
    const int before = atomicMin(&labels[high], low);
    if (before == high) return;  // still a root
    i = before;                  // another thread was faster: its label joins the component of `low`, too
    j = low;
  }
}

/// A block's tile of pixels, in shared memory; a warp makes a row of it.
struct ComponentTile {
  static constexpr int width = 32, height = 16, pixels = width * height;
  static constexpr unsigned all_lanes = 0xffffffffu;

  int label[pixels];  ///< indices within the tile
  unsigned lefts_of_row[height];

  /// What a thread finds out about its pixel.
  struct Pixel {
    int x, y, root;  ///< `root`: within the tile
    bool inside;     ///< of the image
    int run;         ///< length of the run of linked pixels that begins here; 0 = none does
  };

  /// Labels the tile. Every thread of the block calls it, once. What threads wrote to shared memory before
  /// is there for all after it.
  template <class Links>
  __device__ Pixel find(const Links& linked, Size size) {
    const int lane = int(threadIdx.x), row = int(threadIdx.y), i = row * width + lane;
    Pixel pixel;
    pixel.x = int(blockIdx.x) * width + lane;
    pixel.y = int(blockIdx.y) * height + row;
    const int x = pixel.x, y = pixel.y;
    pixel.inside = x < size.width && y < size.height;
    const bool left = pixel.inside && lane > 0 && linked(x - 1, y, x, y);
    const bool up = pixel.inside && row > 0 && linked(x, y - 1, x, y);
    const unsigned lefts = __ballot_sync(all_lanes, left), ups = __ballot_sync(all_lanes, up);
    const unsigned heads = ~lefts;  // where runs of linked pixels begin; lane 0 always does
    const unsigned up_to_here = all_lanes >> (31 - lane);
    if (lane == 0) lefts_of_row[row] = lefts;
    label[i] = row * width + 31 - __clz(int(heads & up_to_here));
    __syncthreads();
    // If the pixel to the left is linked upward too, it joins the same two runs.
    if (up && !(left && (ups >> (lane - 1) & 1) && (lefts_of_row[row - 1] >> lane & 1)))
      join_components(label, i, i - width);
    if constexpr (Links::corners) {
      // If the pixel above is set, those beside it are linked with it. If the pixel to the left is linked, it
      // joins the upper left one.
      if (pixel.inside && row > 0 && !up) {
        if (lane > 0 && !left && linked(x - 1, y - 1, x, y)) join_components(label, i, i - width - 1);
        if (lane < width - 1 && x + 1 < size.width && linked(x + 1, y - 1, x, y))
          join_components(label, i, i - width + 1);
      }
    }
    __syncthreads();
    pixel.root = root_of(label, i);
    const unsigned next_heads = heads & ~up_to_here;
    pixel.run = left ? 0 : (next_heads ? __ffs(int(next_heads)) - 1 : width) - lane;
    return pixel;
  }
  /// Index along the labels' pitch of the pixel's root.
  __device__ static int index_of_root(const Pixel& pixel, int pitch) {
    return (int(blockIdx.y) * height + pixel.root / width) * pitch + int(blockIdx.x) * width +
           pixel.root % width;
  }
};

/// Pairs of pixels along the edges of tiles: first those above each other, then those beside each other.
inline __host__ __device__ int pairs_across(Size size) {
  return size.width * ((size.height - 1) / ComponentTile::height);
}
inline __host__ __device__ int pairs_of_tiles(Size size) {
  return pairs_across(size) + size.height * ((size.width - 1) / ComponentTile::width);
}

/// Joins components along the edges of tiles, a thread for each pair of pixels. A pair is left out where both
/// pixels are linked with those of the pair before, within their tiles.
template <class Links>
__device__ void join_pair(const Links& linked, Size size, int pitch, int* labels, int pair) {
  const int width = size.width, height = size.height, across = pairs_across(size);
  if (pair < across) {
    const int x = pair % width, y = (pair / width + 1) * ComponentTile::height, i = y * pitch + x;
    if (linked(x, y - 1, x, y)) {
      if (x % ComponentTile::width != 0 && linked(x - 1, y - 1, x, y - 1) && linked(x - 1, y, x, y) &&
          linked(x - 1, y - 1, x - 1, y))
        return;
      join_components(labels, i, i - pitch);
    } else if constexpr (Links::corners) {
      if (x > 0 && linked(x - 1, y - 1, x, y)) join_components(labels, i, i - pitch - 1);
      if (x + 1 < width && linked(x + 1, y - 1, x, y)) join_components(labels, i, i - pitch + 1);
    }
  } else if (pair < pairs_of_tiles(size)) {
    const int y = (pair - across) % height, x = ((pair - across) / height + 1) * ComponentTile::width,
              i = y * pitch + x;
    if (linked(x - 1, y, x, y)) {
      if (y % ComponentTile::height != 0 && linked(x - 1, y - 1, x - 1, y) && linked(x, y - 1, x, y) &&
          linked(x - 1, y - 1, x, y - 1))
        return;
      join_components(labels, i, i - 1);
    } else if constexpr (Links::corners) {
      if (y > 0 && linked(x - 1, y - 1, x, y)) join_components(labels, i, i - pitch - 1);
      if (y + 1 < height && linked(x - 1, y + 1, x, y)) join_components(labels, i, i + pitch - 1);
    }
  }
}

}  // namespace parafield
