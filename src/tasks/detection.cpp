// SPDX-License-Identifier: MIT
#include "parafield/detection.hpp"

#include "markov/mask_solver.hpp"
#include "tasks/estimator.hpp"

namespace parafield {
namespace {

/// The option `region`, checked.
View<const std::uint8_t> region_of(const DetectionOptions& options, Size size) {
  if (!options.region) return {};
  const Image<std::uint8_t>& region = *options.region;
  if (!region.memory().on_host()) fail(ErrorCode::invalid_argument, "the region is not in host memory");
  if (region.size() != size)
    fail(ErrorCode::invalid_argument, "the region has ", region.size().width, "x", region.size().height,
         " pixels, the frames have ", size.width, "x", size.height);
  return region.view();
}

/// A motion detection solver that takes DetectionOptions.
template <class Backend, class Solver>
struct DetectionSolver : Solver {
  template <class Method>
  DetectionSolver(Backend& backend, Workspace& workspace, const Method& method, Size size,
                  const DetectionOptions& options)
      : Solver(backend, workspace, method, size,
               {.energies = options.energies,
                .progress = options.progress,
                .freeze = options.freeze,
                .background = options.background,
                .region = region_of(options, size)}) {}
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
