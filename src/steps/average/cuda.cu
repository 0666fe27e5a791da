// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/average/average.hpp"

namespace parafield {
namespace {

/// One or two frames; each has a layer of the grid.
struct AveragedFrames {
  AveragedPlanes frame[2];
  View<float> changes[2];
};

AveragedFrames frames_of(const AveragedPlanes* frames, const View<float>* changes, int count) {
  AveragedFrames all{{frames[0], frames[count - 1]}, {changes[0], changes[count - 1]}};
  return all;
}

__global__ void find_changes_kernel(AveragedFrames all) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  const AveragedPlanes& frame = all.frame[blockIdx.z];
  const View<float>& change = all.changes[blockIdx.z];
  if (x >= change.width || y >= change.height) return;
  change(x, y) = magnitude(frame.fresh[0](x, y) - frame.mean[0](x, y));
}

__global__ void average_kernel(AveragedFrames all, float same, float other) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  const AveragedPlanes& frame = all.frame[blockIdx.z];
  const View<float>& change = all.changes[blockIdx.z];
  if (x >= change.width || y >= change.height) return;
  const float count = averaged_frames(frame.count(x, y), change(x, y), same, other);
  frame.count(x, y) = count;
  PF_UNROLL
  for (int j = 0; j < AveragedPlanes::most; ++j) {
    if (j >= frame.planes) break;
    frame.mean[j](x, y) = averaged(frame.mean[j](x, y), frame.fresh[j](x, y), count);
  }
}

__global__ void begin_average_kernel(const __grid_constant__ View<float> first,
                                     const __grid_constant__ View<float> second) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  const View<float> counts = blockIdx.z == 0 ? first : second;
  if (x < counts.width && y < counts.height) counts(x, y) = 1;
}

dim3 grid_of(Size size, int count) {
  return {blocks_for(size.width, 32), blocks_for(size.height, 8), unsigned(count)};
}

}  // namespace

template <class Backend>
void find_changes(Backend& cuda, const AveragedPlanes* frames, const View<float>* changes, int count) {
  cuda.launch(find_changes_kernel, grid_of(changes[0].size(), count), dim3(32, 8), 0,
              frames_of(frames, changes, count));
}

template <class Backend>
void average(Backend& cuda, const AveragedPlanes* frames, const View<float>* changes, float noise,
             int count) {
  cuda.launch(average_kernel, grid_of(changes[0].size(), count), dim3(32, 8), 0,
              frames_of(frames, changes, count), same_below * noise, other_above * noise);
}

template <class Backend>
void begin_average(Backend& cuda, const View<float>* counts, int count) {
  cuda.launch(begin_average_kernel, grid_of(counts[0].size(), count), dim3(32, 8), 0, counts[0],
              counts[count - 1]);
}

PF_STEP(find_changes<Cuda>);
PF_STEP(average<Cuda>);
PF_STEP(begin_average<Cuda>);

}  // namespace parafield
