// SPDX-License-Identifier: MIT
#pragma once
#include "markov/labels.hpp"
#include "parafield/methods/energy.hpp"
#include "steps/convert/convert.hpp"

/// Steps that prepare the planes of a frame that data terms compare, and the weights of edges, also on the
/// levels of belief propagation.
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

/// Values of pixels outside the image.
enum class Padding {
  nearest,  ///< the nearest pixel
  outside   ///< each plane's value `outside`
};
/// Fills the padding around the planes of one or two frames, `columns` on the left and on the right, `rows`
/// above and below.
template <class Backend>
void extend(Backend& backend, const Planes* frames, int count, int columns, int rows, Padding padding);

/// Computes the weights of edges from the largest difference over three planes: see Smoothness. If there is
/// flatness, also computes the weights that belief propagation uses.
template <class Backend>
void edge_weights(Backend& backend, const View<const float> (&planes)[3], float scale, float floor,
                  const EdgeWeights& edges);

/// Weights of a level's edges to the right (0) and down (1). An empty plane means weight 1.
struct LevelWeights {
  View<float> used[2] = {};              // weights that messages use
  View<float> plain[2] = {};             // weights without flatness; the same planes if there is no flatness
  View<float> flatness = {};             // see EdgeWeights
  View<const std::uint32_t> color = {};  // color words: see mix.hpp
};

/// How the weights of a coarser level are computed.
enum class CoarseEdges {
  crossed,  ///< from the fine edges that cross the border of two coarse pixels
  kept      ///< edges of the image inside a coarse pixel count, too: see kept_weight
};

/// Computes the weights of level number `level` from the next finer level: see mean_weight and used_weight.
/// The flatness of a pixel is the least of its 2 x 2 finer pixels, and its color is their mean. `color`: the
/// plane of coarse.color, to write. Planes that are empty in `coarse` are left out. Only the CPU has this
/// step; find_coarser calls it, and on CUDA computes the same.
template <class Backend>
void mean_weights(Backend& backend, const LevelWeights& fine, const LevelWeights& coarse, int level,
                  CoarseEdges edges, View<std::uint32_t> color);

// Shared by both backends.

/// Weight of an edge between pixels with values a and b.
PF_HD float edge_weight(const float (&a)[3], const float (&b)[3], float scale, float floor) {
  const float difference =
      larger(larger(magnitude(a[0] - b[0]), magnitude(a[1] - b[1])), magnitude(a[2] - b[2]));
  return fma(1 - floor, exponential(-difference / scale), floor);
}

/// Least weight of a fine edge and of the edges before and after it in its direction, which are inside the
/// coarser pixels that it connects. `Plane`: a view, or another type with its size and its values.
template <class Plane>
PF_HD float kept_weight(const Plane& fine, int j, int x, int y) {
  const int dx = j == 0, dy = j == 1;
  const bool has_next = x + dx < fine.width - dx && y + dy < fine.height - dy;
  const float here = fine(x, y), before = fine(larger(x - dx, 0), larger(y - dy, 0)),
              after = has_next ? fine(x + dx, y + dy) : here;
  return smaller(here, smaller(before, after));
}
/// Weight of a coarser pixel's edge to the right (j = 0) or down (j = 1): the mean of the two fine edges.
template <class Plane>
PF_HD float mean_weight(const Plane& fine, int j, int x, int y, CoarseEdges edges) {
  const int x0 = smaller(2 * x + (j == 0), fine.width - 1), y0 = smaller(2 * y + (j == 1), fine.height - 1);
  const int x1 = smaller(x0 + (j == 1), fine.width - 1), y1 = smaller(y0 + (j == 0), fine.height - 1);
  if (edges == CoarseEdges::kept) return 0.5f * (kept_weight(fine, j, x0, y0) + kept_weight(fine, j, x1, y1));
  return 0.5f * (fine(x0, y0) + fine(x1, y1));
}
/// Mean color of a coarser pixel's 2 x 2 pixels. At the border, the nearest pixels are used.
template <class Plane>
PF_HD std::uint32_t mean_color(const Plane& fine, int x, int y) {
  const int x0 = 2 * x, y0 = 2 * y, x1 = smaller(x0 + 1, fine.width - 1),
            y1 = smaller(y0 + 1, fine.height - 1);
  const std::uint32_t a = fine(x0, y0), b = fine(x1, y0), c = fine(x0, y1), d = fine(x1, y1);
  std::uint32_t word = 0;
  PF_UNROLL
  for (int i = 0; i < 24; i += 8)
    word |= ((a >> i & 255) + (b >> i & 255) + (c >> i & 255) + (d >> i & 255) + 2) / 4 << i;
  return word;
}
/// Least flatness of a coarser pixel's 2 x 2 pixels.
template <class Plane>
PF_HD float least_flatness(const Plane& fine, int x, int y) {
  const int x0 = 2 * x, y0 = 2 * y, x1 = smaller(x0 + 1, fine.width - 1),
            y1 = smaller(y0 + 1, fine.height - 1);
  return smaller(smaller(fine(x0, y0), fine(x1, y0)), smaller(fine(x0, y1), fine(x1, y1)));
}

}  // namespace parafield
