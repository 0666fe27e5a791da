// SPDX-License-Identifier: MIT
#pragma once
#include "markov/matching.hpp"
#include "parafield/fields.hpp"

namespace parafield {

/// Stereo: a field of disparities (Jodoin section 3.3). Slot 0 holds the left image.
template <class Backend>
class DisparitySolver : public MatchingSolver<DisparitySolver<Backend>, Backend> {
 public:
  template <class Method>
  DisparitySolver(Backend& backend, Workspace& workspace, const Method& method, Size size,
                  const SolverOptions& options)
      : MatchingSolver<DisparitySolver, Backend>(
            backend, workspace, method, {.nx = method.energy.disparities, .x0 = method.energy.min_disparity},
            size, options) {}

  /// Stores whole disparities, and refined ones unless `fine` is empty.
  void solve(int first, const DisparityView* start, View<float> whole, View<float> fine, Trust trust,
             bool main) {
    this->solve_field(first, first == 0 ? -1 : 1, start ? &start->d : nullptr, nullptr, whole, {}, fine,
                      trust, main);
  }
};

template <template <class> class Method, class Backend>
struct SolverOf<Method<StereoEnergy>, Backend> : std::type_identity<DisparitySolver<Backend>> {};

}  // namespace parafield
