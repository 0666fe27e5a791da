// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "options.hpp"
#include "report.hpp"

namespace parafield::command {
namespace {

/// Description of a method, without its parameters.
struct MethodText {
  std::string_view name, help, source;
  std::string frames, presets;  // "2", "default, fast"
};

/// Describes the method in two or three lines.
std::string overview(const MethodText& method) {
  constexpr std::size_t indent = 24;
  return fmt::format("  {:<22}{}\n{:24}{}\n", method.name, wrapped(std::string(method.help), indent), "",
                     wrapped(fmt::format("{} frames. Presets: {}", method.frames, method.presets), indent));
}

/// Describes the method with its parameters, without presets.
std::string description(const MethodText& method, const std::vector<ParameterValue>& defaults) {
  std::string text =
      fmt::format("\n{} ({} frames)\n  {}\n  {}\n", method.name, method.frames,
                  wrapped(std::string(method.help), 2), wrapped("Source: " + std::string(method.source), 2));
  for (const ParameterValue& each : defaults)
    text += fmt::format("  {:<24} {}, default {}\n      {}\n", option_name(each.name), range_text(each),
                        text_of(each.value), wrapped(each.help, 6));
  return text;
}

struct MethodsOptions {
  std::string name;
  bool json = false;
};

/// Adds the task of a command and its methods: an overview of all, or all about the named one.
template <class Methods>
void add_task(Report& report, std::string_view only, const char* command, const char* help) {
  bool any = only.empty();
  for_each_method<Methods>([&]<class Method>(const Method&) { any |= only == Method::name; });
  if (!any) return;
  report.text += fmt::format("{}{} (parafield {})\n", report.text.empty() ? "" : "\n", help, command);
  for_each_method<Methods>([&]<class Method>(const Method& method) {
    if (!only.empty() && only != Method::name) return;
    const std::vector<ParameterValue> defaults = parameters_of(method);
    Json entry{{"name", Method::name},    {"help", Method::help},        {"source", Method::source},
               {"frames", method.frames}, {"parameters", Json::array()}, {"presets", Json::array()}};
    for (const ParameterValue& each : defaults) entry["parameters"].push_back(parameter_json(each));
    MethodText text{Method::name, Method::help, Method::source, std::to_string(method.frames), {}};
    if (const auto choice = std::ranges::find(defaults, "frames", &ParameterValue::name);
        choice != defaults.end())
      text.frames = range_text(*choice);
    std::string described;
    for (const auto& preset : presets(method)) {
      const std::vector<ParameterValue> parameters = parameters_of(preset.method);
      entry["presets"].push_back(
          {{"name", preset.name}, {"help", preset.help}, {"parameters", parameters_json(parameters)}});
      text.presets += fmt::format("{}{}", text.presets.empty() ? "" : ", ", preset.name);
      described += fmt::format("  --preset {:<9} {}\n", preset.name, wrapped(std::string(preset.help), 21));
      if (const std::string options = options_text(parameters, defaults); !options.empty())
        described += fmt::format("      {}\n", wrapped(options, 6));
    }
    report.json[command].push_back(entry);
    report.text += only.empty() ? overview(text) : description(text, defaults) + described;
  });
}

void list_methods(const MethodsOptions& options) { print(methods_report(options.name), options.json); }

/// Returns the names of all tasks' methods, each once.
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

Report methods_report(std::string_view name) {
  Report report = begin_report("methods");
  add_task<FlowMethod>(report, name, "flow", "Optical flow of frames");
  add_task<StereoMethod>(report, name, "stereo", "Disparities of a rectified pair");
  add_task<DetectionMethod>(report, name, "detect", "Motion in frames of a still camera");
  if (name.empty())
    report.text += "\nparafield methods METHOD describes one method with its parameters and presets.\n";
  return report;
}

void add_methods(App& program) {
  auto [command, options] =
      add_command<MethodsOptions>(program, "methods", "List the methods, or describe one", list_methods);
  const std::vector<std::string_view> names = method_names();
  command.add_option("METHOD NAME", options.name, "describe only this one")
      .required(false)
      .one_of({names.begin(), names.end()});
  command.add_flag("--json", options.json, "print one JSON object. It has every parameter");
  command.examples({"methods", "methods adaptive-ridge", "methods --json"});
}

}  // namespace parafield::command
