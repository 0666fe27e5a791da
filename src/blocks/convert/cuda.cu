#include "blocks/convert/convert.hpp"
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"

namespace parafield {
namespace {

constexpr int lanes = 32, rows = 8, pixels_each = 4;

template <class Sample>
__device__ float luma_at(const Frame& frame, int x, int y, int channels, int red, float scale) {
  const auto* row = reinterpret_cast<const Sample*>(static_cast<const char*>(frame.data) + y * frame.pitch);
  return luma_of(row, x, channels, red, scale);
}

__device__ float luma_at(const Frame& frame, int x, int y) {
  using enum PixelFormat;
  switch (frame.format) {
    case gray_u8:
      return luma_at<unsigned char>(frame, x, y, 1, 0, 1);
    case gray_u16:
      return luma_at<unsigned short>(frame, x, y, 1, 0, scale_u16);
    case gray_f32:
      return luma_at<float>(frame, x, y, 1, 0, 1);
    case rgb_u8:
      return luma_at<unsigned char>(frame, x, y, 3, 0, 1);
    case rgb_u16:
      return luma_at<unsigned short>(frame, x, y, 3, 0, scale_u16);
    case rgb_f32:
      return luma_at<float>(frame, x, y, 3, 0, 1);
    case bgr_u8:
      return luma_at<unsigned char>(frame, x, y, 3, 2, 1);
    case rgba_u8:
      return luma_at<unsigned char>(frame, x, y, 4, 0, 1);
    case bgra_u8:
      return luma_at<unsigned char>(frame, x, y, 4, 2, 1);
  }
  return 0;
}

/// blockIdx.z: the frame.
__global__ void convert_kernel(Frame frame0, Frame frame1, View<float> luma0, View<float> luma1) {
  begin_kernel();
  const Frame frame = blockIdx.z == 0 ? frame0 : frame1;
  const View<float> luma = blockIdx.z == 0 ? luma0 : luma1;
  const int y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (y >= luma.height) return;
  PF_UNROLL
  for (int i = 0; i < pixels_each; ++i) {
    const int x = (int(blockIdx.x) * pixels_each + i) * lanes + int(threadIdx.x);
    if (x < luma.width) luma(x, y) = luma_at(frame, x, y);
  }
}

}  // namespace

template <>
void convert(Cuda& cuda, const Frame* frames, const View<float>* luma, int count) {
  const int last = count - 1;
  const dim3 block(32, 8),
      grid(blocks_for(luma[0].width, 32), blocks_for(luma[0].height, 8), unsigned(count));
  cuda.launch_input(convert_kernel, grid, block, frames[0], frames[last], luma[0], luma[last]);
}

}  // namespace parafield
