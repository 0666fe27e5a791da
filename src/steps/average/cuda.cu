// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "steps/average/average.hpp"

namespace parafield {
namespace {

/// One or two frames; each has a layer of the grid.
struct AveragedFrames {
  AveragedPlanes frame[2];
  View<float> changes[2];

  AveragedFrames(const AveragedPlanes* frames, const View<float>* changes, int count)
      : frame{frames[0], frames[count - 1]}, changes{changes[0], changes[count - 1]} {}
};

}  // namespace

template <class Backend>
void find_changes(Backend& cuda, const AveragedPlanes* frames, const View<float>* changes, int count) {
  const AveragedFrames all(frames, changes, count);
  const auto find = [=] __device__(int x, int y) {
    const AveragedPlanes& frame = all.frame[blockIdx.z];
    all.changes[blockIdx.z](x, y) = magnitude(frame.fresh[0](x, y) - frame.mean[0](x, y));
  };
  for_pixels(cuda, changes[0].size(), find, count);
}

template <class Backend>
void average(Backend& cuda, const AveragedPlanes* frames, const View<float>* changes, float noise,
             int count) {
  const AveragedFrames all(frames, changes, count);
  const float same = same_below * noise, other = other_above * noise;
  const auto add = [=] __device__(int x, int y) {
    const AveragedPlanes& frame = all.frame[blockIdx.z];
    const float averaged_count =
        averaged_frames(frame.count(x, y), all.changes[blockIdx.z](x, y), same, other);
    frame.count(x, y) = averaged_count;
    PF_UNROLL
    for (int j = 0; j < AveragedPlanes::most; ++j) {
      if (j >= frame.planes) break;
      frame.mean[j](x, y) = averaged(frame.mean[j](x, y), frame.fresh[j](x, y), averaged_count);
    }
  };
  for_pixels(cuda, changes[0].size(), add, count);
}

template <class Backend>
void begin_average(Backend& cuda, const View<float>* counts, int count) {
  const View<float> first = counts[0], second = counts[count - 1];
  const auto begin = [=] __device__(int x, int y) { (blockIdx.z == 0 ? first : second)(x, y) = 1; };
  for_pixels(cuda, first.size(), begin, count);
}

PF_STEP(find_changes<Cuda>);
PF_STEP(average<Cuda>);
PF_STEP(begin_average<Cuda>);

}  // namespace parafield
