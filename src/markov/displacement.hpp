#pragma once
#include "core/solver.hpp"
#include "markov/matching.hpp"
#include "parafield/fields.hpp"

namespace parafield {

/// Optical flow: a field of whole displacements (Jodoin section 3.2).
template <class Backend>
class DisplacementSolver : public SolverBase<DisplacementSolver<Backend>> {
 public:
  template <class Method>
  DisplacementSolver(Backend& backend, Workspace& workspace, const Method& method, Size size,
                     const SolverOptions& options)
      : solver_(backend, workspace, method.energy.cost, method.energy.smoothness, grid_of(method.energy),
                method.energy.sub_pixel, optimizer_of(method), options.energies,
                {backend, options.progress, options.both_ways ? 2 : 1}, size) {}

  void prepare(const Frame* frames, int slot, int count) { solver_.prepare(frames, slot, count); }

  void solve(int first, const FlowView* start, FlowPlanes result, Trust trust, bool main) {
    solver_.solve(first, 1, start ? &start->u : nullptr, start ? &start->v : nullptr, result.u, result.v,
                  trust, main);
  }

  bool takes_start() const { return solver_.takes_start(); }
  View<double> energies() const { return solver_.energies(); }

 private:
  static LabelGrid grid_of(const DisplacementEnergy& energy) {
    const int most = energy.max_displacement, side = 2 * most + 1;
    return {.nx = side, .ny = side, .x0 = -most, .y0 = -most};
  }

  MatchingSolver<Backend> solver_;
};

template <template <class> class Method, class Backend>
struct SolverOf<Method<DisplacementEnergy>, Backend> : std::type_identity<DisplacementSolver<Backend>> {};

}  // namespace parafield
