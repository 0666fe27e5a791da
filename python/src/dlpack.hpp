// SPDX-License-Identifier: MIT
#pragma once
#include <nanobind/ndarray.h>

#include <cstdint>

#include "arrays.hpp"

/// DLPack 1.x, the protocol by which Python's array libraries exchange arrays: functions that read arrays,
/// and the structs of dlpack.h that nanobind does not declare.
namespace parafield::python::dlpack {

using Tensor = nanobind::dlpack::dltensor;

enum DeviceType { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

/// Contents of a capsule named "dltensor".
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

/// Contents of a capsule named "dltensor_versioned".
struct ManagedVersioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};

/// Functions that read a library's arrays without calling Python (DLPack 1.3). The library's array type holds
/// them in the capsule `__dlpack_c_exchange_api__`. Each returns 0, or -1 with a Python exception set.
struct ExchangeApi {
  std::uint32_t major, minor;
  ExchangeApi* previous;
  int (*allocate)(Tensor* prototype, ManagedVersioned** out, void* context,
                  void (*set_error)(void*, const char*, const char*));
  int (*managed_of)(void* object, ManagedVersioned** out);
  int (*object_of)(ManagedVersioned* tensor, void** out);
  int (*tensor_of)(void* object, Tensor* out);  ///< non-owning view; the function may be null
  int (*current_stream)(int device_type, std::int32_t device, void** out);
};

/// Returns the exchange functions of an array type, or null if it has none.
const ExchangeApi* exchange_api_of(nb::handle type);

/// Reads `array.object` through the `api` of its type.
void read(Array& array, const ExchangeApi& api);

/// Reads `array.object` through its method __dlpack__. Torch and CuPy are told not to synchronize, because
/// the caller works on their current stream; other libraries make the legacy stream wait.
void read(Array& array);

}  // namespace parafield::python::dlpack
