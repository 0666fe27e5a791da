// SPDX-License-Identifier: MIT
#include <climits>

#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "core/cuda/warp_reductions.cuh"
#include "steps/sharpen/sharpen.hpp"

// Most pixels are far from boundaries; they are marked and copied, at 24 bytes each. Colors and trust are
// computed only for blocks that a median may read. Each median is computed by one warp: a lane has two
// samples, and warps add integers in one instruction. A dozen halvings of the range of values are about 250
// instructions per warp. On an H100, measured with ncu at 640x480, the medians take 75 us where motion has
// many boundaries (scene `large`), and the other kernels 5 to 7 us each.
namespace parafield {
namespace {

constexpr int block_width = 32, block_height = 8;  // size of a block, px
constexpr int block_columns = block_width / boundary_cell, block_rows = block_height / boundary_cell;
const dim3 pixels_of_block(block_width, block_height);

dim3 sharpen_blocks(const Sharpening& s) {
  return {blocks_for(s.flow.u.width, block_width), blocks_for(s.flow.u.height, block_height)};
}

/// Whether a cell of the block, or a cell at most `reach` cells away, has a boundary. All threads of the
/// block must call it, because it synchronizes them. `thread`: index of the thread in the block.
__device__ bool has_boundary_near(View<const std::uint8_t> boundaries, int reach, int thread) {
  const int across = block_columns + 2 * reach;
  bool marked = false;
  if (thread < across * (block_rows + 2 * reach)) {
    const int x = int(blockIdx.x) * block_columns - reach + thread % across,
              y = int(blockIdx.y) * block_rows - reach + thread / across;
    marked = x >= 0 && x < boundaries.width && y >= 0 && y < boundaries.height && boundaries(x, y) != 0;
  }
  return __syncthreads_or(marked);
}

/// Marks boundary cells. Each warp checks a row of pixels.
__global__ void __launch_bounds__(block_width* block_height)
    mark_boundaries_kernel(FlowPlanes flow, View<std::uint8_t> boundaries) {
  begin_kernel();
  __shared__ unsigned marked[block_height];
  const int x = int(blockIdx.x) * block_width + int(threadIdx.x),
            y = int(blockIdx.y) * block_height + int(threadIdx.y);
  const int right_most = flow.u.width - 1, lowest = flow.u.height - 1;
  bool is_boundary = false;
  if (x <= right_most && y <= lowest) {
    const int left = larger(x - 1, 0), right = smaller(x + 1, right_most), above = larger(y - 1, 0),
              below = smaller(y + 1, lowest);
    const auto changes_in = [=](const View<float>& plane) {
      return changes(plane(left, y), plane(right, y)) | changes(plane(x, above), plane(x, below));
    };
    is_boundary = changes_in(flow.u) | changes_in(flow.v);
  }
  const unsigned lanes = __ballot_sync(~0u, is_boundary);
  if (threadIdx.x == 0) marked[threadIdx.y] = lanes;
  __syncthreads();
  if (threadIdx.y != 0 || int(threadIdx.x) >= block_columns * block_rows) return;
  const int column = int(threadIdx.x) % block_columns, row = int(threadIdx.x) / block_columns;
  unsigned any = 0;
  PF_UNROLL
  for (int i = 0; i < boundary_cell; ++i) any |= marked[row * boundary_cell + i];
  const int cell_x = int(blockIdx.x) * block_columns + column, cell_y = int(blockIdx.y) * block_rows + row;
  if (cell_x < boundaries.width && cell_y < boundaries.height)
    boundaries(cell_x, cell_y) = (any >> (column * boundary_cell) & 15) != 0;
}

/// Pixel x of a row of samples.
template <int Channels, int Red, class Sample>
__device__ Color color_of(const Sample* row, int x, Scale scale) {
  const auto channel = [=](int c) { return channel_of(row, x, c, Channels, Red, scale); };
  return {channel(0), channel(1), channel(2), 0};
}

__device__ Color color_at(const Frame& frame, int x, int y) {
  return with_format(frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
    return color_of<Channels, Red>(row_of<Sample>(frame, y), x, scale);
  });
}

/// The bilinear color at a match.
__device__ Color color_at(const Frame& frame, const Match& match) {
  const int right = match.x + (frame.width > 1), below = match.y + (frame.height > 1);
  return with_format(frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
    const auto color = [&](int x, int y) {
      return color_of<Channels, Red>(row_of<Sample>(frame, y), x, scale);
    };
    return interpolate(color(match.x, match.y), color(right, match.y), color(match.x, below),
                       color(right, below), match);
  });
}

/// Computes the trust and the first frame's colors where a median may read them: up to 3 cells from a
/// boundary.
__global__ void __launch_bounds__(block_width* block_height)
    find_trust_kernel(const Frame* from, const Frame* to, FlowPlanes flow, FlowPlanes back,
                      View<const std::uint8_t> boundaries, View<float> trust, View<Color> colors) {
  begin_kernel();
  constexpr int reach = (sharpen_reach + boundary_cell - 1) / boundary_cell;
  if (!has_boundary_near(boundaries, reach, int(threadIdx.y) * block_width + int(threadIdx.x))) return;
  const int x = int(blockIdx.x) * block_width + int(threadIdx.x),
            y = int(blockIdx.y) * block_height + int(threadIdx.y);
  if (x >= trust.width || y >= trust.height) return;
  const Match match = locate(float(x) + flow.u(x, y), float(y) + flow.v(x, y), trust.width, trust.height);
  const Color own = color_at(*from, x, y);
  const float miss = back.u ? miss_of(flow.u(x, y), flow.v(x, y), back.u.data, back.v.data,
                                      int(back.u.stride()), trust.width, trust.height, match)
                            : 0.0f;
  trust(x, y) = trust_of(own, color_at(*to, match), miss);
  reinterpret_cast<float4&>(colors(x, y)) = make_float4(own.red, own.green, own.blue, 0);
}

