// SPDX-License-Identifier: MIT
#include "parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace parafield::command {

std::string text_of(const Value& value) {
  if (const auto* name = std::get_if<std::string_view>(&value)) return std::string(*name);
  if (const auto* number = std::get_if<float>(&value)) return detail::text_of(*number);
  if (const auto* number = std::get_if<int>(&value)) return detail::text_of(*number);
  return detail::text_of(std::get<bool>(value));
}

Json json_of(const Value& value) {
  if (const auto* number = std::get_if<float>(&value)) return std::stod(fmt::format("{}", *number));
  return std::visit([](auto each) { return Json(each); }, value);
}

std::string option_name(std::string_view field) {
  std::string name = "--" + std::string(field);
  std::ranges::replace(name, '_', '-');
  return name;
}

std::string range_text(const ParameterValue& parameter) {
  if (parameter.is_flag()) return "true or false";
  std::string text;
  for (std::size_t i = 0; i < parameter.choices.size(); ++i) {
    const bool last = i + 1 == parameter.choices.size() && !parameter.is_name();
    text += (i == 0 ? "" : last ? " or " : ", ") + text_of(parameter.choices[i]);
  }
  if (text.empty()) text = text_of(parameter.min) + " to " + text_of(parameter.max);
  return parameter.unit.empty() || parameter.is_name() ? text : fmt::format("{} {}", text, parameter.unit);
}

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

Json parameters_json(const std::vector<ParameterValue>& parameters) {
  Json object = Json::object();
  for (const ParameterValue& each : parameters) object[std::string(each.name)] = json_of(each.value);
  return object;
}

std::string options_text(const std::vector<ParameterValue>& parameters,
                         const std::vector<ParameterValue>& defaults) {
  std::string text;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Value& value = parameters[i].value;
    if (value == defaults[i].value) continue;
    const std::string option = option_name(parameters[i].name);
    if (const bool* flag = std::get_if<bool>(&value))
      text += *flag ? " " + option : " --no-" + option.substr(2);
    else
      text += fmt::format(" {} {}", option, text_of(value));
  }
  return text.empty() ? text : text.substr(1);
}

}  // namespace parafield::command
