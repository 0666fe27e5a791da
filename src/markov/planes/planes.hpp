#pragma once
#include "markov/labels.hpp"
#include "parafield/methods/energy.hpp"

/// Steps that make of a frame what its pixels are compared by.
namespace parafield {

/// Some planes of one size and pitch, floats or 32-bit words; what is done with them is done in one launch.
struct Planes {
  static constexpr int most = 6;
  View<std::uint32_t> plane[most];
  std::uint32_t outside[most] = {};  // see extend
  int count = 0;

  void add(View<std::uint32_t> view, std::uint32_t fill) {
    plane[count] = view;
    outside[count++] = fill;
  }
};

/// Half the difference of the pixels to the right and to the left; beyond the border the nearest pixel stands in.
template <class Backend>
void central_differences(Backend& backend, View<const float> image, View<float> derivative);

// The next two take one frame or two.

/// Values that are no numbers become 0; `known` is 1 where every plane of the frame had one.
template <class Backend>
void clean(Backend& backend, const Planes* frames, const View<std::uint8_t>* known, int count);

/// Fills `columns` and `rows` of room on each side of the planes: with the nearest pixel's value, or each plane's
/// `outside`.
template <class Backend>
void extend(Backend& backend, const Planes* frames, int count, int columns, int rows, bool nearest);

/// Weights of the edges of four or eight neighbors where the planes (gray, or three of color) change from pixel to
/// pixel: see Smoothness.
template <class Backend>
void edge_weights(Backend& backend, const View<const float>* planes, int count, float scale, float floor,
                  const EdgeWeights& edges);

// What both backends compute.

PF_HD float edge_weight(float difference, float scale, float floor) {
  return fma(1 - floor, exponential(-difference / scale), floor);
}

}  // namespace parafield
