// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "core/views.hpp"
#include "steps/colors/keep.cuh"

// Lower bound: rgb_u8 reads 3 bytes per pixel and writes 16, or 32 with smoothed colors. Two frames of
// 320x240, one of them smoothed, take an H100 (3.0 TB/s) 1.4 us, as long as a launch.

namespace parafield {
namespace {

constexpr int colors_width = 32, colors_height = 8, channels = 3;

/// A tile of a frame's channels in shared memory. Radius: the taps' radius if known at compile time,
/// otherwise -1.
template <int Radius>
struct ColorTile {
  static constexpr int most = Radius >= 0 ? Radius : Taps::max_radius;
  float in[channels][colors_height + 2 * most][colors_width + 2 * most],
      column[channels][colors_height][colors_width + 2 * most];

  /// Position of a thread's pixel in the tile, without the halo.
  __device__ static int x() { return int(threadIdx.x) % colors_width; }
  __device__ static int y() { return int(threadIdx.x) / colors_width; }
  __device__ static int radius_of(const Taps& taps) { return Radius >= 0 ? Radius : taps.radius; }

  /// Loads the tile and its halo. Pixels beyond the border repeat the nearest pixel.
  __device__ void load(const Frame& frame, const Taps& taps) {
    const int radius = radius_of(taps), columns = colors_width + 2 * radius,
              rows = colors_height + 2 * radius;
    const int right = frame.width - 1, bottom = frame.height - 1;
    const int x0 = int(blockIdx.x) * colors_width - radius, y0 = int(blockIdx.y) * colors_height - radius;
    with_format(frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
      for (int k = int(threadIdx.x); k < rows * columns; k += colors_width * colors_height) {
        const int row = k / columns, i = k % columns;
        const Sample* const pixels = reinterpret_cast<const Sample*>(
            static_cast<const char*>(frame.data) + clamp(y0 + row, 0, bottom) * frame.pitch);
        PF_UNROLL
        for (int c = 0; c < channels; ++c)
          in[c][row][i] = channel_of(pixels, clamp(x0 + i, 0, right), c, Channels, Red, scale);
      }
    });
    __syncthreads();
  }

  __device__ static void set(const Colors& to, float red, float green, float blue) {
    const int at_x = int(blockIdx.x) * colors_width + x(), at_y = int(blockIdx.y) * colors_height + y();
    if (at_x < to.pixels.width && at_y < to.pixels.height)
      reinterpret_cast<float4&>(to.pixels(at_x, at_y)) = make_float4(red, green, blue, 0);
  }

  __device__ void store(const Taps& taps, const Colors& colors) const {
    const int radius = radius_of(taps);
    const auto own = [&](int c) { return in[c][y() + radius][x() + radius]; };
    set(colors, own(0), own(1), own(2));
  }

