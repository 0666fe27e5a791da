// SPDX-License-Identifier: MIT
#pragma once
#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <parafield/device.hpp>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace parafield::python {

/// The library that an array comes from. Results become arrays of the same library.
enum class Library {
  numpy,  ///< also any other object in host memory that supports the buffer protocol
  torch,
  cupy,
  other  ///< any library with DLPack and an array API namespace, such as JAX
};

/// Type of an array's values.
enum class Values { u8, u16, f32 };
inline int bytes_of(Values values) { return values == Values::u8 ? 1 : values == Values::u16 ? 2 : 4; }

/// A Python array, read in place. Keeps the array's memory alive.
struct Array {
  std::string name;  ///< name of the argument, for error messages
  nb::object object;
  Library library = Library::numpy;
  std::shared_ptr<void> owner = {};  ///< the buffer or tensor that holds `data`
  const char* data = nullptr;
  int dimensions = 0;
  std::array<std::int64_t, 5> shape = {}, strides = {};  ///< strides in bytes
  Values values = Values::u8;
  std::optional<Values> depth = {};  ///< type of the values before masked ones were converted to float
  Memory memory = {};
  void* stream = nullptr;  ///< CUDA: the stream on which the values are ready

  std::string shape_text() const;  ///< "480 x 640 x 3"

  /// Sets the number of axes. Throws Error(invalid_argument) if there are too many.
  void set_dimensions(int count);

  /// Throws Error(invalid_argument) for values of an unsupported type. `format` names the type if the object
  /// has no dtype.
  [[noreturn]] void fail_values(const std::string& format) const;
};

/// Reads an array without copying it, except for NumPy's masked arrays, which become floats with NaN where
/// they are masked. `name` is the argument's name. Throws Error(invalid_argument) for objects that are not
/// arrays, unsupported value types, and arrays without values or memory.
Array read_array(nb::handle object, const std::string& name);

/// Permutes axes: axis i of the result is axis order[i] of `array`. The array's own library makes the result,
/// which is C-contiguous. If `channels` is above 0, only that many values of the last axis are kept.
/// `reversed` reverses the last axis.
Array rearranged(const Array& array, const std::vector<int>& order, int channels, bool reversed);

/// Calls f(), and turns Python exceptions into an Error(invalid_argument) that begins with the argument's
/// name.
template <class F>
auto with_name(const std::string& name, F f) -> decltype(f());

}  // namespace parafield::python

#include "errors.hpp"
namespace parafield::python {
template <class F>
auto with_name(const std::string& name, F f) -> decltype(f()) {
  try {
    return f();
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;  // Ctrl-C
    fail(name, ": ", message_of(error));
  }
}
}  // namespace parafield::python