/// Computes the weighted median at a pixel, using one warp.
__device__ void sharpen_pixel(View<const Color> colors, View<const float> trust, FlowPlanes flow, int x,
                              int y, FlowPlanes sharpened) {
  constexpr int of_lane = (sharpen_samples + 31) / 32;
  const int lane = int(threadIdx.x) % 32;
  const Color own = load(&colors(x, y));
  int u[of_lane], v[of_lane], weight[of_lane], sum = 0;
  int low_u = INT_MAX, high_u = INT_MIN, low_v = INT_MAX, high_v = INT_MIN;
  PF_UNROLL
  for (int i = 0; i < of_lane; ++i) {
    const int sample = lane + 32 * i, row = sample / sharpen_across;
    const int dx = sharpen_step * (sample - row * sharpen_across) - sharpen_reach,
              dy = sharpen_step * row - sharpen_reach;
    const int at_x = x + dx, at_y = y + dy;
    u[i] = v[i] = weight[i] = 0;
    if (sample >= sharpen_samples || at_x < 0 || at_x >= trust.width || at_y < 0 || at_y >= trust.height)
      continue;
    const Color color = load(&colors(at_x, at_y));
    weight[i] =
        sample_weight(largest_difference(color.red - own.red, color.green - own.green, color.blue - own.blue),
                      dx * dx + dy * dy, trust(at_x, at_y));
    u[i] = units_of(flow.u(at_x, at_y));
    v[i] = units_of(flow.v(at_x, at_y));
    low_u = smaller(low_u, u[i]), high_u = larger(high_u, u[i]);
    low_v = smaller(low_v, v[i]), high_v = larger(high_v, v[i]);
    sum += weight[i];
  }
  const int all = sum_of_warp(sum);
  low_u = least_of_warp(low_u), high_u = most_of_warp(high_u);
  low_v = least_of_warp(low_v), high_v = most_of_warp(high_v);
  while (low_u < high_u || low_v < high_v) {
    const int middle_u = (low_u + high_u) >> 1, middle_v = (low_v + high_v) >> 1;
    int part_u = 0, part_v = 0;
    PF_UNROLL
    for (int i = 0; i < of_lane; ++i) {
      part_u += u[i] <= middle_u ? weight[i] : 0;
      part_v += v[i] <= middle_v ? weight[i] : 0;
    }
    part_u = sum_of_warp(part_u);
    part_v = sum_of_warp(part_v);
    2 * part_u >= all ? high_u = middle_u : low_u = middle_u + 1;
    2 * part_v >= all ? high_v = middle_v : low_v = middle_v + 1;
  }
  if (lane == 0) sharpened.u(x, y) = flow_of(low_u), sharpened.v(x, y) = flow_of(low_v);
}

constexpr int sharpen_warps = 16;

/// Each block lists its pixels at boundaries, which its warps then process in turn.
__global__ void __launch_bounds__(32 * sharpen_warps)
    sharpen_kernel(View<const Color> colors, View<const float> trust, FlowPlanes flow,
                   View<const std::uint8_t> boundaries, FlowPlanes sharpened) {
  begin_kernel();
  __shared__ std::uint8_t list[block_width * block_height];
  __shared__ int count;
  const int thread = int(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int x0 = int(blockIdx.x) * block_width, y0 = int(blockIdx.y) * block_height;
  if (thread == 0) count = 0;
  const bool any = has_boundary_near(boundaries, 0, thread);
  const int x = x0 + lane, y = y0 + warp;
  const bool is_own = warp < block_height && x < trust.width && y < trust.height;
  const bool filters = any && is_own && boundaries(x / boundary_cell, y / boundary_cell) != 0;
  if (is_own && !filters) sharpened.u(x, y) = flow.u(x, y), sharpened.v(x, y) = flow.v(x, y);
  if (!any) return;
  const unsigned lanes = __ballot_sync(~0u, filters);
  int first = 0;
  if (lane == 0 && lanes != 0) first = atomicAdd(&count, __popc(lanes));
  first = __shfl_sync(~0u, first, 0);
  if (filters) list[first + __popc(lanes & ((1u << lane) - 1))] = std::uint8_t(thread);
  __syncthreads();
  for (int i = warp; i < count; i += sharpen_warps)
    sharpen_pixel(colors, trust, flow, x0 + list[i] % block_width, y0 + list[i] / block_width, sharpened);
}

}  // namespace

template <class Backend>
void sharpen_flow(Backend& cuda, const Sharpening& s) {
  cuda.launch(mark_boundaries_kernel, sharpen_blocks(s), pixels_of_block, 0, s.flow, s.boundaries);
  cuda.launch(find_trust_kernel, sharpen_blocks(s), pixels_of_block, 0, s.kept.frames + s.from,
              s.kept.frames + s.to, s.flow, s.back, s.boundaries, s.trust, s.colors[0].pixels);
  cuda.launch(sharpen_kernel, sharpen_blocks(s), dim3(32 * sharpen_warps), 0, s.colors[0].pixels, s.trust,
              s.flow, s.boundaries, s.sharpened);
}

PF_STEP(sharpen_flow<Cuda>);

}  // namespace parafield
