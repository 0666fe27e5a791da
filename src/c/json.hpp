// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parafield/method.hpp"

/// Texts in JSON, by functions that return the JSON of a value.
namespace parafield::c {

/// The text in quotes, on one line of UTF-8.
std::string json(std::string_view text);
/// The shortest number that reads back as the same value; null if it is not finite.
std::string json(float number);
inline std::string json(const char* text) { return json(std::string_view(text)); }
inline std::string json(bool value) { return detail::text_of(value); }
template <class Integer>
requires std::is_integral_v<Integer> std::string json(Integer number) { return std::to_string(number); }
template <class T>
requires std::is_enum_v<T> std::string json(T value) {
  return json(std::string_view(names_of(value)[std::size_t(value)]));
}

/// Names and the JSON of their values.
using Members = std::vector<std::pair<std::string_view, std::string>>;
std::string object(const Members& members);
std::string array(const std::vector<std::string>& values);

/// Visitor for describe(): the values of parameters, as members.
struct ParameterMembers {
  Members list;

  template <class T>
  void operator()(const T& value, const Parameter<T>& parameter) {
    list.emplace_back(parameter.name, json(value));
  }
};
template <class Struct>
std::string parameters_of(const Struct& values) {
  ParameterMembers members;
  describe(values, members);
  return object(members.list);
}

/// Visitor for describe(): the descriptions of parameters, with the values as defaults.
struct ParameterDescriptions {
  std::vector<std::string> list;

  template <class T>
  void operator()(const T& value, const Parameter<T>& parameter) {
    constexpr bool is_flag = std::is_same_v<T, bool>, is_name = std::is_enum_v<T>;
    Members one{{"name", json(parameter.name)},
                {"type", json(is_flag                  ? "bool"
                              : std::is_same_v<T, int> ? "int"
                              : is_name                ? "name"
                                                       : "float")}};
    std::vector<std::string> choices;
    if constexpr (is_name)
      for (const std::string_view name : names_of(T{})) choices.push_back(json(name));
    for (const T& choice : parameter.choices) choices.push_back(json(choice));
    if (!choices.empty()) {
      one.emplace_back("choices", array(choices));
    } else if (!is_flag) {
      one.emplace_back("min", json(parameter.min));
      one.emplace_back("max", json(parameter.max));
    }
    one.insert(one.end(),
               {{"default", json(value)}, {"unit", json(parameter.unit)}, {"help", json(parameter.help)}});
    list.push_back(object(one));
  }
};
template <class Struct>
std::string descriptions_of(const Struct& defaults) {
  ParameterDescriptions descriptions;
  describe(defaults, descriptions);
  return array(descriptions.list);
}

}  // namespace parafield::c
