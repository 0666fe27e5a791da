// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/variational/variational.hpp"

namespace parafield {
namespace {

constexpr int data_width = 32, data_height = 16, data_threads = 256;
const dim3 edge_block(32, 8);

__global__ void weigh_edges_kernel(ComparedFrames frames, View<float> edge_x, View<float> edge_y) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= edge_x.width || y >= edge_x.height) return;
  const int right = smaller(x + 1, edge_x.width - 1), below = smaller(y + 1, edge_x.height - 1);
  float along = 0, down = 0;
  for (int c = 0; c < frames.channels; ++c) {
    const float here = frames.from[c](x, y);
    along = larger(magnitude(frames.from[c](right, y) - here), along);
    down = larger(magnitude(frames.from[c](x, below) - here), down);
  }
  edge_x(x, y) = right > x ? edge_weight(along) : 0.0f;
  edge_y(x, y) = below > y ? edge_weight(down) : 0.0f;
}

/// A tile of compare_gradients. Each stage computes a smaller region than its predecessor; positions beyond
/// the image repeat the nearest pixel of that stage.
template <int Channels>
struct DataTile {
  static constexpr bool is_color = Channels > 1;
  static constexpr int weighed = is_color ? 1 : 0, derived = weighed + (is_color ? 2 : 1),
                       compared = derived + 1;  ///< px that each stage reaches beyond the tile
  static constexpr int of_thread =
      ((data_width + 2 * weighed) * (data_height + 2 * weighed) + data_threads - 1) / data_threads;
  static constexpr int planes = 5;

  template <int Reach>
  struct Plane {
    float value[data_height + 2 * Reach][data_width + 2 * Reach];

    __device__ float& at(int x, int y) {
      return value[y - int(blockIdx.y) * data_height + Reach][x - int(blockIdx.x) * data_width + Reach];
    }
  };
  Plane<compared> mean, difference;
  Plane<derived> along_x, along_y;
  Plane<weighed> data[is_color ? planes : 1];

  int right, bottom;  ///< the image's last column and row

  /// Calls f(x, y) for the pixels of the image within `Reach` of the tile. A thread gets the same pixels in
  /// each call.
  template <int Reach, class F>
  __device__ void each(F f) {
    constexpr int columns = data_width + 2 * Reach, rows = data_height + 2 * Reach;
    PF_UNROLL
    for (int i = 0; i < (columns * rows + data_threads - 1) / data_threads; ++i) {
      const int k = int(threadIdx.x) + i * data_threads,
                x = int(blockIdx.x) * data_width - Reach + k % columns,
                y = int(blockIdx.y) * data_height - Reach + k / columns;
      if (k < columns * rows && x >= 0 && x <= right && y >= 0 && y <= bottom) f(i, x, y);
    }
  }

  /// Calls f(i, x, y) for the same pixels, and in place of those outside the image for the nearest inside.
  /// Without branches, the loads of all calls come at once.
  template <int Reach, class F>
  __device__ void each_near(F f) {
    constexpr int columns = data_width + 2 * Reach, rows = data_height + 2 * Reach;
    PF_UNROLL
    for (int i = 0; i < (columns * rows + data_threads - 1) / data_threads; ++i) {
      const int k = int(threadIdx.x) + i * data_threads;
      f(i, clamp(int(blockIdx.x) * data_width - Reach + k % columns, 0, right),
        clamp(int(blockIdx.y) * data_height - Reach + k / columns, 0, bottom));
    }
  }

  __device__ void compare(View<const float> from, View<const float> to, FlowPlanes flow) {
    constexpr int count =
        ((data_width + 2 * compared) * (data_height + 2 * compared) + data_threads - 1) / data_threads;
    float a[count], b[count];
    each_near<compared>([&](int i, int x, int y) {
      a[i] = from(x, y);
      b[i] = warped(to.data, int(to.stride()), to.width, to.height, float(x) + flow.u(x, y),
                    float(y) + flow.v(x, y));
    });
    each<compared>([&](int i, int x, int y) {
      mean.at(x, y) = 0.5f * (a[i] + b[i]);
      difference.at(x, y) = b[i] - a[i];
    });
    __syncthreads();
  }

  __device__ void derive() {
    each<derived>([&](int, int x, int y) {
      along_x.at(x, y) = derivative_of_three(mean.at(larger(x - 1, 0), y), mean.at(smaller(x + 1, right), y));
      along_y.at(x, y) =
          derivative_of_three(mean.at(x, larger(y - 1, 0)), mean.at(x, smaller(y + 1, bottom)));
    });
    __syncthreads();
  }

