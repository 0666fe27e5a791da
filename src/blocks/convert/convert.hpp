#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

/// One or two frames of any format, but of the same size, as luma, 0..255: where pixels enter the library. 16-bit
/// values are divided by 257; colour becomes BT.601 luma. The frames lie in memory that the backend reads; on CUDA they
/// are inputs that a replay reads anew.
template <class Backend>
void convert(Backend& backend, const Frame* frames, const View<float>* luma, int count);

/// One pixel of convert: the value at index `x` of a row of interleaved pixels.
template <class Sample>
PF_HD float luma_of(const Sample* row, int x, int channels, int red, float scale) {
  const Sample* pixel = row + x * channels;
  if (channels == 1) return float(pixel[0]) * scale;
  const float sum =
      fma(0.114f, float(pixel[2 - red]), fma(0.587f, float(pixel[1]), 0.299f * float(pixel[red])));
  return sum * scale;
}

constexpr float scale_u16 = 1.0f / 257;

}  // namespace parafield
