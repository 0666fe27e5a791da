// SPDX-License-Identifier: MIT
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

namespace parafield::python {

/// Makes objects of a class picklable and copyable. `state_of` returns an object's state as a std::tuple, and
/// `value_of` makes an object from that state.
template <class Value, class StateOf, class ValueOf>
void bind_state(nanobind::class_<Value>& type, StateOf state_of, ValueOf value_of) {
  using State = decltype(state_of(std::declval<const Value&>()));
  type.def(
          "__getstate__", [state_of](const Value& self) { return state_of(self); },
          nanobind::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
      .def(
          "__setstate__",
          [value_of](Value& self, const State& state) { new (&self) Value(value_of(state)); },
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

}  // namespace parafield::python
