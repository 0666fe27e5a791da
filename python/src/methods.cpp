// SPDX-License-Identifier: MIT
#include "methods.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "fields.hpp"
#include "structs.hpp"

namespace parafield::python {
namespace {

template <class T>
const char* kind_text() {
  if (std::is_same_v<T, bool>) return "bool";
  if (std::is_same_v<T, int>) return "int";
  if (std::is_same_v<T, float>) return "float";
  return "str";
}

template <class T>
nb::object python_value(T value) {
  if constexpr (std::is_enum_v<T>) return nb::cast(std::string(names_of(value)[std::size_t(value)]));
  // Use the shortest decimal that gives the same float: 0.1, not 0.10000000149.
  else if constexpr (std::is_same_v<T, float>)
    return nb::float_(nb::str(detail::text_of(value).c_str()));
  else
    return nb::cast(value);
}

template <class T>
std::string source_text(T value) {
  return repr_text(python_value(value));
}

/// Copies a text into memory that is never freed, because nanobind keeps pointers to signatures.
const char* kept(const std::string& text) { return (new std::string(text))->c_str(); }

template <class Struct>
std::string constructor_signature(const std::string& head) {
  std::string text = head;
  const Struct defaults{};
  describe(defaults, [&]<class T>(const T& value, const Parameter<T>& parameter) {
    text +=
        std::string(", ") + std::string(parameter.name) + ": " + kind_text<T>() + " = " + source_text(value);
  });
  return text;
}

/// Returns the lines of a docstring about the parameters: name, allowed values, unit, default, help.
template <class Struct>
std::string parameter_lines() {
  std::string text;
  const Struct defaults{};
  describe(defaults, [&]<class T>(const T& value, const Parameter<T>& parameter) {
    text += std::string(parameter.name) + " : " + detail::allowed(parameter);
    if (!parameter.unit.empty()) text += " " + std::string(parameter.unit);
    text += ", default " + source_text(value) + "\n    " + std::string(parameter.help) + "\n";
  });
  return text;
}

/// Returns the parameters as data: a tuple of dicts, in order.
template <class Struct>
nb::object parameter_dicts() {
  nb::list list;
  const Struct defaults{};
  describe(defaults, [&]<class T>(const T& value, const Parameter<T>& parameter) {
    nb::dict entry;
    nb::list choices;
    if constexpr (std::is_enum_v<T>)
      for (const std::string_view name : names_of(value)) choices.append(nb::cast(name));
    else
      for (const T& choice : parameter.choices) choices.append(python_value(choice));
    entry["name"] = nb::cast(parameter.name);
    entry["type"] = nb::cast(kind_text<T>());
    entry["default"] = python_value(value);
    if constexpr (std::is_same_v<T, int> || std::is_same_v<T, float>) {
      entry["min"] = python_value(parameter.min);
      entry["max"] = python_value(parameter.max);
    }
    entry["choices"] = nb::tuple(choices);
    entry["unit"] = nb::cast(parameter.unit);
    entry["help"] = nb::cast(parameter.help);
    list.append(entry);
  });
  return nb::tuple(list);
}

template <class Struct>
void set_all(std::string_view name, Struct& value, const nb::dict& parameters) {
  for (const auto [key, parameter] : parameters) set_by_name(name, key, parameter, value);
  check(value);
}

/// Returns the parameters whose values differ from the defaults.
template <class Struct>
nb::dict changed(const Struct& value) {
  std::string key;
  nb::dict all, result;
  const Struct defaults{};
  describe(defaults, [&]<class T>(const T& field, const Parameter<T>& parameter) {
    all[nb::cast(parameter.name)] = python_value(field);
  });
  describe(value, [&]<class T>(const T& field, const Parameter<T>& parameter) {
    const nb::object name = nb::cast(parameter.name), now = python_value(field);
    if (!now.equal(all[name])) result[name] = now;
  });
  return result;
}

/// Binds what all parameter classes have in common: construction, fields, comparison, copies.
template <class Struct>
nb::class_<Struct> bind_struct(nb::module_& module, const std::string& name, const std::string& doc) {
  auto type = nb::class_<Struct>(module, kept(name), kept(doc));
  type.def(
      "__init__",
      [](Struct* self, const nb::kwargs& parameters) {
        Struct value;
        set_all(Struct::name, value, nb::borrow<nb::dict>(parameters));
        new (self) Struct(value);
      },
      nb::sig(kept(constructor_signature<Struct>("def __init__(self, *") + ") -> None")));
  static const Struct defaults{};
  describe(defaults, [&]<class T>(const T& field, const Parameter<T>& parameter) {
    const std::ptrdiff_t offset =
        reinterpret_cast<const char*>(&field) - reinterpret_cast<const char*>(&defaults);
    type.def_prop_ro(
        kept(std::string(parameter.name)),
        [offset](const Struct& self) {
          return python_value(*reinterpret_cast<const T*>(reinterpret_cast<const char*>(&self) + offset));
        },
        nb::sig(kept("def " + std::string(parameter.name) + "(self) -> " + kind_text<T>())),
        kept(std::string(parameter.help)));
  });
  type.def(
          "replace",
          [](const Struct& self, const nb::kwargs& parameters) {
            Struct value = self;
            set_all(Struct::name, value, nb::borrow<nb::dict>(parameters));
            return value;
          },
          nb::sig(kept("def replace(self, **parameters: bool | int | float | str) -> " + name)),
          "A copy with new values of the named parameters.")
      .def("__repr__",
           [name](const Struct& self) {
             std::string text;
             for (const auto [key, value] : changed(self))
               text += (text.empty() ? "" : ", ") + nb::cast<std::string>(key) + "=" + repr_text(value);
             return name + "(" + text + ")";
           })
      .def(
          "__getstate__", [](const Struct& self) { return changed(self); },
          nb::sig("def __getstate__(self) -> dict[str, typing.Any]"))
      .def(
          "__setstate__",
          [](Struct& self, const nb::dict& state) {
            Struct value;
            set_all(Struct::name, value, state);
            new (&self) Struct(value);
          },
          nb::sig("def __setstate__(self, state: dict[str, typing.Any]) -> None"));
  bind_comparison(type, [](const Struct& self) {
    std::string key(Struct::name);
    append_key(self, key);
    return nb::bytes(key.data(), key.size());
  });
  return type;
}

template <class Method>
nb::object bind_method(nb::module_& module) {
  const std::string name = class_name(Method::name);
  std::string doc = std::string(Method::help) + "\n\nSource: " + std::string(Method::source) +
                    "\n\nParameters\n----------\n" + parameter_lines<Method>() + "\nPresets\n-------\n";
  nb::list names;
  for (const auto& preset : presets(Method{})) {
    doc += std::string(preset.name) + "\n    " + std::string(preset.help) + "\n";
    names.append(nb::cast(preset.name));
  }
  auto type = bind_struct<Method>(module, name, doc);
  type.def_static(
      "preset", [](const std::string& preset) { return parafield::preset<Method>(preset); }, nb::arg("name"),
      "The method with a preset's values.");
  type.attr("name") = nb::cast(Method::name);
  type.attr("source") = nb::cast(Method::source);
  type.attr("presets") = nb::tuple(names);
  type.attr("parameters") = parameter_dicts<Method>();
  if constexpr (!std::is_member_object_pointer_v<decltype(&Method::frames)>)
    type.attr("frames") = nb::cast(int(Method::frames));
  return type;
}

template <class Task>
void bind_task(nb::module_& module, const char* name, const char* doc) {
  nb::module_ task = module.def_submodule(name, doc);
  nb::list types;
  for_each_method<typename Task::Method>(
      [&]<class Method>(const Method&) { types.append(bind_method<Method>(task)); });
  const nb::object all = nb::tuple(types);
  task.def(
      "methods", [all] { return all; }, nb::sig("def methods() -> tuple[type, ...]"),
      "Every method of the task. The first one is the default.");
  task.def(
      "options", [] { return parameter_dicts<typename Task::Options>(); },
      nb::sig("def options() -> tuple[dict[str, typing.Any], ...]"),
      "The parameters that every method of the task takes next to its own. Each is a dict: name, type "
      "(\"bool\", "
      "\"int\", \"float\" or \"str\"), default, min and max of numbers, choices (if not empty, the only "
      "allowed "
      "values), unit and help.");
}

}  // namespace

std::string parameter_text(nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value) ? "true" : "false";
  if (PyLong_CheckExact(value.ptr()) || nb::isinstance<nb::str>(value)) return str_text(value);
  if (PyFloat_CheckExact(value.ptr())) return repr_text(value);
  try {
    // NumPy scalars, similar types and arrays without axes convert to a Python number.
    if (nb::hasattr(value, "item") && nb::hasattr(value, "ndim") && value.attr("ndim").equal(nb::int_(0))) {
      const nb::object number = value.attr("item")();
      if (!number.type().is(value.type())) return parameter_text(number);
    }
    const bool is_number = !nb::hasattr(value, "__len__");
    if (is_number && PyIndex_Check(value.ptr())) return str_text(nb::int_(value));
    if (is_number && nb::hasattr(value, "__float__")) return repr_text(nb::float_(value));
  } catch (nb::python_error&) {
    // The object looks like a number but cannot be converted.
  }
  return repr_text(value);
}

