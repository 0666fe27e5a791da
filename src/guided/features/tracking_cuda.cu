// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/features/propagation.hpp"

// One launch, and one more for each round of propagation. A warp tracks a feature there and back. Its lanes
// are the lanes of the sums, and each lane keeps its pixels of the window. In a round, the warps of features
// that are not dropped only copy. A block has just two warps, so that a few hundred features occupy all
// multiprocessors.
//
// Lower bound for 1000 features, window 9, 4 levels, from the chain of dependent operations: a patch takes
// about 700 cycles per level (reads, shared memory, five steps of additions across the lanes) and an
// iteration 450. Four levels there and back with four iterations each are 20000 cycles, 12 us on an H100;
// with ten iterations 23 us. (Counted, not measured.)
namespace parafield {
namespace {

constexpr int window_lanes = lanes_of_window, tracking_warps = 2;
static_assert(window_lanes == 32);

/// Every lane gets the sum. Lane j adds the same two values as lane j - 16, in the opposite order.
__device__ float add_lanes(float value) {
  PF_UNROLL
  for (int step = window_lanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

__device__ WindowTensor add_lanes(const WindowTensor& sum) {
  return {add_lanes(sum.xx), add_lanes(sum.xy), add_lanes(sum.yy)};
}

/// A lane's pixels of a window at one level. `Side`: side of the window.
template <int Side>
struct LaneWindow {
  static constexpr int pixels = (Side * Side + window_lanes - 1) / window_lanes;
  static constexpr int patch_side = Side + 2 * derivative_reach;  // of the values that the gradients need
  static constexpr int patch_pixels = patch_side * patch_side;

  int lane;
  float* patch;  // of the warp, in shared memory
  WindowPixel pixel[pixels];
  WindowTensor all;  // G of all pixels

  __device__ bool exists(int i) const { return i * window_lanes + lane < Side * Side; }
  __device__ int column(int i) const { return (i * window_lanes + lane) % Side; }
  __device__ int row(int i) const { return (i * window_lanes + lane) / Side; }
  __device__ int dx(int i) const { return column(i) - Side / 2; }
  __device__ int dy(int i) const { return row(i) - Side / 2; }

  __device__ void read(const Level& level, const WindowPlace& place) {
    __syncwarp();  // the previous level's patch must have been read
    PF_UNROLL
    for (int first = 0; first < patch_pixels; first += window_lanes) {
      const int i = first + lane;
      if (i < patch_pixels)
        patch[i] = value_at(level, place, i % patch_side - patch_side / 2, i / patch_side - patch_side / 2);
    }
    __syncwarp();
    WindowTensor sum{0, 0, 0};
    PF_UNROLL
    for (int i = 0; i < pixels; ++i) {
      pixel[i] = {0, 0, 0};
      const int at = (row(i) + derivative_reach) * patch_side + column(i) + derivative_reach;
      if (exists(i)) pixel[i] = window_pixel(patch, at, patch_side, is_inside(level, place, dx(i), dy(i)));
      sum.add(pixel[i].gx, pixel[i].gy);
    }
    all = add_lanes(sum);
  }

  /// Residual of the lane's pixel i at a place. Adds the pixel to `sum`, a part of G, if its match counts.
  __device__ Residual add_residual(const Level& to, const WindowPlace& place, int i,
                                   WindowTensor& sum) const {
    const float match = value_at(to, place, dx(i), dy(i));
    const Residual r = residual(pixel[i].value, match, exists(i) & is_inside(to, place, dx(i), dy(i)));
    sum.add(r.counts ? pixel[i].gx : 0.0f, r.counts ? pixel[i].gy : 0.0f);
    return r;
  }

  __device__ WindowTensor compare(const Level& to, const WindowPlace& place, Motion& b) const {
    float bx = 0, by = 0;
    WindowTensor sum{0, 0, 0};
    bool is_lost = false;
    PF_UNROLL
    for (int i = 0; i < pixels; ++i) {
      const Residual r = add_residual(to, place, i, sum);
      const float gx = pixel[i].gx, gy = pixel[i].gy;
      bx = fma(gx, r.e, bx);
      by = fma(gy, r.e, by);
      is_lost |= !r.counts & ((gx != 0) | (gy != 0));
    }
    b = {add_lanes(bx), add_lanes(by)};
    return __any_sync(~0u, is_lost) ? add_lanes(sum) : all;
  }

  /// The squared error of the window's match, the same on all lanes.
  __device__ float error2(const Level& to, const WindowPlace& place) const {
    float squares = 0;
    WindowTensor sum{0, 0, 0};
    PF_UNROLL
    for (int i = 0; i < pixels; ++i) {
      const Residual r = add_residual(to, place, i, sum);
      squares = fma(r.e, r.e, squares);
    }
    return match_error2(add_lanes(squares), add_lanes(sum));
  }
};

template <int Side>
__global__ void __launch_bounds__(window_lanes* tracking_warps)
    track_kernel(const __grid_constant__ Pyramid from, const __grid_constant__ Pyramid to, FeatureGrid grid,
                 const Feature* features, TrackingParameters p, Track* tracks) {
  begin_kernel();
  __shared__ float patches[tracking_warps][LaneWindow<Side>::patch_pixels];
  const int lane = int(threadIdx.x), warp = int(threadIdx.y), cell = int(blockIdx.x) * tracking_warps + warp;
  if (cell >= grid.count()) return;  // whole warps
  LaneWindow<Side> window{lane, patches[warp]};
  const Track found =
      there_and_back(feature_of(grid, features, cell), p.check2, [&](bool back, float x, float y) {
        return track_window(back ? to : from, back ? from : to, p, x, y, {0, 0}, nullptr, window);
      });
  if (lane == 0) tracks[cell] = found;
}

/// Bit mask of the starts to try: the first of each group of similar starts. The first lanes have one
/// direction's start each.
__device__ unsigned new_starts(const Motion& start, int lane) {
  bool is_new = (lane < directions) & (start.u == start.u);
  PF_UNROLL
  for (int i = 0; i < directions - 1; ++i) {
    const Motion other{__shfl_sync(~0u, start.u, i), __shfl_sync(~0u, start.v, i)};
    is_new &= !((i < lane) & are_alike(start, other));
  }
  return __ballot_sync(~0u, is_new);
}

template <int Side>
__global__ void __launch_bounds__(window_lanes* tracking_warps)
    retry_kernel(const __grid_constant__ Pyramid from, const __grid_constant__ Pyramid to, FeatureGrid grid,
                 TrackingParameters p, const Track* before, const Track* tracks, Track* kept) {
  begin_kernel();
  __shared__ float patches[tracking_warps][LaneWindow<Side>::patch_pixels];
  const int lane = int(threadIdx.x), warp = int(threadIdx.y), cell = int(blockIdx.x) * tracking_warps + warp;
  if (cell >= grid.count()) return;  // whole warps
  LaneWindow<Side> window{lane, patches[warp]};
  Track feature = tracks[cell];
  if (is_dropped(feature)) {
    const int row = cell / grid.columns;
    Motion start = no_track();
    if (lane < directions) start = start_of(before, tracks, grid, cell - row * grid.columns, row, lane);
    float least2 = largest_error2;
#pragma unroll 1
    for (unsigned left = new_starts(start, lane); left; left &= left - 1) {
      const int i = __ffs(int(left)) - 1;
      const Motion tried{__shfl_sync(~0u, start.u, i), __shfl_sync(~0u, start.v, i)};
      const auto one_way = [&](bool back, float x, float y, const Motion& from_flow, float& error2) {
        return track_window(back ? to : from, back ? from : to, p, x, y, from_flow, back ? nullptr : &error2,
                            window);
      };
      try_start(tried, p.check2, one_way, least2, feature);
    }
  }
  if (lane == 0) kept[cell] = feature;
}

}  // namespace

template <class Backend>
void track_features(Backend& cuda, const Pyramid& from, const Pyramid& to, const FeatureGrid& grid,
                    const Feature* features, const TrackingParameters& p, Track* tracks) {
  with_one_of<3, 5, 7, 9, 11, 13, 15, 17, 19, 21>(p.window, [&]<int Side>() {
    cuda.launch(track_kernel<Side>, dim3(blocks_for(grid.count(), tracking_warps)),
                dim3(window_lanes, tracking_warps), 0, from, to, grid, features, p, tracks);
  });
}

template <class Backend>
void retry_features(Backend& cuda, const Pyramid& from, const Pyramid& to, const FeatureGrid& grid,
                    const TrackingParameters& p, const Track* before, const Track* tracks, Track* kept) {
  with_one_of<3, 5, 7, 9, 11, 13, 15, 17, 19, 21>(p.window, [&]<int Side>() {
    cuda.launch(retry_kernel<Side>, dim3(blocks_for(grid.count(), tracking_warps)),
                dim3(window_lanes, tracking_warps), 0, from, to, grid, again(p), before, tracks, kept);
  });
}

PF_STEP(track_features<Cuda>);
PF_STEP(retry_features<Cuda>);

}  // namespace parafield
