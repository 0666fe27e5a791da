// SPDX-License-Identifier: MIT
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "fields.hpp"
#include "frames.hpp"

namespace parafield::python {
namespace {

Size size_of(const nb::object& plane, const std::string& name, std::size_t axes, const char* expected) {
  const auto shape = nb::cast<std::vector<std::size_t>>(plane.attr("shape"));
  if (shape.size() != axes || (axes == 3 && shape[2] != 2)) {
    std::string text;
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? " x " : "") + std::to_string(shape[i]);
    fail(name, " has the shape ", text.empty() ? "none" : text, "; expected ", expected);
  }
  for (const std::size_t side : {shape[0], shape[1]})
    if (side < 1 || side > 500'000) fail(name, " has ", shape[0], " x ", shape[1], " pixels");
  return {int(shape[1]), int(shape[0])};
}

/// Converts an argument to a plane of the given type. Its size must be `size`, unless this is 0x0.
nb::object plane_of(nb::handle object, const std::string& name, const char* type, Size size,
                    const std::string& first_name) {
  const nb::object plane = as_plane(object, name, type);
  const Size own = size_of(plane, name, 2, "H x W");
  if (size != Size{} && own != size)
    fail(name, " has ", size_text(own), " pixels, ", first_name, " has ", size_text(size));
  return plane;
}

/// Copies an array H x W x 2 into a flow field.
Field<Flow> flow_from_pairs(nb::handle object, const std::string& name) {
  const nb::object plane = as_plane(object, name, "float32");
  Field<Flow> field = host_field<Flow>(size_of(plane, name, 3, "H x W x 2"), {.confidence = false});
  const float* const from = data_of<float>(plane);
  const std::ptrdiff_t pixels = field.pixels();
  for (std::ptrdiff_t i = 0; i < pixels; ++i) {
    field.values[i] = from[2 * i];
    field.values[pixels + i] = from[2 * i + 1];
  }
  std::memset(field.valid, 1, std::size_t(pixels));
  return field;
}

}  // namespace

nb::object as_plane(nb::handle object, const std::string& name, const char* type) {
  if (object.is_none()) fail(name, " is None");
  return with_name(name, [&] {
    const nb::module_ numpy = nb::module_::import_("numpy");
    return numpy.attr("ascontiguousarray")(object, nb::arg("dtype") = numpy.attr(type));
  });
}

template <class Task>
Field<Task> field_from(const std::vector<PlaneArgument>& planes, nb::handle valid, nb::handle confidence) {
  using Value = std::conditional_t<TaskPlanes<Task>::has_moving, std::uint8_t, float>;
  const std::string& first_name = planes[0].name;
  Field<Task> field;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const auto& [array, name] = planes[i];
    const char* const type = TaskPlanes<Task>::has_moving ? "bool_" : "float32";
    const nb::object plane = plane_of(array, name, type, field.size, first_name);
    if (i == 0)
      field = host_field<Task>(size_of(plane, name, 2, "H x W"), {.confidence = !confidence.is_none()});
    void* const first = field.moving ? static_cast<void*>(field.moving) : field.values;
    std::memcpy(static_cast<Value*>(first) + std::ptrdiff_t(i) * field.pixels(), data_of<Value>(plane),
                std::size_t(field.pixels()) * sizeof(Value));
  }
  const std::size_t pixels = std::size_t(field.pixels());
  std::memset(field.valid, 1, pixels);
  if (!valid.is_none())
    std::memcpy(field.valid, data_of<std::uint8_t>(plane_of(valid, "valid", "bool_", field.size, first_name)),
                pixels);
  if (field.confidence)
    std::memcpy(field.confidence,
                data_of<float>(plane_of(confidence, "confidence", "float32", field.size, first_name)),
                pixels * 4);
  return field;
}

template <class Task>
Field<Task> field_of(nb::handle object, const std::string& name) {
  if (nb::isinstance<Field<Task>>(object)) {
    const auto& field = nb::cast<const Field<Task>&>(object);
    if (field.stacked) fail(name, " is a stack of ", field.count, " results; give one of them");
    return on_host(field);
  }
  if constexpr (std::is_same_v<Task, Flow>)
    return flow_from_pairs(object, name);
  else
    return field_from<Task>({{object, name}});
}

template Field<Flow> field_from(const std::vector<PlaneArgument>&, nb::handle, nb::handle);
template Field<Stereo> field_from(const std::vector<PlaneArgument>&, nb::handle, nb::handle);
template Field<Detection> field_from(const std::vector<PlaneArgument>&, nb::handle, nb::handle);
template Field<Flow> field_of(nb::handle, const std::string&);
template Field<Stereo> field_of(nb::handle, const std::string&);
template Field<Detection> field_of(nb::handle, const std::string&);

}  // namespace parafield::python
