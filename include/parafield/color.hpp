// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

#include "parafield/fields.hpp"

/// Pictures of fields. All frames, fields and masks must be in host memory; a Frame in other memory throws
/// Error(invalid_argument). Frames may have any format; the returned pictures are rgb_u8.
namespace parafield {

/// How the colors of a picture encode flow.
enum class ColorScheme {
  middlebury,  ///< hue = direction on a wheel of 55 colors, white = no motion (Baker et al. 2011)
  marzat       ///< hue = direction, brightness = length, black = no motion (Marzat, Fig. 4)
};

/// Options of `color_flow`.
struct ColorOptions {
  ColorScheme scheme = ColorScheme::middlebury;
  float max_motion = 0;  ///< px: the flow length that gets full color; 0 = color_scale() of the field
};

/// Flow length, px, that suits a picture of this field: the longest known flow, but at most 1.2 times the
/// 99.5th percentile of the lengths, unless that percentile is 0. The limit keeps a few wild vectors from
/// making the rest pale. `valid` is ignored. Throws like `color_flow`.
PARAFIELD_API float color_scale(const In<FlowView>& flow);

/// Draws a flow field. Flow longer than `max_motion` is darker in Middlebury's scheme, and as bright as
/// `max_motion` in Marzat's. Unknown flow (|u| or |v| > 1e9, NaN) is black in Middlebury's scheme and gray in
/// Marzat's. `valid` is ignored. Throws Error(invalid_argument) for a field without pixels, planes of
/// different sizes, or a `max_motion` that is negative or not finite.
PARAFIELD_API FrameBuffer color_flow(const In<FlowView>& flow, const ColorOptions& options = {});

/// Draws the legend of a scheme: a disc of `diameter` px in a square picture. Each point has the color of the
/// flow from the center to that point; the rim stands for `max_motion`. The corners have the color of no
/// motion. Throws Error(invalid_argument) for a diameter below 1.
PARAFIELD_API FrameBuffer color_wheel(int diameter, ColorScheme scheme = ColorScheme::middlebury);

/// Copies the picture and draws the wheel in its lower right corner, a quarter of the shorter side wide. A
/// `max_motion` (px) above 0 is written to the left of the wheel if there is room for text at least 7 px
/// high. Throws Error(invalid_argument) for a picture without pixels or a `max_motion` that is negative or
/// not finite.
PARAFIELD_API FrameBuffer with_legend(const In<Frame>& picture, ColorScheme scheme = ColorScheme::middlebury,
                                      float max_motion = 0);

/// Options of `draw_arrows`.
struct ArrowOptions {
  int step = 16;    ///< px from one arrow to the next
  float scale = 0;  ///< arrow length / flow length; 0 = arrow_scale() of the field
};

/// The scale at which the longest arrow is `step` px long; 1 if there are no arrows or nothing moves. Throws
/// Error(invalid_argument) for a step below 1.
PARAFIELD_API float arrow_scale(const In<FlowView>& flow, int step);

/// Copies the frame and draws a yellow arrow along the flow at every `step`th pixel of every `step`th row.
/// Motion too short for an arrow is a dot. Pixels whose flow is unknown or not `valid` get no arrow. Throws
/// Error(invalid_argument) for a flow field of another size, a step below 1, or a scale that is negative or
/// not finite.
PARAFIELD_API FrameBuffer draw_arrows(const In<Frame>& frame, const In<FlowView>& flow,
                                      const ArrowOptions& options = {});

/// Copies the picture and draws a horizontal arrow of `length` px in its lower left corner, followed by a
/// label that says what an arrow of this length stands for. The label may use ASCII characters from the space
/// to z. If the picture is too small for both, it is returned unchanged. Throws Error(invalid_argument) for a
/// length that is not above 0 and finite, or for any other character.
PARAFIELD_API FrameBuffer with_scale_arrow(const In<Frame>& picture, float length, std::string_view label);

/// Options of `color_disparity`.
struct DisparityColorOptions {
  /// px: disparities that get the first and the last color; 0, 0 = the range of the valid pixels
  float min = 0, max = 0;
  bool show_invalid = false;  ///< also color pixels that are not valid
};

/// Draws a disparity field from blue (far) through cyan, green and yellow to red (near), in steps that look
/// equally large. Disparities outside the range get the first or last color. Pixels that are not valid or not
/// finite are black. Throws Error(invalid_argument) for a field without pixels, planes of different sizes, or
/// a range that is not finite or whose `max` is not above its `min`.
PARAFIELD_API FrameBuffer color_disparity(const In<DisparityView>& disparity,
                                          const DisparityColorOptions& options = {});

/// Copies the frame and tints it red where the mask is not 0. Throws Error(invalid_argument) for a mask of
/// another size.
PARAFIELD_API FrameBuffer overlay_mask(const In<Frame>& frame, const In<MotionMaskView>& mask);

/// Puts two pictures side by side. Throws Error(invalid_argument) if their sizes differ.
PARAFIELD_API FrameBuffer beside(const In<Frame>& left, const In<Frame>& right);

}  // namespace parafield
