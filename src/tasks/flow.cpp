#include "parafield/flow.hpp"

#include "gradient/lucas_kanade/lucas_kanade.hpp"
#include "tasks/checked_solver.hpp"
#include "tasks/estimator.hpp"

namespace parafield {

template <class Copy>
void copy_planes(const FlowField& from, FlowField& to, Copy copy) {
  copy(from.u, to.u);
  copy(from.v, to.v);
  copy(from.valid, to.valid);
  copy(from.confidence, to.confidence);
}

FlowField FlowField::to(Memory memory) const {
  FlowField result;
  copy_planes(*this, result, [&](const auto& from, auto& to) { to = from.to(memory); });
  return result;
}

template <>
std::unique_ptr<Session<Flow>> make_session<Flow>(const FlowMethod& method, Size size, const Device& device,
                                                  Stream stream, const FlowOptions& options) {
  if (!(options.fb_check >= 0 && options.fb_check <= 1e6f))
    fail(ErrorCode::invalid_argument, "fb_check cannot be ", options.fb_check,
         " px; allowed: 0 (no check) to 1e6");
  return with_backend(device, [&]<class Backend>() -> std::unique_ptr<Session<Flow>> {
    return std::make_unique<SolverSession<Flow, Backend, Checked<LucasKanadeSolver>::template Type>>(
        std::get<LucasKanade>(method), size, device, stream, options);
  });
}

template class Estimator<Flow>;

FlowField estimate_flow(const Frame& frame0, const Frame& frame1, const FlowMethod& method,
                        const Device& device, const FlowOptions& options) {
  FlowEstimator estimator(method, frame0.size(), device, {}, options);
  const FlowField& flow = estimator(frame0, frame1);
  estimator.synchronize();
  return flow.to(flow.memory());
}

}  // namespace parafield
