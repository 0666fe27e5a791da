// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <parafield/parafield.hpp>
#include <string>
#include <vector>

#include "storage.hpp"

namespace parafield::python {

/// Planes of one result or of a stack of results. The frames of a stack are consecutive in each plane:
///   values      frames x `components` x height x width, float32
///   confidence  frames x height x width, float32
///   covariance  frames x `bars` x height x width, float32: xx, xy, yy of flow, or the sigma of disparities
///   outlier     frames x 2 x height x width, float32: outlier and outlier3
///   moving      frames x height x width, bytes
///   valid       frames x height x width, bytes
///   cause       frames x height x width, bytes
/// Rows have no gap between them.
struct Planes {
  std::shared_ptr<Storage> storage;
  bool stacked = false;
  int count = 1;  ///< number of frames
  Size size;
  float *values = nullptr, *confidence = nullptr, *covariance = nullptr, *outlier = nullptr;
  std::uint8_t *moving = nullptr, *valid = nullptr, *cause = nullptr;

  /// Which optional planes there are.
  FieldPlanes has() const {
    return {valid != nullptr, confidence != nullptr, covariance != nullptr, outlier != nullptr,
            cause != nullptr};
  }
  /// Calls f(pointer, planes of a frame) for each array; `values` has `components` planes, `covariance` `bars`.
  template <class F>
  void each_array(int components, int bars, F f) {
    f(values, components);
    f(confidence, 1);
    f(covariance, bars);
    f(outlier, 2);
    f(moving, 1);
    f(valid, 1);
    f(cause, 1);
  }
  std::ptrdiff_t pixels() const { return std::ptrdiff_t(size.width) * size.height; }
};

/// Planes and names of a task's results. `components` is the number of float planes before the confidence,
/// `bars` the number of planes of the covariance.
template <class Task>
struct TaskPlanes;
template <>
struct TaskPlanes<Flow> {
  static constexpr int components = 2, bars = 3;
  static constexpr bool has_moving = false;
  static constexpr const char *result = "FlowField", *arrays = "arrays u and v";
};
template <>
struct TaskPlanes<Stereo> {
  static constexpr int components = 1, bars = 1;
  static constexpr bool has_moving = false;
  static constexpr const char *result = "DisparityField", *arrays = "array d";
};
template <>
struct TaskPlanes<Detection> {
  static constexpr int components = 0, bars = 0;
  static constexpr bool has_moving = true;
  static constexpr const char *result = "MotionMask", *arrays = "array moving";
};

/// A result of a task, as Python sees it. A stack and its frames share ownership of their memory.
template <class Task>
struct Field : Planes {
  static constexpr int components = TaskPlanes<Task>::components, bars = TaskPlanes<Task>::bars;

  // Arrays are made when they are first requested.
  nb::object all_values = {}, all_confidence = {}, all_moving = {}, all_valid = {};

  /// Calls f(pointer, planes of a frame) for each array of the task.
  template <class F>
  void each_array(F f) {
    Planes::each_array(components, bars, f);
  }

  /// Returns non-owning views of the planes of frame i.
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
    if constexpr (bars == 3) {
      result.covariance.xx = plane(covariance, 3 * i);
      result.covariance.xy = plane(covariance, 3 * i + 1);
      result.covariance.yy = plane(covariance, 3 * i + 2);
    } else if constexpr (bars == 1) {
      result.sigma = plane(covariance, i);
    }
    if constexpr (bars > 0) {
      result.outlier = plane(outlier, 2 * i);
      result.outlier3 = plane(outlier, 2 * i + 1);
      result.cause = plane(cause, i);
    }
    return result;
  }
};

