#pragma once
#include "common/study.hpp"

/// What Grauer-Gray, Kambhamettu and Palaniappan measured of their belief propagation (2008), measured of this one, and how
/// good it is.
namespace parafield::bench {

/// Times beside those of a public code, of the paper, and beside what was asked for.
std::vector<Table> speed_tables(const Study& study);
Table target_table(const Study& study);

/// Energies beside those of the other solvers and a lower bound; errors of disparities.
std::vector<Table> quality_tables(const Study& study);

/// Figs. 1 and 2 as PNGs in `folder`: disparities of Tsukuba, motion of clouds; of rendered scenes where there are no
/// real ones.
void draw_figures(const Study& study, const std::filesystem::path& folder);

}  // namespace parafield::bench
