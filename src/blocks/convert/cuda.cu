#include "blocks/convert/convert.hpp"
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"

namespace parafield {
namespace {

template <class Sample>
__device__ float luma_at(const Frame& frame, int x, int y, int channels, int red, float scale) {
  const auto* row = reinterpret_cast<const Sample*>(static_cast<const char*>(frame.data) + y * frame.pitch);
  return luma_of(row, x, channels, red, scale);
}

/// blockIdx.z: the frame.
__global__ void convert_kernel(Frame frame0, Frame frame1, View<float> luma0, View<float> luma1) {
  begin_kernel();
  const Frame frame = blockIdx.z == 0 ? frame0 : frame1;
  const View<float> luma = blockIdx.z == 0 ? luma0 : luma1;
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= luma.width || y >= luma.height) return;
  using enum PixelFormat;
  float value = 0;
  switch (frame.format) {
    case gray_u8:
      value = luma_at<unsigned char>(frame, x, y, 1, 0, 1);
      break;
    case gray_u16:
      value = luma_at<unsigned short>(frame, x, y, 1, 0, scale_u16);
      break;
    case gray_f32:
      value = luma_at<float>(frame, x, y, 1, 0, 1);
      break;
    case rgb_u8:
      value = luma_at<unsigned char>(frame, x, y, 3, 0, 1);
      break;
    case rgb_u16:
      value = luma_at<unsigned short>(frame, x, y, 3, 0, scale_u16);
      break;
    case rgb_f32:
      value = luma_at<float>(frame, x, y, 3, 0, 1);
      break;
    case bgr_u8:
      value = luma_at<unsigned char>(frame, x, y, 3, 2, 1);
      break;
    case rgba_u8:
      value = luma_at<unsigned char>(frame, x, y, 4, 0, 1);
      break;
    case bgra_u8:
      value = luma_at<unsigned char>(frame, x, y, 4, 2, 1);
      break;
  }
  luma(x, y) = value;
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
