#include "commands.hpp"
#include "options.hpp"
#include "report.hpp"

namespace parafield::command {
namespace {

struct ListedPreset {
  std::string_view name, help;
  std::vector<ParameterValue> parameters;
};

struct ListedMethod {
  std::string_view name, source;
  int frames;
  std::vector<ParameterValue> parameters;
  std::vector<ListedPreset> presets;
};

template <class Methods>
std::vector<ListedMethod> listed() {
  std::vector<ListedMethod> list;
  for_each_method<Methods>([&]<class Method>(const Method& method) {
    list.push_back({Method::name, Method::source, method.frames, parameters_of(method), {}});
    for (const auto& preset : presets(method))
      list.back().presets.push_back({preset.name, preset.help, parameters_of(preset.method)});
  });
  return list;
}

const char* type_name(const ParameterValue& parameter) {
  constexpr const char* names[] = {"bool", "int", "float", "name"};  // in the order of Value
  return names[parameter.value.index()];
}

Json parameter_json(const ParameterValue& parameter) {
  Json one;
  one["name"] = parameter.name;
  one["type"] = type_name(parameter);
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

Json method_json(const ListedMethod& method) {
  Json entry;
  entry["name"] = method.name;
  entry["source"] = method.source;
  entry["frames"] = method.frames;
  entry["parameters"] = Json::array();
  for (const ParameterValue& each : method.parameters) entry["parameters"].push_back(parameter_json(each));
  entry["presets"] = Json::array();
  for (const ListedPreset& preset : method.presets) {
    Json one;
    one["name"] = preset.name;
    one["help"] = preset.help;
    one["parameters"] = parameters_json(preset.parameters);
    entry["presets"].push_back(one);
  }
  return entry;
}

std::string method_text(const ListedMethod& method) {
  const auto choice = std::ranges::find(method.parameters, "frames", &ParameterValue::name);
  const std::string frames =
      choice == method.parameters.end() ? std::to_string(method.frames) : range_text(*choice);
  std::string text = fmt::format("{} ({} frames)\n  {}\n", method.name, frames, method.source);
  for (const ParameterValue& each : method.parameters)
    text += fmt::format("  {:<24} {}, default {}\n      {}\n", option_name(each.name), range_text(each),
                        text_of(each.value), wrapped(std::string(each.help), 6));
  for (const ListedPreset& preset : method.presets) {
    text += fmt::format("  --preset {:<9} {}\n", preset.name, preset.help);
    if (const std::string options = options_text(preset.parameters, method.parameters); !options.empty())
      text += fmt::format("      {}\n", options);
  }
  return text;
}

/// Name of a task, which is that of its command, and its methods.
struct ListedTask {
  const char *name, *help;
  std::vector<ListedMethod> methods;
};

void run(bool json) {
  const ListedTask tasks[] = {{"flow", "Optical flow of frames", listed<FlowMethod>()},
                              {"stereo", "Disparities of a rectified pair", listed<StereoMethod>()},
                              {"detect", "Motion in frames of a still camera", listed<DetectionMethod>()}};
  Json report;
  std::string text;
  for (const ListedTask& task : tasks) {
    text += fmt::format("{}{} (parafield {})\n", text.empty() ? "" : "\n", task.help, task.name);
    for (const ListedMethod& method : task.methods) {
      report[task.name].push_back(method_json(method));
      text += '\n';
      text += method_text(method);
    }
  }
  print(json ? json_text(report) : text);
}

}  // namespace

void add_methods(App& program) {
  const auto json = std::make_shared<bool>(false);
  App command =
      program.add_subcommand("methods", "List the methods with their parameters, presets and sources");
  command.add_flag("--json", *json, "print one JSON object");
  command.callback([json] { run(*json); });
}

}  // namespace parafield::command
