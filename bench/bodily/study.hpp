// SPDX-License-Identifier: MIT
#pragma once
#include "common/study.hpp"

/// The measurements of Bodily (An optical flow implementation comparison study, 2009), repeated with this
/// library's two methods.
namespace parafield::bench {

constexpr Size qvga = {320, 240}, vga = {640, 480}, yosemite = {316, 252};

/// A method of the thesis as the library has it.
struct ThesisMethod {
  std::string name;   ///< as in table 5.1
  FlowMethod method;  ///< its defaults are the thesis's
  int reach;          ///< px from the border up to which its windows cross the border
};
std::vector<ThesisMethod> thesis_methods();

/// Facts about the device beside the thesis's: table 2.1.
std::vector<Table> device_tables(const Study& study);

/// Frames a second and angular errors (table 5.1), the times behind them, and errors by region.
std::vector<Table> performance_tables(const Study& study);

/// Source lines of code: table 5.2.
std::vector<Table> line_tables(const Study& study);

/// Draws figs. 5.1 and 5.2 on a rendered flight and, if it is found, on Yosemite. Makes no table.
std::vector<Table> draw_figures(const Study& study);

// The tables below run the thesis's kernels, on a CUDA device.

/// The gradient tensor in three forms: naive and tiled (section 3.2), and the library's single kernel.
std::vector<Table> stage_tables(const Study& study);

/// The best tile of each kernel of the tiled form: table 3.1.
std::vector<Table> tile_tables(const Study& study);

/// Separable against non-separable convolution: section 4.2.2.
std::vector<Table> separable_tables(const Study& study);

/// Padded rows and pinned memory: section 3.2.2.
std::vector<Table> memory_tables(const Study& study);

}  // namespace parafield::bench
