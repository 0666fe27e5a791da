// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "parafield/method.hpp"

/// Parameters of methods, taken from their describe(), as text and JSON.
namespace parafield::command {

/// JSON that keeps the order of its keys.
using Json = nlohmann::ordered_json;

/// Value of a parameter of any type. The value of an enum is its name.
using Value = std::variant<bool, int, float, std::string_view>;

std::string text_of(const Value& value);
/// Returns the value as JSON. A float becomes the shortest number that reads back as the same float: 1e-06,
/// not 9.999999974752427e-07.
Json json_of(const Value& value);

/// Description and value of a parameter.
struct ParameterValue {
  std::string_view name, unit;
  std::string help;
  Value value = {}, min = {}, max = {};  // min and max are for numbers only
  std::vector<Value> choices = {};

  bool is_flag() const { return std::holds_alternative<bool>(value); }
  bool is_name() const { return std::holds_alternative<std::string_view>(value); }
};

/// Visitor for describe() that lists the parameters. It is not a template, so that it compiles only once for
/// all methods.
struct ParameterValues {
  std::vector<ParameterValue> list;

  template <class T>
  void operator()(T value, const Parameter<T>& parameter) {
    list.push_back({parameter.name, parameter.unit, std::string(parameter.help)});
    ParameterValue& one = list.back();
    if constexpr (std::is_enum_v<T>) {
      const auto names = names_of(value);
      one.value = names[std::size_t(value)];
      one.choices.assign(names.begin(), names.end());
    } else {
      one.value = value;
      one.min = parameter.min;
      one.max = parameter.max;
      one.choices.assign(parameter.choices.begin(), parameter.choices.end());
    }
  }
};

template <class Method>
std::vector<ParameterValue> parameters_of(const Method& method) {
  ParameterValues values;
  describe(method, values);
  return values.list;
}

template <class... Methods>
std::vector<ParameterValue> parameters_of(const std::variant<Methods...>& method) {
  return std::visit([](const auto& chosen) { return parameters_of(chosen); }, method);
}

template <class... Methods>
std::string_view name_of(const std::variant<Methods...>& method) {
  return std::visit([](const auto& chosen) { return chosen.name; }, method);
}

/// Returns the option of a parameter: "--min-eigenvalue" for min_eigenvalue.
std::string option_name(std::string_view field);

/// Returns the range of a parameter: "1 to 16", "0, 3 or 5 px", "true or false".
std::string range_text(const ParameterValue& parameter);

/// Returns the description of a parameter: name, type, choices or min and max, default, unit, help.
Json parameter_json(const ParameterValue& parameter);

/// Returns an object of names and values: {"levels": 4}.
Json parameters_json(const std::vector<ParameterValue>& parameters);

/// Returns the options that turn the defaults into `parameters`: "--levels 5 --no-temporal".
std::string options_text(const std::vector<ParameterValue>& parameters,
                         const std::vector<ParameterValue>& defaults);

}  // namespace parafield::command
