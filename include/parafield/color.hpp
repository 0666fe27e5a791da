#pragma once
#include "parafield/detection.hpp"
#include "parafield/flow.hpp"
#include "parafield/stereo.hpp"

namespace parafield {

enum class ColorScheme {
  middlebury,  ///< hue = direction on a 55-color wheel, white = no motion (Baker et al. 2011)
  marzat       ///< hue = direction, brightness = length, black = no motion (Marzat, Fig. 4)
};

struct ColorOptions {
  ColorScheme scheme = ColorScheme::middlebury;
  float max_motion = 0;  ///< px: this length has full color; 0 = the longest flow of the field
};

/// A color picture (rgb_u8, host) of a flow field, which must be in host memory (a FlowView does not say
/// where it lies). Longer flow than `max_motion` is darkened in the Middlebury scheme and as bright as
/// `max_motion` in Marzat's. Pixels that are unknown (|u| or |v| > 1e9, NaN) are black in the Middlebury
/// scheme and gray in Marzat's. `valid` is not looked at. Throws Error(invalid_argument) for a field without
/// pixels, planes that differ in size, or a `max_motion` that is negative or not finite.
PARAFIELD_API FrameBuffer color_flow(const FlowView& flow, const ColorOptions& options = {});

/// A disc of `diameter` px in a square picture: at each of its points the color of the flow from the center to
/// there, the rim being `max_motion`; around it the color of no motion. Throws Error(invalid_argument) for a
/// diameter below 1.
PARAFIELD_API FrameBuffer color_wheel(int diameter, ColorScheme scheme = ColorScheme::middlebury);

/// The picture as rgb_u8 with the wheel as its legend in the lower right corner, a quarter of the shorter side.
PARAFIELD_API FrameBuffer with_legend(const Frame& picture, ColorScheme scheme = ColorScheme::middlebury);

struct ArrowOptions {
  int step = 16;    ///< px from one arrow to the next
  float scale = 1;  ///< length of an arrow / length of the flow
};

/// The frame as rgb_u8 with yellow arrows from every `step`th pixel to where it moves; motion too short for an
/// arrow is a dot. Pixels that are unknown or not `valid` get none. Throws Error(invalid_argument) for a flow
/// field of another size, a step below 1, or a scale that is not above 0 and finite.
PARAFIELD_API FrameBuffer draw_arrows(const Frame& frame, const FlowView& flow, const ArrowOptions& options = {});

struct DisparityColorOptions {
  float min = 0,
        max = 0;  ///< px: these have the first and the last color; 0, 0 = the range of the valid pixels
  bool show_invalid = false;  ///< color what is not valid by the disparity that is written there, too
};

/// A color picture (rgb_u8, host) of a disparity field in host memory: from blue (far) over cyan, green and yellow to
/// red (near), in steps that are equally large to the eye. Disparities beyond the range have its colors; pixels that
/// are not valid, infinite or NaN are black. Throws Error(invalid_argument) for a field without pixels, planes that
/// differ in size, or a range that is not finite or whose `max` is not above its `min`.
PARAFIELD_API FrameBuffer color_disparity(const DisparityView& disparity, const DisparityColorOptions& options = {});

/// The frame as rgb_u8, tinted red where the mask (in host memory) says that something moves. Throws
/// Error(invalid_argument) for a mask of another size.
PARAFIELD_API FrameBuffer overlay_mask(const Frame& frame, const MotionMaskView& mask);

/// Two pictures of one size side by side, as rgb_u8. Throws Error(invalid_argument) where sizes differ.
PARAFIELD_API FrameBuffer beside(const Frame& left, const Frame& right);

// Frames and pictures above are of any format and in host memory; others are Error(invalid_argument).

}  // namespace parafield
