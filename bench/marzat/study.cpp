// SPDX-License-Identifier: MIT
// marzat_study: the measurements of Marzat, Dumortier and Ducrot (2009), repeated with Lucas-Kanade.
#include "common/study.hpp"

namespace parafield::bench {

/// Errors over one parameter, the others at their defaults: Fig. 3(a) and 3(b), levels of section 2.4.
std::vector<Table> accuracy_tables(const Study& study);
/// Errors of pushed frames, with and without the last pair's flow as a start: section 2.3.
std::vector<Table> temporal_tables(const Study& study);
/// Time and accuracy in one number (table 1), the time of each step (Fig. 7), the speed-up over one serial
/// CPU thread (section 4).
std::vector<Table> time_tables(const Study& study);
/// Figs. 4, 5, 6 and 9 on rendered scenes and, if they are found, on real sequences.
void draw_figures(const Study& study);

StudyProgram study_program() {
  return {.about = "Marzat, Dumortier, Ducrot 2009: errors, trade-off, steps, speed-up, temporal refinement",
          .title = "Marzat's study of Lucas-Kanade",
          .parts = {{"times", time_tables}, {"accuracy", accuracy_tables}, {"temporal", temporal_tables}},
          .draw = draw_figures};
}

}  // namespace parafield::bench
