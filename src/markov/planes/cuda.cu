// SPDX-License-Identifier: MIT
#include "markov/launch.cuh"
#include "markov/planes/planes.hpp"

namespace parafield {
namespace {

struct Frames {
  Planes planes[2];
  View<std::uint8_t> known[2];
};

/// blockIdx.z: the frame.
__global__ void clean_kernel(Frames frames) {
  begin_kernel();
  const Planes& floats = frames.planes[blockIdx.z];
  const View<std::uint8_t> known = frames.known[blockIdx.z];
  const int x = own_x(), y = own_y();
  if (x >= known.width || y >= known.height) return;
  bool all = true;
  for (int i = 0; i < floats.count; ++i) {
    std::uint32_t& word = floats.plane[i](x, y);
    if (is_finite(__uint_as_float(word))) continue;
    word = 0;
    all = false;
  }
  known(x, y) = all;
}

struct FramesToConvert {
  Frame frame[2];
  KnownPlanes to[2];
};

/// blockIdx.z: the frame.
__global__ void convert_known_kernel(FramesToConvert frames) {
  begin_kernel();
  const Frame& frame = frames.frame[blockIdx.z];
  const KnownPlanes& to = frames.to[blockIdx.z];
  const int x = own_x(), y = own_y();
  if (x >= frame.width || y >= frame.height) return;
  float values[4] = {};
  with_format(frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
    const Sample* const row = row_of<Sample>(frame, y);
    values[0] = luma_of(row, x, Channels, Red, scale);
    PF_UNROLL
    for (int i = 0; i < 3; ++i) values[1 + i] = channel_of(row, x, i, Channels, Red, scale);
  });
  bool all = true;
  PF_UNROLL
  for (int i = 0; i < 4; ++i) {
    const bool finite = is_finite(values[i]);
    all &= finite;
    values[i] = finite ? values[i] : 0.0f;
  }
  to.luma(x, y) = values[0];
  PF_UNROLL
  for (int i = 0; i < 3; ++i) to.color[i](x, y) = values[1 + i];
  to.known(x, y) = all;
}

__global__ void central_differences_kernel(View<const float> image, View<float> derivative) {
  begin_kernel();
  const int x = own_x(), y = own_y();
  if (x >= image.width || y >= image.height) return;
  const float* const row = image.row(y);
  derivative(x, y) = 0.5f * (row[smaller(x + 1, image.width - 1)] - row[larger(x - 1, 0)]);
}

/// Fills the padding above and below, then left and right. blockIdx.y: the plane; blockIdx.z: the frame.
__global__ void extend_kernel(Frames frames, int columns, int rows, bool nearest) {
  begin_kernel();
  const Planes& planes = frames.planes[blockIdx.z];
  const View<std::uint32_t> plane = planes.plane[blockIdx.y];
  const int width = plane.width, height = plane.height, whole = width + 2 * columns;
  const int above = rows * whole, beside = height * 2 * columns;
  for (int i = own_x(); i < 2 * above + beside; i += int(gridDim.x * blockDim.x)) {
    int x, y;
    if (i < 2 * above) {
      const int row = i / whole;
      x = i - row * whole - columns;
      y = row < rows ? row - rows : height + row - rows;
    } else {
      const int rest = i - 2 * above, row = rest / (2 * columns), column = rest - row * 2 * columns;
      x = column < columns ? column - columns : width + column - columns;
      y = row;
    }
    plane.row(y)[x] =
        nearest ? plane(clamp(x, 0, width - 1), clamp(y, 0, height - 1)) : planes.outside[blockIdx.y];
  }
}

struct Images {
  View<const float> image[3];
};

template <int Neighbors>
__global__ void edge_weights_kernel(Images images, float scale, float floor, EdgeWeights edges) {
  begin_kernel();
  const View<const float> image = images.image[0];
  const int x = own_x(), y = own_y();
  if (x >= image.width || y >= image.height) return;
  float a[3];
  PF_UNROLL
  for (int i = 0; i < 3; ++i) a[i] = images.image[i](x, y);
  PF_UNROLL
  for (int j = 0; j < Neighbors / 2; ++j) {
    const int nx = x + forward_offset(j).x, ny = y + forward_offset(j).y;
    float weight = 0;
    if (nx >= 0 && nx < image.width && ny < image.height) {
      float b[3];
      PF_UNROLL
      for (int i = 0; i < 3; ++i) b[i] = images.image[i](nx, ny);
      weight = edge_weight(a, b, scale, floor);
      if (j < 2 && edges.flatness)
        edges.used[j](x, y) = used_weight(weight, edges.flatness(x, y), edges.flatness(nx, ny), growth_of(0));
    } else if (j < 2 && edges.flatness) {
      edges.used[j](x, y) = 0;
    }
    edges.forward[j](x, y) = weight;
  }
}

}  // namespace

template <class Backend>
void clean(Backend& cuda, const Planes* frames, const View<std::uint8_t>* known, int count) {
  const int last = count - 1;
  cuda.launch(clean_kernel, pixel_grid(known[0].size(), 1, count), pixel_block, 0,
              Frames{{frames[0], frames[last]}, {known[0], known[last]}});
}

template <class Backend>
void convert_known(Backend& cuda, const Frame* frames, const KnownPlanes* to, int count) {
  const int last = count - 1;
  cuda.launch_input(convert_known_kernel, pixel_grid(to[0].luma.size(), 1, count), pixel_block,
                    FramesToConvert{{frames[0], frames[last]}, {to[0], to[last]}});
}

template <class Backend>
void central_differences(Backend& cuda, View<const float> image, View<float> derivative) {
  cuda.launch(central_differences_kernel, pixel_grid(image.size()), pixel_block, 0, image, derivative);
}

template <class Backend>
void extend(Backend& cuda, const Planes* frames, int count, int columns, int rows, Padding padding) {
  const Planes& planes = frames[0];
  const int width = planes.plane[0].width, height = planes.plane[0].height;
  const int pixels = 2 * rows * (width + 2 * columns) + 2 * columns * height;
  cuda.launch(
      extend_kernel, dim3(smaller(blocks_for(pixels, 256), 256u), unsigned(planes.count), unsigned(count)),
      dim3(256), 0, Frames{{frames[0], frames[count - 1]}, {}}, columns, rows, padding == Padding::nearest);
}

template <class Backend>
void edge_weights(Backend& cuda, const View<const float> (&planes)[3], float scale, float floor,
                  const EdgeWeights& edges) {
  cuda.launch(edges.forward[2] ? edge_weights_kernel<8> : edge_weights_kernel<4>,
              pixel_grid(planes[0].size()), pixel_block, 0, Images{{planes[0], planes[1], planes[2]}}, scale,
              floor, edges);
}

PF_STEP(clean<Cuda>);
PF_STEP(convert_known<Cuda>);
PF_STEP(central_differences<Cuda>);
PF_STEP(extend<Cuda>);
PF_STEP(edge_weights<Cuda>);

}  // namespace parafield
