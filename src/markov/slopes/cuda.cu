// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "markov/levels/packing.cuh"
#include "markov/slopes/slopes.hpp"

// A CUDA block fits the planes of 16 x 4 pixels, whose samples it keeps in shared memory, and finds the rises
// between them; the last column and row belong to the next blocks, too. Eight lanes share a pixel, each with a
// row of its window, because the levels have few pixels (at most a 16th of the image's, or a quarter with slopes
// on all levels): a thread for each pixel would take longer than a launch.
namespace parafield {
namespace {

constexpr int slope_lanes = 8, block_width = 16, block_height = 4;
constexpr int own_width = block_width - 1, own_height = block_height - 1;  // pixels whose edges a block finds
constexpr int window_columns = 2 * slope_radius_x + 1, window_rows = 2 * slope_radius_y + 1;  // of a window
constexpr int slopes_width = block_width + 2 * slope_radius_x,
              slopes_height = block_height + 2 * slope_radius_y;
constexpr int pitch = slopes_width + 1;  // the rows of a warp's four pixels lie in different banks

/// The sums of another lane.
__device__ RowSums sums_of_lane(const RowSums& sums, int lane) {
  const auto from = [=](float value) { return __shfl_sync(whole_warp, value, lane, slope_lanes); };
  return {from(sums.one), from(sums.x), from(sums.xx), from(sums.d), from(sums.xd)};
}

__global__ void __launch_bounds__(slope_lanes* block_width* block_height)
    rises_kernel(LevelLabels from, Slopes slopes, bool finer, int level, View<float> right,
                 View<float> down) {
  begin_kernel();
  __shared__ float d[slopes_height][pitch], trust[slopes_height][pitch];
  __shared__ std::uint32_t color[slopes_height][pitch];
  __shared__ float slope_x[block_height][block_width], slope_y[block_height][block_width];
  const int x0 = int(blockIdx.x) * own_width, y0 = int(blockIdx.y) * own_height;
  const int lane = int(threadIdx.x),
            thread = (int(threadIdx.z) * block_width + int(threadIdx.y)) * slope_lanes + lane;
  const int width = from.labels.width, height = from.labels.height;
  for (int i = thread; i < slopes_width * slopes_height; i += slope_lanes * block_width * block_height) {
    const int row = i / slopes_width, column = i - row * slopes_width;
    const int x = x0 + column - slope_radius_x, y = y0 + row - slope_radius_y;
    const bool inside = x >= 0 && x < width && y >= 0 && y < height;
    d[row][column] = inside ? sloped_disparity(from.labels(x, y), from.costs.before_x(x, y),
                                               from.costs.middle(x, y), from.costs.after_x(x, y))
                            : 0.0f;
    trust[row][column] = inside ? sloped_trust(from.costs.margin(x, y), from.level) : 0.0f;
    color[row][column] = inside ? from.color(x, y) : 0u;
  }
  __syncthreads();
  const int column = int(threadIdx.y) + slope_radius_x, row = int(threadIdx.z) + slope_radius_y;
  const SlopeTolerance tolerance(from.level);
  const std::uint32_t own_color = color[row][column];
  SlopePlane plane{d[row][column]};
  const int dy = lane - slope_radius_y;
  float shares[window_columns];  // weights of the row's samples by trust and color
  PF_UNROLL
  for (int k = 0; k < window_columns; ++k) {
    const int at = column + k - slope_radius_x;
    shares[k] = lane < window_rows ? trust[row + dy][at] * color_share(own_color, color[row + dy][at]) : 0.0f;
  }
  for (int round = 0; round < 2; ++round) {
    RowSums of_row;
    if (lane < window_rows) {
      PF_UNROLL
      for (int k = 0; k < window_columns; ++k) {
        const int dx = k - slope_radius_x;
        const float difference = d[row + dy][column + dx] - plane.d;
        const float most = round == 0 ? tolerance.first(dx, dy) : tolerance.second;
        of_row.add(float(dx), difference, plane.weight(difference, float(dx), float(dy), most, shares[k]));
      }
    }
    WindowSums sums;
    PF_UNROLL
    for (int i = 0; i < window_rows; ++i) sums.add(sums_of_lane(of_row, i), float(i - slope_radius_y));
    plane = plane.next(sums);
  }
  const int i = int(threadIdx.y), j = int(threadIdx.z), own_x = x0 + i, own_y = y0 + j;
  if (lane == 0) slope_x[j][i] = plane.slope_x, slope_y[j][i] = plane.slope_y;
  __syncthreads();
  const int shift = finer ? 1 : 0;
  if (lane >= 1 << 2 * shift || i >= own_width || j >= own_height || own_x >= width || own_y >= height)
    return;
  if (lane == 0) slopes.x(own_x, own_y) = plane.slope_x, slopes.y(own_x, own_y) = plane.slope_y;
  // Up to four lanes take a pixel of the next finer level each.
  const int x = (own_x << shift) + lane % 2, y = (own_y << shift) + lane / 2;
  if (x >= right.width || y >= right.height) return;
  const int next_i = (smaller(x + 1, right.width - 1) >> shift) - x0,
            next_j = (smaller(y + 1, right.height - 1) >> shift) - y0;
  right(x, y) = rise_of(slope_x[j][i], slope_x[j][next_i], finer, level);
  down(x, y) = rise_of(slope_y[j][i], slope_y[next_j][i], finer, level);
}

}  // namespace

template <class Backend>
void find_rises(Backend& cuda, const LevelLabels& labels, const SlopeSamples&, const Slopes& slopes,
                bool finer, int level, const View<float> (&rises)[2]) {
  const Size size = labels.size();
  cuda.launch(rises_kernel, dim3(blocks_for(size.width, own_width), blocks_for(size.height, own_height)),
              dim3(slope_lanes, block_width, block_height), 0, labels, slopes, finer, level, rises[0],
              rises[1]);
}

PF_STEP(find_rises<Cuda>);

}  // namespace parafield
