// SPDX-License-Identifier: MIT
#pragma once
#include "guided/color_test/color_test.hpp"
#include "guided/support/features.hpp"

namespace parafield {

/// Interpolates flow from tracks: gathers their features (see gather_features; on CUDA, a few features are
/// not written to memory), takes each pixel's mean of the features' flows, weighted by likelihood (Kim, eq.
/// 4), and tests it if `test.valid` is an image. `likelihood`: likelihood of the best feature. Without
/// features, `likelihood` is 0 and the flow is NaN, which the test rejects and sets to 0. `fast`: use the
/// larger cutoff and, on CUDA, the device's own exponentials. A CPU thread needs tile_scratch(capacity,
/// interpolation_planes).
template <class Backend>
void interpolate_flow(Backend& backend, const TrackList& tracks, const FlowFeatures& features,
                      const Colors& colors, LikelihoodScale scale, bool fast, FlowPlanes flow,
                      View<float> likelihood, const ColorTest& test);

constexpr int interpolation_planes = 4;

PF_HD float best_likelihood(float exponent) { return exponential2(larger(-exponent, -126.0f)); }

}  // namespace parafield
