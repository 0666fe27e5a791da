// SPDX-License-Identifier: MIT
#pragma once
// How parameters are described, checked and read from text. The public interface is in method.hpp.
#include <algorithm>
#include <type_traits>
#include <utility>

namespace parafield {
namespace detail {

// A macro in a struct cannot append to a list. Instead, each described field declares another overload of a
// function that is never defined. Its return type is the previous overload's list plus the field's
// description. `Latest` selects the longest list declared so far.
template <int N>
struct Rank : Rank<N - 1> {};
template <>
struct Rank<0> {};
using Latest = Rank<32>;  // maximum number of fields in a struct

template <class... Fields>
struct Descriptions {
  static constexpr int count = sizeof...(Fields);
  template <class Field>
  using With = Descriptions<Fields..., Field>;

  template <class Method, class Visitor>
  static void visit_all(Method& method, Visitor& visitor) {
    (Fields::visit_field(method, visitor), ...);
  }
};
Descriptions<> described_fields(Rank<0>, const void*);

// The pointer's type identifies the field that uses the list. Without it, compilers treat all these types of
// a class template as the same type, nvcc 13 even across templates.
#define PF_DETAIL_LIST(field) \
  decltype(described_fields(::parafield::detail::Latest{}, static_cast<const field##_description*>(nullptr)))
#define PF_DETAIL_DESCRIBE(field, ...)                                                        \
  struct field##_description {                                                                \
    template <class Self, class Visitor>                                                      \
    static void visit_field(Self& self, Visitor& visit) {                                     \
      using namespace ::parafield::detail::values;                                            \
      __VA_ARGS__;                                                                            \
    }                                                                                         \
  };                                                                                          \
  static typename PF_DETAIL_LIST(field)::template With<field##_description> described_fields( \
      ::parafield::detail::Rank<PF_DETAIL_LIST(field)::count + 1>, const void*)

/// Converts to the type of any field.
struct AnyField {
  template <class T>
  operator T() const;
};
template <class Method, int... I>
constexpr bool has_fields(std::integer_sequence<int, I...>) {
  return requires { Method{(static_cast<void>(I), AnyField{})...}; };
}

/// Allowed values of a number.
struct Values {
  double min, max;
  std::string_view unit;
  std::vector<int> choices = {};
};
namespace values {
PARAFIELD_API Values range(double min, double max, std::string_view unit = "");
PARAFIELD_API Values one_of(std::vector<int> choices, std::string_view unit = "");
PARAFIELD_API Values odd(int min, int max, std::string_view unit = "");
}  // namespace values

template <class T>
requires std::is_same_v<T, int> || std::is_same_v<T, float> Parameter<T> parameter(std::string_view name,
                                                                                   const Values& values,
                                                                                   std::string_view help) {
  return {name,        T(values.min), T(values.max),
          values.unit, help,          {values.choices.begin(), values.choices.end()}};
}
template <class T>
requires std::is_same_v<T, bool> || std::is_enum_v<T> Parameter<T> parameter(std::string_view name,
                                                                             std::string_view help) {
  if constexpr (std::is_enum_v<T>)
    return {name, T(0), T(names_of(T{}).size() - 1), {}, help};
  else
    return {name, false, true, {}, help};
}

[[noreturn]] PARAFIELD_API void fail_parameter(std::string_view method, std::string_view name,
                                               const std::string& value, const std::string& allowed);
/// " (did you mean 'icm'?)" if a known name is similar or starts the same way, otherwise empty.
PARAFIELD_API std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known);
[[noreturn]] PARAFIELD_API void fail_name(std::string_view kind, std::string_view name,
                                          const std::vector<std::string_view>& known);
PARAFIELD_API std::string text_of(int value);
PARAFIELD_API std::string text_of(float value);
PARAFIELD_API std::string text_of(bool value);
PARAFIELD_API bool read_value(const std::string& text, int& value);
PARAFIELD_API bool read_value(const std::string& text, float& value);
PARAFIELD_API bool read_value(const std::string& text, bool& value);
PARAFIELD_API bool same_name(std::string_view a, std::string_view b);  ///< `_` and `-` count as equal

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

// Visitors are classes rather than lambdas in function templates. Each is therefore compiled only once per
// parameter type, and structs that several methods share are visited by a single function.
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
    const bool read = read_value(text, value);
    if (!read || !is_allowed(value, parameter))
      fail_parameter(method, parameter.name, text,
                     (!read && std::is_same_v<T, int> ? "whole numbers, " : "") + allowed(parameter));
    field = value;
  }
};

}  // namespace detail

template <class Method, class Visitor>
void describe(Method& method, Visitor&& visit) {
  using Struct = std::remove_const_t<Method>;
  using Descriptions = decltype(Struct::described_fields(detail::Latest{}, nullptr));
  static_assert(
      !detail::has_fields<Struct>(std::make_integer_sequence<int, Descriptions::count + 1>{}),
      "A field of this struct has no description: declare it by PF_PARAMETER, PF_PARAMETERS_OF or PF_FIELD.");
  Descriptions::visit_all(method, visit);
}

template <class Method>
void check(const Method& method) {
  detail::ParameterCheck visitor{Method::name};
  describe(method, visitor);
  if constexpr (requires { method.check_together(); }) method.check_together();
}

template <class Method>
bool set_parameter(Method& method, std::string_view name, const std::string& text) {
  detail::ParameterFromText visitor{Method::name, name, text};
  describe(method, visitor);
  return visitor.found;
}

template <class Method>
Method preset(std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& preset : presets(Method{})) {
    if (detail::same_name(preset.name, name)) return preset.method;
    known.push_back(preset.name);
  }
  detail::fail_name("preset of " + std::string(Method::name), name, known);
}

template <class Methods>
Methods method_named(std::string_view name) {
  Methods found;
  bool any = false;
  std::vector<std::string_view> known;
  for_each_method<Methods>([&]<class Method>(const Method& method) {
    known.push_back(Method::name);
    if (!any && detail::same_name(Method::name, name)) {
      found = method;
      any = true;
    }
  });
  if (!any) detail::fail_name("method", name, known);
  return found;
}

}  // namespace parafield
