#include "commands.hpp"
#include "options.hpp"
#include "report.hpp"

namespace parafield::command {
namespace {

template <class Method>
Json method_json(const Method& method) {
  Json entry;
  entry["name"] = Method::name;
  entry["source"] = Method::source;
  entry["frames"] = Method::frames;
  entry["parameters"] = Json::array();
  describe(method, [&]<class T>(const T& value, const Parameter<T>& parameter) {
    Json one;
    one["name"] = parameter.name;
    one["type"] = type_name<T>;
    if constexpr (std::is_enum_v<T>) {
      for (const std::string_view choice : names_of(T{})) one["choices"].push_back(choice);
    } else if constexpr (!std::is_same_v<T, bool>) {
      if (parameter.choices.empty()) {
        one["min"] = json_value(parameter.min);
        one["max"] = json_value(parameter.max);
      }
      for (const T& choice : parameter.choices) one["choices"].push_back(json_value(choice));
    }
    one["default"] = json_value(value);
    one["unit"] = parameter.unit;
    one["help"] = parameter.help;
    entry["parameters"].push_back(one);
  });
  entry["presets"] = Json::array();
  for (const auto& preset : presets(method)) {
    Json one;
    one["name"] = preset.name;
    one["help"] = preset.help;
    one["parameters"] = parameters_json(preset.method);
    entry["presets"].push_back(one);
  }
  return entry;
}

template <class Method>
std::string method_text(const Method& method) {
  std::string text = fmt::format("{} ({} frames)\n  {}\n", Method::name, Method::frames, Method::source);
  describe(method, [&]<class T>(const T& value, const Parameter<T>& parameter) {
    text +=
        fmt::format("  {:<24} {}, default {}\n      {}\n", option_name(parameter.name), range_text(parameter),
                    detail::text_of(value), wrapped(std::string(parameter.help), 6));
  });
  for (const auto& preset : presets(method)) {
    text += fmt::format("  --preset {:<9} {}\n", preset.name, preset.help);
    if (const std::string options = options_text(preset.method); !options.empty())
      text += fmt::format("      {}\n", options);
  }
  return text;
}

/// One line a task: its name, as of the command that runs it, and its methods.
template <class F>
void for_each_task(F f) {
  f.template operator()<FlowMethod>("flow", "Optical flow of frames");
  f.template operator()<StereoMethod>("stereo", "Disparities of a rectified pair");
  f.template operator()<DetectionMethod>("detect", "Motion before a still camera");
}

void run(bool json) {
  Json report;
  std::string text;
  for_each_task([&]<class Methods>(const char* task, const char* help) {
    text += fmt::format("{}{} (parafield {})\n", text.empty() ? "" : "\n", help, task);
    for_each_method<Methods>([&]<class Method>(const Method& method) {
      report[task].push_back(method_json(method));
      text += "\n" + method_text(method);
    });
  });
  print(json ? json_text(report) : text);
}

}  // namespace

void add_methods(CLI::App& program) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* command =
      program.add_subcommand("methods", "List the methods with their parameters, presets and sources");
  command->add_flag("--json", *json, "print one JSON object");
  command->callback([json] { run(*json); });
}

}  // namespace parafield::command