  __device__ void store_smoothed(const Taps& taps, const Colors& smoothed) {
    const int radius = radius_of(taps), columns = colors_width + 2 * radius;
    PF_UNROLL
    for (int c = 0; c < channels; ++c)
      for (int i = x(); i < columns; i += colors_width) {
        float sum = taps.weight[0] * in[c][y() + radius][i];
        for (int k = 1; k <= radius; ++k)
          sum = fma(taps.weight[k], in[c][y() + radius - k][i] + in[c][y() + radius + k][i], sum);
        column[c][y()][i] = sum;
      }
    __syncwarp();  // a row belongs to one warp
    const auto blurred = [&](int c) {
      const float* const middle = column[c][y()] + x() + radius;
      float sum = taps.weight[0] * middle[0];
      for (int k = 1; k <= radius; ++k) sum = fma(taps.weight[k], middle[-k] + middle[k], sum);
      return sum;
    };
    set(smoothed, blurred(0), blurred(1), blurred(2));
  }
};

/// blockIdx.z: index of the frame.
template <int Radius>
__global__ void __launch_bounds__(colors_width* colors_height)
    colors_kernel(const __grid_constant__ Frame frame0, const __grid_constant__ Frame frame1,
                  const __grid_constant__ Taps taps, const __grid_constant__ Colors colors0,
                  const __grid_constant__ Colors colors1, const __grid_constant__ Colors smoothed0,
                  const __grid_constant__ Colors smoothed1, int smooth_count) {
  __shared__ ColorTile<Radius> tile;
  await_last();  // without launch_next(): interpolate_kernel must not start early
  tile.load(blockIdx.z == 0 ? frame0 : frame1, taps);
  tile.store(taps, blockIdx.z == 0 ? colors0 : colors1);
  if constexpr (Radius != 0)
    if (int(blockIdx.z) < smooth_count) tile.store_smoothed(taps, blockIdx.z == 0 ? smoothed0 : smoothed1);
}

/// The same for frames that were kept, without the raw colors.
template <int Radius>
__global__ void __launch_bounds__(colors_width* colors_height)
    smooth_kept_kernel(const Frame* frames, const __grid_constant__ Taps taps,
                       const __grid_constant__ Colors smoothed0, const __grid_constant__ Colors smoothed1) {
  begin_kernel();
  __shared__ ColorTile<Radius> tile;
  tile.load(frames[blockIdx.z], taps);
  tile.store_smoothed(taps, blockIdx.z == 0 ? smoothed0 : smoothed1);
}

/// blockIdx.y: index of the frame.
__global__ void __launch_bounds__(copy_threads)
    keep_kernel(const __grid_constant__ FrameCopy copy0, const __grid_constant__ FrameCopy copy1,
                Frame* frames) {
  begin_kernel();
  keep_frame(blockIdx.y == 0 ? copy0 : copy1, frames + blockIdx.y, int(blockIdx.x), int(gridDim.x));
}

}  // namespace

template <class Backend>
void make_colors(Backend& cuda, const Frame* frames, int count, const Taps& taps, const Colors* colors,
                 const Colors* smoothed, int smooth_count) {
  const int last = count - 1;
  const dim3 grid(blocks_for(frames[0].width, colors_width), blocks_for(frames[0].height, colors_height),
                  unsigned(count));
  const auto launch = [&](auto kernel) {
    cuda.launch_input(kernel, grid, dim3(colors_width * colors_height), frames[0], frames[last], taps,
                      colors[0], colors[last], smoothed[0], smoothed[last], smooth_count);
  };
  switch (taps.radius) {
    case 0:
      return launch(colors_kernel<0>);
    case 3:
      return launch(colors_kernel<3>);
    default:
      return launch(colors_kernel<-1>);
  }
}

template <class Backend>
void keep_frames(Backend& cuda, const Frame* frames, int slot, int count, const KeptFrames& kept) {
  const int last = count - 1;
  const FrameCopy copies[] = {frame_copy(frames[0], kept.bytes[slot]),
                              frame_copy(frames[last], kept.bytes[slot + last])};
  cuda.launch_input(keep_kernel, dim3(unsigned(blocks_of(copies[0].copy)), unsigned(count)),
                    dim3(copy_threads), copies[0], copies[1], kept.frames + slot);
}

template <class Backend>
void smooth_kept(Backend& cuda, const KeptFrames& kept, const Taps& taps, const View<float>*,
                 const Colors* smoothed) {
  const View<Color> pixels = smoothed[0].pixels;
  const auto launch = [&](auto kernel) {
    cuda.launch(kernel,
                dim3(blocks_for(pixels.width, colors_width), blocks_for(pixels.height, colors_height), 2),
                dim3(colors_width * colors_height), 0, kept.frames, taps, smoothed[0], smoothed[1]);
  };
  taps.radius == 3 ? launch(smooth_kept_kernel<3>) : launch(smooth_kept_kernel<-1>);
}

PF_STEP(make_colors<Cuda>);
PF_STEP(keep_frames<Cuda>);
PF_STEP(smooth_kept<Cuda>);

}  // namespace parafield
