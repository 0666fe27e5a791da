// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "estimation.hpp"

namespace parafield::python {

/// Tracks as an array of NumPy: N x 4.
nb::object track_array(const std::vector<Track>& tracks);

/// The function find_tracks and the class CameraRotation.
void bind_tracks(nb::module_& module);

}  // namespace parafield::python
