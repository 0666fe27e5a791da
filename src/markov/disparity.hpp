#pragma once
#include "core/solver.hpp"
#include "markov/matching.hpp"
#include "parafield/fields.hpp"

namespace parafield {

/// Stereo: a field of disparities (Jodoin section 3.3). Slot 0 holds the left image.
template <class Backend>
class DisparitySolver : public SolverBase<DisparitySolver<Backend>> {
 public:
  template <class Method>
  DisparitySolver(Backend& backend, Workspace& workspace, const Method& method, Size size,
                  const SolverOptions& options)
      : solver_(backend, workspace, method.energy.cost, method.energy.smoothness,
                {.nx = method.energy.disparities, .x0 = method.energy.min_disparity}, method.energy.sub_pixel,
                optimizer_of(method), options.energies,
                {backend, options.progress, options.both_ways ? 2 : 1}, size) {}

  void prepare(const Frame* frames, int slot, int count) { solver_.prepare(frames, slot, count); }

  void solve(int first, const DisparityView* start, View<float> result, Trust trust, bool main) {
    solver_.solve(first, first == 0 ? -1 : 1, start ? &start->d : nullptr, nullptr, result, {}, trust, main);
  }

  bool takes_start() const { return solver_.takes_start(); }
  View<double> energies() const { return solver_.energies(); }

 private:
  MatchingSolver<Backend> solver_;
};

template <template <class> class Method, class Backend>
struct SolverOf<Method<StereoEnergy>, Backend> : std::type_identity<DisparitySolver<Backend>> {};

}  // namespace parafield
