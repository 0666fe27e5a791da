// SPDX-License-Identifier: MIT
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <tuple>
#include <vector>

#include "errors.hpp"

/// Shared by the Python classes of plain structs: fields, repr, comparison and pickling.
namespace parafield::python {

/// Returns the text of a field for repr: "focal=256.0".
inline std::string named(const char* name, nanobind::handle value) {
  return std::string(name) + "=" + str_text(nanobind::repr(value));
}
template <class T>
std::string named(const char* name, const T& value) {
  if constexpr (std::is_same_v<T, float>)  // the shortest decimal: 0.1, not 0.10000000149
    return std::string(name) + "=" + detail::text_of(value);
  else
    return named(name, nanobind::handle(nanobind::cast(value)));
}

/// Returns the repr of a struct: "StereoGeometry(focal=256.0, ...)".
inline std::string joined(const char* name, const std::vector<std::string>& fields) {
  std::string text = std::string(name) + "(";
  for (std::size_t i = 0; i < fields.size(); ++i) text += (i ? ", " : "") + fields[i];
  return text + ")";
}

/// Makes objects of a class picklable and copyable. `state_of` returns an object's state as a std::tuple, and
/// `value_of` makes an object from that state.
template <class Value, class StateOf, class ValueOf>
void bind_state(nanobind::class_<Value>& type, StateOf state_of, ValueOf value_of) {
  using State = decltype(state_of(std::declval<const Value&>()));
  type.def(
          "__getstate__", [state_of](const Value& self) { return state_of(self); },
          nanobind::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
      .def(
          "__setstate__", [value_of](Value& self, const State& state) { new (&self) Value(value_of(state)); },
          nanobind::sig("def __setstate__(self, state: tuple[typing.Any, ...]) -> None"));
}

/// Like bind_state, for a struct whose state consists of `fields`.
template <class Struct, class... Values>
void bind_fields_state(nanobind::class_<Struct>& type, Values Struct::*... fields) {
  bind_state(
      type, [fields...](const Struct& self) { return std::tuple<Values...>(self.*fields...); },
      [fields...](const std::tuple<Values...>& state) {
        Struct made{};
        std::apply([&](const Values&... values) { ((made.*fields = values), ...); }, state);
        return made;
      });
}

/// Makes objects of a class comparable and hashable. state_of(value) returns everything that must be equal
/// for two values to be equal, as something that nanobind converts to a Python object.
template <class Value, class StateOf>
void bind_comparison(nanobind::class_<Value>& type, StateOf state_of) {
  type.def(
          "__eq__",
          [state_of](const Value& self, nanobind::handle other) {
            return nanobind::isinstance<Value>(other) &&
                   nanobind::cast(state_of(self))
                       .equal(nanobind::cast(state_of(nanobind::cast<const Value&>(other))));
          },
          nanobind::sig("def __eq__(self, other: object) -> bool"))
      .def("__hash__",
           [state_of](const Value& self) { return nanobind::hash(nanobind::cast(state_of(self))); });
}

/// A field of a struct, with its docstring.
template <class Struct, class Value>
struct StructField {
  const char* name;
  Value Struct::*member;
  const char* doc = "";
};
template <class Struct, class Value>
StructField(const char*, Value Struct::*) -> StructField<Struct, Value>;
template <class Struct, class Value>
StructField(const char*, Value Struct::*, const char*) -> StructField<Struct, Value>;

/// Binds a struct's fields, and a repr and a state of all of them.
template <class Struct, class... Values>
void bind_members(nanobind::class_<Struct>& type, const char* name,
                  const StructField<Struct, Values>&... fields) {
  const auto add = [&](const auto& field) {
    if (*field.doc)
      type.def_ro(field.name, field.member, field.doc);
    else
      type.def_ro(field.name, field.member);
  };
  (add(fields), ...);
  bind_fields_state(type, fields.member...);
  type.def("__repr__", [name, fields...](const Struct& self) {
    return joined(name, {named(fields.name, self.*fields.member)...});
  });
}

}  // namespace parafield::python
