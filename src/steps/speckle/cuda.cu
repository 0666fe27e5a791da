// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/speckle/speckle.hpp"

namespace parafield {
namespace {

// First the components within each tile are found, in shared memory, which keeps the ways to the roots short.
// Then tiles are joined along their edges, pixels are counted, and speckles are cleared. Components are
// joined by atomic minima (Playne and Hawick 2018). The shape of the forest on the way depends on the order
// of the threads; the components and their sizes do not.

constexpr int tile_width = 32, tile_height = 16, tile_pixels = tile_width * tile_height;
constexpr unsigned all_lanes = 0xffffffffu;

/// Joins the components of pixels i and j, while other threads join theirs.
__device__ void join(int* labels, int i, int j) {
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

/// Labels the components within tiles; a warp makes a row of its tile. `counts`: pixels of a root, 0
/// elsewhere.
__global__ void __launch_bounds__(tile_pixels)
    label_tiles_kernel(Links linked, int pitch, int* labels, int* counts) {
  begin_kernel();
  __shared__ int label[tile_pixels], count[tile_pixels];
  __shared__ unsigned lefts_of_row[tile_height];
  const int lane = int(threadIdx.x), row = int(threadIdx.y), i = row * tile_width + lane;
  const int x0 = int(blockIdx.x) * tile_width, y0 = int(blockIdx.y) * tile_height, x = x0 + lane,
            y = y0 + row;
  const bool inside = x < linked.valid.width && y < linked.valid.height;
  const bool left = inside && lane > 0 && linked(x - 1, y, x, y);
  const bool up = inside && row > 0 && linked(x, y - 1, x, y);
  const unsigned lefts = __ballot_sync(all_lanes, left), ups = __ballot_sync(all_lanes, up);
  const unsigned heads = ~lefts;  // where runs of linked pixels begin; lane 0 always does
  const unsigned up_to_here = all_lanes >> (31 - lane);
  if (lane == 0) lefts_of_row[row] = lefts;
  label[i] = row * tile_width + 31 - __clz(int(heads & up_to_here));
  count[i] = 0;
  __syncthreads();
  // If the pixel to the left is linked upward too, it joins the same two runs.
  if (up && !(left && (ups >> (lane - 1) & 1) && (lefts_of_row[row - 1] >> lane & 1)))
    join(label, i, i - tile_width);
  __syncthreads();
  const int root = root_of(label, i);
  if (!left) {
    const unsigned next_heads = heads & ~up_to_here;
    atomicAdd(&count[root], (next_heads ? __ffs(int(next_heads)) - 1 : tile_width) - lane);
  }
  __syncthreads();
  if (!inside) return;
  labels[y * pitch + x] = (y0 + root / tile_width) * pitch + x0 + root % tile_width;
  counts[y * pitch + x] = count[i];
}

/// Joins components along the edges of tiles, a thread for each pair of pixels: first pairs above each other,
/// then pairs beside each other. A pair is left out where both pixels are linked with those of the pair
/// before, within their tiles.
__global__ void join_tiles_kernel(Links linked, int pitch, int* labels) {
  begin_kernel();
  const int width = linked.valid.width, height = linked.valid.height;
  const int across = width * ((height - 1) / tile_height), along = height * ((width - 1) / tile_width);
  const int pair = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (pair < across) {
    const int x = pair % width, y = (pair / width + 1) * tile_height;
    if (!linked(x, y - 1, x, y)) return;
    if (x % tile_width != 0 && linked(x - 1, y - 1, x, y - 1) && linked(x - 1, y, x, y) &&
        linked(x - 1, y - 1, x - 1, y))
      return;
    join(labels, y * pitch + x, (y - 1) * pitch + x);
  } else if (pair < across + along) {
    const int y = (pair - across) % height, x = ((pair - across) / height + 1) * tile_width;
    if (!linked(x - 1, y, x, y)) return;
    if (y % tile_height != 0 && linked(x - 1, y - 1, x - 1, y) && linked(x, y - 1, x, y) &&
        linked(x - 1, y - 1, x, y - 1))
      return;
    join(labels, y * pitch + x, y * pitch + x - 1);
  }
}

/// Adds the counts of the tiles' roots to those of the components' roots. A count that is added on does not
/// change.
__global__ void count_kernel(Size size, int pitch, int* labels, int* counts) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= size.width || y >= size.height) return;
  const int i = y * pitch + x, pixels = counts[i];
  if (pixels == 0) return;
  const int root = root_of(labels, i);
  if (root == i) return;
  atomicAdd(&counts[root], pixels);
  labels[i] = root;
}

__global__ void clear_kernel(View<std::uint8_t> valid, int pitch, const int* labels, const int* counts,
                             int max_pixels) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= valid.width || y >= valid.height || !valid(x, y)) return;
  if (counts[root_of(labels, y * pitch + x)] <= max_pixels) valid(x, y) = 0;
}

}  // namespace

template <class Backend>
void remove_speckles(Backend& cuda, const View<float>* planes, int count, float max_difference,
                     int max_pixels, View<std::uint8_t> valid, View<std::int32_t> labels,
                     View<std::int32_t> counts) {
  const Links linked{planes[0], planes[count - 1], max_difference, valid};
  const int width = valid.width, height = valid.height;
  const int pitch = int(labels.stride());
  const dim3 tiles(blocks_for(width, tile_width), blocks_for(height, tile_height));
  const dim3 block(32, 8), grid(blocks_for(width, 32), blocks_for(height, 8));
  cuda.launch(label_tiles_kernel, tiles, dim3(tile_width, tile_height), 0, linked, pitch, labels.data,
              counts.data);
  const int pairs = width * int(tiles.y - 1) + height * int(tiles.x - 1);
  if (pairs > 0)
    cuda.launch(join_tiles_kernel, dim3(blocks_for(pairs, 256)), dim3(256), 0, linked, pitch, labels.data);
  cuda.launch(count_kernel, grid, block, 0, valid.size(), pitch, labels.data, counts.data);
  cuda.launch(clear_kernel, grid, block, 0, valid, pitch, labels.data, counts.data, max_pixels);
}

PF_STEP(remove_speckles<Cuda>);

}  // namespace parafield
