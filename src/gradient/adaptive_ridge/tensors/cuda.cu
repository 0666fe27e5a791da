// SPDX-License-Identifier: MIT
#include "core/cuda/kernel.cuh"
#include "gradient/adaptive_ridge/tensors/tensors.cuh"
#include "gradient/adaptive_ridge/tiles.cuh"

// One launch, with one tile per block. A small level takes as long as the stages of a tile, 5300 cycles for a
// 32x16 tile, so it is split into small tiles that occupy many threads. If estimators share the device, large
// tiles do less work in total.
//
// Lower bound for a pair: 16 bytes per pixel are read (two frames, u, v) and 24 written, which takes an H100
// (3.0 TB/s) 4.1 us at 640x480 and 28 us at 1920x1080. The 585 instructions per pixel, including the halo,
// take 5.4 and 36 us if each scheduler issues one per cycle (1.98 GHz); shared memory and cache need as many
// cycles. Measured at commit 4892bfd: 11.5 and 60.5 us, or 8.2 and 52 us per launch when eight run at once.
// Half of a tile's time goes into its images, whose reads wait first for the flow and then for the frames.
namespace parafield {
namespace {

template <class Tile, int Frames>
__global__ void __launch_bounds__(Tile::threads, 2)
    tensor_kernel(const __grid_constant__ WarpFrames frames, StartingFlow start,
                  const __grid_constant__ TensorWeights weights, const __grid_constant__ NormalPlanes out,
                  const __grid_constant__ Cells cells, bool with_luma) {
  begin_kernel();
  extern __shared__ float4 storage[];
  reinterpret_cast<Tile*>(storage)->make({frames, start, weights}, int(blockIdx.x) * Tile::width,
                                         int(blockIdx.y) * Tile::height, out, cells, with_luma);
}

struct TensorOutput {
  const NormalPlanes& normal;
  const Cells& cells;
  bool with_luma;
};

template <int Frames>
void launch_tensors(Cuda& cuda, const TensorInput& in, const TensorOutput& out) {
  const auto launch = [&]<class Tile>(Tile*) {
    const auto kernel = tensor_kernel<Tile, Frames>;
    cuda.allow_shared_memory(reinterpret_cast<const void*>(kernel), sizeof(Tile));
    cuda.launch(kernel, tiles_over<Tile>(in.frames.reference().size()), dim3(Tile::columns, Tile::threads_y),
                sizeof(Tile), in.frames, in.start, in.p, out.normal, out.cells, out.with_luma);
  };
  with_fastest_tile<TensorTile<Frames, 32, 16, 8>, TensorTile<Frames, 64, 8, 8>,
                    TensorTile<Frames, 64, 8, 16>, TensorTile<Frames, 64, 8, 24>>(
      cuda, in.frames.reference().size(), launch);
}

}  // namespace

template <class Backend>
void ridge_tensors(Backend& cuda, const WarpFrames& frames, StartingFlow start, const TensorWeights& weights,
                   const NormalPlanes& out, const Cells& cells, bool with_luma) {
  const TensorInput in{frames, start, weights};
  const TensorOutput to{out, cells, with_luma};
  switch (frames.count) {
    case 2:
      return launch_tensors<2>(cuda, in, to);
    case 3:
      return launch_tensors<3>(cuda, in, to);
    default:
      return launch_tensors<5>(cuda, in, to);
  }
}

PF_STEP(ridge_tensors<Cuda>);

}  // namespace parafield
