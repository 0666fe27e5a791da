// SPDX-License-Identifier: MIT
#pragma once
#include "fields.hpp"
#include "frames.hpp"

namespace parafield::python {

/// A frame in host memory as an array of NumPy, H x W or H x W x C.
nb::object frame_array(const In<Frame>& frame);

/// A plane of floats in host memory as an array of NumPy, H x W, float32.
nb::object plane_array(View<const float> plane);

/// A plane of bytes as an array of NumPy, H x W, bool.
nb::object mask_array(const Image<std::uint8_t>& mask);

/// Reads one frame in host memory. Throws Error(invalid_argument) for stacks and for frames on a device.
FrameStack read_host_frame(nb::handle object, const std::string& name, const FrameLayout& layout = {});

/// The picture that shows a field in host memory.
FrameBuffer picture_of(const Field<Flow>& field);
FrameBuffer picture_of(const Field<Stereo>& field);
FrameBuffer picture_of(const Field<Detection>& field);

/// A picture as the bytes of a PNG file; None if this build has no PNG.
nb::object png_of(const FrameBuffer& picture);

/// color_flow, color_disparity, draw_arrows, overlay_mask, beside and the like.
void bind_pictures(nb::module_& module);
/// Readers and writers of frames, fields, masks, tracks, calibrations, depths and points.
void bind_files(nb::module_& module);
/// evaluate, render_scene, depth_of and devices.
void bind_tools(nb::module_& module);

}  // namespace parafield::python
