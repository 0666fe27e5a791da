// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "steps/warp/warp.hpp"

/// The steps of variational refinement: see parafield/methods/refinement.hpp, whose numbers of steps the
/// functions here cite.
namespace parafield {

constexpr int slope_cell = 8;  ///< px: side of a cell of slopes
inline Size size_of_slopes(Size size) {
  return {(size.width + slope_cell - 1) / slope_cell, (size.height + slope_cell - 1) / slope_cell};
}

/// Smoothed channels of both frames, 0..255: luma, or red, green and blue.
struct ComparedFrames {
  static constexpr int most = 3;
  View<const float> from[most], to[most];
  int channels = 1;
};

/// Each pixel's equations. All planes have the same pitch.
struct EquationPlanes {
  View<float> xx, xy, yy;      ///< inverse of the matrix
  View<float> side_u, side_v;  ///< right-hand side without the neighbors' flows
};

/// Slopes of the flow in cells of 8x8 px, px per px: the derivatives of u and v along x, then along y.
struct SlopePlanes {
  static constexpr int count = 4;
  View<float> slope[count];
  View<float> share[2];  ///< mean weight of the cell's edges along x and y: how much of it is smooth
};

/// Data that a refinement reads and overwrites. All planes of the images' size have the same pitch.
struct RefinementPlanes {
  EquationPlanes equations;
  View<float> weight_x, weight_y;  ///< smoothness between a pixel and the next along x or y; 0 at the end
  SlopePlanes measured, slopes;
  FlowPlanes turns[2];  ///< flow between passes of the relaxation; its result may be turns[1]

  /// `unfiltered`: turns[1].
  static RefinementPlanes make(SharedWorkspace& workspace, Size size, FlowPlanes unfiltered) {
    RefinementPlanes planes;
    for (View<float>* plane :
         {&planes.equations.xx, &planes.equations.xy, &planes.equations.yy, &planes.equations.side_u,
          &planes.equations.side_v, &planes.weight_x, &planes.weight_y})
      *plane = workspace.image<float>(size);
    for (SlopePlanes* slopes : {&planes.measured, &planes.slopes})
      for (View<float>& plane : slopes->slope) plane = workspace.image<float>(size_of_slopes(size));
    for (int i = 0; i < 2; ++i)
      planes.slopes.share[i] = planes.measured.share[i] = workspace.image<float>(size_of_slopes(size));
    planes.turns[0] = workspace.flow(size);
    planes.turns[1] = unfiltered;
    return planes;
  }
  /// Lends what a warp does not need after its relaxation.
  void lend_after_relaxation(SharedWorkspace& to) const {
    to.lend(turns[0]);
    for (const View<float>& plane :
         {equations.xx, equations.xy, equations.yy, equations.side_u, equations.side_v, weight_x, weight_y})
      to.lend(plane);
  }
};

/// Step 2: slopes of the flow, averaged over smooth areas.
template <class Backend>
void find_slopes(Backend& backend, const ComparedFrames& frames, const RefinementPlanes& planes,
                 FlowPlanes flow);

/// Steps 1 and 3: weights of the edges, and each pixel's equations. `back`: flow of the second frame, or empty.
/// With three channels, second derivatives have five taps and the data are smoothed.
template <class Backend>
void build_equations(Backend& backend, const ComparedFrames& frames, const RefinementPlanes& planes,
                     FlowPlanes flow, FlowPlanes back, float smoothness);

/// Divides `sweeps` into passes of at most `most` each, and calls pass(from, start, first, count, to) for
/// each: its first sweep and their number, and the planes that it reads and writes. Only the last pass has a
/// `start`, which the result must stay close to. `result` may be `flow` or planes.turns[1].
template <class Pass>
void each_pass(const RefinementPlanes& planes, FlowPlanes flow, int sweeps, int most, FlowPlanes result,
               Pass pass) {
  const int least = result.u.data == flow.u.data ? 2 : 1;  // a pass cannot overwrite what it reads
  const int count = larger(least, (sweeps + most - 1) / most);
  FlowPlanes from = flow;
  for (int i = 0, first = 0; i < count; ++i) {
    const int next = sweeps * (i + 1) / count;
    const bool last = i == count - 1;
    const FlowPlanes to = last ? result : planes.turns[(count - i) % 2];
    pass(from, last ? flow : FlowPlanes{}, first, next - first, to);
    from = to, first = next;
  }
}

/// Step 4. `result` may be `flow` or planes.turns[1].
template <class Backend>
void relax(Backend& backend, const RefinementPlanes& planes, FlowPlanes flow, int sweeps, FlowPlanes result);

/// Rows of scratch memory of a CPU thread, with a margin on both sides.
constexpr int refinement_margin = 16;
PF_HD constexpr int refinement_pitch(int width) { return (width + 2 * refinement_margin + 15) / 16 * 16; }
/// A thread relaxes bands of at most this many rows, a few sweeps at a time. Each sweep needs two more rows
/// on both sides.
constexpr int relaxed_rows = 128, sweeps_at_once = 8;
/// Rows of equations that a thread keeps: more than the sweeps use at a time.
constexpr int equation_rows = 32;
static_assert(equation_rows > 2 * sweeps_at_once);
/// While a thread relaxes, the even and odd columns of a row are apart, in blocks of pixels with some values
/// each.
constexpr int relaxed_block = 16, relaxed_fields = 9;
constexpr int relaxed_rows_around = relaxed_rows + 4 * sweeps_at_once;
PF_HD constexpr int relaxed_blocks(int width) {
  return ((width + 1) / 2 + relaxed_block - 1) / relaxed_block;
}
PF_HD constexpr int relaxed_pitch(int width) { return 2 * relaxed_block * relaxed_blocks(width) + 3 * 16; }
constexpr int other_rows = 160;  ///< rows of scratch memory that the other steps may use
/// Bytes of scratch memory that each CPU thread needs.
inline std::size_t refinement_scratch(int width) {
  const std::size_t relaxed = std::size_t(2 * relaxed_rows_around + 1) * std::size_t(relaxed_pitch(width)) +
                              std::size_t(2 * equation_rows * relaxed_fields * relaxed_block) *
                                  std::size_t(relaxed_blocks(width)),
                    others = std::size_t(refinement_pitch(width)) * other_rows;
  return sizeof(float) * larger(relaxed, others);
}

// Both backends compute these.

/// Weight of the color edge between two pixels whose channels differ by at most `difference`: 0.05..1.
PF_HD float edge_weight(float difference) {
  constexpr float least = 0.05f, scale = 1.0f / 25;
  const float scaled = smaller(difference, 1e6f) * scale;
  return fma(1 - least, reciprocal(fma(scaled, scaled, 1.0f)), least);
}

/// Second derivative from first derivatives one and two pixels before and after.
template <class Number>
PF_HD Number derivative_of_five(Number before2, Number before, Number after, Number after2) {
  return fma(Number(8.0f), after - before, before2 - after2) * Number(1.0f / 12);
}
/// Derivative over three pixels.
template <class Number>
PF_HD Number derivative_of_three(Number before, Number after) {
  return Number(0.5f) * (after - before);
}

/// Derivatives of one channel: second derivatives of the mean of both frames, first derivatives of their
/// difference, and the difference itself.
struct SecondDerivatives {
  float xx, xy, yx, yy, tx, ty, t;
};

/// Sums over the channels.
struct GradientSums {
  float xx = 0, xy = 0, yy = 0, xt = 0, yt = 0, tt = 0, difference = 0;

