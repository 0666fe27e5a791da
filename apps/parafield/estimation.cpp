#include "estimation.hpp"

#include <cstdio>

namespace parafield::command {
namespace {

constexpr const char* task_group = "What is done with the result, in this order";

template <class T>
std::string description(T value, const Parameter<T>& parameter) {
  ParameterValues values;
  values(value, parameter);
  return parameter_help(values.list[0]);
}

template <class T>
void add_number(App& command, T& field, const Parameter<T>& parameter) {
  command.add_option(option_name(parameter.name), field, description(field, parameter))
      .type_name("N")
      .check([parameter](const std::string& text) {
        T value{};
        return detail::read_value(text, value) && detail::is_allowed(value, parameter)
                   ? std::string()
                   : fmt::format("cannot be {}; allowed: {}", text, detail::allowed(parameter));
      })
      .group(task_group);
}

}  // namespace

Option TruthOptions::add_to(App& command, const std::string& help) {
  Option const given = command.add_option("--gt", truth, help).type_name("FILE");
  command.add_option("--mask", mask, "with --gt: a picture; pixels that are 0 there do not count")
      .type_name("FILE")
      .needs(given);
  command.add_flag("--valid-only", valid_only, "with --gt: count only the pixels that the method trusts")
      .needs(given);
  return given;
}

void RunOptions::add_to(App& command) {
  command
      .add_option("--energy", energy,
                  "report the energy that the method minimizes: none, result, or sweeps (before the first "
                  "sweep and after each; with belief-propagation after each iteration of the finest level). "
                  "This takes one more estimation, which is not timed")
      .type_name("NAME")
      .one_of({"none", "result", "sweeps"})
      .capture_default_str();
  command
      .add_option("--repeat", repeats,
                  "number of timed calls, after one that is not timed; their median is reported")
      .type_name("N")
      .range(1, 1000000)
      .capture_default_str();
  command.add_flag("--json", json, "print the report as one JSON object");
  command.add_flag("-q,--quiet", quiet, "print no text report");
}

void TaskOptions::operator()(bool& field, const Parameter<bool>& parameter) const {
  command_.add_flag(option_name(parameter.name), field, std::string(parameter.help)).group(task_group);
}
void TaskOptions::operator()(int& field, const Parameter<int>& parameter) const {
  add_number(command_, field, parameter);
}
void TaskOptions::operator()(float& field, const Parameter<float>& parameter) const {
  add_number(command_, field, parameter);
}

void RunOptions::print(const Json& report, const std::string& text) const {
  if (json)
    command::print(json_text(report));
  else if (!quiet)
    command::print(text);
}

EnergyReport RunOptions::energies(std::string_view method, bool minimizes) const {
  if (energy == "none") return EnergyReport::none;
  if (!minimizes) throw UsageError(fmt::format("--energy: {} minimizes no energy", method));
  return energy == "result" ? EnergyReport::result : EnergyReport::sweeps;
}

void add_method(Json& report, std::string_view method, const std::string& preset,
                const std::vector<ParameterValue>& parameters) {
  report["method"] = method;
  if (!preset.empty()) report["preset"] = preset;
  report["parameters"] = parameters_json(parameters);
}

void add_levels(Json& report, int asked, Size image, Size block, bool quiet) {
  const int used = levels_of(asked, block);
  report["levels_used"] = used;
  if (used == asked || quiet) return;
  fmt::print(stderr, "parafield: note: {} level{} instead of {}: more do not fit {} {}x{} pixels\n", used,
             used == 1 ? "" : "s", asked, block == image ? "at" : "in blocks of", block.width, block.height);
}

void add_times(Json& report, Size size, const Times& times) {
  report["width"] = size.width;
  report["height"] = size.height;
  report["repeats"] = times.repeats;
  report["milliseconds"] = times.median;
}

void add_energies(Json& report, EnergyReport asked, const std::vector<double>& energies) {
  if (asked == EnergyReport::result)
    report["energy"] = energies.at(0);
  else if (asked == EnergyReport::sweeps)
    report["energy"] = energies;
}

std::string times_text(std::string_view method, const DeviceInfo& info, Size size, const Times& times) {
  return fmt::format("{} on {}: {}x{}, {:.3f} ms{}\n", method, device_text(info), size.width, size.height,
                     times.median, times.repeats > 1 ? fmt::format(" (median of {})", times.repeats) : "");
}

std::string energies_text(EnergyReport asked, const std::vector<double>& energies) {
  if (asked == EnergyReport::none) return "";
  if (asked == EnergyReport::result) return fmt::format("energy {:.10g}\n", energies.at(0));
  return wrapped(fmt::format("energies, step by step: {:.10g}\n", fmt::join(energies, ", ")), 0) + "\n";
}

}  // namespace parafield::command
