// SPDX-License-Identifier: MIT
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "fields.hpp"

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

void check_same(Size size, Size first, const std::string& name, const std::string& first_name) {
  if (size != first)
    fail(name, " has ", size.height, " x ", size.width, " pixels, ", first_name, " has ", first.height, " x ",
         first.width);
}

/// Fills in the validity and the confidence of a field of one frame.
template <class Task>
void fill_rest(Field<Task>& field, nb::handle valid, nb::handle confidence, const std::string& first_name) {
  const std::size_t pixels = std::size_t(field.pixels());
  std::memset(field.valid, 1, pixels);
  if (!valid.is_none()) {
    const nb::object plane = as_plane(valid, "valid", "bool_");
    check_same(size_of(plane, "valid", 2, "H x W"), field.size, "valid", first_name);
    std::memcpy(field.valid, data_of<std::uint8_t>(plane), pixels);
  }
  if (field.confidence) {
    const nb::object plane = as_plane(confidence, "confidence", "float32");
    check_same(size_of(plane, "confidence", 2, "H x W"), field.size, "confidence", first_name);
    std::memcpy(field.confidence, data_of<float>(plane), pixels * 4);
  }
}

/// Copies an array H x W x 2 into a flow field.
Field<Flow> flow_from_pairs(nb::handle object, const std::string& name) {
  const nb::object plane = as_plane(object, name, "float32");
  Field<Flow> field = host_field<Flow>(size_of(plane, name, 3, "H x W x 2"), false);
  const float* const from = data_of<float>(plane);
  const std::ptrdiff_t pixels = field.pixels();
  for (std::ptrdiff_t i = 0; i < pixels; ++i) {
    field.values[i] = from[2 * i];
    field.values[pixels + i] = from[2 * i + 1];
  }
  fill_rest(field, nb::none(), nb::none(), name);
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

Field<Flow> flow_from_planes(nb::handle u, nb::handle v, nb::handle valid, nb::handle confidence) {
  const nb::object planes[] = {as_plane(u, "u", "float32"), as_plane(v, "v", "float32")};
  const Size size = size_of(planes[0], "u", 2, "H x W");
  check_same(size_of(planes[1], "v", 2, "H x W"), size, "v", "u");
  Field<Flow> field = host_field<Flow>(size, !confidence.is_none());
  const std::ptrdiff_t pixels = field.pixels();
  for (int i = 0; i < 2; ++i)
    std::memcpy(field.values + i * pixels, data_of<float>(planes[i]), std::size_t(pixels) * 4);
  fill_rest(field, valid, confidence, "u");
  return field;
}

Field<Stereo> disparity_from_plane(nb::handle d, nb::handle valid, nb::handle confidence,
                                   const std::string& name) {
  const nb::object plane = as_plane(d, name, "float32");
  Field<Stereo> field = host_field<Stereo>(size_of(plane, name, 2, "H x W"), !confidence.is_none());
  std::memcpy(field.values, data_of<float>(plane), std::size_t(field.pixels()) * 4);
  fill_rest(field, valid, confidence, name);
  return field;
}

Field<Detection> mask_from_plane(nb::handle moving, nb::handle valid, nb::handle confidence,
                                 const std::string& name) {
  const nb::object plane = as_plane(moving, name, "bool_");
  Field<Detection> field = host_field<Detection>(size_of(plane, name, 2, "H x W"), !confidence.is_none());
  std::memcpy(field.moving, data_of<std::uint8_t>(plane), std::size_t(field.pixels()));
  fill_rest(field, valid, confidence, name);
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
  else if constexpr (std::is_same_v<Task, Stereo>)
    return disparity_from_plane(object, nb::none(), nb::none(), name);
  else
    return mask_from_plane(object, nb::none(), nb::none(), name);
}

template Field<Flow> field_of(nb::handle, const std::string&);
template Field<Stereo> field_of(nb::handle, const std::string&);
template Field<Detection> field_of(nb::handle, const std::string&);

}  // namespace parafield::python
