// SPDX-License-Identifier: MIT
#pragma once
#include "core/cuda/kernel.cuh"
#include "steps/variational/variational.hpp"
#include "steps/warp/warp.cuh"

namespace parafield {
namespace {

constexpr int data_width = 32, data_height = 16, data_threads = 256;
static_assert(data_width * data_height % data_threads == 0);

/// Step 1 for a tile of pixels. Each stage computes a smaller region than its predecessor; positions beyond the
/// image repeat the nearest pixel of that stage.
template <int Channels>
struct DataTile {
  static constexpr bool is_color = Channels > 1;
  static constexpr int weighed = is_color ? 1 : 0, derived = weighed + (is_color ? 2 : 1),
                       compared = derived + 1;  ///< px that each stage reaches beyond the tile
  static constexpr int of_thread =
      ((data_width + 2 * weighed) * (data_height + 2 * weighed) + data_threads - 1) / data_threads;
  static constexpr int own_of_thread = data_width * data_height / data_threads;
  static constexpr int planes = 5;  ///< of the data

  template <int Reach>
  struct Plane {
    float value[data_height + 2 * Reach][data_width + 2 * Reach];

    __device__ float& at(int x, int y) {
      return value[y - int(blockIdx.y) * data_height + Reach][x - int(blockIdx.x) * data_width + Reach];
    }
  };
  Plane<compared> mean, difference;
  Plane<derived> along_x, along_y;
  Plane<weighed> raw[is_color ? planes : 1];  ///< data before they are smoothed

  int right, bottom;  ///< the image's last column and row

  /// Calls f(i, x, y) for the pixels of the image within `Reach` of the tile. A thread gets the same pixels,
  /// with the same i, in each call.
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

  /// Each thread warps pixels of one column.
  __device__ void compare(View<const float> from, View<const float> to, FlowPlanes flow) {
    constexpr int columns = data_width + 2 * compared, rows = data_height + 2 * compared,
                  groups = data_threads / columns, each = (rows + groups - 1) / groups;
    const int column = int(threadIdx.x) % columns, first = int(threadIdx.x) / columns * each;
    const int own_x = int(blockIdx.x) * data_width - compared + column,
              own_y = int(blockIdx.y) * data_height - compared + first;
    const int x = clamp(own_x, 0, right);
    int y[each];
    float a[each], b[each], u[each], v[each];
    PF_UNROLL
    for (int k = 0; k < each; ++k) {
      y[k] = clamp(own_y + k, 0, bottom);
      a[k] = from(x, y[k]), u[k] = flow.u(x, y[k]), v[k] = flow.v(x, y[k]);
    }
    warp_below<each>({to.data, unsigned(to.stride()), to.width, to.height}, 1, x, y, u, v, b);
    PF_UNROLL
    for (int k = 0; k < each; ++k) {
      if (first + k >= rows || own_x != x || own_y + k != y[k]) continue;
      mean.at(x, y[k]) = 0.5f * (a[k] + b[k]);
      difference.at(x, y[k]) = b[k] - a[k];
    }
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

  /// The data of the thread's pixels of the tile: pixel i of each<0> has data[i].
  __device__ void weigh(const GradientSums (&sums)[of_thread], FlowPlanes flow, FlowPlanes back,
                        GradientSums (&data)[own_of_thread]) {
    each<weighed>([&](int i, int x, int y) {
      float miss = 0;
      if (back.u) {
        const float u = flow.u(x, y), v = flow.v(x, y);
        miss = miss_of(u, v, back.u.data, back.v.data, int(back.u.stride()), right + 1, bottom + 1,
                       locate(float(x) + u, float(y) + v, right + 1, bottom + 1));
      }
      const GradientSums pixel = sums[i].weighted(Channels, miss);
      if constexpr (is_color) {
        raw[0].at(x, y) = pixel.xx, raw[1].at(x, y) = pixel.xy, raw[2].at(x, y) = pixel.yy;
        raw[3].at(x, y) = pixel.xt, raw[4].at(x, y) = pixel.yt;
      } else {
        data[i] = pixel;
      }
    });
    if constexpr (is_color) {
      __syncthreads();
      each<0>([&](int i, int x, int y) {
        float smooth[planes];
        PF_UNROLL
        for (int k = 0; k < planes; ++k) {
          const auto row = [&](int at) {
            return smoothed_data(raw[k].at(larger(x - 1, 0), at), raw[k].at(x, at),
                                 raw[k].at(smaller(x + 1, right), at));
          };
          smooth[k] = smoothed_data(row(larger(y - 1, 0)), row(y), row(smaller(y + 1, bottom)));
        }
        data[i] = {smooth[0], smooth[1], smooth[2], smooth[3], smooth[4]};
      });
    }
  }
};

}  // namespace
}  // namespace parafield
