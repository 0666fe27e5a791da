// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "steps/boxes/boxes.hpp"
#include "steps/components/components.cuh"

namespace parafield {
namespace {

/// Links between 8-neighbors in a mask.
struct MaskLinks {
  static constexpr bool corners = true;
  View<const std::uint8_t> mask;

  __device__ bool operator()(int x0, int y0, int x1, int y1) const {
    return (mask(x0, y0) != 0) & (mask(x1, y1) != 0);
  }
};

/// Planes of the forest, without gaps between rows. At a region's root, the planes other than `labels` hold
/// the region's values; elsewhere the area is 0. The top is the root's row.
struct RegionPlanes {
  int *labels, *area, *left, *right, *bottom;
};

/// Finds the regions within each tile.
__global__ void __launch_bounds__(ComponentTile::pixels)
    label_regions_kernel(MaskLinks linked, RegionPlanes planes, int* count) {
  begin_kernel();
  __shared__ ComponentTile tile;
  __shared__ int area[ComponentTile::pixels], left[ComponentTile::pixels], right[ComponentTile::pixels],
      bottom[ComponentTile::pixels];
  const int width = linked.mask.width, height = linked.mask.height;
  const int i = int(threadIdx.y) * ComponentTile::width + int(threadIdx.x);
  area[i] = right[i] = bottom[i] = 0;
  left[i] = width;
  const ComponentTile::Pixel pixel = tile.find(linked, {width, height});
  if (pixel.run > 0 && pixel.inside && linked.mask(pixel.x, pixel.y) != 0) {
    atomicAdd(&area[pixel.root], pixel.run);
    atomicMin(&left[pixel.root], pixel.x);
    atomicMax(&right[pixel.root], pixel.x + pixel.run - 1);
    atomicMax(&bottom[pixel.root], pixel.y);
  }
  __syncthreads();
  if (!pixel.inside) return;
  const int at = pixel.y * width + pixel.x;
  planes.labels[at] = ComponentTile::index_of_root(pixel, width);
  planes.area[at] = area[i];
  planes.left[at] = left[i];
  planes.right[at] = right[i];
  planes.bottom[at] = bottom[i];
  if (at == 0) *count = 0;
}

__global__ void join_regions_kernel(MaskLinks linked, int* labels) {
  begin_kernel();
  const Size size{linked.mask.width, linked.mask.height};
  join_pair(linked, size, size.width, labels, int(blockIdx.x * blockDim.x + threadIdx.x));
}

}  // namespace

template <class Backend>
void find_regions(Backend& cuda, View<const std::uint8_t> mask, int min_area, int* scratch, RegionList list) {
  const Size size = mask.size();
  const int pixels = size.width * size.height, pairs = pairs_of_tiles(size);
  const RegionPlanes planes{scratch, scratch + std::size_t(pixels), scratch + 2 * std::size_t(pixels),
                            scratch + 3 * std::size_t(pixels), scratch + 4 * std::size_t(pixels)};
  const MaskLinks linked{mask};
  cuda.launch_input(label_regions_kernel, ComponentTile::tiles_over(size), ComponentTile::block(), linked,
                    planes, list.count);
  if (pairs > 0)
    cuda.launch_input(join_regions_kernel, dim3(blocks_for(pairs, 256)), dim3(256), linked, planes.labels);
  // Adds the values of each tile's roots to the region's root. A region's root is only added to, never added
  // elsewhere.
  for_pixels<256, 1>(cuda, {pixels, 1}, [=] __device__(int i, int) {
    const int area = planes.area[i];
    if (area == 0) return;
    const int root = root_of(planes.labels, i);
    if (root == i) return;
    atomicAdd(&planes.area[root], area);
    atomicMin(&planes.left[root], planes.left[i]);
    atomicMax(&planes.right[root], planes.right[i]);
    atomicMax(&planes.bottom[root], planes.bottom[i]);
  });
  for_pixels<256, 1>(cuda, {pixels, 1}, [=] __device__(int i, int) {
    const int area = planes.area[i];
    if (area == 0 || area < min_area || planes.labels[i] != i) return;
    list.regions[atomicAdd(list.count, 1)] = {
        i, planes.left[i], i / size.width, planes.right[i], planes.bottom[i], area};
  });
}

PF_STEP(find_regions<Cuda>);

}  // namespace parafield
