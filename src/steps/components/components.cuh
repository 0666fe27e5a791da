// SPDX-License-Identifier: MIT
#pragma once
// Connected components on CUDA. The components within each tile are found first, in shared memory, which
// keeps the paths to the roots short. Then tiles are joined along their edges. Joins use atomic minima
// (Playne and Hawick 2018). The intermediate forests depend on the order of the threads; the final components
// do not.
//
// `Links` says which neighbors are linked: linked(x0, y0, x1, y1) takes two pixels inside the image that are
// horizontal or vertical neighbors, or also diagonal ones if `Links::corners`. With corners, the links must
// come from a mask: two neighbors are linked if both are set.
#include "core/cuda/kernel.cuh"
#include "parafield/image.hpp"
#include "steps/components/components.hpp"

namespace parafield {

/// Joins the components of pixels i and j. Other threads may join components at the same time.
__device__ inline void join_components(int* labels, int i, int j) {
  for (;;) {
    i = root_of(labels, i);
    j = root_of(labels, j);
    if (i == j) return;
    const int low = smaller(i, j), high = larger(i, j);
    const int before = atomicMin(&labels[high], low);
    if (before == high) return;  // it was still a root
    i = before;                  // another thread was faster; join the component of its label with `low`
    j = low;
  }
}

/// A block's tile of pixels, in shared memory; each warp handles one row.
struct ComponentTile {
  static constexpr int width = 32, height = 16, pixels = width * height;
  static constexpr unsigned all_lanes = 0xffffffffu;

  static dim3 tiles_over(Size size) {
    return {blocks_for(size.width, width), blocks_for(size.height, height)};
  }
  static dim3 block() { return {width, height}; }

  int label[pixels];  ///< indices within the tile
  unsigned lefts_of_row[height];

  /// Findings of a thread about its pixel.
  struct Pixel {
    int x, y, root;  ///< `root`: index within the tile
    bool inside;     ///< whether the pixel is inside the image
    int run;         ///< length of the run of linked pixels that begins here; 0: no run begins here
  };

  /// Labels the tile. Every thread of the block must call it once. It synchronizes the block, so afterwards
  /// all threads see earlier writes to shared memory.
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
    const unsigned heads = ~lefts;  // lanes where runs of linked pixels begin; lane 0 always does
    const unsigned up_to_here = all_lanes >> (31 - lane);
    if (lane == 0) lefts_of_row[row] = lefts;
    label[i] = row * width + 31 - __clz(int(heads & up_to_here));
    __syncthreads();
    // If the pixel to the left is also linked upward, that pixel joins the same two runs.
    if (up && !(left && (ups >> (lane - 1) & 1) && (lefts_of_row[row - 1] >> lane & 1)))
      join_components(label, i, i - width);
    if constexpr (Links::corners) {
      // If the pixel above is set, its left and right neighbors are linked with it. If the pixel to the left
      // is linked, that one joins the upper left pixel.
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
  /// Index of the pixel's root in the image, counted along the labels' pitch.
  __device__ static int index_of_root(const Pixel& pixel, int pitch) {
    return (int(blockIdx.y) * height + pixel.root / width) * pitch + int(blockIdx.x) * width +
           pixel.root % width;
  }
};

/// Number of pixel pairs across tile edges: first the vertical pairs, then the horizontal ones.
inline __host__ __device__ int pairs_across(Size size) {
  return size.width * ((size.height - 1) / ComponentTile::height);
}
inline __host__ __device__ int pairs_of_tiles(Size size) {
  return pairs_across(size) + size.height * ((size.width - 1) / ComponentTile::width);
}

/// Joins components across tile edges; each thread handles one pair of pixels. A pair is skipped if its
/// pixels are linked, within their tiles, with the preceding pair, and that pair is linked too.
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
