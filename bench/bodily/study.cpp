// SPDX-License-Identifier: MIT
// bodily_study: the measurements of Bodily's thesis (2009), repeated with this library.
#include "bodily/study.hpp"

int main(int argc, char** argv) {
  using namespace parafield::bench;
#ifndef PARAFIELD_HAS_CUDA
  constexpr auto stage_tables = nullptr, tile_tables = nullptr, separable_tables = nullptr,
                 memory_tables = nullptr;
#endif
  const auto of_kernels = [](const char* name, auto tables) {
    return StudyPart{.name = name, .tables = tables, .timed = true, .takes_cuda = true};
  };
  return run_study(
      argc, argv,
      {.about = "Bodily 2009: frames a second, errors, kernels, tiles, convolutions, memory, lines of code",
       .title = "Bodily's study of gradient tensors and ridge regression",
       .parts = {{"devices", device_tables},
                 {.name = "table", .tables = performance_tables, .timed = true, .reads_sequences = true},
                 {"lines", line_tables},
                 {"pictures", draw_figures},
                 of_kernels("stages", stage_tables),
                 of_kernels("tiles", tile_tables),
                 of_kernels("separable", separable_tables),
                 of_kernels("memory", memory_tables)}});
}
