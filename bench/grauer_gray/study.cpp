// SPDX-License-Identifier: MIT
// grauer_gray_study: the measurements of Grauer-Gray, Kambhamettu and Palaniappan (2008), repeated with
// belief propagation.
#include "common/study.hpp"

namespace parafield::bench {

/// Times, next to times of a public code and of the paper.
std::vector<Table> speed_tables(const Study& study);
/// Energies, next to energies of other solvers; errors of disparities.
std::vector<Table> quality_tables(const Study& study);
/// Disparities and motion (figs. 1 and 2) of rendered scenes and, where they are found, of Tsukuba and of
/// clouds of hurricane Irma. Also heights and motion of rendered clouds, next to their truth.
void draw_figures(const Study& study);

StudyProgram study_program() {
  return {.about =
              "Grauer-Gray, Kambhamettu, Palaniappan 2008: times, energies and errors of "
              "belief propagation, pictures",
          .title = "Grauer-Gray's study of belief propagation",
          .parts = {{"speed", speed_tables}, {"quality", quality_tables}},
          .draw = draw_figures,
          .effort = {5, 200, 1}};
}

}  // namespace parafield::bench
