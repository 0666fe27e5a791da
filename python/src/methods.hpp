// SPDX-License-Identifier: MIT
#pragma once
#include <nanobind/nanobind.h>

#include <parafield/parafield.hpp>
#include <string>

#include "errors.hpp"

namespace parafield::python {

namespace nb = nanobind;

/// Converts a value to the text that `set_parameter` takes.
std::string parameter_text(nb::handle value);

/// Returns the Python class name of a method: "AdaptiveRidge" for "adaptive-ridge".
std::string class_name(std::string_view method);

/// Returns the names of the structs' parameters, in order.
template <class... Structs>
std::vector<std::string_view> parameter_names(const Structs&... structs) {
  std::vector<std::string_view> names;
  const auto add = [&](const auto&, const auto& parameter) { names.push_back(parameter.name); };
  (describe(structs, add), ...);
  return names;
}

/// Sets a parameter in the first struct that has it. Throws Error(invalid_argument) for an unknown name or a
/// value that is not allowed.
template <class... Structs>
void set_by_name(std::string_view who, nb::handle name, nb::handle value, Structs&... structs) {
  const auto key = name_text(name);
  const std::string text = parameter_text(value);
  if ((set_parameter(structs, key, text) || ...)) return;
  detail::fail_name("parameter of " + std::string(who), key, parameter_names(structs...));
}

/// Appends the values of a struct's parameters as bytes, so that keys can be compared.
template <class Struct>
void append_key(const Struct& values, std::string& key) {
  describe(values, [&]<class T>(const T& value, const Parameter<T>&) {
    T bits = value;
    if constexpr (std::is_same_v<T, float>) bits += 0.0f;  // -0 equals 0
    key.append(reinterpret_cast<const char*>(&bits), sizeof(T));
  });
}

/// Whether an object is a method of the task.
template <class Task>
bool is_method(nb::handle object) {
  bool found = false;
  for_each_method<typename Task::Method>(
      [&]<class Method>(const Method&) { found |= nb::isinstance<Method>(object); });
  return found;
}

/// Sets an option of motion detection that is not a number: background (the path of a file) or region (an
/// array H x W). Returns whether `name` is one of them.
inline constexpr const char* detection_arguments =
    "background: str | os.PathLike[str] | None = None, region: typing.Any = None, ";
bool set_detection_object(nb::handle name, nb::handle value, DetectionOptions& options);
template <class Task>
bool set_object(nb::handle name, nb::handle value, typename Task::Options& options) {
  if constexpr (std::is_same_v<Task, Detection>) return set_detection_object(name, value, options);
  return false;
}

/// Reads the method of a call. `method` is a name, a method object, or None for the default; `preset` is a
/// name or None. `parameters` sets parameters of the method and of `options`. Throws Error(invalid_argument).
template <class Task>
typename Task::Method read_method(nb::handle method, nb::handle preset, const nb::dict& parameters,
                                  typename Task::Options& options) {
  typename Task::Method chosen;
  if (nb::isinstance<nb::str>(method)) {
    chosen = method_named<typename Task::Method>(name_text(method));
  } else if (!method.is_none()) {
    bool found = false;
    for_each_method<typename Task::Method>([&]<class Method>(const Method&) {
      if (found || !nb::isinstance<Method>(method)) return;
      chosen = nb::cast<const Method&>(method);
      found = true;
    });
    if (!found)
      fail("method cannot be ", repr_text(method),
           ": a name such as 'adaptive-ridge', or a method of this task");
  }
  std::visit(
      [&]<class Method>(Method& value) {
        if (!preset.is_none()) {
          if (!method.is_none() && !nb::isinstance<nb::str>(method))
            fail("preset cannot be given with a method that is a value; ", class_name(Method::name),
                 ".preset() makes such values");
          value = parafield::preset<Method>(name_text(preset));
        }
        for (const auto [name, parameter] : parameters)
          if (!set_object<Task>(name, parameter, options))
            set_by_name(Method::name, name, parameter, value, options);
        check(value);
        check(options);
      },
      chosen);
  return chosen;
}

/// Returns the method as a Python object of its class.
template <class Methods>
nb::object method_object(const Methods& method) {
  return std::visit([](const auto& value) { return nb::cast(value); }, method);
}

}  // namespace parafield::python
