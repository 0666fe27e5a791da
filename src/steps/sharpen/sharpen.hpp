// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "steps/colors/colors.hpp"
#include "steps/median/median.hpp"

namespace parafield {

/// Flow to sharpen, and the memory that sharpening needs.
struct Sharpening {
  KeptFrames kept;
  int from = 0, to = 1;           ///< slots of the two frames
  FlowPlanes flow;                ///< finite
  FlowPlanes back;                ///< of the second frame, finite; may be empty
  View<std::uint8_t> boundaries;  ///< overwritten: whether a cell has a boundary; see size_of_boundary_cells
  View<float> trust;              ///< overwritten where needed
  Colors colors[2];               ///< overwritten; on CUDA only [0], and only where needed
  FlowPlanes sharpened;           ///< the result
};

/// Takes a weighted median of the flow at motion boundaries, and copies the flow elsewhere. A pixel is at a
/// boundary if flow changes by more than 0.2 px from the pixel before it to the pixel after it, in x or in y.
/// The median is taken in cells of 4x4 pixels that contain such a pixel. It covers 7x7 pixels, 3 px apart,
/// and is rounded to 1/256 px. A pixel's weight is larger the nearer it is, the more similar its color is to
/// the middle pixel's, and the more similar its color is to its match's. With flow back, the weight is also
/// larger the closer the flow back ends to the pixel. Motion boundaries thereby move to color boundaries.
/// Weights that decrease with distance and color difference are from Sun, Roth and Black 2010, "Secrets of
/// optical flow estimation and their principles".
template <class Backend>
void sharpen_flow(Backend& backend, const Sharpening& sharpening);

/// Size of the plane of boundary cells.
inline Size size_of_boundary_cells(Size size) { return {(size.width + 3) / 4, (size.height + 3) / 4}; }

/// Allocates what sharpening needs besides the flow of the given size and its result. `workspace`: a
/// Workspace or a SharedWorkspace.
template <class Backend, class From>
Sharpening make_sharpening(From& workspace, Size size, const KeptFrames& kept, FlowPlanes sharpened) {
  Sharpening sharpening;
  sharpening.kept = kept;
  sharpening.boundaries = workspace.template image<std::uint8_t>(size_of_boundary_cells(size));
  sharpening.trust = workspace.template image<float>(size);
  sharpening.sharpened = sharpened;
  for (int i = 0; i < (Backend::is_gpu ? 1 : 2); ++i)
    sharpening.colors[i] = make_color_planes<Backend>(workspace, size);
  return sharpening;
}

/// Sharpens flow between kept frames.
template <class Backend>
class FlowSharpener {
 public:
  /// `back`: planes for the flow of the second frame, which the user of this class fills, or empty.
  FlowSharpener(Backend& backend, Workspace& workspace, Size size, const KeptFrames& kept, FlowPlanes back)
      : sharpening_(make_sharpening<Backend>(workspace, size, kept, workspace.flow(size))),
        backend_(backend) {
    sharpening_.back = back;
  }

  /// Sharpens the flow from the frame in slot `from` to the frame in slot `to`, in place, and takes a plain
  /// median.
  void sharpen(int from, int to, FlowPlanes flow) {
    sharpening_.from = from, sharpening_.to = to, sharpening_.flow = flow;
    sharpen_flow(backend_, sharpening_);
    const View<float> in[] = {sharpening_.sharpened.u, sharpening_.sharpened.v}, out[] = {flow.u, flow.v};
    median(backend_, in, 5, out, 2);
  }
  /// Lends the memory that `sharpen` overwrites.
  void lend(SharedWorkspace& to) const {
    to.lend(sharpening_.trust);
    to.lend(sharpening_.sharpened);
    for (const Colors& colors : sharpening_.colors) lend_colors<Backend>(colors, to);
  }

 private:
  Sharpening sharpening_;
  Backend& backend_;
};

// Both backends compute these.

constexpr int boundary_cell = 4;                                        // px
constexpr int sharpen_across = 7, sharpen_step = 3, sharpen_reach = 9;  // samples; step, reach in px
constexpr int sharpen_samples = sharpen_across * sharpen_across;

/// Whether flow changes between the pixels before and after a pixel.
PF_HD bool changes(float before, float after) { return magnitude(after - before) > 0.2f; }

/// Reliability of a pixel, 0.1 to 1, from its color `own`, the color of its match, and `miss`: the square of
/// the distance from the pixel at which the flow back ends, px^2.
PF_HD float trust_of(const Color& own, const Color& match, float miss) {
  const float difference = mean_difference(own, match) * (1.0f / 8);
  return larger(1 / (fma(difference, difference, 1.0f) * fma(4.0f, miss, 1.0f)), 0.1f);
}

/// Largest absolute difference over three channels, ignoring NaN.
PF_HD float largest_difference(float red, float green, float blue) {
  return larger_number(magnitude(blue), larger_number(magnitude(green), larger_number(magnitude(red), 0.0f)));
}

/// Weight of a sample, as an integer so that sums do not depend on their order. `square`: squared distance,
/// px^2.
PF_HD int sample_weight(float difference, int square, float trust) {
  const float share = exponential(fma(difference, -1.0f / 10, float(square) * (-1.0f / 98)));
  return int(fma(share, trust * 65536, 0.5f));
}

/// Flow in units of 1/256 px, rounded to the nearest integer. Flow is clamped to -16383 to 16383 px.
PF_HD int units_of(float flow) {
  constexpr float most = 16383 * 256, shift = 12582912;  // added to leave the integer in the low bits
  const float shifted = clamp(flow * 256, -most, most) + shift;
  return __builtin_bit_cast(int, shifted) - __builtin_bit_cast(int, shift);
}
PF_HD float flow_of(int units) { return float(units) * (1.0f / 256); }

}  // namespace parafield
