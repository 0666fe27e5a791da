#pragma once
#include "blocks/warp/warp.hpp"
#include "core/workspace.hpp"

namespace parafield {

/// Forward-backward check: clears `valid` where following the flow to the second frame and that frame's flow back misses
/// the pixel by more than `tolerance` px, or leads outside.
template <class Backend>
void check_consistency(Backend& backend, FlowPlanes forward, FlowPlanes backward, float tolerance,
                       View<std::uint8_t> valid);

PF_HD bool is_consistent(float u, float v, const float* back_u, const float* back_v, int pitch, int width,
                         int height, int x, int y, float tolerance) {
  const Match match = locate(float(x) + u, float(y) + v, width, height);
  const float du = u + sample(back_u, pitch, width, height, match),
              dv = v + sample(back_v, pitch, width, height, match);
  return match.inside & (fma(du, du, dv * dv) <= tolerance * tolerance);
}

}  // namespace parafield
