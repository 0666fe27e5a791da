// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

#include "common/study.hpp"
#include "kim/kernels.hpp"

namespace parafield::bench {
namespace {

using Layout = PaperKernels::Layout;

/// Memory that the GPU writes directly.
struct FreePinned {
  void operator()(float* data) const { cudaFreeHost(data); }
};
using PinnedFloats = std::unique_ptr<float[], FreePinned>;
PinnedFloats pinned_floats(std::size_t count) {
  void* data = nullptr;
  check(cudaMallocHost(&data, count * sizeof(float)), "cudaMallocHost");
  return PinnedFloats(static_cast<float*>(data));
}

/// Lines 4 and 5 of Alg. 2: tests the `ranked` best labels, best first.
FlowField sort_and_test(const Problem& problem, const float* scores, Layout layout, int ranked) {
  const Planes planes = problem.planes();
  const Size size = problem.size;
  const std::size_t count = problem.labels.size(),
                    pixels = std::size_t(size.width) * std::size_t(size.height);
  const std::size_t from_label = layout == Layout::by_label ? pixels : 1,
                    from_pixel = layout == Layout::by_label ? 1 : count;
  FlowField flow(size);
  std::array<int, most_labels> order;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const float* const of_pixel = scores + std::size_t(y * size.width + x) * from_pixel;
      const auto score = [&](int label) { return of_pixel[std::size_t(label) * from_label]; };
      for (std::size_t k = 0; k < count; ++k) order[k] = int(k);
      std::sort(order.begin(), order.begin() + std::ptrdiff_t(count),
                [&](int a, int b) { return score(a) != score(b) ? score(a) > score(b) : a < b; });
      FlowAt found{problem.labels[std::size_t(order[0])].u, problem.labels[std::size_t(order[0])].v, false};
      for (int k = 0; k < std::min(ranked, int(count)); ++k) {
        const Label label = problem.labels[std::size_t(order[std::size_t(k)])];
        if (!is_unchanged(planes, x, y, label.u, label.v, problem.threshold)) continue;
        found = {label.u, label.v, true};
        break;
      }
      flow.u(x, y) = found.u, flow.v(x, y) = found.v, flow.valid(x, y) = found.valid;
    }
  return flow;
}

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

std::vector<Table> hybrid_tables(const Study& study) {
  check(cudaSetDevice(study.device.index), "cudaSetDevice");
  Table table{
      "Section 6.1: Algorithm 2 on GPU and CPU",
      fmt::format(
          "At {} with 24 / 6. Scores of all labels by a kernel of the study, copied to pinned memory of "
          "the host, where one thread sorts each pixel's labels and tests the best ones. By label: "
          "adjacent pixels' scores of a label lie side by side (Fig. 2); by pixel: a pixel's labels do. "
          "Milliseconds, medians. The library does all of it on the GPU, with flow in memory there. Then, "
          "beside the library's result of the same number of tested labels, the share of the pixels that "
          "only one of them classifies, and of those whose label differs. The paper: 50 ms for the scores, "
          "110 for the rest, 160 in all; Alg. 3 on the GPU 48.",
          size_text(study.size(qvga))),
      {"program", "labels", "features", "tested", "scores ms", "copy ms", "sort and test ms", "in all ms",
       "only one classifies %", "other label %"}};
  for (const Case& which : paper_cases) {
    const int labels = which.labels.width * which.labels.height;
    const std::vector<Guided> inputs = rotating_inputs(study, which.labels, which.features);
    const MultiHypothesis all = paper_hypotheses(which.features);
    const std::vector<Problem> problems = problems_of(inputs, all);
    const PaperKernels kernels(problems);
    const std::size_t count = std::size_t(labels) * problems[0].pixels[0].size();
    const DeviceArray<float> scores(count);
    const PinnedFloats here = pinned_floats(count);
    const CudaStream stream;

    for (const int tested : {labels, 3}) {
      MultiHypothesis method = all;
      method.ranked = tested < labels ? tested : 0;
      const FlowField expected =
          estimated(method, study.device, inputs[0].frame0, inputs[0].frame1, inputs[0].tracks);
      for (const Layout layout : {Layout::by_label, Layout::by_pixel}) {
        const auto score = [&](std::size_t turn) {
          kernels.score(stream, int(turn), layout, scores.get());
          stream.synchronize();
        };
        const auto copy = [&](std::size_t) {
          check(cudaMemcpyAsync(here.get(), scores.get(), count * sizeof(float), cudaMemcpyDeviceToHost,
                                stream),
                "cudaMemcpyAsync");
          stream.synchronize();
        };
        const auto test = [&](std::size_t turn) {
          return sort_and_test(problems[turn % problems.size()], here.get(), layout, tested);
        };
        const std::vector<Times> times = time_in_turn(
            {timed_on_host(score), timed_on_host(copy),
             timed_on_host([&](std::size_t turn) { (void)test(turn); }),
             timed_on_host([&](std::size_t turn) { score(turn), copy(turn), (void)test(turn); })},
            study.effort);
        score(0), copy(0);
        const Difference off = difference(test(0), expected);
        off.check_labels("Algorithm 2");
        table.add(layout == Layout::by_label ? "GPU and CPU, by label" : "GPU and CPU, by pixel", labels,
                  which.features, tested, Cell(times[0].median, 4), Cell(times[1].median, 4),
                  Cell(times[2].median, 2), Cell(times[3].median, 2), Cell(100 * off.other_valid, 3),
                  Cell(100 * off.other_flow, 3));
      }
      table.add(tested < labels ? "library, --ranked 3" : "library, Alg. 3", labels, which.features, tested,
                "", "", "", Cell(guided_ms(method, study, inputs, study.effort), 4), "", "");
    }
  }
  return {std::move(table)};
}

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
