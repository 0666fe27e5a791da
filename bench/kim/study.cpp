// kim_study: what Kim, Hwangbo and Kanade (2009) measured, repeated with this library.
#include "kim/study.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/program.hpp"

namespace parafield::bench {
namespace {

struct Part {
  const char* name;
  std::vector<Table> (*tables)(const KimStudy&);
  bool takes_cuda;
};

constexpr Part parts[] = {{"pole", pole_tables, false},       {"large", large_tables, false},
                          {"times", time_tables, false},      {"forms", form_tables, false},
                          {"exp", exponential_tables, false}, {"cost", cost_tables, false},
#ifdef PARAFIELD_HAS_CUDA
                          {"hybrid", hybrid_tables, true}
#else
                          {"hybrid", nullptr, true}
#endif
};

}  // namespace
}  // namespace parafield::bench

int main(int argc, char** argv) {
  using namespace parafield;
  using namespace parafield::bench;
  CLI::App app{
      "Kim, Hwangbo, Kanade 2009: thin poles, large motion, times, forms of the votes, costs; pictures"};
  ProgramOptions options;
  std::string device = "auto", pictures;
  std::vector<std::string> only, names;
  for (const Part& part : parts) names.push_back(part.name);
  add_options(app, options);
  app.add_option("-d,--device", device, "auto, cpu, cuda, cuda:N")->capture_default_str();
  app.add_option("--only", only, "parts: pole, large, times, forms, exp, cost; on CUDA also hybrid")
      ->check(CLI::IsMember(names));
  app.add_option("--pictures", pictures, "folder for the pictures of pole, large and cost; default: none")
      ->type_name("DIR");
  CLI11_PARSE(app, argc, argv);

  return run_program([&] {
    KimStudy study;
    study.device = parse_device(device, options.threads);
    study.quick = options.quick;
    study.effort = options.effort();
    study.effort.seconds /= 4;  // there are many calls, and short ones
    study.pictures = pictures;
    if (!pictures.empty()) std::filesystem::create_directories(pictures);
    const bool on_cuda = study.device.kind == Device::Kind::cuda;
    Report report{"Kim's study of flow guided by features", {}, {}};
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
    report.conditions = {
        {"device", device_text(study.device)}, {"commit", options.commit}, {"machine", quietness.text()}};
    if (!left_out.empty())
      report.conditions.emplace_back("left out", left_out + ": it takes CUDA, and this device has none");
    write(report, options.markdown_file, options.json_file);
  });
}
