// marzat_study: the measurements of Marzat, Dumortier and Ducrot (2009), repeated with this library.
#include "marzat/study.hpp"

#include <CLI/CLI.hpp>

#include "common/program.hpp"

int main(int argc, char** argv) {
  using namespace parafield;
  using namespace parafield::bench;
  CLI::App app{"Marzat, Dumortier, Ducrot 2009: errors, trade-off, steps, speed-up, temporal refinement"};
  ProgramOptions options;
  std::string device = "auto";
  add_options(app, options);
  app.add_option("-d,--device", device, "auto, cpu, cuda, cuda:N")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  return run_program([&] {
    const Study study{parse_device(device, options.threads), data_folder(options.data), options.quick,
                      options.effort()};
    const Quietness quietness;  // while times are taken
    Report report{"Marzat's study of Lucas-Kanade", {}, {}};
    for (const auto& table : {trade_off_table, step_table, speed_up_table})
      report.tables.push_back(table(study));
    const std::string machine = quietness.text();
    for (const auto& tables : {accuracy_tables(study), temporal_tables(study)})
      report.tables.insert(report.tables.end(), tables.begin(), tables.end());
    report.conditions = {{"device", device_text(study.device)},
                         {"commit", options.commit},
                         {"real sequences", study.data ? "found" : "not found: rendered ones only"},
                         {"machine", machine}};
    write(report, options.markdown_file, options.json_file);
  });
}
