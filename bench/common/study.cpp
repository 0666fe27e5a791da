// SPDX-License-Identifier: MIT
#include "common/study.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>

#include "common/program.hpp"

namespace parafield::bench {
namespace {

/// For example "2026-11-26".
std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%F", std::gmtime(&now));
  return text;
}

}  // namespace

int run_study(int argc, char** argv, const StudyProgram& program) {
  CLI::App app{program.about};
  ProgramOptions options;
  std::string device = "auto", folder, names;
  std::vector<std::string> only;
  double seconds = 0;
  for (const StudyPart& part : program.parts)
    names += (names.empty() ? "" : ", ") + std::string(part.name) + (part.takes_cuda ? " (CUDA)" : "");
  add_options(app, options);
  app.add_option("-d,--device", device, "auto, cpu, cuda, cuda:N")->capture_default_str();
  app.add_option("--only", only, "parts to run (" + names + "); default: all that the device can run")
      ->type_name("PART")
      ->check([&](const std::string& name) {
        const bool is_part =
            std::ranges::any_of(program.parts, [&](const StudyPart& part) { return part.name == name; });
        return is_part ? "" : "'" + name + "' is not a part; parts: " + names;
      });
  app.add_option("--seconds", seconds,
                 "time for each call that is timed, in at least 5 turns; default: the study's")
      ->check(CLI::PositiveNumber);
  app.add_option("--pictures", folder, "folder for pictures; default: none are drawn")->type_name("DIR");
  CLI11_PARSE(app, argc, argv);

  return run_program([&] {
    Pictures pictures(folder);
    Effort effort = options.quick ? options.effort() : program.effort;
    if (seconds > 0) effort.seconds = seconds, effort.least = std::min(effort.least, 5);
    const Study study{parse_device(device, options.threads), data_folder(options.data), pictures,
                      options.quick, effort};
    const bool on_cuda = study.device.kind == Device::Kind::cuda;
    Report report{program.title, {}, {}, {}};
    std::string machine, left_out;
    bool reads_sequences = false;
    const Quietness quietness;
    for (const StudyPart& part : program.parts) {
      if (!only.empty() && std::ranges::find(only, part.name) == only.end()) continue;
      if (part.takes_cuda && !on_cuda) {
        left_out += (left_out.empty() ? "" : ", ") + std::string(part.name);
        continue;
      }
      for (Table& table : part.tables(study)) report.tables.push_back(std::move(table));
      if (part.timed) machine = quietness.text();
      reads_sequences |= part.reads_sequences;
    }
    if (!left_out.empty() && report.tables.empty())
      throw Error(ErrorCode::invalid_argument, "the device is " + device_text(study.device) +
                                                   "; these parts run on CUDA only: " + left_out);
    report.conditions = {
        {"device", device_text(study.device)}, {"commit", options.commit}, {"date", today()}};
    if (reads_sequences)
      report.conditions.emplace_back("real sequences",
                                     study.data ? "found" : "not found: rendered ones only");
    if (!machine.empty()) report.conditions.emplace_back("machine", machine);
    if (!left_out.empty()) report.conditions.emplace_back("left out", left_out + " (CUDA only)");
    report.pictures = pictures.list();
    if (!report.tables.empty() || !options.json_file.empty())
      write(report, options.markdown_file, options.json_file);
  });
}

}  // namespace parafield::bench
