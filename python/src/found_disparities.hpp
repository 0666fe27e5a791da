// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "estimation.hpp"

namespace parafield::python {

/// Waits for all work enqueued so far on a stream of the device.
void synchronize(const Device& device, Stream stream);

/// Returns the request with the number of disparities that `count` pairs need, or nothing if its method
/// already specifies the number. An estimator examines the pairs in each call anew, because a cached one
/// remembers the number from another call's pairs. `array` is one of the arrays that hold the pairs' frames.
/// The caller must hold the GIL, which is released during the search.
std::optional<Request<Stereo>> with_disparities(const Request<Stereo>& request, const Array& array,
                                                const Device& device, int count,
                                                const std::function<std::vector<Frame>(int)>& pair_of);

/// Binds examine_pair and its result.
void bind_examination(nb::module_& module);

}  // namespace parafield::python
