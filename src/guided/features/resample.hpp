// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "guided/features/grid.hpp"

namespace parafield {

/// Makes a track for each cell from dense flow, using the valid pixel nearest to the cell's center; the first
/// in row order wins ties. A cell without a valid pixel has a track of NaN.
template <class Backend>
void resample_tracks(Backend& backend, FlowPlanes flow, View<const std::uint8_t> valid,
                     const FeatureGrid& grid, Track* tracks);

/// Squared distance of a pixel from the center of a cell, px^2.
PF_HD float distance_from(float center_x, float center_y, int x, int y) {
  const float dx = float(x) - center_x, dy = float(y) - center_y;
  return fma(dx, dx, dy * dy);
}

/// Track of a cell from its nearest valid pixel (x, y). `any`: whether there is one.
PF_HD Track track_of(FlowPlanes flow, int x, int y, bool any) {
  const float none = __builtin_nanf("");
  return any ? Track{float(x), float(y), flow.u(x, y), flow.v(x, y)} : Track{none, none, none, none};
}

}  // namespace parafield
