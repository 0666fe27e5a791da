// SPDX-License-Identifier: MIT
#pragma once
#include <parafield/parafield.hpp>
#include <string>

#include "storage.hpp"

namespace parafield::python {

/// Planes of results: of one frame, or of a stack of frames. A plane of a stack lies frame behind frame:
///   values      frames x `components` x height x width, float32
///   confidence  frames x height x width, float32
///   moving      frames x height x width, bytes
///   valid       frames x height x width, bytes
/// Rows have no gap between them.
struct Planes {
  std::shared_ptr<Storage> storage;
  bool stacked = false;
  int count = 1;  ///< frames
  Size size;
  float *values = nullptr, *confidence = nullptr;
  std::uint8_t *moving = nullptr, *valid = nullptr;

  std::ptrdiff_t pixels() const { return std::ptrdiff_t(size.width) * size.height; }
};

/// What the results of a task hold. `components` is the number of float planes before the confidence.
template <class Task>
struct TaskPlanes;
template <>
struct TaskPlanes<Flow> {
  static constexpr int components = 2;
  static constexpr bool has_moving = false;
  static constexpr const char *result = "FlowField", *arrays = "arrays u and v";
};
template <>
struct TaskPlanes<Stereo> {
  static constexpr int components = 1;
  static constexpr bool has_moving = false;
  static constexpr const char *result = "DisparityField", *arrays = "array d";
};
template <>
struct TaskPlanes<Detection> {
  static constexpr int components = 0;
  static constexpr bool has_moving = true;
  static constexpr const char *result = "MotionMask", *arrays = "array moving";
};

/// The result of a task, as Python sees it. It owns its memory.
template <class Task>
struct Field : Planes {
  static constexpr int components = TaskPlanes<Task>::components;

  // Arrays that were asked for.
  nb::object all_values = {}, all_confidence = {}, all_moving = {}, all_valid = {};

  /// The planes of frame i. They use this object's memory.
  typename Task::Result result(int i) const {
    const auto plane = [&]<class T>(T* data, std::ptrdiff_t steps) -> Image<T> {
      if (!data) return {};
      return Image<T>(
          View<T>{data + steps * pixels(), size.width, size.height, std::ptrdiff_t(sizeof(T)) * size.width},
          storage->memory);
    };
    typename Task::Result result;
    if constexpr (components == 2) {
      result.u = plane(values, 2 * i);
      result.v = plane(values, 2 * i + 1);
    } else if constexpr (components == 1) {
      result.d = plane(values, i);
    } else {
      result.moving = plane(moving, i);
    }
    result.valid = plane(valid, i);
    result.confidence = plane(confidence, i);
    return result;
  }
};

/// Bytes that a plane takes in a storage.
constexpr std::size_t plane_bytes(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Bytes of a task's results.
template <class Task>
std::size_t bytes_of_results(Size size, int count, bool has_confidence, bool has_valid = true) {
  const std::size_t pixels = std::size_t(size.width) * std::size_t(size.height) * std::size_t(count);
  return plane_bytes(pixels * 4 * TaskPlanes<Task>::components) +
         (has_confidence ? plane_bytes(pixels * 4) : 0) +
         plane_bytes(pixels) * (has_valid + TaskPlanes<Task>::has_moving);
}

/// A result in `storage`, whose size is bytes_of_results.
template <class Task>
Field<Task> field_in(std::shared_ptr<Storage> storage, Size size, int count, bool stacked,
                     bool has_confidence, bool has_valid = true) {
  Field<Task> field;
  field.stacked = stacked;
  field.count = count;
  field.size = size;
  char* next = storage->data;
  const auto take = [&](std::size_t bytes) {
    char* const plane = next;
    next += plane_bytes(bytes);
    return plane;
  };
  const std::size_t pixels = std::size_t(field.pixels()) * std::size_t(count);
  if (field.components) field.values = reinterpret_cast<float*>(take(pixels * 4 * field.components));
  if (has_confidence) field.confidence = reinterpret_cast<float*>(take(pixels * 4));
  if (TaskPlanes<Task>::has_moving) field.moving = reinterpret_cast<std::uint8_t*>(take(pixels));
  if (has_valid) field.valid = reinterpret_cast<std::uint8_t*>(take(pixels));
  field.storage = std::move(storage);
  return field;
}

/// A result of frames like those of `array`.
template <class Task>
Field<Task> new_field(const Array& array, Size size, int count, bool stacked, bool pinned,
                      bool has_confidence = true, bool has_valid = true) {
  const std::size_t bytes = bytes_of_results<Task>(size, count, has_confidence, has_valid);
  return field_in<Task>(make_storage(array, bytes, pinned), size, count, stacked, has_confidence, has_valid);
}

/// A result of one frame in host memory, of NumPy arrays.
template <class Task>
Field<Task> host_field(Size size, bool has_confidence) {
  return field_in<Task>(make_host_storage(bytes_of_results<Task>(size, 1, has_confidence)), size, 1, false,
                        has_confidence);
}

/// The same result with its memory on the host.
template <class Task>
Field<Task> on_host(const Field<Task>& field);

/// The same result in memory of its own, in the same place. In host memory a frame of a stack is packed.
template <class Task>
Field<Task> copied(const Field<Task>& field);

/// A result of NumPy arrays with a copy of a field of the library.
template <class Task>
Field<Task> numpy_field(const typename Task::Result& result);

/// An argument's values as a C-ordered NumPy array of one type ("float32", "bool_"), and where they lie.
/// Throws Error(invalid_argument).
nb::object as_plane(nb::handle object, const std::string& name, const char* type);
template <class T>
const T* data_of(const nb::object& array) {
  return reinterpret_cast<const T*>(nb::cast<std::uintptr_t>(array.attr("__array_interface__")["data"][0]));
}

/// Fields in host memory with copies of planes that are arguments: arrays H x W. `valid` and `confidence` may
/// be None. `name` is the first argument's. Throws Error(invalid_argument).
Field<Flow> flow_from_planes(nb::handle u, nb::handle v, nb::handle valid, nb::handle confidence);
Field<Stereo> disparity_from_plane(nb::handle d, nb::handle valid, nb::handle confidence,
                                   const std::string& name = "d");
Field<Detection> mask_from_plane(nb::handle moving, nb::handle valid, nb::handle confidence,
                                 const std::string& name = "moving");

/// A field in host memory for an argument: a FlowField (DisparityField, MotionMask), or an array H x W x 2
/// (H x W), whose values are copied as float32 (bool). Throws Error(invalid_argument).
template <class Task>
Field<Task> field_of(nb::handle object, const std::string& name);

/// The classes FlowField, DisparityField, MotionMask.
void bind_fields(nb::module_& module);

}  // namespace parafield::python
