// SPDX-License-Identifier: MIT
// jodoin_study: the measurements of Jodoin, Mignotte and St-Amour (2005), repeated with this library.
#include "jodoin/study.hpp"

int main(int argc, char** argv) {
  using namespace parafield::bench;
  const auto speed = [](const Study& study) {
    std::vector<Table> tables = speed_tables(study);
    tables.push_back(target_table(study));
    return tables;
  };
  const auto pictures = [](const Study& study) {
    if (study.pictures.wanted()) draw_label_fields(study);
    return std::vector<Table>{};
  };
  return run_study(
      argc, argv,
      {.about = "Jodoin, Mignotte, St-Amour 2005: speed-up, energies and errors of label fields, pictures",
       .title = "Jodoin's study of label fields",
       .parts = {{.name = "speed", .tables = speed, .timed = true},
                 {.name = "quality", .tables = quality_tables, .reads_sequences = true},
                 {"pictures", pictures}},
       .effort = {1, 30, 0.02}});
}
