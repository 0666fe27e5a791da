// SPDX-License-Identifier: MIT
#include "bodily/kernels.hpp"
#include "common/launch.cuh"

// At the border the nearest pixel stands in, as the thesis does not say what does. Weighted sums are divided
// by 38, the sum of the weights; derivatives are not divided, so that shorts hold them exactly.
namespace parafield::bench {
namespace {

template <class T>
struct Planes {
  T* data;
  std::size_t pixels;
  __device__ T& operator()(int plane, int index) const { return data[plane * pixels + index]; }
};

struct Images {
  const unsigned char* frame[5];
};

/// Derivative by (1 -8 0 8 -1) at `i` of a row or column.
__device__ short derivative(const unsigned char* line, int i, int count) {
  const auto at = [&](int offset) { return int(line[clamped(i + offset, count)]); };
  return short(at(-2) - 8 * at(-1) + 8 * at(1) - at(2));
}

/// Weighted sum by (3 5 7 8 7 5 3) at `i` of a row or column, not yet divided.
__device__ int weighted(const short* line, int i, int count) {
  const auto at = [&](int offset) { return int(line[clamped(i + offset, count)]); };
  return 3 * at(-3) + 5 * at(-2) + 7 * at(-1) + 8 * at(0) + 7 * at(1) + 5 * at(2) + 3 * at(3);
}

/// The first blocks make derivatives in x, a row each; the next ones in y, a column each; the last ones in
/// time, a row each.
__global__ void gradient_kernel(Images in, Planes<short> out, int width, int height) {
  unsigned char* const line = shared_memory<unsigned char>();
  const int i = int(threadIdx.x), block = int(blockIdx.x);
  if (block < height) {
    const int index = block * width + i;
    if (i < width) line[i] = in.frame[2][index];
    __syncthreads();
    if (i < width) out(0, index) = derivative(line, i, width);
  } else if (block < height + width) {
    const int index = i * width + block - height;
    if (i < height) line[i] = in.frame[2][index];
    __syncthreads();
    if (i < height) out(1, index) = derivative(line, i, height);
  } else {
    const int index = (block - height - width) * width + i;
    if (i < width)
      for (int k = 0; k < 5; ++k) line[k * width + i] = in.frame[k][index];
    __syncthreads();
    if (i < width)
      out(2, index) = short(line[i] - 8 * line[width + i] + 8 * line[3 * width + i] - line[4 * width + i]);
  }
}

/// A block makes a row, the three derivatives one after the other; threads wait twice for each.
__global__ void weight_x_kernel(Planes<short> in, Planes<short> out, int width) {
  short* const line = shared_memory<short>();
  const int i = int(threadIdx.x), index = int(blockIdx.x) * width + i;
  for (int plane = 0; plane < 3; ++plane) {
    line[i] = in(plane, index);
    __syncthreads();
    out(plane, index) = short(weighted(line, i, width) / 38);
    __syncthreads();
  }
}

/// A block makes a column, likewise.
__global__ void weight_y_kernel(Planes<short> in, Planes<float> out, int width, int height) {
  short* const line = shared_memory<short>();
  const int i = int(threadIdx.x), index = i * width + int(blockIdx.x);
  for (int plane = 0; plane < 3; ++plane) {
    line[i] = in(plane, index);
    __syncthreads();
    out(plane, index) = float(weighted(line, i, height)) / 38;
    __syncthreads();
  }
}

__global__ void outer_product_kernel(Planes<float> in, Planes<float> out, int width) {
  const int index = int(blockIdx.x) * width + int(threadIdx.x);
  const float x = in(0, index), y = in(1, index), t = in(2, index);
  out(0, index) = x * x;
  out(1, index) = y * y;
  out(2, index) = x * y;
  out(3, index) = x * t;
  out(4, index) = y * t;
}

/// Sums of three values along a row or down a column. `step`: floats from one value to the next.
__global__ void tensor_kernel(Planes<float> in, Planes<float> out, int block_step, int step) {
  float* const line = shared_memory<float>();
  const int i = int(threadIdx.x), count = int(blockDim.x), index = int(blockIdx.x) * block_step + i * step;
  for (int plane = 0; plane < 5; ++plane) {
    line[i] = in(plane, index);
    __syncthreads();
    out(plane, index) = line[clamped(i - 1, count)] + line[i] + line[clamped(i + 1, count)];
    __syncthreads();
  }
}

/// Flow by eqs. 3.3 and 3.4.
__global__ void flow_kernel(Planes<float> tensor, float* u, float* v, int width) {
  const int index = int(blockIdx.x) * width + int(threadIdx.x);
  const float t1 = tensor(0, index), t2 = tensor(1, index), t4 = tensor(2, index), t5 = tensor(3, index),
              t6 = tensor(4, index);
  const float divisor = t1 * t2 - t4 * t4;
  if (divisor != 0) {
    u[index] = (t6 * t4 - t5 * t2) / divisor;
    v[index] = (t5 * t4 - t6 * t1) / divisor;
  } else {
    u[index] = 0;
    v[index] = 0;
  }
}

}  // namespace

NaiveTensor::NaiveTensor(Size size)
    : size_(size),
      pixels_(std::size_t(size.width) * std::size_t(size.height)),
      shorts_(6 * pixels_),
      floats_(15 * pixels_) {
  if (size.width > longest_side || size.height > longest_side)
    throw Error(ErrorCode::unsupported, "the naive form takes sides of at most 1024 px, not " +
                                            std::to_string(size.width) + "x" + std::to_string(size.height));
}

void NaiveTensor::run(cudaStream_t stream, const std::array<const unsigned char*, 5>& frames) const {
  const int width = size_.width, height = size_.height, longer = width > height ? width : height;
  const dim3 rows{unsigned(height)}, columns{unsigned(width)};
  const dim3 row_threads{unsigned(width)}, column_threads{unsigned(height)};
  const Planes<short> derivatives{shorts_.get(), pixels_}, along{shorts_.get() + 3 * pixels_, pixels_};
  const Planes<float> weighted_floats{floats_.get(), pixels_}, products{floats_.get() + 3 * pixels_, pixels_},
      sums{floats_.get() + 8 * pixels_, pixels_};
  Images images;
  for (std::size_t i = 0; i < frames.size(); ++i) images.frame[i] = frames[i];

  launch(gradient_kernel, dim3(unsigned(2 * height + width)), dim3(unsigned(longer)),
         std::size_t(5 * width > height ? 5 * width : height), stream, images, derivatives, width, height);
  launch(weight_x_kernel, rows, row_threads, width * sizeof(short), stream, derivatives, along, width);
  launch(weight_y_kernel, columns, column_threads, height * sizeof(short), stream, along, weighted_floats,
         width, height);
  launch(outer_product_kernel, rows, row_threads, 0, stream, weighted_floats, products, width);
  launch(tensor_kernel, rows, row_threads, width * sizeof(float), stream, products, sums, width, 1);
  launch(tensor_kernel, columns, column_threads, height * sizeof(float), stream, sums, products, 1, width);
  launch(flow_kernel, rows, row_threads, 0, stream, products, floats_.get() + 13 * pixels_,
         floats_.get() + 14 * pixels_, width);
}

}  // namespace parafield::bench
