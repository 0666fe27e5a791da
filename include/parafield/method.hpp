// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "parafield/error.hpp"

/// A method is a plain struct of its parameters. Each parameter is declared once, with its description:
///
// clang-format off
///   struct Blur {
///     static constexpr std::string_view name = "blur";
///     PF_PARAMETER(float, sigma, 1.5f, range(0, 10, "px"), "Sigma of the gaussian. 0 = no smoothing.");
///     PF_PARAMETER(int, passes, 1, range(1, 4), "How often the image is smoothed.");
///   };
///   Blur strong{.sigma = 4};
// clang-format on
///
/// The struct is the aggregate { float sigma = 1.5f; int passes = 1; }. The command line's options, range
/// checks, JSON and the tests' random parameters are generated from the descriptions. A struct with a field
/// that has no description does not compile.
namespace parafield {

/// PF_PARAMETER(type, field, default, values, help) declares a field and describes it. `type` is int, float,
// clang-format off
/// bool or an enum E for which names_of(E) lists the names of the values 0, 1 and so on. `values` gives the
/// allowed values of a number and its unit; omit it for a bool or an enum:
///   range(0, 10)       range(0, 10, "px")      smallest and largest value
///   one_of({0, 3, 5})  one_of({4, 8}, "px")    every allowed value
///   odd(3, 21)         odd(3, 21, "px")        odd numbers in this range, both ends included
// clang-format on
#define PF_PARAMETER(type, field, value, ...) \
  type field = value;                         \
  PF_DETAIL_DESCRIBE(field, visit(self.field, ::parafield::detail::parameter<type>(#field, __VA_ARGS__)))

/// PF_PARAMETERS_OF(type, field) declares a field that is itself a struct of parameters. Its parameters
/// become parameters of the outer struct. PF_PARAMETERS_OF(type, field, .beta = 2) changes its defaults.
#define PF_PARAMETERS_OF(type, field, ...) \
  type field = {__VA_ARGS__};              \
  PF_DETAIL_DESCRIBE(field, ::parafield::describe(self.field, visit))

/// PF_FIELD(type, field, default) declares a field that is not a parameter.
#define PF_FIELD(type, field, value) \
  type field = value;                \
  PF_DETAIL_DESCRIBE(field, static_cast<void>(self), static_cast<void>(visit))

/// Description of a parameter.
template <class T>
struct Parameter {
  std::string_view name;  ///< the field's name; the command line uses `-` for `_`
  T min, max;             ///< inclusive
  std::string_view unit;  ///< "px", "MiB"; empty if there is none
  std::string_view help;
  std::vector<T> choices = {};  ///< if not empty, the only values allowed
};

/// A named set of a method's parameters. Every method has `accurate`, the preset with its lowest known error.
/// `paper` has the paper's parameters, for comparison with the paper. The first preset is the default.
template <class Method>
struct Preset {
  std::string_view name;
  Method method;
  std::string_view help;
};

/// Calls visit(field, Parameter) for each parameter of a method (or of options), in declaration order.
template <class Method, class Visitor>
void describe(Method& method, Visitor&& visit);

/// Checks all parameters. Throws Error(invalid_argument) for the first one that is out of range or not
/// finite; the message names the parameter, its value and the allowed values. Then calls
/// method.check_together() if the struct has it; that function throws for combinations of values that are not
/// allowed.
template <class Method>
void check(const Method& method);

/// Sets a parameter from text ("11", "1e-6", "true"). In `name`, `_` and `-` are equivalent. Returns false if
/// the method has no such parameter. Throws Error(invalid_argument) if the text is not a value of the
/// parameter's type or is out of range.
template <class Method>
bool set_parameter(Method& method, std::string_view name, const std::string& text);

/// Returns the method with the values of a preset. Throws Error(invalid_argument) for an unknown name; the
/// message lists the known presets.
template <class Method>
Method preset(std::string_view name);

/// Calls f(method) with a default-constructed value of each alternative of a task's std::variant of methods.
template <class Methods, class F>
void for_each_method(F f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) { (f(std::variant_alternative_t<I, Methods>{}), ...); }
  (std::make_index_sequence<std::variant_size_v<Methods>>{});
}

/// Returns the task's method of this name ("lucas-kanade") with its default values. Throws
/// Error(invalid_argument) for an unknown name; the message lists the known methods.
template <class Methods>
Methods method_named(std::string_view name);

}  // namespace parafield

#include "parafield/detail/method.hpp"
