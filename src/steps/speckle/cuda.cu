// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
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

}  // namespace

template <class Backend>
void remove_speckles(Backend& cuda, const View<float>* planes, int count, float max_difference,
                     int max_pixels, View<std::uint8_t> valid, View<std::int32_t> label_plane,
                     View<std::int32_t> count_plane) {
  const Links linked{planes[0], planes[count - 1], max_difference, valid};
  const int pitch = int(label_plane.stride());
  int *const labels = label_plane.data, *const counts = count_plane.data;
  cuda.launch(label_tiles_kernel, ComponentTile::tiles_over(valid.size()), ComponentTile::block(), 0, linked,
              pitch, labels, counts);
  if (const int pairs = pairs_of_tiles(valid.size()); pairs > 0)
    cuda.launch(join_tiles_kernel, dim3(blocks_for(pairs, 256)), dim3(256), 0, linked, pitch, labels);
  // Adds the counts of the tiles' roots to the components' roots. A component's root is only added to, never
  // added elsewhere.
  for_pixels(cuda, valid.size(), [=] __device__(int x, int y) {
    const int i = y * pitch + x, pixels = counts[i];
    if (pixels == 0) return;
    const int root = root_of(labels, i);
    if (root == i) return;
    atomicAdd(&counts[root], pixels);
    labels[i] = root;
  });
  for_pixels(cuda, valid.size(), [=] __device__(int x, int y) {
    if (valid(x, y) && counts[root_of(labels, y * pitch + x)] <= max_pixels) valid(x, y) = 0;
  });
}

PF_STEP(remove_speckles<Cuda>);

}  // namespace parafield
