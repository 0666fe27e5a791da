// SPDX-License-Identifier: MIT
// jodoin_study: the measurements of Jodoin, Mignotte and St-Amour (2005), repeated with label fields.
#include "common/study.hpp"

namespace parafield::bench {

/// Speed-up over one serial CPU thread (fig. 2): motion detection, displacement estimation and stereo.
std::vector<Table> speed_tables(const Study& study);
/// Energies and errors of the solvers, first with one energy for all, then with one chosen for each; motion
/// detection.
std::vector<Table> quality_tables(const Study& study);
/// The label fields of each solver on rendered scenes: fig. 1.
void draw_label_fields(const Study& study);

StudyProgram study_program() {
  return {.about = "Jodoin, Mignotte, St-Amour 2005: speed-up, energies and errors of label fields, pictures",
          .title = "Jodoin's study of label fields",
          .parts = {{"speed", speed_tables}, {"quality", quality_tables}},
          .draw = draw_label_fields,
          .effort = {1, 30, 0.02}};
}

}  // namespace parafield::bench