  PF_HD void add(const SecondDerivatives& d) {
    constexpr float contrast = 1.5f * 1.5f,  // gradient changes below it count less
        most = 1e30f;                        // above it, `weighted` leaves the pixel out
    const float q = reciprocal(smaller(fma(d.xx, d.xx, fma(d.xy, d.xy, contrast)), most)),
                r = reciprocal(smaller(fma(d.yx, d.yx, fma(d.yy, d.yy, contrast)), most));
    const float qx = q * d.xx, qy = q * d.xy, qt = q * d.tx, rx = r * d.yx, ry = r * d.yy, rt = r * d.ty;
    xx = fma(rx, d.yx, fma(qx, d.xx, xx));
    xy = fma(rx, d.yy, fma(qx, d.xy, xy));
    yy = fma(ry, d.yy, fma(qy, d.xy, yy));
    xt = fma(rx, d.ty, fma(qx, d.tx, xt));
    yt = fma(ry, d.ty, fma(qy, d.tx, yt));
    tt = fma(rt, d.ty, fma(qt, d.tx, tt));
    difference += magnitude(d.t);
  }

  /// The sums with the pixel's weight; 0 if a value is NaN or too large. `miss`: square of the distance from
  /// the pixel at which the flow back ends, px^2.
  PF_HD GradientSums weighted(int channels, float miss) const {
    constexpr float motion = 0.3f, color = 15;  // px, and mean difference of channels, that halve the weight
    const float share = channels == 1 ? 1.0f : 1.0f / 3, apart = difference * (share / color);
    const float divisor =
        fma(tt, share / (motion * motion), 1.0f) * fma(apart, apart, 1.0f) * fma(4.0f, miss, 1.0f);
    constexpr float most = 1e37f, most_sum = 2 * 3 + 1;  // of normalized squares: 2 per channel
    const bool counts = (divisor < most) & is_finite(xt) & is_finite(yt) & (xx + yy < most_sum);
    const float weight = 2 * share * reciprocal(divisor);
    const auto part = [=](float value) { return counts ? weight * value : 0.0f; };
    return {part(xx), part(xy), part(yy), part(xt), part(yt), 0, 0};
  }
};

/// Smoothing of the data over three pixels.
PF_HD float smoothed_data(float before, float here, float after) {
  return fma(0.2f, before + after, 0.6f * here);
}

/// Sums of a cell of slopes along x or y: the edges' weights, and weighted differences of u and v.
struct SlopeSums {
  float weight = 0, u = 0, v = 0;

