#pragma once
#include <string>

#include "common/study.hpp"

/// What Kim, Hwangbo and Kanade measured of their two methods (Parallel algorithms to a parallel hardware, 2009), measured
/// of these.
namespace parafield::bench {

constexpr Size qvga = {320, 240}, vga = {640, 480};

/// Figures 3 to 5: a thin bar that no feature lies on.
std::vector<Table> pole_tables(const Study& study);

/// Figures 6 and 7: large motion, and many thin poles.
std::vector<Table> large_tables(const Study& study);

/// Section 6.1: times.
std::vector<Table> time_tables(const Study& study);

/// Algorithm 3 as it is written, against votes as a product of matrices.
std::vector<Table> form_tables(const Study& study);

/// Section 5.1: the normal distribution from a table, and computed.
std::vector<Table> exponential_tables(const Study& study);

/// Algorithm 2: scores on the GPU, sorted and tested on the CPU. On a CUDA device.
std::vector<Table> hybrid_tables(const Study& study);

/// Figure 9: time against features and pixels.
std::vector<Table> cost_tables(const Study& study);

}  // namespace parafield::bench
