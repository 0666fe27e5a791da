// SPDX-License-Identifier: MIT
#include "dlpack.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

namespace parafield::python::dlpack {
namespace {

/// CUDA's legacy default stream.
void* const legacy = reinterpret_cast<void*>(1);

void set_values(Array& array, const nb::dlpack::dtype& type) {
  if (type == nb::dtype<std::uint8_t>())
    array.values = Values::u8;
  else if (type == nb::dtype<std::uint16_t>())
    array.values = Values::u16;
  else if (type == nb::dtype<float>())
    array.values = Values::f32;
  else
    array.fail_values("code " + std::to_string(type.code) + " of " + std::to_string(type.bits) + " bit");
}

void read_tensor(Array& array, const Tensor& tensor) {
  const auto& device = tensor.device;
  if (device.device_type == cuda || device.device_type == cuda_managed)
    array.memory = Memory::cuda(device.device_id);
  else if (device.device_type != cpu && device.device_type != cuda_host)
    fail(array.name, " is in the memory of a device that is neither the host nor a CUDA device");
  set_values(array, tensor.dtype);
  array.set_dimensions(tensor.ndim);
  array.data = static_cast<const char*>(tensor.data);
  if (array.data) array.data += tensor.byte_offset;
  std::int64_t step = bytes_of(array.values);
  for (int i = tensor.ndim - 1; i >= 0; --i) {
    array.shape[std::size_t(i)] = tensor.shape[i];
    array.strides[std::size_t(i)] = tensor.strides ? tensor.strides[i] * bytes_of(array.values) : step;
    step *= tensor.shape[i];
  }
}

template <class ManagedTensor>
void read_managed(Array& array, ManagedTensor* managed) {
  array.owner = {managed, [](void* pointer) {
                   auto* const tensor = static_cast<ManagedTensor*>(pointer);
                   const nb::gil_scoped_acquire gil;
                   if (tensor->deleter) tensor->deleter(tensor);
                 }};
  if constexpr (requires { managed->major; })
    if (managed->major != 1) fail(array.name, " uses version ", managed->major, " of DLPack, not 1");
  read_tensor(array, managed->tensor);
}

/// Returns the current stream of the array's library. Torch and CuPy use null for the legacy stream.
void* current_stream(const Array& array) {
  if (array.library == Library::other) return legacy;
  std::uintptr_t stream = 0;
  if (array.library == Library::torch)
    stream = nb::cast<std::uintptr_t>(nb::module_::import_("torch")
                                          .attr("cuda")
                                          .attr("current_stream")(array.memory.device)
                                          .attr("cuda_stream"));
  else
    stream = nb::cast<std::uintptr_t>(
        nb::module_::import_("cupy").attr("cuda").attr("get_current_stream")().attr("ptr"));
  return stream ? reinterpret_cast<void*>(stream) : legacy;
}

}  // namespace

const ExchangeApi* exchange_api_of(nb::handle type) {
  if (!nb::hasattr(type, "__dlpack_c_exchange_api__")) return nullptr;
  const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__");
  const auto* api =
      static_cast<const ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (!api) PyErr_Clear();
  while (api && api->major != 1) api = api->previous;
  return api;
}

void read(Array& array, const ExchangeApi& api) {
  if (api.tensor_of) {
    Tensor tensor;
    if (api.tensor_of(array.object.ptr(), &tensor) != 0) throw nb::python_error();
    read_tensor(array, tensor);
  } else {
    ManagedVersioned* managed = nullptr;
    if (api.managed_of(array.object.ptr(), &managed) != 0) throw nb::python_error();
    read_managed(array, managed);
  }
  if (array.memory.on_host()) return;
  if (api.current_stream(cuda, array.memory.device, &array.stream) != 0) throw nb::python_error();
  if (!array.stream) array.stream = legacy;
}

void read(Array& array) {
  if (nb::hasattr(array.object, "is_deleted") && nb::cast<bool>(array.object.attr("is_deleted")()))
    fail(array.name, " has no memory: it was deleted");
  std::pair<int, int> device;
  if (!nb::try_cast(array.object.attr("__dlpack_device__")(), device))
    fail(array.name, ": __dlpack_device__ of ", type_text(array.object), " gave no device");
  nb::dict arguments;
  if (device.first == cuda) arguments["stream"] = array.library == Library::other ? 1 : -1;
  nb::object capsule;
  try {  // NumPy exports read-only arrays only if max_version is given
    arguments["max_version"] = nb::make_tuple(1, 0);
    capsule = array.object.attr("__dlpack__")(**arguments);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    arguments.attr("pop")("max_version");
    capsule = array.object.attr("__dlpack__")(**arguments);
  }
  const auto take = [&]<class ManagedTensor>(const char* name, const char* used, ManagedTensor*) {
    if (!PyCapsule_IsValid(capsule.ptr(), name)) return false;
    auto* const managed = static_cast<ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), name));
    PyCapsule_SetName(capsule.ptr(), used);
    read_managed(array, managed);
    return true;
  };
  if (!take("dltensor", "used_dltensor", static_cast<Managed*>(nullptr)) &&
      !take("dltensor_versioned", "used_dltensor_versioned", static_cast<ManagedVersioned*>(nullptr)))
    fail(array.name, ": __dlpack__ of ", type_text(array.object), " gave no tensor");
  if (!array.memory.on_host()) array.stream = current_stream(array);
}

}  // namespace parafield::python::dlpack
