// jodoin_study: the measurements of Jodoin, Mignotte and St-Amour (2005), repeated with this library.
#include "jodoin/study.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/program.hpp"

int main(int argc, char** argv) {
  using namespace parafield;
  using namespace parafield::bench;
  CLI::App app{"Jodoin, Mignotte, St-Amour 2005: speed-up, energies and errors of label fields, pictures"};
  ProgramOptions options;
  std::string device = "auto", pictures;
  std::vector<std::string> only;
  add_options(app, options);
  app.add_option("-d,--device", device, "auto, cpu, cuda, cuda:N")->capture_default_str();
  app.add_option("--only", only, "speed, quality or pictures; default: all that can be done")
      ->check(CLI::IsMember({"speed", "quality", "pictures"}));
  app.add_option("--pictures", pictures, "folder for the pictures; default: none are drawn")
      ->type_name("DIR");
  CLI11_PARSE(app, argc, argv);

  const auto wanted = [&](const char* part) {
    return only.empty() || std::ranges::find(only, part) != only.end();
  };
  return run_program([&] {
    const Effort effort = options.quick ? Effort{1, 1, 0} : Effort{1, 30, 0.02};
    const Study study{parse_device(device, options.threads), data_folder(options.data), options.quick,
                      effort};
    const Quietness quietness;
    Report report{"Jodoin's study of label fields", {}, {}};
    if (wanted("speed")) {
      report.tables = speed_tables(study);
      report.tables.push_back(target_table(study));
    }
    const std::string machine = quietness.text();  // while times were taken
    if (wanted("quality"))
      for (Table& table : quality_tables(study)) report.tables.push_back(std::move(table));
    if (wanted("pictures") && !pictures.empty()) draw_label_fields(study, pictures);
    report.conditions = {{"device", device_text(study.device)}, {"commit", options.commit}};
    if (wanted("quality"))
      report.conditions.emplace_back("real sequences",
                                     study.data ? "found" : "not found: rendered ones only");
    if (wanted("speed")) report.conditions.emplace_back("machine", machine);
    if (!report.tables.empty()) write(report, options.markdown_file, options.json_file);
  });
}
