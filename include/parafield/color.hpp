// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

#include "parafield/fields.hpp"

/// Pictures of fields. All frames, fields and masks are in host memory; a Frame in other memory is
/// Error(invalid_argument). Frames may have any format; pictures are rgb_u8.
namespace parafield {

/// Colors of flow.
enum class ColorScheme {
  middlebury,  ///< hue = direction on a wheel of 55 colors, white = no motion (Baker et al. 2011)
  marzat       ///< hue = direction, brightness = length, black = no motion (Marzat, Fig. 4)
};

/// Options of `color_flow`.
struct ColorOptions {
  ColorScheme scheme = ColorScheme::middlebury;
  float max_motion = 0;  ///< px: length of flow with full color; 0 = color_scale() of the field
};

/// Length of flow, px, that suits a picture of this field: that of the longest known flow, but at most 1.2
/// times the length that 99.5 % of it do not exceed, unless that is 0. So a few wild vectors do not make the
/// rest pale. `valid` is ignored. Throws like `color_flow`.
PARAFIELD_API float color_scale(const In<FlowView>& flow);

/// Picture of a flow field. Flow longer than `max_motion` is darker in Middlebury's scheme, and as bright as
/// `max_motion` in Marzat's. Unknown flow (|u| or |v| > 1e9, NaN) is black in Middlebury's scheme, gray in
/// Marzat's. `valid` is ignored. Throws Error(invalid_argument) for a field without pixels, planes that
/// differ in size, or a `max_motion` that is negative or not finite.
PARAFIELD_API FrameBuffer color_flow(const In<FlowView>& flow, const ColorOptions& options = {});

/// Legend of a scheme: a disc of `diameter` px in a square picture. Each point has the color of the flow from
/// the center to it; the rim is `max_motion`. Around the disc is the color of no motion. Throws
/// Error(invalid_argument) for a diameter below 1.
PARAFIELD_API FrameBuffer color_wheel(int diameter, ColorScheme scheme = ColorScheme::middlebury);

/// The picture with the wheel in its lower right corner, a quarter of the shorter side wide. If `max_motion`
/// (px) is above 0, it stands beside the wheel, unless there is no room for letters of 7 px.
PARAFIELD_API FrameBuffer with_legend(const In<Frame>& picture, ColorScheme scheme = ColorScheme::middlebury,
                                      float max_motion = 0);

/// Options of `draw_arrows`.
struct ArrowOptions {
  int step = 16;    ///< px from one arrow to the next
  float scale = 0;  ///< length of an arrow / length of the flow; 0 = arrow_scale() of the field
};

/// Scale with which the longest arrow is `step` px long; 1 if there is no arrow, or none that moves. Throws
/// Error(invalid_argument) for a step below 1.
PARAFIELD_API float arrow_scale(const In<FlowView>& flow, int step);

/// The frame with yellow arrows from every `step`th pixel along its flow. Motion that is too short for an
/// arrow is a dot. Pixels whose flow is unknown or not `valid` have no arrow. Throws Error(invalid_argument)
/// for a flow field of another size, a step below 1, or a scale that is negative or not finite.
PARAFIELD_API FrameBuffer draw_arrows(const In<Frame>& frame, const In<FlowView>& flow,
                                      const ArrowOptions& options = {});

/// The picture with a horizontal arrow of `length` px in its lower left corner, and a label of letters from
/// the space to z beside it: what an arrow of that length stands for. A picture that is too small for it stays as it
/// is. Throws Error(invalid_argument) for a length that is not above 0 and finite, or for another letter.
PARAFIELD_API FrameBuffer with_scale_arrow(const In<Frame>& picture, float length, std::string_view label);

/// Options of `color_disparity`.
struct DisparityColorOptions {
  /// px: disparities of the first and the last color; 0, 0 = the range of the valid pixels
  float min = 0, max = 0;
  bool show_invalid = false;  ///< color the disparities of pixels that are not valid, too
};

/// Picture of a disparity field: from blue (far) over cyan, green and yellow to red (near), in steps that
/// look equally large. Disparities outside the range have the first or last color. Pixels that are not valid
/// or not finite are black. Throws Error(invalid_argument) for a field without pixels, planes that differ in
/// size, or a range that is not finite or whose `max` is not above its `min`.
PARAFIELD_API FrameBuffer color_disparity(const In<DisparityView>& disparity,
                                          const DisparityColorOptions& options = {});

/// The frame, tinted red where the mask is not 0. Throws Error(invalid_argument) for a mask of another size.
PARAFIELD_API FrameBuffer overlay_mask(const In<Frame>& frame, const In<MotionMaskView>& mask);

/// Two pictures side by side. Throws Error(invalid_argument) for sizes that differ.
PARAFIELD_API FrameBuffer beside(const In<Frame>& left, const In<Frame>& right);

}  // namespace parafield
