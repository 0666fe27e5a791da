#pragma once
#include "core/arithmetic.hpp"
#include "core/workspace.hpp"
#include "guided/feature_grid.hpp"
#include "parafield/tracks.hpp"

namespace parafield {

/// A track for each cell: of its valid pixel that lies nearest to its center (the first of equals); one without begins nowhere,
/// u = v = NaN.
template <class Backend>
void resample_tracks(Backend& backend, FlowPlanes flow, View<const std::uint8_t> valid,
                     const FeatureGrid& grid, Track* tracks);

/// How far a pixel of a cell lies from its center: squared, px.
PF_HD float distance_from(float center_x, float center_y, int x, int y) {
  const float dx = float(x) - center_x, dy = float(y) - center_y;
  return fma(dx, dx, dy * dy);
}

/// The track of a cell whose nearest pixel is that, or that has none.
PF_HD Track track_of(FlowPlanes flow, int x, int y, bool any) {
  const float none = __builtin_nanf("");
  return any ? Track{float(x), float(y), flow.u(x, y), flow.v(x, y)} : Track{none, none, none, none};
}

}  // namespace parafield
