#pragma once
#include "steps/warp/warp.hpp"
#include "guided/likelihood.hpp"

/// Pixels of Colors on CUDA: a load each.
namespace parafield {

__device__ inline Color load(const Color* pixel) {
  const float4 of = *reinterpret_cast<const float4*>(pixel);
  return {of.x, of.y, of.z, 0};
}

/// The bilinear color at a match.
__device__ inline Color sample(const View<Color>& pixels, const Match& match) {
  const int pitch = int(pixels.pitch / std::ptrdiff_t(sizeof(Color)));
  const Color* const top = pixels.data + match.y * pitch + match.x;
  const int right = pixels.width > 1 ? 1 : 0, down = pixels.height > 1 ? pitch : 0;
  const Color a = load(top), b = load(top + right), c = load(top + down), d = load(top + down + right);
  const auto channel = [&](float a, float b, float c, float d) {
    return interpolate(interpolate(a, b, match.share_x), interpolate(c, d, match.share_x), match.share_y);
  };
  return {channel(a.red, b.red, c.red, d.red), channel(a.green, b.green, c.green, d.green),
          channel(a.blue, b.blue, c.blue, d.blue), 0};
}

}  // namespace parafield
