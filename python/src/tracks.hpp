// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "estimation.hpp"

namespace parafield::python {

/// Copies tracks into a NumPy array: N x 4 (x, y, u, v), px, float32.
nb::object track_array(const std::vector<Track>& tracks);

/// Binds the function find_tracks and the class CameraRotation.
void bind_tracks(nb::module_& module);

}  // namespace parafield::python
