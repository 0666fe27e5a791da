// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "parafield/error.hpp"

/// A method is a plain struct of its parameters. Each parameter stands once, as a field with its description:
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
/// The struct is the aggregate { float sigma = 1.5f; int passes = 1; }. The options of the command line,
/// checks, JSON and the random parameters of the tests follow from the descriptions. A struct with a field
/// that nothing describes does not compile.
namespace parafield {

/// PF_PARAMETER(type, field, default, values, help) declares a field and describes it. `type` is int, float,
// clang-format off
/// bool or an enum E, whose names_of(E) lists the names of its values 0, 1 and so on. `values` says what a
/// number may be, with its unit; a bool or an enum has none:
///   range(0, 10)       range(0, 10, "px")      the least and the largest value
///   one_of({0, 3, 5})  one_of({4, 8}, "px")    each value
///   odd(3, 21)         odd(3, 21, "px")        the odd numbers between, both included
// clang-format on
#define PF_PARAMETER(type, field, value, ...) \
  type field = value;                         \
  PF_DETAIL_DESCRIBE(field, visit(self.field, ::parafield::detail::parameter<type>(#field, __VA_ARGS__)))

/// PF_PARAMETERS_OF(type, field) declares a field that is itself a struct of parameters. They count as
/// parameters of the outer struct. PF_PARAMETERS_OF(type, field, .beta = 2) changes its defaults.
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
  std::string_view name;  ///< the field's name; the command line writes `-` for `_`
  T min, max;             ///< both allowed
  std::string_view unit;  ///< "px", "MiB"; empty where there is none
  std::string_view help;
  std::vector<T> choices = {};  ///< where not empty: the only values allowed
};

/// A named value of a method. Every method has `accurate`, the lowest error that is known for it. `paper` has
/// the paper's parameters, to compare with it. The first preset is the method's default.
template <class Method>
struct Preset {
  std::string_view name;
  Method method;
  std::string_view help;
};

/// Calls visit(field, Parameter) for each parameter of a method (or of options), in the order of their
/// declarations.
template <class Method, class Visitor>
void describe(Method& method, Visitor&& visit);

/// Throws Error(invalid_argument) for the first parameter that is out of range or not finite. The message
/// names the parameter, its value and the values that are allowed. Then calls method.check_together(), if the
/// struct has that function: it throws for values that are allowed each by itself, but not together.
template <class Method>
void check(const Method& method);

/// Sets a parameter from text ("11", "1e-6", "true"). In `name`, `_` and `-` are the same. Returns false
/// where the method has no such parameter. Throws Error(invalid_argument) where the text is not a value of
/// the parameter's type or is out of range.
template <class Method>
bool set_parameter(Method& method, std::string_view name, const std::string& text);

/// The method with the values of a preset. Throws Error(invalid_argument) for an unknown preset. The message
/// lists the known ones.
template <class Method>
Method preset(std::string_view name);

/// Calls f(method) with a default-constructed value of each alternative of a task's std::variant of methods.
template <class Methods, class F>
void for_each_method(F f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) { (f(std::variant_alternative_t<I, Methods>{}), ...); }
  (std::make_index_sequence<std::variant_size_v<Methods>>{});
}

/// The task's method of that name ("lucas-kanade"), with defaults. Throws Error(invalid_argument) for an
/// unknown name. The message lists the known ones.
template <class Methods>
Methods method_named(std::string_view name);

}  // namespace parafield

#include "parafield/detail/method.hpp"
