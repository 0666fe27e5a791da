// SPDX-License-Identifier: MIT
#pragma once
#include "common/study.hpp"

/// Study of belief propagation: the measurements of Grauer-Gray, Kambhamettu and Palaniappan (2008), repeated
/// with this library, and its energies and errors.
namespace parafield::bench {

/// Times beside those of a public code and of the paper; times beside their targets.
std::vector<Table> speed_tables(const Study& study);
Table target_table(const Study& study);

/// Energies beside those of other solvers and a lower bound; errors of disparities.
std::vector<Table> quality_tables(const Study& study);

/// Draws disparities and motion (figs. 1 and 2) of rendered scenes and, where they are found, of Tsukuba and
/// of clouds of hurricane Irma. Also heights and motion of rendered clouds, beside their truth.
void draw_figures(const Study& study);

}  // namespace parafield::bench
