// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "guided/features/tracks.hpp"

namespace parafield {
namespace {

constexpr int track_threads = 64;  // of a block, so that a thousand cells occupy many multiprocessors
constexpr int track_warps = 4;

/// Each warp finds the pixel of one cell. Distances are not negative, so their bits sort in the same order.
__global__ void __launch_bounds__(32 * track_warps)
    resample_kernel(FlowPlanes flow, View<const std::uint8_t> valid, FeatureGrid grid, Track* tracks) {
  begin_kernel();
  const int cell = int(blockIdx.x) * track_warps + int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  if (cell >= grid.count()) return;
  const int column = cell % grid.columns, row = cell / grid.columns;
  const int x0 = grid.first_x(column), y0 = grid.first_y(row), width = grid.first_x(column + 1) - x0,
            height = grid.first_y(row + 1) - y0;
  const float center_x = grid.center_x(column), center_y = grid.center_y(row);
  constexpr unsigned long long none = ~0ull;
  unsigned long long nearest = none;
  for (int i = lane; i < width * height; i += 32) {
    const int x = x0 + i % width, y = y0 + i / width;
    if (!valid(x, y)) continue;
    const unsigned long long key =
        (static_cast<unsigned long long>(__float_as_uint(distance_from(center_x, center_y, x, y))) << 32) |
        unsigned(i);
    nearest = smaller(nearest, key);
  }
  PF_UNROLL
  for (int step = 16; step > 0; step /= 2) nearest = smaller(nearest, __shfl_xor_sync(~0u, nearest, step));
  if (lane > 0) return;
  const int i = nearest == none ? 0 : int(unsigned(nearest));
  tracks[cell] = track_of(flow, x0 + i % width, y0 + i / width, nearest != none);
}

}  // namespace

template <class Backend>
void take_matches(Backend& cuda, const Matches& matches, const FeatureGrid& grid, Track* tracks) {
  for_pixels<track_threads, 1>(cuda, {grid.count(), 1}, [=] __device__(int cell, int) {
    const int row = cell / grid.columns;
    tracks[cell] = matched_track(matches, grid, cell - row * grid.columns, row);
  });
}

template <class Backend>
void resample_tracks(Backend& cuda, FlowPlanes flow, View<const std::uint8_t> valid, const FeatureGrid& grid,
                     Track* tracks) {
  cuda.launch(resample_kernel, dim3(blocks_for(grid.count(), track_warps)), dim3(32 * track_warps), 0, flow,
              valid, grid, tracks);
}

template <class Backend>
void drop_outliers(Backend& cuda, const Track* tracks, const FeatureGrid& grid, float outliers, Track* kept) {
  for_pixels<track_threads, 1>(cuda, {grid.count(), 1}, [=] __device__(int cell, int) {
    const int row = cell / grid.columns;
    kept[cell] = without_outlier(tracks, grid, cell - row * grid.columns, row, outliers);
  });
}

PF_STEP(take_matches<Cuda>);
PF_STEP(resample_tracks<Cuda>);
PF_STEP(drop_outliers<Cuda>);

}  // namespace parafield
