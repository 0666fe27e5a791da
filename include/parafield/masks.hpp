// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "parafield/fields.hpp"

/// Pixels without a value, as drawn lines of a map, the space around a satellite's disc, or floats that are
/// NaN. Fill such pixels of the frames, estimate as usual, and mark the result. Everything is in host memory; a
/// Frame in other memory is Error(invalid_argument). A mask is 0 where a frame has no value; one without data
/// says that every pixel has one.
namespace parafield {

/// A non-owning mask: 0 where a frame has no value.
using MaskView = View<const std::uint8_t>;

/// The mask of a frame: 0 where a channel is NaN or infinite. No data if every pixel has a value.
PARAFIELD_API Image<std::uint8_t> known_pixels(const In<Frame>& frame);

/// A copy of the frame, in its format, whose pixels without a value are smooth continuations of those around
/// them: solutions of Laplace's equation. Other pixels keep their values. So a thin line leaves almost no
/// trace, and a large region is so smooth that it has almost no weight in any method. Throws
/// Error(invalid_argument) for a mask of another size or one that is 0 everywhere, and for a pixel that
/// `known` calls known and that is not finite.
PARAFIELD_API FrameBuffer filled(const In<Frame>& frame, const In<MaskView>& known);

/// Marks the result where the frames have no value. Where the first frame, the one whose flow it is, has
/// none, the flow is NaN, which every file calls unknown, with `valid` and `confidence` 0. Where the flow leads
/// to a pixel of the second frame without a value, `valid` alone becomes 0. Throws Error(invalid_argument) for
/// a mask of another size.
PARAFIELD_API void mark_unknown(FlowField& flow, const In<MaskView>& known0,
                                const In<MaskView>& known1 = MaskView{});

/// The same for disparities and the masks of the left and the right image.
PARAFIELD_API void mark_unknown(DisparityField& disparity, const In<MaskView>& known_left,
                                const In<MaskView>& known_right = MaskView{});

}  // namespace parafield
