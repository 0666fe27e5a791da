#pragma once
#include <span>
#include <vector>

#include "common/timing.hpp"

/// Flow from given tracks.
namespace parafield::bench {

using Tracks = std::vector<Track>;

/// In host memory, from frames there.
FlowField estimated(const FlowMethod& method, const Device& device, const Frame& frame0, const Frame& frame1,
                    const Tracks& tracks);

/// How many labels the tracks' flow space has.
int label_count(const MultiHypothesis& method, const Tracks& tracks);

/// The paper's parameters (alpha / beta = 4), for as many tracks as will be given.
DirectInterpolation paper_interpolation(int tracks);
MultiHypothesis paper_hypotheses(int tracks);

/// Two frames and what is known of their flow.
struct Guided {
  FrameBuffer frame0, frame1;
  Tracks tracks;
};

/// A colored texture that stretches from the left upper corner on, so that the tracks' grid of whole px has columns x rows
/// labels; the tracks are spread evenly, at whole px.
Guided stretched(Size size, Size labels, int tracks, std::uint64_t seed = 1);

/// Each of the inputs in turn, in `memory`; flow is left there. The milliseconds of one of `batch` calls, which do not wait for
/// each other.
Call guided_call(const FlowMethod& method, const Device& device, std::span<const Guided> inputs,
                 Memory memory, int batch = 1);

}  // namespace parafield::bench
