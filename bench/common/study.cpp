#include "common/study.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/program.hpp"

namespace parafield::bench {

int run_study(int argc, char** argv, const StudyParts& parts) {
  CLI::App app{parts.about};
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
    const Study study{parse_device(device, options.threads), data_folder(options.data), options.quick,
                      options.quick ? options.effort() : parts.effort};
    Report report{parts.title, {}, {}};
    const Quietness quietness;
    if (wanted("speed")) report.tables = parts.speed(study);
    const std::string machine = quietness.text();  // while times were taken
    if (wanted("quality"))
      for (Table& table : parts.quality(study)) report.tables.push_back(std::move(table));
    if (wanted("pictures") && !pictures.empty()) {
      std::filesystem::create_directories(pictures);
      parts.draw(study, pictures);
    }
    report.conditions = {{"device", device_text(study.device)}, {"commit", options.commit}};
    if (wanted("quality"))
      report.conditions.emplace_back("real sequences",
                                     study.data ? "found" : "not found: rendered ones only");
    if (wanted("speed")) report.conditions.emplace_back("machine", machine);
    if (!report.tables.empty()) write(report, options.markdown_file, options.json_file);
  });
}

}  // namespace parafield::bench
