// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <span>
#include <type_traits>

#include "core/fail.hpp"
#include "core/workspace.hpp"
#include "parafield/estimator.hpp"
#include "parafield/tracks.hpp"

/// The interface between a task's session (src/tasks/solver_session.hpp) and the solver of a method.
namespace parafield {

/// Names the solver of a method on a backend: `type`. Each solver's header specializes it.
template <class Method, class Backend>
struct SolverOf;

/// The options of a task that its solvers need.
struct SolverOptions {
  EnergyReport energies = EnergyReport::none;
  ProgressCallback progress = {};
  bool both_ways = false;  ///< also solve the second frame's field, for a check
  bool colors = false;     ///< keep the frames' colors for a filter, if the solver can
};

/// Motion that the user gives beside the frames.
struct KnownMotion {
  std::optional<std::span<const Track>> tracks = {};
  std::optional<CameraRotation> rotation = {};
};

/// Base of every solver, with the defaults of the interface. A solver's constructor takes (backend,
/// workspace, method, size, SolverOptions). Prepared frames lie in slots, one for each frame that the method
/// takes. Each frame is prepared once.
template <class Solver>
class SolverBase {
 public:
  /// Whether `solve` writes trust that nobody asked for, into planes that it has to be given.
  static constexpr bool always_trusts = false;
  bool takes_start() const { return false; }       ///< whether `solve` uses a start
  bool starts_from_last() const { return false; }  ///< whether pushed frames start from the last result
  bool averages() const { return false; }          ///< whether pushed pairs are averaged with the last ones
  View<double> energies() const { return {}; }     ///< of the last solve, in the backend's memory
  SolvedBlocks blocks() const { return {}; }       ///< no size: that of the image
  void check() const {}                            ///< throws an error that only the solve itself found

  /// Takes the known motion of the next solve; `on_host`: it lies in host memory. Returns its kind, 0 to 7.
  /// Solves of one kind take the same steps. Throws Error(invalid_argument) for motion that the method does
  /// not use.
  int take(const KnownMotion& known, bool /*on_host*/) {
    if (known.tracks || known.rotation)
      fail(ErrorCode::invalid_argument, "the method has no use for ",
           known.tracks ? "tracks" : "a camera's rotation");
    return 0;
  }

  /// Prepares a pair of a sequence of pairs. `follows`: the last call was that of the pair before.
  void prepare_next(const Frame* pair, bool /*follows*/) { static_cast<Solver&>(*this).prepare(pair, 0, 2); }

  /// Prepares the newest frame into `slot` and solves. `first` is the slot of the oldest frame.
  template <class Start, class... Result>
  void solve_newest(const Frame& newest, int slot, int first, const Start* start, Result&&... result) {
    Solver& solver = static_cast<Solver&>(*this);
    solver.prepare(&newest, slot, 1);
    solver.solve(first, start, result...);
  }
};

/// A type that offers SolverBase's interface and `solve` with these arguments after `first`.
template <class T, class... Arguments>
concept Solves = requires(T solver, const T constant, const Frame* frames, Arguments... arguments) {
  solver.prepare(frames, 0, 1);
  solver.solve(0, arguments...);
  solver.take(KnownMotion{}, true);
  constant.check();
  { constant.takes_start() } -> std::same_as<bool>;
  { constant.starts_from_last() } -> std::same_as<bool>;
  { constant.energies() } -> std::same_as<View<double>>;
};

}  // namespace parafield
