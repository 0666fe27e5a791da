// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "parafield/fields.hpp"

/// Pixels without a value, such as lines drawn on a map, the space around a satellite's disc, or NaN. Fill
/// these pixels of the frames, estimate as usual, and mark the result. All data are in host memory; a Frame
/// in other memory throws Error(invalid_argument). A mask is 0 where a frame has no value; a mask without
/// data means that every pixel has one.
namespace parafield {

/// A non-owning mask: 0 where a frame has no value.
using MaskView = View<const std::uint8_t>;

/// Returns the mask of a frame: 0 where any channel is NaN or infinite. It has no data if every pixel has a
/// value.
PARAFIELD_API Image<std::uint8_t> known_pixels(const In<Frame>& frame);

/// Copies the frame and fills its pixels without a value by smooth continuation from the pixels around them:
/// they satisfy Laplace's equation approximately. Other pixels keep their values. A filled thin line leaves
/// almost no trace, and a filled large region is so smooth that it has almost no weight in any method. Throws
/// Error(invalid_argument) for a mask of another size, a mask that is 0 everywhere, or a pixel that is not
/// finite where `known` is not 0.
PARAFIELD_API FrameBuffer filled(const In<Frame>& frame, const In<MaskView>& known);

/// Marks a result where the frames have no value. Where the first frame, to whose pixels the flow belongs,
/// has none, the flow becomes NaN, which every file format treats as unknown, and `valid` and `confidence`
/// become 0. Where the flow leads to a pixel of the second frame without a value, only `valid` becomes 0.
/// Throws Error(invalid_argument) for a mask of another size.
PARAFIELD_API void mark_unknown(FlowField& flow, const In<MaskView>& known0,
                                const In<MaskView>& known1 = MaskView{});

/// Marks disparities in the same way, with the masks of the left and right images.
PARAFIELD_API void mark_unknown(DisparityField& disparity, const In<MaskView>& known_left,
                                const In<MaskView>& known_right = MaskView{});

}  // namespace parafield
