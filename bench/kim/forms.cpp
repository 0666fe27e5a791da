// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "common/study.hpp"
#include "kim/serial.hpp"

namespace parafield::bench {

std::vector<Table> form_tables(const Study& study) {
  Table table{
      "Section 4.2: likelihoods of seven dimensions, and products",
      fmt::format(
          "Alg. 3 at {} with the paper's parameters (24 / 6). `by label`: each label's likelihoods of "
          "every feature by themselves, as the paper writes it, h m exponentials a pixel for h labels and "
          "m features; `product`: a feature's likelihood of five dimensions once, times its votes for the "
          "labels; both as plain programs of the study, relative to the pixel's nearest feature as in the "
          "library. Kernels: a thread a pixel, features in constant memory. Milliseconds, medians; on CUDA "
          "as a graph. Then, beside the library's result, the share of the pixels that only one of them "
          "classifies, and of those whose flow differs among what both do.",
          size_text(study.size(qvga))),
      {"program", "labels", "features", "ms", "over the library", "only one classifies %", "other label %"}};
  for (const Case& which : paper_cases) {
    const int labels = which.labels.width * which.labels.height;
    const MultiHypothesis method = paper_hypotheses(which.features);
    const std::vector<Guided> inputs = rotating_inputs(study, which.labels, which.features);
    const std::vector<Problem> problems = problems_of(inputs, method);
    const FlowField expected =
        estimated(method, study.device, inputs[0].frame0, inputs[0].frame1, inputs[0].tracks);
    const auto add = [&](const std::string& name, double ms, double library_ms, const FlowField& flow) {
      const Difference off = difference(flow, expected);
      off.check_labels(name);
      table.add(name, labels, which.features, Cell(ms, 3), Cell(ms / library_ms, 1),
                Cell(100 * off.other_valid, 3), Cell(100 * off.other_flow, 3));
    };

    const auto serially = [&](Form form) {
      return timed_on_host(
          [&, form](std::size_t turn) { (void)vote_serially(problems[turn % problems.size()], form); });
    };
    const Device serial = Device::cpu(1);
    const auto times = time_in_turn({serially(Form::by_label), serially(Form::product),
                                     guided_call(method, serial, inputs, Memory::host())},
                                    slow_effort(study));
    const double library = times[2].median;
    add("serial C++, by label", times[0].median, library, vote_serially(problems[0], Form::by_label));
    add("serial C++, product", times[1].median, library, vote_serially(problems[0], Form::product));
    add("library, 1 CPU thread", library, library, expected);
#ifdef PARAFIELD_HAS_CUDA
    if (study.on_cuda())
      for (const KernelTime& kernel : vote_kernel_times(study, problems, inputs, method))
        add(kernel.name, kernel.ms, kernel.library_ms, kernel.flow);
#endif
  }
  return {std::move(table)};
}

std::vector<Table> exponential_tables(const Study& study) {
  const Size labels{4, 2};
  const int features = 200;
  Table table{
      "Section 5.1: the normal distribution from a table, and computed",
      fmt::format(
          "Alg. 1 at {} with {} features, 24 / 6, the test of change included, as plain programs of the "
          "study. Tables have {} entries over exponents up to {}, the nearest one is taken. Milliseconds, "
          "medians; on CUDA as a graph. Then the largest difference in px from the library's flow, which "
          "the exact precision decides. The paper computes: faster than its tables in constant memory or "
          "textures.",
          size_text(study.size(qvga)), features, LookUp::entries, LookUp::end),
      {"program", "exponential", "ms", "over expf", "largest difference, px"}};
  const DirectInterpolation method = paper_interpolation(features);
  const std::vector<Guided> inputs = rotating_inputs(study, labels, features);
  const std::vector<Problem> problems = problems_of(inputs, paper_hypotheses(features));
  const FlowField expected =
      estimated(method, study.device, inputs[0].frame0, inputs[0].frame1, inputs[0].tracks);
  const auto add = [&](const char* program, const char* name, double ms, double computed,
                       const FlowField& flow) {
    const double off = difference(flow, expected).largest;
    if (!(off < 0.05))
      throw Error(ErrorCode::device, fmt::format("{}, {}: off by {} px", program, name, off));
    table.add(program, name, Cell(ms, 4), Cell(ms / computed, 2), Cell(off, 5));
  };

  const auto serially = [&](Gauss gauss) {
    return timed_on_host([&, gauss](std::size_t turn) {
      (void)interpolate_serially(problems[turn % problems.size()], gauss);
    });
  };
  const auto times = time_in_turn({serially(Gauss::computed), serially(Gauss::table),
                                   guided_call(method, Device::cpu(1), inputs, Memory::host())},
                                  slow_effort(study));
  const double computed = times[0].median;
  add("serial C++", "expf", computed, computed, interpolate_serially(problems[0], Gauss::computed));
  add("serial C++", "table", times[1].median, computed, interpolate_serially(problems[0], Gauss::table));
  add("library, 1 CPU thread", "2^x, exact", times[2].median, computed, expected);
#ifdef PARAFIELD_HAS_CUDA
  if (study.on_cuda()) {
    const std::vector<KernelTime> kernels = interpolation_kernel_times(study, problems, inputs, method);
    for (const KernelTime& kernel : kernels)
      add(kernel.program, kernel.name.c_str(), kernel.ms, kernels.front().ms, kernel.flow);
  }
#endif
  return {std::move(table)};
}

}  // namespace parafield::bench