  __device__ void add(GradientSums (&sums)[of_thread]) {
    each<weighed>([&](int i, int x, int y) {
      const int left = larger(x - 1, 0), next = smaller(x + 1, right), up = larger(y - 1, 0),
                down = smaller(y + 1, bottom);
      const auto along = [&](auto& plane) {
        if constexpr (is_color)
          return derivative_of_five(plane.at(larger(x - 2, 0), y), plane.at(left, y), plane.at(next, y),
                                    plane.at(smaller(x + 2, right), y));
        else
          return derivative_of_three(plane.at(left, y), plane.at(next, y));
      };
      const auto downward = [&](auto& plane) {
        if constexpr (is_color)
          return derivative_of_five(plane.at(x, larger(y - 2, 0)), plane.at(x, up), plane.at(x, down),
                                    plane.at(x, smaller(y + 2, bottom)));
        else
          return derivative_of_three(plane.at(x, up), plane.at(x, down));
      };
      sums[i].add({along(along_x), downward(along_x), along(along_y), downward(along_y),
                   derivative_of_three(difference.at(left, y), difference.at(next, y)),
                   derivative_of_three(difference.at(x, up), difference.at(x, down)), difference.at(x, y)});
    });
    __syncthreads();
  }

  __device__ void store(const GradientSums (&sums)[of_thread], FlowPlanes flow, FlowPlanes back,
                        const DataPlanes& out) {
    each<weighed>([&](int i, int x, int y) {
      float miss = 0;
      if (back.u) {
        const float u = flow.u(x, y), v = flow.v(x, y);
        miss = miss_of(u, v, back.u.data, back.v.data, int(back.u.stride()), right + 1, bottom + 1,
                       locate(float(x) + u, float(y) + v, right + 1, bottom + 1));
      }
      const GradientSums weighted = sums[i].weighted(Channels, miss);
      if constexpr (is_color) {
        data[0].at(x, y) = weighted.xx, data[1].at(x, y) = weighted.xy, data[2].at(x, y) = weighted.yy;
        data[3].at(x, y) = weighted.xt, data[4].at(x, y) = weighted.yt;
      } else {
        out.xx(x, y) = weighted.xx, out.xy(x, y) = weighted.xy, out.yy(x, y) = weighted.yy;
        out.xt(x, y) = weighted.xt, out.yt(x, y) = weighted.yt;
      }
    });
    if constexpr (is_color) {
      __syncthreads();
      each<0>([&](int, int x, int y) {
        const View<float> to[planes] = {out.xx, out.xy, out.yy, out.xt, out.yt};
        PF_UNROLL
        for (int i = 0; i < planes; ++i) {
          const auto row = [&](int at) {
            return smoothed_data(data[i].at(larger(x - 1, 0), at), data[i].at(x, at),
                                 data[i].at(smaller(x + 1, right), at));
          };
          to[i](x, y) = smoothed_data(row(larger(y - 1, 0)), row(y), row(smaller(y + 1, bottom)));
        }
      });
    }
  }
};

template <int Channels>
__global__ void __launch_bounds__(data_threads)
    compare_kernel(const __grid_constant__ ComparedFrames frames, FlowPlanes flow, FlowPlanes back,
                   const __grid_constant__ DataPlanes out) {
  begin_kernel();
  __shared__ DataTile<Channels> tile;
  if (threadIdx.x == 0) tile.right = flow.u.width - 1, tile.bottom = flow.u.height - 1;
  __syncthreads();
  GradientSums sums[DataTile<Channels>::of_thread];
  PF_UNROLL
  for (int c = 0; c < Channels; ++c) {
    tile.compare(frames.from[c], frames.to[c], flow);
    tile.derive();
    tile.add(sums);
  }
  tile.store(sums, flow, back, out);
}

}  // namespace

template <class Backend>
void weigh_edges(Backend& cuda, const ComparedFrames& frames, View<float> edge_x, View<float> edge_y) {
  cuda.launch(weigh_edges_kernel, dim3(blocks_for(edge_x.width, 32), blocks_for(edge_x.height, 8)),
              edge_block, 0, frames, edge_x, edge_y);
}

template <class Backend>
void compare_gradients(Backend& cuda, const ComparedFrames& frames, FlowPlanes flow, FlowPlanes back,
                       const DataPlanes& data) {
  cuda.launch(frames.channels == 1 ? compare_kernel<1> : compare_kernel<3>,
              dim3(blocks_for(flow.u.width, data_width), blocks_for(flow.u.height, data_height)),
              dim3(data_threads), 0, frames, flow, back, data);
}

PF_STEP(weigh_edges<Cuda>);
PF_STEP(compare_gradients<Cuda>);

}  // namespace parafield
