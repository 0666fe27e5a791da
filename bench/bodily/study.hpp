#pragma once
#include "common/study.hpp"

/// What Bodily measured of his two methods (An optical flow implementation comparison study, 2009), measured of these.
namespace parafield::bench {

constexpr Size qvga = {320, 240}, vga = {640, 480}, yosemite = {316, 252};

/// A method of the thesis as the library has it.
struct ThesisMethod {
  std::string name;   ///< as in table 5.1
  FlowMethod method;  ///< its defaults are the thesis's
  int reach;          ///< px from the image's border on that see the border
};
std::vector<ThesisMethod> thesis_methods();

/// Table 5.1: frames a second and angular errors, and what is behind them.
std::vector<Table> performance_tables(const Study& study);

/// Table 5.2: source lines of code.
std::vector<Table> line_tables(const Study& study);

// The thesis's kernels, on a CUDA device:

/// Section 3.2: the gradient tensor naive, tiled, and the library's in one kernel.
std::vector<Table> stage_tables(const Study& study);

/// Table 3.1: the best tile of each kernel of the tiled form.
std::vector<Table> tile_tables(const Study& study);

/// Section 4.2.2: separable against non-separable convolution.
std::vector<Table> separable_tables(const Study& study);

/// Section 3.2.2: padded rows, pinned memory.
std::vector<Table> memory_tables(const Study& study);

}  // namespace parafield::bench
