// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "markov/launch.cuh"
#include "markov/slopes/slopes.hpp"

// A CUDA block fits the planes of 16 x 8 pixels, whose samples it keeps in shared memory. The levels have
// few pixels (at most a 16th of the image's, or a quarter with slopes on all levels), so that a launch takes
// little longer than an empty one.
namespace parafield {
namespace {

constexpr int block_width = 16, block_height = 8;
constexpr int slopes_width = block_width + 2 * slope_radius, slopes_height = block_height + 2 * slope_radius;

__global__ void __launch_bounds__(block_width* block_height) fit_kernel(LevelLabels from, Slopes slopes) {
  begin_kernel();
  __shared__ float d[slopes_height][slopes_width], trust[slopes_height][slopes_width];
  __shared__ std::uint32_t color[slopes_height][slopes_width];
  const int x0 = int(blockIdx.x) * block_width, y0 = int(blockIdx.y) * block_height;
  const int thread = int(threadIdx.y) * block_width + int(threadIdx.x);
  const int width = from.labels.width, height = from.labels.height;
  for (int i = thread; i < slopes_width * slopes_height; i += block_width * block_height) {
    const int row = i / slopes_width, column = i - row * slopes_width;
    const int x = x0 + column - slope_radius, y = y0 + row - slope_radius;
    const bool inside = x >= 0 && x < width && y >= 0 && y < height;
    d[row][column] = inside ? sloped_disparity(from.labels(x, y), from.costs.before_x(x, y),
                                               from.costs.middle(x, y), from.costs.after_x(x, y))
                            : 0.0f;
    trust[row][column] = inside ? sloped_trust(from.costs.margin(x, y), from.level) : 0.0f;
    color[row][column] = inside ? from.color(x, y) : 0u;
  }
  __syncthreads();
  const int x = x0 + int(threadIdx.x), y = y0 + int(threadIdx.y);
  if (x >= width || y >= height) return;
  const int column = int(threadIdx.x) + slope_radius, row = int(threadIdx.y) + slope_radius;
  const SlopeTolerance tolerance(from.level);
  const std::uint32_t own_color = color[row][column];
  SlopePlane plane{d[row][column]};
  for (int round = 0; round < 2; ++round) {
    WindowSums sums;
    for (int dy = -slope_radius; dy <= slope_radius; ++dy) {
      RowSums of_row;
      PF_UNROLL
      for (int dx = -slope_radius; dx <= slope_radius; ++dx) {
        const float difference = d[row + dy][column + dx] - plane.d;
        const float share =
            trust[row + dy][column + dx] * color_share(own_color, color[row + dy][column + dx]);
        const float most = round == 0 ? tolerance.first(window_distance(dx, dy)) : tolerance.second;
        of_row.add(float(dx), difference, plane.weight(difference, float(dx), float(dy), most, share));
      }
      sums.add(of_row, float(dy));
    }
    plane = plane.next(sums);
  }
  slopes.x(x, y) = plane.slope_x;
  slopes.y(x, y) = plane.slope_y;
}

}  // namespace

template <class Backend>
void fit_slopes(Backend& cuda, const LevelLabels& labels, const SlopeSamples&, const Slopes& slopes) {
  const Size size = labels.size();
  cuda.launch(fit_kernel, dim3(blocks_for(size.width, block_width), blocks_for(size.height, block_height)),
              dim3(block_width, block_height), 0, labels, slopes);
}

template <class Backend>
void find_rises(Backend& cuda, const Slopes& slopes, bool finer, int level, const View<float> (&rises)[2]) {
  const View<float> right = rises[0], down = rises[1];
  for_pixels(cuda, right.size(), [=] __device__(int x, int y) {
    const int shift = finer ? 1 : 0;
    const int next_x = smaller(x + 1, right.width - 1) >> shift,
              next_y = smaller(y + 1, right.height - 1) >> shift;
    const int own_x = x >> shift, own_y = y >> shift;
    right(x, y) = rise_of(slopes.x(own_x, own_y), slopes.x(next_x, own_y), finer, level);
    down(x, y) = rise_of(slopes.y(own_x, own_y), slopes.y(own_x, next_y), finer, level);
  });
}

PF_SLOPE_STEPS(Cuda);

}  // namespace parafield
