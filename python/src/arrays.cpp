// SPDX-License-Identifier: MIT
#include "arrays.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <unordered_map>

#include "dlpack.hpp"

namespace parafield::python {
namespace {

/// What is known of a type of arrays.
struct TypeInfo {
  Library library = Library::numpy;
  bool has_dlpack = false;
  bool is_masked = false;  ///< numpy.ma.MaskedArray
  const dlpack::ExchangeApi* api = nullptr;
};

bool begins_with(const std::string& text, std::string_view begin) {
  return text.compare(0, begin.size(), begin) == 0;
}

TypeInfo look_at(nb::handle type) {
  TypeInfo info;
  for (const nb::handle base : nb::getattr(type, "__mro__")) {
    const auto module = str_text(nb::getattr(base, "__module__"));
    const auto name = str_text(nb::getattr(base, "__name__"));
    info.is_masked |= name == "MaskedArray" && begins_with(module, "numpy.");
    if (name == "ndarray" && module == "numpy") return info;  // its buffer can be read-only
    if (begins_with(module + ".", "torch.")) info.library = Library::torch;
    if (begins_with(module + ".", "cupy.")) info.library = Library::cupy;
  }
  info.has_dlpack = nb::hasattr(type, "__dlpack__");
  if (info.has_dlpack && info.library == Library::numpy) info.library = Library::other;
  if (nb::hasattr(type, "__dlpack_c_exchange_api__")) {
    const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__");
    const auto* api = static_cast<const dlpack::ExchangeApi*>(
        PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    if (!api) PyErr_Clear();
    while (api && api->major != 1) api = api->previous;
    info.api = api;
  }
  return info;
}

struct KnownType {
  TypeInfo info;
  nb::object watch;  ///< a weak reference, which calls forget_type
};

/// They live to the end of the process, since Python may be gone before.
std::unordered_map<void*, KnownType>& known_types() {
  static auto& types = *new std::unordered_map<void*, KnownType>;
  return types;
}

/// A type is gone, and a new one may get its address.
PyObject* forget_type(PyObject* address, PyObject*) {
  known_types().erase(PyLong_AsVoidPtr(address));
  Py_RETURN_NONE;
}

const TypeInfo& info_of(nb::handle object) {
  const nb::handle type = object.type();
  const auto found = known_types().find(type.ptr());
  if (found != known_types().end()) return found->second.info;
  KnownType known{.info = look_at(type), .watch = {}};
  static PyMethodDef method = {"forget_type", forget_type, METH_O, nullptr};
  const nb::object address = nb::steal(PyLong_FromVoidPtr(type.ptr()));
  const nb::object callback = nb::steal(PyCFunction_New(&method, address.ptr()));
  known.watch = nb::steal(PyWeakref_NewRef(type.ptr(), callback.ptr()));
  if (!known.watch.is_valid()) throw nb::python_error();
  return known_types().emplace(type.ptr(), std::move(known)).first->second.info;
}

[[noreturn]] void fail_values(const Array& array, const std::string& found) {
  fail(array.name, " has values of type ", found, "; frames have uint8, uint16 or float32");
}

void set_values(Array& array, const nb::dlpack::dtype& type) {
  if (type == nb::dtype<std::uint8_t>())
    array.values = Values::u8;
  else if (type == nb::dtype<std::uint16_t>())
    array.values = Values::u16;
  else if (type == nb::dtype<float>())
    array.values = Values::f32;
  else
    fail_values(array, nb::hasattr(array.object, "dtype")
                           ? str_text(nb::getattr(array.object, "dtype"))
                           : "code " + std::to_string(type.code) + " of " + std::to_string(type.bits) + " bit");
}

void set_dimensions(Array& array, int dimensions) {
  if (dimensions > int(array.shape.size()))
    fail(array.name, " has ", dimensions, " axes; at most 4 can be used: frames, height, width, channels");
  array.dimensions = dimensions;
}

/// Reads an object that has a buffer.
void read_buffer(Array& array) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(array.object.ptr(), view.get(), PyBUF_RECORDS_RO) != 0) throw nb::python_error();
  Py_buffer* const raw = view.release();
  array.owner = {raw, [](void* pointer) {
                   auto* const buffer = static_cast<Py_buffer*>(pointer);
                   const nb::gil_scoped_acquire gil;
                   PyBuffer_Release(buffer);
                   delete buffer;
                 }};
  std::string format = raw->format ? raw->format : "B";
  if (format.size() == 2 && std::strchr("@=<|", format[0])) format.erase(0, 1);
  if (format == "B")
    array.values = Values::u8;
  else if (format == "H")
    array.values = Values::u16;
  else if (format == "f")
    array.values = Values::f32;
  else
    fail_values(array, nb::hasattr(array.object, "dtype")
                           ? str_text(nb::getattr(array.object, "dtype"))
                           : "'" + format + "'");
  set_dimensions(array, raw->ndim);
  array.data = static_cast<const char*>(raw->buf);
  for (int i = 0; i < raw->ndim; ++i) {
    array.shape[std::size_t(i)] = raw->shape[i];
    array.strides[std::size_t(i)] = raw->strides[i];
  }
}

void read_tensor(Array& array, const dlpack::Tensor& tensor) {
  const auto& device = tensor.device;
  if (device.device_type == dlpack::cuda || device.device_type == dlpack::cuda_managed)
    array.memory = Memory::cuda(device.device_id);
  else if (device.device_type != dlpack::cpu && device.device_type != dlpack::cuda_host)
    fail(array.name, " is in the memory of a device that is neither the host nor a CUDA device");
  set_values(array, tensor.dtype);
  set_dimensions(array, tensor.ndim);
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
    if (managed->major != 1) fail(array.name, " speaks version ", managed->major, " of DLPack, not 1");
  read_tensor(array, managed->tensor);
}

/// Reads an object by the method __dlpack__. Torch and CuPy do not order streams, since the caller works on
/// their current one; others make the legacy stream wait.
void read_dlpack(Array& array) {
  if (nb::hasattr(array.object, "is_deleted") && nb::cast<bool>(array.object.attr("is_deleted")()))
    fail(array.name, " has no memory: it was deleted");
  std::pair<int, int> device;
  if (!nb::try_cast(array.object.attr("__dlpack_device__")(), device))
    fail(array.name, ": __dlpack_device__ of ", type_text(array.object), " gave no device");
  nb::dict arguments;
  if (device.first == dlpack::cuda) arguments["stream"] = array.library == Library::other ? 1 : -1;
  nb::object capsule;
  try {  // NumPy's arrays that are read-only need the version
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
  if (!take("dltensor", "used_dltensor", static_cast<dlpack::Managed*>(nullptr)) &&
      !take("dltensor_versioned", "used_dltensor_versioned", static_cast<dlpack::ManagedVersioned*>(nullptr)))
    fail(array.name, ": __dlpack__ of ", type_text(array.object), " gave no tensor");
}

/// The stream that the array's library uses now. Null stands for the legacy stream in both libraries.
void* current_stream(const Array& array) {
  void* const legacy = reinterpret_cast<void*>(1);
  if (array.library == Library::other) return legacy;
  std::uintptr_t stream = 0;
  if (array.library == Library::torch)
    stream = nb::cast<std::uintptr_t>(
        nb::module_::import_("torch").attr("cuda").attr("current_stream")(array.memory.device).attr("cuda_stream"));
  else
    stream = nb::cast<std::uintptr_t>(
        nb::module_::import_("cupy").attr("cuda").attr("get_current_stream")().attr("ptr"));
  return stream ? reinterpret_cast<void*>(stream) : legacy;
}

void read_by_api(Array& array, const dlpack::ExchangeApi& api) {
  if (api.tensor_of) {
    dlpack::Tensor tensor;
    if (api.tensor_of(array.object.ptr(), &tensor) != 0) throw nb::python_error();
    read_tensor(array, tensor);
  } else {
    dlpack::ManagedVersioned* managed = nullptr;
    if (api.managed_of(array.object.ptr(), &managed) != 0) throw nb::python_error();
    read_managed(array, managed);
  }
  if (array.memory.on_host()) return;
  if (api.current_stream(dlpack::cuda, array.memory.device, &array.stream) != 0) throw nb::python_error();
  if (!array.stream) array.stream = reinterpret_cast<void*>(1);
}

nb::object numpy() { return nb::module_::import_("numpy"); }

/// Reads a masked array as floats: NaN where it is masked.
void read_masked(Array& array) {
  const nb::object masked = array.object;
  array.object = masked.attr("data");
  read_buffer(array);  // checks the type of the values
  array.from_u8 = array.values == Values::u8;
  array.object = masked.attr("astype")(numpy().attr("float32")).attr("filled")(numpy().attr("nan"));
  read_buffer(array);
}

}  // namespace

std::string Array::shape_text() const {
  std::string text;
  for (int i = 0; i < dimensions; ++i) text += (i ? " x " : "") + std::to_string(shape[std::size_t(i)]);
  return dimensions ? text : "none";
}

Array read_array(nb::handle object, const std::string& name) {
  if (object.is_none()) fail(name, " is None");
  return with_name(name, [&] {
    const TypeInfo& info = info_of(object);
    Array array{.name = name, .object = nb::borrow(object), .library = info.library};
    if (info.is_masked) {
      read_masked(array);
    } else if (info.api) {
      read_by_api(array, *info.api);
    } else if (info.has_dlpack) {
      read_dlpack(array);
      if (!array.memory.on_host()) array.stream = current_stream(array);
    } else {
      if (!PyObject_CheckBuffer(array.object.ptr())) {
        if (!nb::hasattr(object, "__array_interface__") && !nb::hasattr(object, "__array__"))
          fail(name, " is of type ", type_text(object),
               "; arrays speak DLPack or the buffer protocol, as those of NumPy, PyTorch, CuPy and JAX do");
        array.object = numpy().attr("asarray")(object);
      }
      read_buffer(array);
    }
    array.from_u8 |= array.values == Values::u8;
    if (info.library == Library::torch && array.values == Values::f32) {
      if (nb::cast<bool>(array.object.attr("requires_grad")))
        fail(name, " requires a gradient, which results do not have; give its detach()");
      // A view that negates values when they are read: torch.imag of a conjugate.
      if (nb::cast<bool>(array.object.attr("is_neg")()))
        return read_array(array.object.attr("resolve_neg")(), name);
    }
    for (int i = 0; i < array.dimensions; ++i)
      if (array.shape[std::size_t(i)] < 1)
        fail(name, " has the shape ", array.shape_text(), ": it holds no values");
    if (!array.data) fail(name, " has no memory: it was freed");
    return array;
  });
}

Array rearranged(const Array& array, const std::vector<int>& order, int channels, bool reversed) {
  return with_name(array.name, [&] {
    const bool torch = array.library == Library::torch;
    nb::object object = array.library == Library::numpy ? numpy().attr("asarray")(array.object) : array.object;
    object = object.attr(torch ? "permute" : "transpose")(nb::cast(order));
    const auto last = [&](const nb::slice& slice) {
      object = object[nb::make_tuple(nb::ellipsis(), slice)];
    };
    if (channels > 0) last(nb::slice(channels));
    if (reversed && torch)
      object = object.attr("flip")(-1);
    else if (reversed)
      last(nb::slice(nb::none(), nb::none(), nb::int_(-1)));
    if (torch)
      object = object.attr("contiguous")();
    else if (array.library == Library::cupy)
      object = nb::module_::import_("cupy").attr("ascontiguousarray")(object);
    else if (array.library == Library::numpy)
      object = numpy().attr("array")(object, nb::arg("order") = "C");
    Array copy = read_array(object, array.name);
    copy.from_u8 = array.from_u8;
    return copy;
  });
}

}  // namespace parafield::python
