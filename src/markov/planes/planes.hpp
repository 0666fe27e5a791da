// SPDX-License-Identifier: MIT
#pragma once
#include "markov/labels.hpp"
#include "parafield/methods/energy.hpp"
#include "steps/convert/convert.hpp"

/// Steps that prepare the planes of a frame that data terms compare, and the weights of edges.
namespace parafield {

/// Planes of a frame, all of the same size and pitch: floats, or 32-bit words.
struct Planes {
  static constexpr int most = 8;
  View<std::uint32_t> plane[most];
  std::uint32_t outside[most] = {};  // value outside the image: see extend
  int count = 0;

  void add(View<std::uint32_t> view, std::uint32_t fill) {
    plane[count] = view;
    outside[count++] = fill;
  }
};

/// Horizontal derivative: (right pixel - left pixel) / 2. Beyond the border, the nearest pixel is used.
template <class Backend>
void central_differences(Backend& backend, View<const float> image, View<float> derivative);

/// Luma, red, green and blue of a frame, and which pixels are known. On the CPU the color planes may be
/// empty.
struct KnownPlanes {
  View<float> luma, color[3];
  View<std::uint8_t> known;
};
/// Converts one or two frames in a single pass, with the results of `convert`, `convert_color` and `clean`.
template <class Backend>
void convert_known(Backend& backend, const Frame* frames, const KnownPlanes* to, int count);

/// Replaces values that are not finite by 0, in one or two frames. `known`: 1 where all planes were finite.
template <class Backend>
void clean(Backend& backend, const Planes* frames, const View<std::uint8_t>* known, int count);

/// Fills the padding around the planes of one or two frames, `columns` on the left and on the right, `rows`
/// above and below, with the nearest pixel or with each plane's value `outside`.
template <class Backend>
void extend(Backend& backend, const Planes* frames, int count, int columns, int rows, bool nearest);

/// Computes the weights of edges from the largest difference over the planes (1 or 3): see Smoothness. If
/// there is flatness, also computes the weights that belief propagation uses.
template <class Backend>
void edge_weights(Backend& backend, const View<const float>* planes, int count, float scale, float floor,
                  const EdgeWeights& edges);

// Shared by both backends.

/// Weight of an edge between pixels with values a and b.
PF_HD float edge_weight(const float (&a)[3], const float (&b)[3], float scale, float floor) {
  const float difference =
      larger(larger(magnitude(a[0] - b[0]), magnitude(a[1] - b[1])), magnitude(a[2] - b[2]));
  return fma(1 - floor, exponential(-difference / scale), floor);
}

}  // namespace parafield
