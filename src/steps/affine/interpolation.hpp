// SPDX-License-Identifier: MIT
#pragma once
#include "steps/affine/blend.hpp"
#include "steps/affine/fit.hpp"
#include "steps/affine/spread.hpp"

namespace parafield {

/// Dense flow from matches. Each match gets an affine model of the motion around it, and each pixel gets the
/// mean of the surrounding models, guided by color.
template <class Backend>
class AffineInterpolation {
 public:
  AffineInterpolation(Backend& backend, Workspace& workspace, const SeedGrid& grid)
      : backend_(backend),
        models_(make_affine_models(workspace, grid)),
        scratch_(make_spread_scratch<Backend>(workspace, grid)) {
    backend.reserve_scratch(larger(fit_scratch(grid), blend_scratch(grid)));
  }

  /// `colors`: smoothed colors of the frame that contains the seeds. Without any match, flow is NaN and
  /// confidence 0. `confidence`: null data = not requested.
  void interpolate(const Matches& matches, const Colors& colors, FlowPlanes flow, View<float> confidence) {
    fit_models(backend_, matches, colors, models_);
    spread_models(backend_, models_, scratch_);
    blend_models(backend_, models_, colors, flow, confidence);
  }

  /// The models of the last interpolate() call.
  const AffineModels& models() const { return models_; }

 private:
  Backend& backend_;
  const AffineModels models_;
  const SpreadScratch scratch_;
};

}  // namespace parafield
