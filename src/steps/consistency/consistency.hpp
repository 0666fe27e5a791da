#pragma once
#include "steps/warp/warp.hpp"
#include "core/workspace.hpp"

namespace parafield {

/// Forward-backward check: clears `valid` where following the flow to the second frame and that frame's flow back misses
/// the pixel by more than `tolerance` px, or leads outside.
template <class Backend>
void check_consistency(Backend& backend, FlowPlanes forward, FlowPlanes backward, float tolerance,
                       View<std::uint8_t> valid);

/// Left-right check: clears `valid` where the left disparity, followed to the nearest pixel of the right image (x - d,
/// halves to the right), meets one there that differs by more than `tolerance` px, or leads outside. Of `right`, x + d is
/// the left image's column.
template <class Backend>
void check_disparities(Backend& backend, View<const float> left, View<const float> right, float tolerance,
                       View<std::uint8_t> valid);

PF_HD bool is_consistent(float u, float v, const float* back_u, const float* back_v, int pitch, int width,
                         int height, int x, int y, float tolerance) {
  const Match match = locate(float(x) + u, float(y) + v, width, height);
  const float du = u + sample(back_u, pitch, width, height, match),
              dv = v + sample(back_v, pitch, width, height, match);
  return match.inside & (fma(du, du, dv * dv) <= tolerance * tolerance);
}

/// d: the left disparity of column x; right: that row of the right ones.
PF_HD bool is_consistent(float d, const float* right, int width, int x, float tolerance) {
  const float place = float(x) - d + 0.5f;  // rounds down to the column; NaN is outside
  const bool inside = (place >= 0) & (place < float(width));
  const int column = int(clamp(place, 0.0f, float(width - 1)));
  return inside & (magnitude(right[column] - d) <= tolerance);
}

}  // namespace parafield