  /// `edge`: weight of the color edge. du, dv: differences of the flow across it.
  PF_HD void add(float edge, float du, float dv) {
    constexpr float scale = 1 / (0.08f * 0.08f);  // 1 / px^2: differences from 0.08 px on are boundaries
    const float w = edge * reciprocal(fma(fma(du, du, dv * dv), scale, 1.0f));
    weight += w;
    u = fma(w, du, u);
    v = fma(w, dv, v);
  }
};
/// Slope of a cell of `pixels` pixels.
PF_HD float slope_of(float sum, float weight, int pixels) {
  return sum * reciprocal(fma(0.001f, float(pixels), weight));
}
/// Sum of the eight columns of a cell.
PF_HD float sum_of_columns(const float* c) {
  return ((c[0] + c[4]) + (c[2] + c[6])) + ((c[1] + c[5]) + (c[3] + c[7]));
}

/// Relaxation of a cell's slope toward its neighbors. The conductance between neighbors is the product of
/// their smooth shares.
struct SlopeCell {
  float left, right, above, below, own;  ///< conductances, and the weight of the measured slope
  float inverse;                         ///< of their sum

  PF_HD static SlopeCell make(float left, float right, float above, float below, float share) {
    const float own = fma(0.1f, share, 1e-6f);
    return {left, right, above, below, own, reciprocal(((left + right) + (above + below)) + own)};
  }
  PF_HD float relaxed(float here, float measured, float at_left, float at_right, float at_above,
                      float at_below) const {
    constexpr float over = 1.6f;
    const float sum =
        fma(left, at_left, fma(right, at_right, fma(above, at_above, fma(below, at_below, own * measured))));
    return fma(over, fma(sum, inverse, -here), here);
  }
};
constexpr int slope_sweeps = 6;

/// Where a position along an axis lies between the middles of cells: the first of two cells, and the share of
/// the second.
struct BetweenCells {
  int cell;
  float share;
};
/// `twice`: twice the position, so that edges between pixels have whole numbers. `cells`: number of cells.
PF_HD BetweenCells between_cells(int twice, int cells) {
  const int sixteenths = clamp(twice + 1 - slope_cell, 0, 2 * slope_cell * (cells - 1));
  const int cell = smaller(sixteenths / (2 * slope_cell), larger(cells - 2, 0));
  return {cell, float(sixteenths - cell * 2 * slope_cell) * (1.0f / (2 * slope_cell))};
}

/// Weight of smoothness, from the squared deviation of the flow's differences from the slopes, px^2.
PF_HD float smoothness_weight(float smoothness, float deviation) {
  constexpr float scale = 1 / (0.05f * 0.05f);
  return smoothness * reciprocal(fma(deviation, scale, 1.0f));
}

/// A pixel's equations: the inverse of its matrix, and the right-hand side without its neighbors' flows.
struct PixelEquations {
  float xx, xy, yy, u, v;
};
/// `around`: sum of the weights of the four edges. slope_u, slope_v: what the slopes add to the right-hand
/// side. u, v: the flow at which the data are linearized.
PF_HD PixelEquations pixel_equations(float xx, float xy, float yy, float xt, float yt, float around,
                                     float slope_u, float slope_v, float u, float v) {
  constexpr float hold = 1e-6f;
  const float all = around + hold, a = xx + all, c = yy + all;
  const float inverse = reciprocal(fma(a, c, -(xy * xy)));
  return {c * inverse, -xy * inverse, a * inverse, fma(xx + hold, u, fma(xy, v, slope_u - xt)),
          fma(yy + hold, v, fma(xy, u, slope_v - yt))};
}

/// Factor of over-relaxation. The first sweep takes none.
PF_HD float relaxation(int sweep) { return sweep == 0 ? 1.0f : 1.9f; }

/// The relaxed flow of a pixel. xx, xy, yy: inverse of its matrix. `sum`: the right-hand side plus the
/// neighbors' weighted flows.
PF_HD Motion relaxed(float xx, float xy, float yy, Motion sum, Motion here, float factor) {
  return {fma(factor, fma(xx, sum.u, fma(xy, sum.v, -here.u)), here.u),
          fma(factor, fma(xy, sum.u, fma(yy, sum.v, -here.v)), here.v)};
}
/// Right-hand side plus the weighted flows of four neighbors.
PF_HD float sum_of_neighbors(float side, float left, float at_left, float right, float at_right, float above,
                             float at_above, float below, float at_below) {
  return fma(left, at_left, fma(right, at_right, fma(above, at_above, fma(below, at_below, side))));
}

/// The flow, within 1 px of the flow before.
PF_HD float limited(float flow, float before) {
  constexpr float most = 1;
  return clamp(flow, before - most, before + most);
}

}  // namespace parafield
