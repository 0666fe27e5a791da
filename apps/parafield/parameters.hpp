#pragma once
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "parafield/method.hpp"

/// A method's parameters, from its describe(), as text and JSON.
namespace parafield::command {

/// Keys stay in the order they are written.
using Json = nlohmann::ordered_json;

inline Json json_value(int value) { return value; }
inline Json json_value(bool value) { return value; }
template <class T>
requires std::is_enum_v<T> Json json_value(T value) { return detail::text_of(value); }
/// The shortest number that names the float: 1e-06, not 9.999999974752427e-07.
inline Json json_value(float value) { return std::stod(fmt::format("{}", value)); }

/// "--min-eigenvalue" for min_eigenvalue.
inline std::string option_name(std::string_view field) {
  std::string name = "--" + std::string(field);
  for (char& c : name)
    if (c == '_') c = '-';
  return name;
}

template <class T>
constexpr std::string_view type_name = "float";
template <class T>
requires std::is_enum_v<T>
constexpr std::string_view type_name<T> = "name";
template <>
inline constexpr std::string_view type_name<int> = "int";
template <>
inline constexpr std::string_view type_name<bool> = "bool";

/// "1 to 16", "0, 3 or 5 px", "true or false".
template <class T>
std::string range_text(const Parameter<T>& parameter) {
  if constexpr (std::is_same_v<T, bool> || std::is_enum_v<T>) return detail::allowed(parameter);
  std::string text;
  for (std::size_t i = 0; i < parameter.choices.size(); ++i)
    text += fmt::format("{}{}",
                        i == 0                             ? ""
                        : i + 1 < parameter.choices.size() ? ", "
                                                           : " or ",
                        detail::text_of(parameter.choices[i]));
  if (text.empty())
    text = fmt::format("{} to {}", detail::text_of(parameter.min), detail::text_of(parameter.max));
  return parameter.unit.empty() ? text : fmt::format("{} {}", text, parameter.unit);
}

/// {"levels": 4, ...}
template <class Method>
Json parameters_json(const Method& method) {
  Json object = Json::object();
  describe(method, [&]<class T>(const T& value, const Parameter<T>& parameter) {
    object[std::string(parameter.name)] = json_value(value);
  });
  return object;
}

/// "--levels 5 --no-temporal": the options that make `method` of the default.
template <class Method>
std::string options_text(const Method& method) {
  const Json defaults = parameters_json(Method{});
  std::string text;
  describe(method, [&]<class T>(const T& value, const Parameter<T>& parameter) {
    if (defaults[std::string(parameter.name)] == json_value(value)) return;
    const std::string option = option_name(parameter.name);
    if constexpr (std::is_same_v<T, bool>)
      text += value ? " " + option : " --no-" + option.substr(2);
    else
      text += fmt::format(" {} {}", option, detail::text_of(value));
  });
  return text.empty() ? text : text.substr(1);
}

}  // namespace parafield::command
