// SPDX-License-Identifier: MIT
#pragma once
#include "fields.hpp"
#include "frames.hpp"

namespace parafield::python {

/// Copies a frame in host memory into a NumPy array, H x W or H x W x C.
nb::object frame_array(const In<Frame>& frame);

/// Copies a plane of floats in host memory into a NumPy array, H x W, float32.
nb::object plane_array(View<const float> plane);

/// Copies a plane of bytes in host memory into a NumPy array, H x W, bool: true where the byte is not 0.
nb::object mask_array(const Image<std::uint8_t>& mask);

/// Reads one frame in host memory. Throws Error(invalid_argument) for stacks and for frames on a device.
FrameStack read_host_frame(nb::handle object, const std::string& name, const FrameLayout& layout = {});

/// Return a picture that shows a single result in host memory.
FrameBuffer picture_of(const Field<Flow>& field);
FrameBuffer picture_of(const Field<Stereo>& field);
FrameBuffer picture_of(const Field<Detection>& field);

/// Returns a picture as the bytes of a PNG file, or None if this build has no PNG support.
nb::object png_of(const FrameBuffer& picture);

/// Binds functions that draw: color_flow, color_disparity, draw_arrows, overlay_mask, beside and others.
void bind_pictures(nb::module_& module);
/// Binds readers and writers of frames, fields, masks, tracks, calibrations, depths and points.
void bind_files(nb::module_& module);
/// Binds evaluate, render_scene, depth_of, pinned_empty and devices.
void bind_tools(nb::module_& module);

}  // namespace parafield::python
