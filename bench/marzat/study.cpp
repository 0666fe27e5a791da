// SPDX-License-Identifier: MIT
// marzat_study: the measurements of Marzat, Dumortier and Ducrot (2009), repeated with this library.
#include "marzat/study.hpp"

int main(int argc, char** argv) {
  using namespace parafield::bench;
  const auto times = [](const Study& study) {
    return std::vector<Table>{trade_off_table(study), step_table(study), speed_up_table(study)};
  };
  const auto pictures = [](const Study& study) {
    if (study.pictures.wanted()) draw_figures(study);
    return std::vector<Table>{};
  };
  return run_study(
      argc, argv,
      {.about = "Marzat, Dumortier, Ducrot 2009: errors, trade-off, steps, speed-up, temporal refinement",
       .title = "Marzat's study of Lucas-Kanade",
       .parts = {{.name = "times", .tables = times, .timed = true, .reads_sequences = true},
                 {.name = "accuracy", .tables = accuracy_tables, .reads_sequences = true},
                 {.name = "temporal", .tables = temporal_tables, .reads_sequences = true},
                 {"pictures", pictures}}});
}
