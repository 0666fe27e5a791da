// bodily_study: the measurements of Bodily's thesis (2009), repeated with this library.
#include "bodily/study.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/program.hpp"

namespace parafield::bench {
namespace {

struct Part {
  const char* name;
  std::vector<Table> (*tables)(const Study&);
  bool takes_cuda;
};

constexpr Part parts[] = {
    {"table", performance_tables, false},  {"lines", line_tables, false},
#ifdef PARAFIELD_HAS_CUDA
    {"stages", stage_tables, true},        {"tiles", tile_tables, true},
    {"separable", separable_tables, true}, {"memory", memory_tables, true},
#else
    {"stages", nullptr, true},
    {"tiles", nullptr, true},
    {"separable", nullptr, true},
    {"memory", nullptr, true},
#endif
};

}  // namespace
}  // namespace parafield::bench

int main(int argc, char** argv) {
  using namespace parafield;
  using namespace parafield::bench;
  CLI::App app{"Bodily 2009: frames a second, errors, kernels, tiles, convolutions, memory, lines of code"};
  ProgramOptions options;
  std::string device = "auto";
  std::vector<std::string> only, names;
  for (const Part& part : parts) names.push_back(part.name);
  add_options(app, options);
  app.add_option("-d,--device", device, "auto, cpu, cuda, cuda:N")->capture_default_str();
  app.add_option("--only", only, "parts: table, lines; on CUDA also stages, tiles, separable, memory")
      ->check(CLI::IsMember(names));
  CLI11_PARSE(app, argc, argv);

  return run_program([&] {
    const Study study{parse_device(device, options.threads), data_folder(options.data), options.quick,
                      options.effort()};
    const bool on_cuda = study.device.kind == Device::Kind::cuda;
    Report report{"Bodily's study of gradient tensors and ridge regression", {}, {}};
    std::string left_out;
    const Quietness quietness;  // while times are taken
    for (const Part& part : parts) {
      if (!only.empty() && std::ranges::find(only, part.name) == only.end()) continue;
      if (part.takes_cuda && !on_cuda) {
        left_out += (left_out.empty() ? "" : ", ") + std::string(part.name);
        continue;
      }
      for (Table& table : part.tables(study)) report.tables.push_back(std::move(table));
    }
    report.conditions = {{"device", device_text(study.device)},
                         {"commit", options.commit},
                         {"real sequences", study.data ? "found" : "not found: rendered ones only"},
                         {"machine", quietness.text()}};
    if (!left_out.empty())
      report.conditions.emplace_back("left out", left_out + ": kernels of CUDA, and this device has none");
    write(report, options.markdown_file, options.json_file);
  });
}
