// SPDX-License-Identifier: MIT
#pragma once
#include <functional>

#include "kim/serial.hpp"
#include "kim/study.hpp"

namespace parafield::bench {

/// Frames of several seeds with the same tracks, at 320x240.
std::vector<Guided> rotating_inputs(const Study& study, Size labels, int tracks);
std::vector<Problem> problems_of(const std::vector<Guided>& inputs, const MultiHypothesis& method);

/// A call that is timed by the clock.
Call timed_on_host(const std::function<void(std::size_t turn)>& work);

/// Effort for calls that take a second.
inline Effort slow_effort(const Study& study) { return study.quick ? study.effort : Effort{3, 100, 1}; }

// On a CUDA device:

/// Time of a kernel or of the library, and its result for the first input.
struct KernelTime {
  const char* program;
  std::string name;
  double ms, library_ms;
  FlowField flow;
};
std::vector<KernelTime> vote_kernel_times(const Study& study, const std::vector<Problem>& problems,
                                          const std::vector<Guided>& inputs, const MultiHypothesis& method);
std::vector<KernelTime> interpolation_kernel_times(const Study& study, const std::vector<Problem>& problems,
                                                   const std::vector<Guided>& inputs,
                                                   const DirectInterpolation& method);

}  // namespace parafield::bench
