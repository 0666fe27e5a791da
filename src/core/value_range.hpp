// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string_view>

#include "core/views.hpp"

namespace parafield {

/// Returns the frame if it is in host memory, otherwise a view of `copy`, into which it is downloaded.
Frame on_host(const Frame& frame, FrameBuffer& copy);

/// Whether the values of a frame decide its range, because it is a 16-bit or float frame that names none.
inline bool lacks_range(const Frame& frame) {
  return frame.range == ValueRange{} && bytes_per_value(frame.format) > 1;
}

/// Gives 16-bit and float frames that name no range, and with `stretches` also 8-bit frames, the one that
/// find_value_range finds in them for a use. Frames in a device's memory must be complete. Throws
/// Error(invalid_argument) if such a frame and another differ in depth.
void give_range(std::span<Frame> frames, RangeUse use = RangeUse::matching, bool stretches = false);

/// Throws Error(invalid_argument) if the values of two frames differ in type (8-bit, 16-bit or
/// float). The message contains their names.
inline void check_same_depth(const Frame& frame, std::string_view name, const Frame& other,
                             std::string_view other_name) {
  if (bytes_per_value(frame.format) != bytes_per_value(other.format))
    fail_value(name, " has ", depth_text(frame.format), " values, ", other_name, " has ",
               depth_text(other.format), " values; convert them to one depth");
}

}  // namespace parafield
