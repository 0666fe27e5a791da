// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <vector>

#include "common/timing.hpp"

/// Flow from given tracks.
namespace parafield::bench {

struct Study;

using Tracks = std::vector<Track>;

/// Flow from frames and tracks. Frames and flow are in host memory.
FlowField estimated(const FlowMethod& method, const Device& device, const Frame& frame0, const Frame& frame1,
                    const Tracks& tracks);

/// Number of labels that the method makes from the tracks.
int label_count(const MultiHypothesis& method, const Tracks& tracks);

/// Parameters of the paper (alpha / beta = 4) for a number of tracks.
DirectInterpolation paper_interpolation(int tracks);
MultiHypothesis paper_hypotheses(int tracks);
/// The library's sigmas for up to 1000 tracks (10 / 20, Alg. 3 16 / 20), one round, no median.
DirectInterpolation plain_interpolation();
MultiHypothesis plain_hypotheses();

/// Two frames and tracks between them.
struct Guided {
  FrameBuffer frame0, frame1;
  Tracks tracks;
};

/// A colored texture that stretches away from the left upper corner. Tracks are spread evenly, at whole px;
/// their flows on a grid of 1 px give `labels`.width x `labels`.height labels.
Guided stretched(Size size, Size labels, int tracks, std::uint64_t seed = 1);

/// Frames of several seeds with the same tracks, at 320x240.
std::vector<Guided> rotating_inputs(const Study& study, Size labels, int tracks);

/// A call that takes the inputs in turn, with inputs and flow in `memory`. It returns the milliseconds of one
/// of `batch` calls, which do not wait for each other.
Call guided_call(const FlowMethod& method, const Device& device, std::span<const Guided> inputs,
                 Memory memory, int batch = 1);

/// Median of such calls, with inputs and flow in the memory of the study's device.
double guided_ms(const FlowMethod& method, const Study& study, std::span<const Guided> inputs,
                 const Effort& effort);

/// Effort for calls that take a second.
Effort slow_effort(const Study& study);

/// Colors of a flow field: full at `longest` px, black where it is not valid.
FrameBuffer classified(const FlowField& flow, float longest);

}  // namespace parafield::bench
