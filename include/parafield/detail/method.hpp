#pragma once
// How parameters are checked and read from text. Users read method.hpp.
#include <algorithm>
#include <type_traits>

namespace parafield {
namespace detail {

[[noreturn]] PARAFIELD_API void fail_parameter(std::string_view method, std::string_view name, const std::string& value,
                                 const std::string& allowed);
[[noreturn]] PARAFIELD_API void fail_name(std::string_view kind, std::string_view name, const std::string& known);
PARAFIELD_API std::string text_of(int value);
PARAFIELD_API std::string text_of(float value);
PARAFIELD_API std::string text_of(bool value);
PARAFIELD_API bool read_value(const std::string& text, int& value);
PARAFIELD_API bool read_value(const std::string& text, float& value);
PARAFIELD_API bool read_value(const std::string& text, bool& value);
PARAFIELD_API bool same_name(std::string_view a, std::string_view b);  ///< `_` and `-` are equal

template <class T>
requires std::is_enum_v<T> std::string text_of(T value) {
  return std::string(names_of(value)[std::size_t(value)]);
}
template <class T>
requires std::is_enum_v<T>
bool read_value(const std::string& text, T& value) {
  const auto names = names_of(value);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (same_name(names[i], text)) {
      value = T(i);
      return true;
    }
  return false;
}

template <class T>
std::string allowed(const Parameter<T>& parameter) {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_enum_v<T>) {
    std::string list;
    for (const std::string_view name : names_of(T{})) list += (list.empty() ? "" : ", ") + std::string(name);
    return list;
  }
  if (parameter.choices.empty()) return text_of(parameter.min) + " to " + text_of(parameter.max);
  std::string list;
  for (const T& choice : parameter.choices) list += (list.empty() ? "" : ", ") + text_of(choice);
  return list;
}

template <class T>
bool is_allowed(T value, const Parameter<T>& parameter) {
  if constexpr (std::is_same_v<T, bool>) return true;
  if (!parameter.choices.empty())
    return std::ranges::find(parameter.choices, value) != parameter.choices.end();
  return value >= parameter.min && value <= parameter.max;
}

// Visitors are not lambdas of each method's functions: so they are compiled once for a type of parameter, and
// what methods share is described once.
struct ParameterCheck {
  std::string_view method;

  template <class T>
  void operator()(const T& value, const Parameter<T>& parameter) const {
    if (!is_allowed(value, parameter))
      fail_parameter(method, parameter.name, text_of(value), allowed(parameter));
  }
};

struct ParameterFromText {
  std::string_view method, name;
  const std::string& text;
  bool found = false;

  template <class T>
  void operator()(T& field, const Parameter<T>& parameter) {
    if (!same_name(parameter.name, name)) return;
    found = true;
    T value{};
    if (!read_value(text, value) || !is_allowed(value, parameter))
      fail_parameter(method, parameter.name, text, allowed(parameter));
    field = value;
  }
};

}  // namespace detail

template <class Method>
void check(const Method& method) {
  detail::ParameterCheck visitor{Method::name};
  describe(method, visitor);
}

template <class Method>
bool set_parameter(Method& method, std::string_view name, const std::string& text) {
  detail::ParameterFromText visitor{Method::name, name, text};
  describe(method, visitor);
  return visitor.found;
}

template <class Method>
Method preset(std::string_view name) {
  std::string known;
  for (const auto& preset : presets(Method{})) {
    if (detail::same_name(preset.name, name)) return preset.method;
    known += (known.empty() ? "" : ", ") + std::string(preset.name);
  }
  detail::fail_name("preset of " + std::string(Method::name), name, known);
}

template <class Methods>
Methods method_named(std::string_view name) {
  Methods found;
  bool any = false;
  std::string known;
  for_each_method<Methods>([&]<class Method>(const Method& method) {
    known += (known.empty() ? "" : ", ") + std::string(Method::name);
    if (!any && detail::same_name(Method::name, name)) {
      found = method;
      any = true;
    }
  });
  if (!any) detail::fail_name("method", name, known);
  return found;
}

}  // namespace parafield
