#include "parafield/flow.hpp"

#include "gradient/lucas_kanade/lucas_kanade.hpp"
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
                                                  Stream stream) {
  return with_backend(device, [&]<class Backend>() -> std::unique_ptr<Session<Flow>> {
    return std::make_unique<SolverSession<Flow, Backend, LucasKanadeSolver>>(std::get<LucasKanade>(method),
                                                                             size, device, stream);
  });
}

template class Estimator<Flow>;

FlowField estimate_flow(const Frame& frame0, const Frame& frame1, const FlowMethod& method,
                        const Device& device) {
  FlowEstimator estimator(method, frame0.size(), device);
  const FlowField& flow = estimator(frame0, frame1);
  estimator.synchronize();
  return flow.to(flow.memory());
}

}  // namespace parafield
