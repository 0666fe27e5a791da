// SPDX-License-Identifier: MIT
#include "parafield/detection.hpp"

#include "markov/mask_solver.hpp"
#include "tasks/estimator.hpp"

namespace parafield {
namespace {

/// A motion detection solver that takes DetectionOptions.
template <class Backend, class Solver>
struct DetectionSolver : Solver {
  template <class Method>
  DetectionSolver(Backend& backend, Workspace& workspace, const Method& method, Size size,
                  const DetectionOptions& options)
      : Solver(backend, workspace, method, size, {options.energies, options.progress}) {}
};

}  // namespace

template <>
std::unique_ptr<Session<Detection>> task_session<Detection>(const DetectionMethod& method, Size size,
                                                            const Device& device,
                                                            const DetectionOptions& options) {
  return make_session<Detection, DetectionSolver>(method, size, device, options);
}

template class Estimator<Detection>;

MotionMask detect_motion(const In<Frame>& frame0, const In<Frame>& frame1, const DetectionMethod& method,
                         const DetectionOptions& options) {
  return estimate<Detection>(std::array<Frame, 2>{frame0, frame1}, method, options);
}

}  // namespace parafield
