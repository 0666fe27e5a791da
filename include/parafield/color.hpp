#pragma once
#include "parafield/flow.hpp"

namespace parafield {

enum class ColorScheme {
  middlebury,  ///< hue = direction on a 55-colour wheel, white = no motion (Baker et al. 2011)
  marzat       ///< hue = direction, brightness = length, black = no motion (Marzat, Fig. 4)
};

struct ColorOptions {
  ColorScheme scheme = ColorScheme::middlebury;
  float max_motion = 0;  ///< px: this length has full colour; 0 = the longest flow of the field
};

/// A colour picture (rgb_u8, host) of a flow field, which must be in host memory (a FlowView does not say
/// where it lies). Longer flow than `max_motion` is darkened in the Middlebury scheme and as bright as
/// `max_motion` in Marzat's. Pixels that are unknown (|u| or |v| > 1e9, NaN) are black in the Middlebury
/// scheme and gray in Marzat's. `valid` is not looked at. Throws Error(invalid_argument) for a field without
/// pixels, planes that differ in size, or a `max_motion` that is negative or not finite.
FrameBuffer color_flow(const FlowView& flow, const ColorOptions& options = {});

}  // namespace parafield
