// SPDX-License-Identifier: MIT
#include "core/cuda/kernel.cuh"
#include "gradient/adaptive_ridge/tensors/tensors.cuh"

// One launch, with one tile per block. A small level takes as long as the stages of a tile, 5300 cycles for a
// 32x16 tile, so it is split into small tiles that occupy many threads. If estimators share the device, large
// tiles do less work in total.
//
// Lower bound for a pair: 16 bytes per pixel are read (two frames, u, v) and 24 written, which takes an H100
// (3.0 TB/s) 4.1 us at 640x480 and 28 us at 1920x1080. The 585 instructions per pixel, including the halo,
// take 5.4 and 36 us if each scheduler issues one per cycle (1.98 GHz). Measured at commit 4892bfd: 11.5 and
// 60.5 us. Half of a tile's time goes into its images, whose reads wait first for the flow and then for the
// frames.
namespace parafield {
namespace {

template <class Tile, int Frames>
__global__ void __launch_bounds__(Tile::threads, 2)
    tensor_kernel(const __grid_constant__ TensorInput in, const __grid_constant__ TensorOutput out) {
  begin_kernel();
  extern __shared__ float4 storage[];
  reinterpret_cast<Tile*>(storage)->make(in, int(blockIdx.x) * Tile::width, int(blockIdx.y) * Tile::height,
                                         out);
}

template <int Frames>
void launch_tensors(Cuda& cuda, const TensorInput& in, const TensorOutput& out) {
  const auto launch = [&]<class Tile>(Tile*) {
    const auto kernel = tensor_kernel<Tile, Frames>;
    cuda.allow_shared_memory(reinterpret_cast<const void*>(kernel), sizeof(Tile));
    cuda.launch(kernel, tiles_over<Tile>(in.frames.reference().size()), dim3(Tile::columns, Tile::threads_y),
                sizeof(Tile), in, out);
  };
  with_fastest_tile<TensorTile<Frames, 32, 16, 8>, TensorTile<Frames, 64, 8, 8>,
                    TensorTile<Frames, 64, 8, 16>, TensorTile<Frames, 64, 8, 24>>(
      cuda, in.frames.reference().size(), launch);
}

}  // namespace

template <class Backend>
void ridge_tensors(Backend& cuda, const WarpFrames& frames, StartingFlow start, const TensorWeights& weights,
                   const TensorOutput& out) {
  const TensorInput in{frames, start, weights};
  with_one_of<2, 3, 5>(frames.count, [&]<int Frames>() { launch_tensors<Frames>(cuda, in, out); });
}

PF_STEP(ridge_tensors<Cuda>);

}  // namespace parafield
