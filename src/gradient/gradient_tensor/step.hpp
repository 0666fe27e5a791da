#pragma once
#include "blocks/gradient/gradient.hpp"
#include "core/workspace.hpp"

/// The gradient tensor's flow (Bodily, chapter 3) in one step.
namespace parafield {

/// Five frames in time order, and where flow is valid.
struct TensorFrames {
  View<const float> frame[5];
  float min_determinant = 0;
};

template <class Backend>
void gradient_tensor(Backend& backend, const TensorFrames& in, FlowPlanes out, Trust trust);

/// Scratch memory that a thread of the CPU needs, in bytes: rows of three derivatives under the window of seven, of three
/// weighted ones, of five products under the window of three, and room for the windows on both sides.
constexpr int tensor_margin = 16;
inline int tensor_row_floats(int width) { return (width + 2 * tensor_margin + 15) / 16 * 16; }
inline std::size_t tensor_scratch(int width) {
  return sizeof(float) * std::size_t(tensor_row_floats(width)) * (3 * 7 + 3 + 5 * 3 + 5);
}

// What both backends compute.

/// (3 5 7 8 7 5 3) / 38.
PF_HD float weighted(float minus3, float minus2, float minus1, float middle, float plus1, float plus2,
                     float plus3) {
  const float outer = fma(5, minus2 + plus2, 3 * (minus3 + plus3));
  return fma(8, middle, fma(7, minus1 + plus1, outer)) * (1.0f / 38);
}

/// (1 1 1) / 3.
PF_HD float mean_of(float before, float middle, float after) {
  return (before + after + middle) * (1.0f / 3);
}

/// Products of the weighted derivatives, and their means: the tensor.
struct Tensor {
  static constexpr int count = 5;
  float xx, yy, xy, xt, yt;  // the thesis's 1, 2, 4, 5, 6
};
PF_HD Tensor products(float x, float y, float t) { return {x * x, y * y, x * y, x * t, y * t}; }

struct TensorFlow {
  float u, v, determinant;
};
/// Eqs. 3.1 and 3.2; no flow where the tensor is singular.
PF_HD TensorFlow solved(const Tensor& t, float min_determinant) {
  const float determinant = fma(t.xx, t.yy, -(t.xy * t.xy));
  const bool regular = determinant > min_determinant;
  const float u = fma(t.yt, t.xy, -(t.xt * t.yy)), v = fma(t.xt, t.xy, -(t.yt * t.xx));
  return {regular ? u / determinant : 0.0f, regular ? v / determinant : 0.0f, determinant};
}

/// The smaller eigenvalue of the spatial tensor.
PF_HD float tensor_confidence(const Tensor& t) {
  const float half = 0.5f * (t.xx - t.yy);
  return larger(0.5f * (t.xx + t.yy) - __builtin_sqrtf(fma(half, half, t.xy * t.xy)), 0.0f);
}

}  // namespace parafield
