// SPDX-License-Identifier: MIT
#pragma once
#include "guided/color_test/color_test.hpp"
#include "guided/support/features.hpp"

namespace parafield {

/// Interpolates flow from tracks: gathers their features (gather_features; on CUDA a few are not written),
/// then takes each pixel's mean of the features' flows, weighted by likelihood (Kim, eq. 4), and tests it
/// where `test` has an image for the result. `likelihood` is that of the best feature. Without features it is
/// 0, and the flow is NaN, which fails the test and then is 0. `fast`: the larger cutoff, and on CUDA the
/// device's own exponentials. On the CPU a thread needs tile_scratch(capacity, interpolation_planes).
template <class Backend>
void interpolate_flow(Backend& backend, const TrackList& tracks, const FlowFeatures& features,
                      const Colors& colors, LikelihoodScale scale, bool fast, FlowPlanes flow,
                      View<float> likelihood, const ColorTest& test);

constexpr int interpolation_planes = 4;

PF_HD float best_likelihood(float exponent) { return exponential2(larger(-exponent, -126.0f)); }

}  // namespace parafield