/// Returns the bytes that a plane occupies in a storage, a multiple of 256.
constexpr std::size_t plane_bytes(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Returns the bytes of a task's results.
template <class Task>
std::size_t bytes_of_results(Size size, int count, FieldPlanes has) {
  using Names = TaskPlanes<Task>;
  const std::size_t pixels = std::size_t(size.width) * std::size_t(size.height) * std::size_t(count);
  const int bytes = Names::has_moving + has.valid + has.cause;
  return plane_bytes(pixels * 4 * Names::components) + (has.confidence ? plane_bytes(pixels * 4) : 0) +
         (has.covariance ? plane_bytes(pixels * 4 * Names::bars) : 0) +
         (has.outlier ? plane_bytes(pixels * 4 * 2) : 0) + plane_bytes(pixels) * std::size_t(bytes);
}

/// Makes a result in `storage`, which must have bytes_of_results bytes.
template <class Task>
Field<Task> field_in(std::shared_ptr<Storage> storage, Size size, int count, bool stacked, FieldPlanes has) {
  Field<Task> field;
  field.stacked = stacked;
  field.count = count;
  field.size = size;
  char* next = storage->data;
  const std::size_t pixels = std::size_t(field.pixels()) * std::size_t(count);
  const auto take = [&]<class T>(T*& array, int planes, bool wanted = true) {
    if (!wanted || planes == 0) return;
    array = reinterpret_cast<T*>(next);
    next += plane_bytes(pixels * sizeof(T) * std::size_t(planes));
  };
  take(field.values, field.components);
  take(field.confidence, 1, has.confidence);
  take(field.covariance, field.bars, has.covariance);
  take(field.outlier, 2, has.outlier);
  take(field.moving, TaskPlanes<Task>::has_moving);
  take(field.valid, 1, has.valid);
  take(field.cause, 1, has.cause);
  field.storage = std::move(storage);
  return field;
}

/// Makes a result for frames like `array`: of the same library, in the same memory.
template <class Task>
Field<Task> new_field(const Array& array, Size size, int count, bool stacked, bool pinned,
                      FieldPlanes has = {}) {
  const std::size_t bytes = bytes_of_results<Task>(size, count, has);
  return field_in<Task>(make_storage(array, bytes, pinned), size, count, stacked, has);
}

/// Makes a result of one frame in host memory, whose arrays are NumPy's.
template <class Task>
Field<Task> host_field(Size size, FieldPlanes has) {
  return field_in<Task>(make_host_storage(bytes_of_results<Task>(size, 1, has)), size, 1, false, has);
}

/// Returns the result if it is in host memory, otherwise a copy there.
template <class Task>
Field<Task> on_host(const Field<Task>& field);

/// Returns a copy of the result in the same kind of memory. Device results of the library `other` are copied
/// to host memory instead. In host memory, a frame of a stack is copied without the rest of the stack.
template <class Task>
Field<Task> copied(const Field<Task>& field);

/// Copies a field of the library into a result whose arrays are NumPy's.
template <class Task>
Field<Task> numpy_field(const typename Task::Result& result);

/// as_plane() converts an argument to a C-ordered NumPy array of one type, such as "float32" or "bool_", and
/// throws Error(invalid_argument) if it cannot. data_of() returns the address of such an array's values.
nb::object as_plane(nb::handle object, const std::string& name, const char* type);
template <class T>
const T* data_of(const nb::object& array) {
  return reinterpret_cast<const T*>(nb::cast<std::uintptr_t>(array.attr("__array_interface__")["data"][0]));
}

/// An argument that is a plane: an array H x W.
struct PlaneArgument {
  nb::handle array;
  std::string name;
};

/// Makes a field in host memory by copying its planes: u and v, d, or moving. `valid` and `confidence` can be
/// None. Throws Error(invalid_argument).
template <class Task>
Field<Task> field_from(const std::vector<PlaneArgument>& planes, nb::handle valid = nb::none(),
                       nb::handle confidence = nb::none());

/// Returns a field in host memory for an argument, which may be a FlowField or an array H x W x 2 (for the
/// other tasks a DisparityField, a MotionMask, or an array H x W). Values of arrays are copied as float32, or
/// as bool for masks. Throws Error(invalid_argument).
template <class Task>
Field<Task> field_of(nb::handle object, const std::string& name);

/// An argument that is a mask or None. Keeps the mask's memory alive.
struct MaskArgument {
  std::optional<Field<Detection>> field;

  MaskArgument(nb::handle mask, const std::string& name) {
    if (!mask.is_none()) field = field_of<Detection>(mask, name);
  }
  MaskView view() const {
    if (!field) return {};
    return {field->moving, field->size.width, field->size.height, field->size.width};
  }
};

}  // namespace parafield::python
