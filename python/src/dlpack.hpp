// SPDX-License-Identifier: MIT
#pragma once
#include <nanobind/ndarray.h>

#include <cstdint>

#include "arrays.hpp"

/// How Python's array libraries hand arrays to each other (DLPack 1.x): the structs of dlpack.h around the
/// tensor, which nanobind declares, and the reading of arrays.
namespace parafield::python::dlpack {

using Tensor = nanobind::dlpack::dltensor;

enum DeviceType { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

/// What a capsule of the name "dltensor" holds.
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

/// What a capsule of the name "dltensor_versioned" holds.
struct ManagedVersioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};

/// Functions by which a library's arrays are read without a call of Python (DLPack 1.3). The library's array
/// type holds them in the capsule `__dlpack_c_exchange_api__`. Each returns 0, or -1 with a Python exception.
struct ExchangeApi {
  std::uint32_t major, minor;
  ExchangeApi* previous;
  int (*allocate)(Tensor* prototype, ManagedVersioned** out, void* context,
                  void (*set_error)(void*, const char*, const char*));
  int (*managed_of)(void* object, ManagedVersioned** out);
  int (*object_of)(ManagedVersioned* tensor, void** out);
  int (*tensor_of)(void* object, Tensor* out);  ///< a view; may be null
  int (*current_stream)(int device_type, std::int32_t device, void** out);
};

/// The functions that a type of arrays offers; null if it offers none.
const ExchangeApi* exchange_api_of(nb::handle type);

/// Reads `array.object`, an array of a type that offers `api`.
void read(Array& array, const ExchangeApi& api);

/// Reads `array.object` by its method __dlpack__. Torch and CuPy do not order streams, since the caller works
/// on their current one; others make the legacy stream wait.
void read(Array& array);

}  // namespace parafield::python::dlpack
