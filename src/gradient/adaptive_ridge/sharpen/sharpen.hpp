// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "steps/colors/colors.hpp"
#include "steps/median/median.hpp"

namespace parafield {

/// Flow to sharpen, and memory for it.
struct Sharpening {
  KeptFrames kept;
  int from = 0, to = 1;           ///< slots of the two frames
  FlowPlanes flow;                ///< finite
  FlowPlanes back;                ///< of the second frame, finite; may be empty
  View<std::uint8_t> boundaries;  ///< overwritten: whether a cell has a boundary; size_of_boundary_cells
  View<float> trust;              ///< overwritten where it is needed
  Colors colors[2];               ///< overwritten; on CUDA only the first, and where it is needed
  FlowPlanes sharpened;           ///< the result
};

/// A weighted median of flow near boundaries of motion; elsewhere flow is copied. A pixel is at a boundary
/// where flow changes by more than 0.2 px between the pixels before and after it, in x or in y. The median is
/// taken in cells of 4x4 pixels that have such a pixel or lie next to one that has. It goes over 7x7 pixels,
/// 3 px apart, and is rounded to 1/256 px. A pixel weighs more the nearer it is, the more its color is like
/// that of the middle, and the more the color at its match is like its own; with flow back, also the nearer
/// that ends to the pixel. So a boundary goes where the colors have theirs. Weights that fall with distance
/// and difference of color are those of Sun, Roth and Black 2010, "Secrets of optical flow estimation and
/// their principles".
template <class Backend>
void sharpen_flow(Backend& backend, const Sharpening& sharpening);

/// Size of the plane of cells.
inline Size size_of_boundary_cells(Size size) { return {(size.width + 3) / 4, (size.height + 3) / 4}; }

/// Memory for flow of that size.
template <class Backend>
Sharpening make_sharpening(Workspace& workspace, Size size, const KeptFrames& kept) {
  Sharpening sharpening;
  sharpening.kept = kept;
  sharpening.boundaries = workspace.image<std::uint8_t>(size_of_boundary_cells(size));
  sharpening.trust = workspace.image<float>(size);
  sharpening.sharpened = workspace.flow(size);
  for (int i = 0; i < (Backend::is_gpu ? 1 : 2); ++i)
    sharpening.colors[i] = make_color_planes<Backend>(workspace, size);
  return sharpening;
}

/// Sharpens flow of frames that are kept.
template <class Backend>
class FlowSharpener {
 public:
  /// `two_way`: whether `back` is given and used.
  FlowSharpener(Backend& backend, Workspace& workspace, Size size, const KeptFrames& kept, bool two_way)
      : sharpening_(make_sharpening<Backend>(workspace, size, kept)), backend_(backend) {
    if (two_way) sharpening_.back = workspace.flow(size);
  }

  /// Planes for flow of the second frame; empty if it is not used.
  FlowPlanes back() const { return sharpening_.back; }

  /// Sharpens flow from the frame in slot `from` to that in slot `to`, and takes a median.
  void sharpen(int from, int to, FlowPlanes flow) {
    sharpening_.from = from, sharpening_.to = to, sharpening_.flow = flow;
    sharpen_flow(backend_, sharpening_);
    const View<float> in[] = {sharpening_.sharpened.u, sharpening_.sharpened.v}, out[] = {flow.u, flow.v};
    median(backend_, in, 5, out, 2);
  }

 private:
  Sharpening sharpening_;
  Backend& backend_;
};

// Both backends compute these.

constexpr int boundary_cell = 4;                                        // px
constexpr int sharpen_across = 7, sharpen_step = 3, sharpen_reach = 9;  // of the samples; px
constexpr int sharpen_samples = sharpen_across * sharpen_across;

/// Whether flow changes from the pixel before to that after one.
PF_HD bool changes(float before, float after) { return magnitude(after - before) > 0.2f; }

/// How much a pixel counts whose color is `own`, by the color of its match and by the square of how far from
/// the pixel the flow back ends, px^2: 0.1 to 1.
PF_HD float trust_of(const Color& own, const Color& match, float miss) {
  const float difference = mean_difference(own, match) * (1.0f / 8);
  return larger(1 / (fma(difference, difference, 1.0f) * fma(4.0f, miss, 1.0f)), 0.1f);
}

/// Square of the distance at which the flow back ends, px^2. `pitch`: floats from one row of `back` to the
/// next.
PF_HD float miss_of(float u, float v, const float* back_u, const float* back_v, int pitch, int width,
                    int height, const Match& match) {
  const float du = u + sample(back_u, pitch, width, height, match),
              dv = v + sample(back_v, pitch, width, height, match);
  return fma(du, du, dv * dv);
}

/// Largest magnitude of three channels' differences; one that is NaN does not count.
PF_HD float largest_difference(float red, float green, float blue) {
  return larger_number(magnitude(blue), larger_number(magnitude(green), larger_number(magnitude(red), 0.0f)));
}

/// Weight of a sample, in whole numbers: their sums do not depend on an order. `square`: of its distance in
/// px.
PF_HD int sample_weight(float difference, int square, float trust) {
  const float share = exponential(fma(difference, -1.0f / 10, float(square) * (-1.0f / 98)));
  return int(fma(share, trust * 65536, 0.5f));
}

/// Flow in units of 1/256 px, the nearest whole number; flow beyond 16383 px is taken for 16383.
PF_HD int units_of(float flow) {
  constexpr float most = 16383 * 256, shift = 12582912;  // shifted, the low bits are the whole number
  const float shifted = clamp(flow * 256, -most, most) + shift;
  return __builtin_bit_cast(int, shifted) - __builtin_bit_cast(int, shift);
}
PF_HD float flow_of(int units) { return float(units) * (1.0f / 256); }

/// Whether the median is taken in a cell.
PF_HD bool is_sharpened(View<const std::uint8_t> boundaries, int column, int row) {
  const int left = larger(column - 1, 0), right = smaller(column + 1, boundaries.width - 1);
  int any = 0;
  for (int y = larger(row - 1, 0); y <= smaller(row + 1, boundaries.height - 1); ++y)
    for (int x = left; x <= right; ++x) any |= boundaries(x, y);
  return any != 0;
}

}  // namespace parafield
