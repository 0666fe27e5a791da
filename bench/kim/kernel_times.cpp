// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <utility>

#include "common/study.hpp"
#include "kim/kernels.hpp"

namespace parafield::bench {
namespace {

/// The library's time and flow with both precisions of a method.
template <class Method>
std::vector<KernelTime> library_times(const Study& study, const std::vector<Guided>& inputs, Method method,
                                      const char* program, const char* exact, const char* fast) {
  std::vector<KernelTime> times;
  for (const Precision precision : precisions) {
    method.precision = precision;
    const double ms = guided_ms(method, study, inputs, study.effort);
    times.push_back({program, precision == Precision::exact ? exact : fast, ms,
                     times.empty() ? ms : times.front().ms,
                     estimated(method, study.device, inputs[0].frame0, inputs[0].frame1, inputs[0].tracks)});
  }
  return times;
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
  auto library =
      library_times(study, inputs, method, "library", "library, CUDA, exact", "library, CUDA, fast");
  const PaperKernels kernels(problems);
  std::vector<KernelTime> times;
  for (const auto& [form, name] :
       {std::pair{Form::by_label, "kernel, by label"}, std::pair{Form::product, "kernel, product"}}) {
    times.push_back(
        timed(study, kernels, int(problems.size()), "kernel", name, library[0].ms,
              [&kernels, form = form](cudaStream_t stream, int turn) { kernels.vote(stream, turn, form); }));
  }
  std::ranges::move(library, std::back_inserter(times));
  return times;
}

std::vector<KernelTime> interpolation_kernel_times(const Study& study, const std::vector<Problem>& problems,
                                                   const std::vector<Guided>& inputs,
                                                   const DirectInterpolation& method) {
  check(cudaSetDevice(study.device.index), "cudaSetDevice");
  auto library = library_times(study, inputs, method, "library, CUDA", "2^x, exact", "ex2, fast");
  const PaperKernels kernels(problems);
  using Exponential = PaperKernels::Exponential;
  std::vector<KernelTime> times;
  for (const auto& [exponential, name] :
       {std::pair{Exponential::accurate, "expf"}, std::pair{Exponential::device, "__expf"},
        std::pair{Exponential::constant, "table, constant memory"},
        std::pair{Exponential::shared, "table, shared memory"},
        std::pair{Exponential::texture, "table, texture"}}) {
    times.push_back(timed(study, kernels, int(problems.size()), "kernel, a thread a pixel", name,
                          library[0].ms,
                          [&kernels, exponential = exponential](cudaStream_t stream, int turn) {
                            kernels.interpolate(stream, turn, exponential);
                          }));
  }
  std::ranges::move(library, std::back_inserter(times));
  return times;
}

}  // namespace parafield::bench
