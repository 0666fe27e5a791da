// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "estimation.hpp"

namespace parafield::python {

/// Waits for the work that a stream of the device has so far.
void synchronize(const Device& device, Stream stream);

/// The request with as many disparities as `count` pairs need, if its method leaves their number to the
/// images; otherwise nothing. Each call finds its own: an estimator of the cache knows the number of another call's
/// pairs. `array` holds frames of the pairs. Needs Python's lock, and works without it.
std::optional<Request<Stereo>> with_disparities(const Request<Stereo>& request, const Array& array,
                                                const Device& device, int count,
                                                const std::function<std::vector<Frame>(int)>& pair_of);

/// examine_pair and its result.
void bind_examination(nb::module_& module);

}  // namespace parafield::python
