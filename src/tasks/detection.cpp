#include "parafield/detection.hpp"

#include "markov/change.hpp"
#include "tasks/estimator.hpp"

namespace parafield {

template <class Copy>
void copy_planes(const MotionMask& from, MotionMask& to, Copy copy) {
  copy(from.moving, to.moving);
  copy(from.valid, to.valid);
  copy(from.confidence, to.confidence);
}
template <class Copy>
void copy_start(const MotionMaskView& from, MotionMask& to, Copy copy) {
  copy(from.moving, to.moving);
}

MotionMask MotionMask::to(Memory memory) const {
  MotionMask result;
  copy_planes(*this, result, [&](const auto& from, auto& to) { to = from.to(memory); });
  return result;
}

template <>
std::unique_ptr<Session<Detection>> make_session<Detection>(const DetectionMethod& method, Size size,
                                                            const Device& device, Stream stream,
                                                            const DetectionOptions& options) {
  return std::visit(
      [&](const auto& chosen) {
        return with_backend(device, [&]<class Backend>() -> std::unique_ptr<Session<Detection>> {
          return std::make_unique<SolverSession<Detection, Backend, ChangeSolver>>(chosen, size, device,
                                                                                   stream, options);
        });
      },
      method);
}

template class Estimator<Detection>;

MotionMask detect_motion(const Frame& frame0, const Frame& frame1, const DetectionMethod& method,
                         const Device& device, const DetectionOptions& options) {
  MotionDetector detector(method, frame0.size(), device, {}, options);
  const MotionMask& mask = detector(frame0, frame1);
  detector.synchronize();
  return mask.to(mask.memory());
}

}  // namespace parafield
