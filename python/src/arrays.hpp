// SPDX-License-Identifier: MIT
#pragma once
#include <nanobind/nanobind.h>
#include <parafield/device.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace parafield::python {

/// The library that an array comes from. Results are arrays of the same library.
enum class Library {
  numpy,  ///< also everything else in host memory that has a buffer
  torch,
  cupy,
  other  ///< speaks DLPack and has an array API namespace, as JAX has
};

/// Type of an array's values.
enum class Values { u8, u16, f32 };
inline int bytes_of(Values values) { return values == Values::u8 ? 1 : values == Values::u16 ? 2 : 4; }

/// An array of Python, read in place. It keeps the array's memory alive.
struct Array {
  std::string name;  ///< of the argument, for messages
  nb::object object;
  Library library = Library::numpy;
  std::shared_ptr<void> owner = {};  ///< the buffer or tensor that holds `data`
  const char* data = nullptr;
  int dimensions = 0;
  std::array<std::int64_t, 5> shape = {}, strides = {};  ///< strides in bytes
  Values values = Values::u8;
  bool from_u8 = false;  ///< the values are those of uint8, also where they became floats
  Memory memory = {};
  void* stream = nullptr;  ///< CUDA: the stream on which the values are ready

  std::string shape_text() const;  ///< "480 x 640 x 3"

  /// Sets the number of axes. Throws Error(invalid_argument) if there are too many.
  void set_dimensions(int count);

  /// Throws Error(invalid_argument): the values are of none of the types. `format` names theirs if the object
  /// has no dtype.
  [[noreturn]] void fail_values(const std::string& format) const;
};

/// Reads an array without a copy. `name` is the argument's. Masked arrays of NumPy become floats with NaN.
/// Throws Error(invalid_argument) for other objects, other types of values, and arrays without memory.
Array read_array(nb::handle object, const std::string& name);

/// The array with other axes: axis i of the result is axis order[i] of `array`, and the values lie one after
/// the other in rows. It is a copy, made by the array's own library. `channels` above 0 keeps so many values
/// of the last axis; `reversed` reverses the last axis.
Array rearranged(const Array& array, const std::vector<int>& order, int channels, bool reversed);

/// Calls f(); turns exceptions of Python into Error(invalid_argument) that begins with the argument's name.
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
