// SPDX-License-Identifier: MIT
#pragma once
#include "markov/levels/levels.hpp"
#include "markov/sweep/sweep.hpp"
#include "steps/surfaces/plane_sums.hpp"

/// Slopes of surfaces on the coarse levels of belief propagation: planes are fitted to the labels of a level,
/// and the messages of this and of the next finer level follow their slopes.
namespace parafield {

constexpr int slope_radius_x = 4, slope_radius_y = 3;  // of the window that a plane is fitted to
constexpr int coarsest_sloped = 4;                     // planes are fitted on this level and on finer ones
constexpr int last_solved_twice = 2;  // from coarsest_sloped to this level, messages are sent twice
constexpr int finest_quick = 3;       // finest level that planes are fitted to with Slant::quick

/// Labels of a level and what planes need of them.
struct LevelLabels {
  View<Label> labels;
  CostsAround costs;                // beliefs around the labels, with margins
  View<const std::uint32_t> color;  // see LevelWeights
  int level = 0;

  PF_HD Size size() const { return {labels.width, labels.height}; }
};

/// Disparities in labels and their weights, with the window's radius as padding on each side. Only the CPU
/// uses them.
struct SlopeSamples {
  View<float> d, trust;
  View<std::uint32_t> color;
};
inline Size padded(Size size) { return {size.width + 2 * slope_radius_x, size.height + 2 * slope_radius_y}; }

/// Slopes of the planes around the pixels of a level, in labels per pixel of the level, along x and y.
struct Slopes {
  View<float> x, y;
};

/// Fits planes in two rounds. The first takes the pixels near the center's disparity, the second takes those
/// near the plane of the first. Then computes the rises of the edges to the right (0) and down (1) of this
/// level or, if `finer`, of the next finer one: by how many labels the planes rise from a pixel to its neighbor.
/// `level`: of these edges.
template <class Backend>
void find_rises(Backend& backend, const LevelLabels& labels, const SlopeSamples& samples,
                const Slopes& slopes, bool finer, int level, const View<float> (&rises)[2]);

// Shared by both backends.

/// Disparity of a label, from the beliefs around it: where two lines of opposite slopes through them meet.
PF_HD float sloped_disparity(int label, float before, float middle, float after) {
  const float of_before = before - middle, of_after = after - middle, most = larger(of_before, of_after);
  const bool is_least = bool((of_before >= 0) & (of_after >= 0) & (most > 0));
  const float offset = is_least ? 0.5f * (of_before - of_after) / most : 0.0f;
  return float(label) + (magnitude(offset) < 0.08f ? 0.0f : offset);
}
/// Weight of a disparity by its margin, which is a sum over the pixels of a block.
PF_HD float sloped_trust(float margin, int level) {
  return clamp(margin * (2.0f / float(1 << level)), 0.1f, 1.0f);
}
/// Weight of a pixel by its color: see mix.hpp.
PF_HD float color_share(std::uint32_t a, std::uint32_t b) {
  int most = 0;
  PF_UNROLL
  for (int i = 0; i < 24; i += 8) {
    const int difference = int(a >> i & 255) - int(b >> i & 255);
    const int magnitude = difference < 0 ? -difference : difference;
    most = magnitude > most ? magnitude : most;
  }
  return larger(fma(float(most), -1.0f / 20, 1.0f), 0.02f);
}

/// Largest distances from the plane of the first and of the second round. Surfaces may rise more from row to
/// row than from column to column, because floors and tables do, seen from a low camera.
struct SlopeTolerance {
  float rise, second;

  PF_HD explicit SlopeTolerance(int level)
      : rise(0.5f * float(1 << level)), second((level & 1 ? 1.41421356f : 1.0f) * float(1 << level / 2)) {}
  /// For a sample (dx, dy) away.
  PF_HD float first(int dx, int dy) const {
    return fma(rise, larger(magnitude(float(dx)), 1.5f * magnitude(float(dy))), 1.0f);
  }
};

/// Plane of the last round around a pixel.
struct SlopePlane {
  float d, slope_x = 0, slope_y = 0;

  /// Weight of a sample (dx, dy) away. `share`: its trust and color together.
  PF_HD float weight(float difference, float dx, float dy, float most, float share) const {
    const float off = difference - fma(slope_x, dx, slope_y * dy);
    return magnitude(off) <= most ? share : 0.0f;
  }
  /// Plane of the next round. It stays the same if it has almost no samples.
  PF_HD SlopePlane next(const WindowSums& sums) const {
    const Surface fitted = sums.fitted(d, 0.5f);
    return sums.one < 0.001f ? *this : SlopePlane{fitted.d, fitted.slope_x, fitted.slope_y};
  }
};

/// Rise of an edge from the slopes at both ends, at most 1 label per px of the image. Slopes below 0.09 are
/// noise. `finer`: see find_rises.
PF_HD float rise_of(float slope, float other, bool finer, int level) {
  const float most = float(smaller(1 << level, most_rise)), least = 0.09f * float(1 << level);
  const float rise = clamp((finer ? 0.25f : 0.5f) * (slope + other), -most, most);
  return magnitude(rise) < least ? 0.0f : rise;
}

}  // namespace parafield
