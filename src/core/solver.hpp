// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <span>
#include <type_traits>

#include "core/fail.hpp"
#include "core/workspace.hpp"
#include "parafield/background.hpp"
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
  // Motion detection: see DetectionOptions.
  bool freeze = false;
  std::shared_ptr<const LearnedBackground> background = {};
  View<const std::uint8_t> region = {};  ///< in host memory
};

/// Purpose of a solver's `solve`.
enum class Purpose {
  result,  ///< the field that the caller asked for
  check    ///< the second frame's field, which a consistency check compares with it
};

struct KeptFrames;  // steps/colors

/// Motion that the user gives alongside the frames.
struct KnownMotion {
  std::optional<std::span<const Track>> tracks = {};
  std::optional<CameraRotation> rotation = {};
};

/// Base of every solver, with the interface's defaults. A solver's constructor takes (backend, workspace,
/// method, size, SolverOptions). The solver keeps prepared frames in slots, one for each frame that the
/// method takes, and prepares each frame once.
template <class Solver>
class SolverBase {
 public:
  /// Whether `solve` writes trust even if none was requested; its planes must then always have memory.
  static constexpr bool always_trusts = false;
  /// Whether `solve` withholds validity from pixels below Trust::least.
  static constexpr bool applies_least = false;
  bool takes_start() const { return false; }       ///< whether `solve` uses a start
  bool starts_from_last() const { return false; }  ///< whether pushed frames start from the last result
  bool averages() const { return false; }          ///< whether pushed pairs are averaged with the last ones
  View<double> energies() const { return {}; }     ///< energies of the last solve, in the backend's memory
  SolvedBlocks blocks() const { return {}; }       ///< default: one block, the whole image
  void check() const {}                            ///< throws errors that only the solve itself can detect

  /// Sets the known motion for the next solve; `on_host` says whether it is in host memory. Returns its kind,
  /// 0 to 7; solves of the same kind run the same steps. Throws Error(invalid_argument) for motion that the
  /// method does not use.
  int take(const KnownMotion& known, bool /*on_host*/) {
    if (known.tracks || known.rotation)
      fail(ErrorCode::invalid_argument, "the method has no use for ",
           known.tracks ? "tracks" : "a camera's rotation");
    return 0;
  }

  /// The copies of the frames that the solver keeps in their slots, or null.
  const KeptFrames* kept() const { return nullptr; }

  /// Luma of the frame in a slot, 0..255, which error bars need. Empty if the method has none.
  View<const float> luma(int /*slot*/) const { return {}; }

  /// Lends the images of the solver that `solve` overwrites before it reads them.
  void lend(SharedWorkspace&) const {}

  /// Whether `solve_back` returns planes of the solver's own, and needs none.
  static constexpr bool keeps_back = false;
  /// Estimates flow from the second of two frames back to the first, after `solve`. Writes it into `planes`
  /// unless the solver keeps it.
  template <class Planes>
  Planes solve_back(int first, Planes planes) {
    static_cast<Solver&>(*this).solve(1 - first, nullptr, planes, {}, Purpose::check);
    return planes;
  }

  void check_frame(const Frame&) const {}  ///< throws Error(invalid_argument) for a frame that it cannot use
  void restore() {}                        ///< called before the first solve of a sequence, outside its steps
  void forget() {}                         ///< called by reset()
  LearnedBackground background() { fail(ErrorCode::unsupported, "the method learns no background"); }

  /// Prepares the next pair of a sequence of pairs. `follows`: the previous call prepared the preceding pair.
  void prepare_next(const Frame* pair, bool /*follows*/) { static_cast<Solver&>(*this).prepare(pair, 0, 2); }

  /// Prepares the newest frame into slot `slot` and solves. `first` is the slot of the oldest frame.
  template <class Start, class... Result>
  void solve_newest(const Frame& newest, int slot, int first, const Start* start, Result&&... result) {
    Solver& solver = static_cast<Solver&>(*this);
    solver.prepare(&newest, slot, 1);
    solver.solve(first, start, result...);
  }
};

/// A type that offers SolverBase's interface and solve(first, arguments...). The last argument of flow and
/// stereo solvers is the solve's Purpose.
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
