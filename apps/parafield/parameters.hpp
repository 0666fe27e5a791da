#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "parafield/method.hpp"

/// A method's parameters, from its describe(), as text and JSON.
namespace parafield::command {

/// Keys stay in the order they are written.
using Json = nlohmann::ordered_json;

/// A parameter's value, whatever its type; of an enum the name.
using Value = std::variant<bool, int, float, std::string_view>;

std::string text_of(const Value& value);
/// The shortest number that names the float: 1e-06, not 9.999999974752427e-07.
Json json_of(const Value& value);

/// What a method says of a parameter, and its value.
struct ParameterValue {
  std::string_view name, unit;
  std::string help;
  Value value, min, max;  // min and max: of a number
  std::vector<Value> choices;

  bool is_flag() const { return std::holds_alternative<bool>(value); }
  bool is_name() const { return std::holds_alternative<std::string_view>(value); }
};

/// What describe() visits with. One class for all methods: what they share is compiled once.
struct ParameterValues {
  std::vector<ParameterValue> list;

  void operator()(bool value, const Parameter<bool>& parameter);
  void operator()(int value, const Parameter<int>& parameter);
  void operator()(float value, const Parameter<float>& parameter);
  template <class T>
  requires std::is_enum_v<T>
  void operator()(T value, const Parameter<T>& parameter) {
    const auto names = names_of(value);
    list.push_back({parameter.name,
                    parameter.unit,
                    std::string(parameter.help),
                    names[std::size_t(value)],
                    {},
                    {},
                    {names.begin(), names.end()}});
  }
};

template <class Method>
std::vector<ParameterValue> parameters_of(const Method& method) {
  ParameterValues values;
  describe(method, values);
  return values.list;
}

/// "--min-eigenvalue" for min_eigenvalue.
std::string option_name(std::string_view field);

/// "1 to 16", "0, 3 or 5 px", "true or false".
std::string range_text(const ParameterValue& parameter);

/// {"levels": 4, ...}
Json parameters_json(const std::vector<ParameterValue>& parameters);

/// "--levels 5 --no-temporal": the options that make `parameters` of the defaults.
std::string options_text(const std::vector<ParameterValue>& parameters,
                         const std::vector<ParameterValue>& defaults);

}  // namespace parafield::command
