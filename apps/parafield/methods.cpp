// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "options.hpp"
#include "report.hpp"

namespace parafield::command {
namespace {

Json parameter_json(const ParameterValue& parameter) {
  constexpr const char* types[] = {"bool", "int", "float", "name"};  // in the order of Value
  Json one;
  one["name"] = parameter.name;
  one["type"] = types[parameter.value.index()];
  for (const Value& choice : parameter.choices) one["choices"].push_back(json_of(choice));
  if (parameter.choices.empty() && !parameter.is_flag()) {
    one["min"] = json_of(parameter.min);
    one["max"] = json_of(parameter.max);
  }
  one["default"] = json_of(parameter.value);
  one["unit"] = parameter.unit;
  one["help"] = parameter.help;
  return one;
}

/// Adds a method with the defaults of its parameters. Returns its JSON, without presets.
Json& add_method(Report& report, const char* command, std::string_view name, std::string_view source,
                 int frames, const std::vector<ParameterValue>& defaults) {
  const auto choice = std::ranges::find(defaults, "frames", &ParameterValue::name);
  report.text += fmt::format("\n{} ({} frames)\n  {}\n", name,
                             choice == defaults.end() ? std::to_string(frames) : range_text(*choice), source);
  Json& entry = report.json[command].emplace_back(Json{{"name", name},
                                                       {"source", source},
                                                       {"frames", frames},
                                                       {"parameters", Json::array()},
                                                       {"presets", Json::array()}});
  for (const ParameterValue& each : defaults) {
    entry["parameters"].push_back(parameter_json(each));
    report.text += fmt::format("  {:<24} {}, default {}\n      {}\n", option_name(each.name),
                               range_text(each), text_of(each.value), wrapped(each.help, 6));
  }
  return entry;
}

struct MethodsOptions {
  std::string name;
  bool json = false;
};

/// Adds a task, which is that of a command, and its methods: the named one, or all if the name is empty.
template <class Methods>
void add_task(Report& report, std::string_view only, const char* command, const char* help) {
  bool any = only.empty();
  for_each_method<Methods>([&]<class Method>(const Method&) { any |= only == Method::name; });
  if (!any) return;
  report.text += fmt::format("{}{} (parafield {})\n", report.text.empty() ? "" : "\n", help, command);
  for_each_method<Methods>([&]<class Method>(const Method& method) {
    if (!only.empty() && only != Method::name) return;
    const std::vector<ParameterValue> defaults = parameters_of(method);
    Json& entry = add_method(report, command, Method::name, Method::source, method.frames, defaults);
    for (const auto& preset : presets(method)) {
      const std::vector<ParameterValue> parameters = parameters_of(preset.method);
      entry["presets"].push_back(
          {{"name", preset.name}, {"help", preset.help}, {"parameters", parameters_json(parameters)}});
      report.text += fmt::format("  --preset {:<9} {}\n", preset.name, preset.help);
      if (const std::string options = options_text(parameters, defaults); !options.empty())
        report.text += fmt::format("      {}\n", options);
    }
  });
}

void list_methods(const MethodsOptions& options) {
  Report report = begin_report("methods");
  add_task<FlowMethod>(report, options.name, "flow", "Optical flow of frames");
  add_task<StereoMethod>(report, options.name, "stereo", "Disparities of a rectified pair");
  add_task<DetectionMethod>(report, options.name, "detect", "Motion in frames of a still camera");
  print(report, options.json);
}

/// Names of the methods of all tasks, each once.
std::vector<std::string_view> method_names() {
  std::vector<std::string_view> names;
  const auto add = [&]<class Method>(const Method&) {
    if (std::ranges::find(names, Method::name) == names.end()) names.push_back(Method::name);
  };
  for_each_method<FlowMethod>(add);
  for_each_method<StereoMethod>(add);
  for_each_method<DetectionMethod>(add);
  return names;
}

}  // namespace

void add_methods(App& program) {
  auto [command, options] = add_command<MethodsOptions>(
      program, "methods", "List the methods with their parameters, presets and sources", list_methods);
  const std::vector<std::string_view> names = method_names();
  command.add_option("METHOD NAME", options.name, "only this one")
      .required(false)
      .one_of({names.begin(), names.end()});
  command.add_flag("--json", options.json, "print one JSON object");
}

}  // namespace parafield::command
