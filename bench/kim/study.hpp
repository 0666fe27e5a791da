// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "common/study.hpp"

/// Measurements of Kim, Hwangbo and Kanade (Parallel algorithms to a parallel hardware, 2009), repeated with
/// this library's methods.
namespace parafield::bench {

constexpr Size qvga = {320, 240}, vga = {640, 480};

/// Figures 3 to 5: a thin bar without features on it.
std::vector<Table> pole_tables(const Study& study);

/// Figures 6 and 7: large motion and many thin poles.
std::vector<Table> large_tables(const Study& study);

/// Section 6.1: times.
std::vector<Table> time_tables(const Study& study);

/// Algorithm 3 as the paper writes it, against votes as a product of matrices.
std::vector<Table> form_tables(const Study& study);

/// Section 5.1: the normal distribution, from a table or computed.
std::vector<Table> exponential_tables(const Study& study);

/// Algorithm 2: scores on the GPU, sorted and tested on the CPU. Needs a CUDA device.
std::vector<Table> hybrid_tables(const Study& study);

/// Figure 9: time against features and pixels.
std::vector<Table> cost_tables(const Study& study);

}  // namespace parafield::bench
