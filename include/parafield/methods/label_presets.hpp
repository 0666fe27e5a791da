// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <string_view>

#include "parafield/methods/label_solvers.hpp"

namespace parafield {

// Presets of the methods that find a label field. The `accurate` presets were chosen by measurement
// (docs/accuracy.md).

/// The method with the papers' parameters.
template <LabelMethod Method>
Method paper_parameters() {
  Method paper;
  paper.energy = typename Method::Energy{};
  if constexpr (requires { paper.order; }) {
    paper.sweeps = 10;
    paper.order = SiteOrder::all_at_once;
  } else if constexpr (requires { paper.t_max; }) {
    paper.sweeps = 500;
    paper.t_max = 20;
    paper.t_min = 0.5f;
  } else if constexpr (requires { paper.precision; }) {
    paper.energy = Method::paper_energy();
    paper.levels = 5;
    paper.iterations = 7;
    paper.finest_iterations = -1;
    paper.uniqueness = 0;
    paper.precision = Precision::exact;
    paper.surfaces = {};
  }
  return paper;
}

/// Presets for motion masks.
template <LabelMethod Method>
std::array<Preset<Method>, 3> presets(const Method&) {
  Method accurate;
  std::string_view help;
  if constexpr (requires { accurate.order; }) {
    accurate.energy = {.mean = 11.5f, .beta = 0.7f, .temporal = 0.7f};
    accurate.sweeps = 50;
    accurate.order = SiteOrder::colored;
    help = "More sweeps, with neighbors taking turns.";
  } else if constexpr (requires { accurate.t_max; }) {
    accurate.sweeps = 200;
    help = "More sweeps.";
  } else {
    accurate.energy = {.mean = 20};
    help = "A higher threshold: fewer false alarms, more misses.";
  }
  return {{{"default", Method{}, "Best for most scenes."},
           {"accurate", accurate, help},
           {"paper", paper_parameters<Method>(), "The paper's model."}}};
}

/// Presets for motion masks with a learned background.
template <LabelMethod Method>
requires Method::learns std::array < Preset<Method>,
2 > presets(const Method&) {
  return {{{"default", Method{}, "Best for most scenes."},
           {"accurate", Method{}, "Same parameters: no better ones are known."}}};
}

/// Presets for disparities and displacements, except by belief propagation.
template <LabelMethod Method>
requires requires(Method method) { method.energy.cost; }
std::array<Preset<Method>, 3> presets(const Method&) {
  constexpr bool flow = requires(Method method) { method.energy.max_displacement; };
  Method accurate;
  std::string_view help = "Same parameters: no better ones are known.";
  if constexpr (flow) {
    accurate.energy.refinement = {.refine = 4, .refine_sweeps = 12};
    help = "Half the error, by variational refinement.";
  } else if constexpr (requires { accurate.t_max; }) {
    accurate.sweeps = 100;
    help = "Five times the sweeps.";
  }
  return {{{"default", Method{}, "Best for most pairs: census or several data terms, sub-pixel."},
           {"accurate", accurate, help},
           {"paper", paper_parameters<Method>(), "The paper's model."}}};
}

/// Presets of belief propagation for displacements.
inline std::array<Preset<BeliefPropagation<DisplacementEnergy>>, 4> presets(
    const BeliefPropagation<DisplacementEnergy>&) {
  using Method = BeliefPropagation<DisplacementEnergy>;
  Method accurate, clouds = paper_parameters<Method>();
  accurate.energy.refinement = {.refine = 4, .refine_sweeps = 12};
  clouds.energy.sub_pixel = true;
  clouds.finest_iterations = 0;
  clouds.precision = Precision::fast;
  return {{{"default", Method{}, "Best for most pairs: census, sub-pixel."},
           {"accurate", accurate, "Half the error, by variational refinement."},
           {"clouds", clouds, "The paper's model, faster and sub-pixel, for clouds that grow and fade."},
           {"paper", paper_parameters<Method>(), "The paper's model."}}};
}

/// Presets of belief propagation for disparities.
inline std::array<Preset<BeliefPropagation<StereoEnergy>>, 4> presets(
    const BeliefPropagation<StereoEnergy>&) {
  using Method = BeliefPropagation<StereoEnergy>;
  Method fast, accurate;
  fast.energy.smoothness.beta = 0.8f;
  fast.levels = 7;
  fast.surfaces.slant = Slant::quick;
  fast.iterations = 2;
  fast.finest_iterations = 0;
  fast.energy.checks.right_view = RightView::projected;
  fast.energy.checks.color_median = 0;
  accurate.iterations = 6;
  accurate.finest_iterations = 8;
  accurate.surfaces.slant = Slant::all;
  return {{{"quality", Method{}, "Best for most pairs: several data terms, checks and filling."},
           {"fast", fast, "No messages at full resolution, and only the left image is solved."},
           {"accurate", accurate, "More iterations, slanted surfaces on all levels."},
           {"paper", paper_parameters<Method>(), "The paper's model."}}};
}

}  // namespace parafield
