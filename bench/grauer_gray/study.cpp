// SPDX-License-Identifier: MIT
// grauer_gray_study: the measurements of Grauer-Gray, Kambhamettu and Palaniappan (2008), repeated with this
// library.
#include "grauer_gray/study.hpp"

int main(int argc, char** argv) {
  using namespace parafield::bench;
  const auto speed = [](const Study& study) {
    std::vector<Table> tables = speed_tables(study);
    tables.push_back(target_table(study));
    return tables;
  };
  const auto pictures = [](const Study& study) {
    if (study.pictures.wanted()) draw_figures(study);
    return std::vector<Table>{};
  };
  return run_study(argc, argv,
                   {.about = "Grauer-Gray, Kambhamettu, Palaniappan 2008: times, energies and errors of "
                             "belief propagation, pictures",
                    .title = "Grauer-Gray's study of belief propagation",
                    .parts = {{.name = "speed", .tables = speed, .timed = true},
                              {.name = "quality", .tables = quality_tables, .reads_sequences = true},
                              {"pictures", pictures}},
                    .effort = {5, 200, 1}});
}
