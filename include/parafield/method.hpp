#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "parafield/error.hpp"

/// A method is a plain struct of its parameters. `describe(method, visit)` calls visit(field, Parameter) for
/// each field, once; command line options, checks, JSON, documentation and random test parameters all come
/// from it.
namespace parafield {

/// What there is to know about one parameter of a method. T: int, float, bool, or an enum whose names_of(T) lists the
/// names of its values 0, 1, ...
template <class T>
struct Parameter {
  std::string_view name;  ///< the field's name; the command line writes `-` for `_`
  T min, max;             ///< both allowed
  std::string_view unit;  ///< "px", "" ...
  std::string_view help;
  std::span<const T> choices = {};  ///< where not empty: the only values allowed
};

/// A named value of a method.
template <class Method>
struct Preset {
  std::string_view name;
  Method method;
  std::string_view help;
};

/// Throws Error(invalid_argument) with name, value and range for the first parameter that is out of range (or
/// NaN).
template <class Method>
void check(const Method& method);

/// Sets a parameter from text ("11", "1e-6", "true"); `name` with `_` or `-`. Returns false where the method
/// has no such parameter; throws Error(invalid_argument) where the text is no value of its type or out of
/// range.
template <class Method>
bool set_parameter(Method& method, std::string_view name, const std::string& text);

/// The preset's method. Throws Error(invalid_argument) that lists the presets there are.
template <class Method>
Method preset(std::string_view name);

/// Calls f(method) with a default-constructed value of each alternative of a task's std::variant of methods.
template <class Methods, class F>
void for_each_method(F f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) { (f(std::variant_alternative_t<I, Methods>{}), ...); }
  (std::make_index_sequence<std::variant_size_v<Methods>>{});
}

/// The task's method of that name ("lucas-kanade"), with defaults. Throws Error(invalid_argument) that lists
/// the names.
template <class Methods>
Methods method_named(std::string_view name);

}  // namespace parafield

#include "parafield/detail/method.hpp"
