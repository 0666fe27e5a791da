// SPDX-License-Identifier: MIT
#pragma once
#include "markov/matching.hpp"
#include "parafield/fields.hpp"

namespace parafield {

/// Optical flow: a field of whole displacements (Jodoin section 3.2).
template <class Backend>
class DisplacementSolver : public MatchingSolver<DisplacementSolver<Backend>, Backend> {
 public:
  template <class Method>
  DisplacementSolver(Backend& backend, Workspace& workspace, const Method& method, Size size,
                     const SolverOptions& options)
      : MatchingSolver<DisplacementSolver, Backend>(backend, workspace, method,
                                                    grid_of(method.energy.max_displacement), size, options) {}

  void solve(int first, const FlowView* start, FlowPlanes result, Trust trust, bool main) {
    this->solve_field(first, 1, start ? &start->u : nullptr, start ? &start->v : nullptr, result.u, result.v,
                      {}, trust, main);
  }

 private:
  static LabelGrid grid_of(int most) {
    return {.nx = 2 * most + 1, .ny = 2 * most + 1, .x0 = -most, .y0 = -most};
  }
};

template <template <class> class Method, class Backend>
struct SolverOf<Method<DisplacementEnergy>, Backend> : std::type_identity<DisplacementSolver<Backend>> {};

}  // namespace parafield
