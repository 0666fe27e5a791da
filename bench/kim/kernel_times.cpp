// SPDX-License-Identifier: MIT
#include <utility>

#include "kim/inputs.hpp"
#include "kim/kernels.hpp"

namespace parafield::bench {
namespace {

double library_ms(const Study& study, const FlowMethod& method, const std::vector<Guided>& inputs) {
  return time_in_turn({guided_call(method, study.device, inputs, memory_of(study.device))}, study.effort)[0]
      .median;
}

FlowField library_flow(const Study& study, const FlowMethod& method, const Guided& input) {
  return estimated(method, study.device, input.frame0, input.frame1, input.tracks);
}

/// Time of a kernel as graphs, one for each input. The kernel has run before, so that none is loaded while a
/// graph is recorded.
KernelTime timed(const Study& study, const PaperKernels& kernels, int inputs, const char* program,
                 const char* name, double library, const Work& run) {
  const CudaStream stream;
  run(stream, 0);
  stream.synchronize();
  FlowField flow = kernels.flow();
  const double ms = median_ms(stream, as_graphs(run, inputs), Start::idle, study.quick ? 3 : 100);
  return {program, name, ms, library, std::move(flow)};
}

}  // namespace

std::vector<KernelTime> vote_kernel_times(const Study& study, const std::vector<Problem>& problems,
                                          const std::vector<Guided>& inputs, const MultiHypothesis& method) {
  check(cudaSetDevice(study.device.index), "cudaSetDevice");
  MultiHypothesis fast = method;
  fast.precision = Precision::fast;
  const double library = library_ms(study, method, inputs);
  const PaperKernels kernels(problems);
  std::vector<KernelTime> times;
  for (const auto& [form, name] :
       {std::pair{Form::by_label, "kernel, by label"}, std::pair{Form::product, "kernel, product"}}) {
    times.push_back(
        timed(study, kernels, int(problems.size()), "kernel", name, library,
              [&kernels, form = form](cudaStream_t stream, int turn) { kernels.vote(stream, turn, form); }));
  }
  times.push_back(
      {"library", "library, CUDA, exact", library, library, library_flow(study, method, inputs[0])});
  times.push_back({"library", "library, CUDA, fast", library_ms(study, fast, inputs), library,
                   library_flow(study, fast, inputs[0])});
  return times;
}

std::vector<KernelTime> interpolation_kernel_times(const Study& study, const std::vector<Problem>& problems,
                                                   const std::vector<Guided>& inputs,
                                                   const DirectInterpolation& method) {
  check(cudaSetDevice(study.device.index), "cudaSetDevice");
  DirectInterpolation fast = method;
  fast.precision = Precision::fast;
  const double library = library_ms(study, method, inputs);
  const PaperKernels kernels(problems);
  using Exponential = PaperKernels::Exponential;
  std::vector<KernelTime> times;
  for (const auto& [exponential, name] :
       {std::pair{Exponential::accurate, "expf"}, std::pair{Exponential::device, "__expf"},
        std::pair{Exponential::constant, "table, constant memory"},
        std::pair{Exponential::shared, "table, shared memory"},
        std::pair{Exponential::texture, "table, texture"}}) {
    times.push_back(timed(study, kernels, int(problems.size()), "kernel, a thread a pixel", name, library,
                          [&kernels, exponential = exponential](cudaStream_t stream, int turn) {
                            kernels.interpolate(stream, turn, exponential);
                          }));
  }
  times.push_back({"library, CUDA", "2^x, exact", library, library, library_flow(study, method, inputs[0])});
  times.push_back({"library, CUDA", "ex2, fast", library_ms(study, fast, inputs), library,
                   library_flow(study, fast, inputs[0])});
  return times;
}

}  // namespace parafield::bench
