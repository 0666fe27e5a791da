// SPDX-License-Identifier: MIT
#include "parafield/detection.hpp"

#include "markov/change.hpp"
#include "tasks/estimator.hpp"

namespace parafield {
namespace {

/// A solver of motion detection and DetectionOptions.
template <class Backend, class Solver>
struct DetectionSolver : Solver {
  template <class Method>
  DetectionSolver(Backend& backend, Workspace& workspace, const Method& method, Size size,
                  const DetectionOptions& options)
      : Solver(backend, workspace, method, size, {options.energies, options.progress}) {}
};

}  // namespace

static std::unique_ptr<Session<Detection>> session_of(const DetectionMethod& method, Size size,
                                                      const Device& device, const DetectionOptions& options) {
  return make_session<Detection, DetectionSolver>(method, size, device, options);
}

template class Estimator<Detection>;

MotionMask detect_motion(const In<Frame>& frame0, const In<Frame>& frame1, const DetectionMethod& method,
                         const DetectionOptions& options) {
  const Frame frames[] = {frame0, frame1};
  return estimate<Detection>(frames, method, options);
}

}  // namespace parafield
