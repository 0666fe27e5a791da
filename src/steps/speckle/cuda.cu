// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "steps/components/components.cuh"
#include "steps/speckle/speckle.hpp"

namespace parafield {
namespace {

/// Labels the components within tiles. `counts`: number of pixels at a tile's root, 0 elsewhere.
__global__ void __launch_bounds__(ComponentTile::pixels)
    label_tiles_kernel(Links linked, int pitch, int* labels, int* counts) {
  begin_kernel();
  __shared__ ComponentTile tile;
  __shared__ int count[ComponentTile::pixels];
  const int i = int(threadIdx.y) * ComponentTile::width + int(threadIdx.x);
  count[i] = 0;
  const ComponentTile::Pixel pixel = tile.find(linked, {linked.valid.width, linked.valid.height});
  if (pixel.run > 0) atomicAdd(&count[pixel.root], pixel.run);
  __syncthreads();
  if (!pixel.inside) return;
  labels[pixel.y * pitch + pixel.x] = ComponentTile::index_of_root(pixel, pitch);
  counts[pixel.y * pitch + pixel.x] = count[i];
}

__global__ void join_tiles_kernel(Links linked, int pitch, int* labels) {
  begin_kernel();
  join_pair(linked, {linked.valid.width, linked.valid.height}, pitch, labels,
            int(blockIdx.x * blockDim.x + threadIdx.x));
}

/// Adds the counts of the tiles' roots to the components' roots. A component's root is only added to, never
/// added elsewhere.
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
  const dim3 tiles(blocks_for(width, ComponentTile::width), blocks_for(height, ComponentTile::height));
  const dim3 block(32, 8), grid(blocks_for(width, 32), blocks_for(height, 8));
  cuda.launch(label_tiles_kernel, tiles, dim3(ComponentTile::width, ComponentTile::height), 0, linked, pitch,
              labels.data, counts.data);
  const int pairs = pairs_of_tiles(valid.size());
  if (pairs > 0)
    cuda.launch(join_tiles_kernel, dim3(blocks_for(pairs, 256)), dim3(256), 0, linked, pitch, labels.data);
  cuda.launch(count_kernel, grid, block, 0, valid.size(), pitch, labels.data, counts.data);
  cuda.launch(clear_kernel, grid, block, 0, valid, pitch, labels.data, counts.data, max_pixels);
}

PF_STEP(remove_speckles<Cuda>);

}  // namespace parafield
