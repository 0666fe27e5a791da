// SPDX-License-Identifier: MIT
// bodily_study: the measurements of Bodily's thesis (An optical flow implementation comparison study, 2009),
// repeated with the gradient tensor and ridge regression.
#include "common/study.hpp"

namespace parafield::bench {

/// Facts about the device, next to the thesis's devices: table 2.1.
std::vector<Table> device_tables(const Study& study);
/// Frames a second and angular errors (table 5.1), the times behind them, and errors by region (section 5.2).
std::vector<Table> performance_tables(const Study& study);
/// Source lines of code: table 5.2.
std::vector<Table> line_tables(const Study& study);
/// Figs. 5.1 and 5.2 on a rendered flight and, if it is found, on Yosemite.
void draw_figures(const Study& study);
#ifdef PARAFIELD_HAS_CUDA
/// The gradient tensor in three forms: naive and tiled (section 3.2), and the library's single kernel.
std::vector<Table> stage_tables(const Study& study);
/// The best tile of each kernel of the tiled form: table 3.1.
std::vector<Table> tile_tables(const Study& study);
/// Separable against non-separable convolution: section 4.2.2.
std::vector<Table> separable_tables(const Study& study);
/// Padded rows and pinned memory: section 3.2.2.
std::vector<Table> memory_tables(const Study& study);
#else
constexpr auto stage_tables = nullptr, tile_tables = nullptr, separable_tables = nullptr,
               memory_tables = nullptr;
#endif

StudyProgram study_program() {
  return {
      .about = "Bodily 2009: frames a second, errors, kernels, tiles, convolutions, memory, lines of code",
      .title = "Bodily's study of gradient tensors and ridge regression",
      .parts = {{"devices", device_tables},
                {"table", performance_tables},
                {"lines", line_tables},
                {"stages", stage_tables, true},
                {"tiles", tile_tables, true},
                {"separable", separable_tables, true},
                {"memory", memory_tables, true}},
      .draw = draw_figures};
}

}  // namespace parafield::bench