std::string class_name(std::string_view method) {
  std::string name;
  bool upper = true;
  for (const char letter : method) {
    if (letter == '-' || letter == ' ') {
      upper = true;
      continue;
    }
    name += upper ? char(std::toupper(letter)) : letter;
    upper = false;
  }
  return name;
}

bool set_detection_object(nb::handle name, nb::handle value, DetectionOptions& options) {
  const auto key = name_text(name);
  if (key == "background") {
    std::filesystem::path path;
    if (!value.is_none() && !nb::try_cast(value, path))
      fail("background cannot be ", repr_text(value), ": the path of a file that save_background() wrote");
    if (!value.is_none()) options.background = std::make_shared<LearnedBackground>(read_background(path));
    return true;
  }
  if (key != "region") return false;
  if (!value.is_none()) {
    const MotionMask region = field_of<Detection>(value, "region").result(0);
    auto copy = std::make_shared<Image<std::uint8_t>>(region.size());
    copy->take(region.moving);
    options.region = copy;
  }
  return true;
}

void bind_methods(nb::module_& module) {
  bind_task<Flow>(module, "flow", "Methods of optical flow.");
  bind_task<Stereo>(module, "stereo", "Methods of stereo.");
  bind_task<Detection>(module, "detection", "Methods of motion detection.");
  bind_struct<FeatureTracking>(module, "FeatureTracking",
                               "How find_tracks finds and tracks features.\n\nParameters\n----------\n" +
                                   parameter_lines<FeatureTracking>());
}

}  // namespace parafield::python
