// SPDX-License-Identifier: MIT
#include "common/study.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

namespace parafield::bench {
namespace {

struct Options {
  std::string data, markdown_file, json_file, commit = "unknown", device = "auto", pictures;
  std::vector<std::string> only;
  int threads = 0;
  double seconds = 0;
  bool quick = false;
};

void run(const Options& options, const StudyProgram& program, const std::vector<StudyPart>& parts) {
  Pictures pictures(options.pictures);
  Effort effort = options.quick ? Effort{1, 1, 0} : program.effort;
  if (options.seconds > 0) effort.seconds = options.seconds, effort.least = std::min(effort.least, 5);
  const Study study{parse_device(options.device, options.threads), data_folder(options.data), pictures,
                    options.quick, effort};
  const command::Quietness quietness;
  std::vector<Table> tables;
  std::vector<std::string> left_out;
  for (const StudyPart& part : parts) {
    if (!options.only.empty() && std::ranges::find(options.only, part.name) == options.only.end()) continue;
    if (part.takes_cuda && !study.on_cuda()) {
      left_out.emplace_back(part.name);
      continue;
    }
    for (Table& table : part.tables(study)) tables.push_back(std::move(table));
  }
  const DeviceInfo info = describe_device(study.device);
  if (tables.empty() && !left_out.empty())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the device is {}; these parts run on CUDA only: {}", command::device_text(info),
                            fmt::join(left_out, ", ")));
  Json header = {{"title", program.title},
                 {"version", version()},
                 {"commit", options.commit},
                 {"date", command::today()},
                 {"devices", Json::array({command::device_json(info)})},
                 {"machine", quietness.text()},
                 {"real_sequences", study.data ? "found" : "not found: rendered ones only"}};
  if (!left_out.empty()) header["left_out"] = fmt::format("{} (CUDA only)", fmt::join(left_out, ", "));
  if (!tables.empty() || !options.json_file.empty())
    write(header, tables, pictures.list(), options.markdown_file, options.json_file);
}

int run_study(int argc, char** argv, const StudyProgram& program) {
  std::vector<StudyPart> parts = program.parts;
  parts.push_back({"pictures", [&](const Study& study) -> std::vector<Table> {
                     if (study.pictures.wanted()) program.draw(study);
                     return {};
                   }});
  std::vector<std::string> names;
  for (const StudyPart& part : parts) names.emplace_back(part.name);

  CLI::App app{program.about};
  Options options;
  app.add_option("-d,--device", options.device, "auto, cpu, cuda, cuda:N")->capture_default_str();
  app.add_option("--threads", options.threads, "CPU threads; 0 = one for each core")->capture_default_str();
  app.add_option("--only", options.only, "parts to run; default: all that the device can run")
      ->type_name("PART")
      ->check(CLI::IsMember(names));
  app.add_option("--seconds", options.seconds,
                 "time for each call that is timed, in at least 5 turns; default: the study's")
      ->check(CLI::PositiveNumber);
  app.add_option("--data", options.data, "real sequences; default: PARAFIELD_DATA, otherwise ../shared/data")
      ->type_name("DIR");
  app.add_option("--pictures", options.pictures, "folder for pictures; default: none are drawn")
      ->type_name("DIR");
  app.add_option("-o,--output", options.markdown_file, "the report as Markdown; default: standard output")
      ->type_name("FILE");
  app.add_option("--json", options.json_file, "the report as JSON; default: none")->type_name("FILE");
  app.add_option("--commit", options.commit, "commit that is measured, for the report")
      ->capture_default_str();
  app.add_flag("--quick", options.quick, "tiny sizes and one repeat, only to see that it runs");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options, program, parts);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace parafield::bench

int main(int argc, char** argv) {
  return parafield::bench::run_study(argc, argv, parafield::bench::study_program());
}
