#pragma once
#include "guided/change/change.hpp"
#include "guided/guides/guides.hpp"

namespace parafield {

/// Gathers the guides of the tracks (gather_guides; on CUDA few ones are not written). Then each pixel's mean of the guides'
/// flows, weighted by likelihood (Kim, eq. 4), tested where a test is given, and the best guide's likelihood. Without guides the
/// likelihood is 0, and the flow NaN: no hypothesis, which fails its test and then is 0. fast: with the larger cutoff, and on
/// CUDA the device's own exponentials. On the CPU it needs interpolation_scratch bytes of a thread.
template <class Backend>
void interpolate_flow(Backend& backend, const TrackList& tracks, const Guides& guides, const Colors& colors,
                      LikelihoodScale scale, bool fast, FlowPlanes flow, View<float> likelihood,
                      const HypothesisTest& test);

/// Bytes; 0 on CUDA.
template <class Backend>
std::size_t interpolation_scratch(const Backend& backend, int capacity);

PF_HD float best_likelihood(float exponent) { return exponential2(larger(-exponent, -126.0f)); }

}  // namespace parafield
