// SPDX-License-Identifier: MIT
#include "arrays.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <unordered_map>

#include "dlpack.hpp"

namespace parafield::python {
namespace {

/// Properties of a Python type whose objects are arrays.
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
  info.api = dlpack::exchange_api_of(type);
  return info;
}

struct KnownType {
  TypeInfo info;
  nb::object watch;  ///< weak reference to the type, whose callback is forget_type
};

/// The map is never destroyed, because Python may shut down before static objects are destroyed.
std::unordered_map<void*, KnownType>& known_types() {
  static auto& types = *new std::unordered_map<void*, KnownType>;
  return types;
}

/// Removes a type that was destroyed, because a new type may get the same address.
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

/// Reads an object that supports the buffer protocol.
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
    array.fail_values("'" + format + "'");
  array.set_dimensions(raw->ndim);
  array.data = static_cast<const char*>(raw->buf);
  for (int i = 0; i < raw->ndim; ++i) {
    array.shape[std::size_t(i)] = raw->shape[i];
    array.strides[std::size_t(i)] = raw->strides[i];
  }
}

nb::object numpy() { return nb::module_::import_("numpy"); }

/// Reads a masked array as floats, with NaN where it is masked.
void read_masked(Array& array) {
  const nb::object masked = array.object;
  array.object = masked.attr("data");
  read_buffer(array);  // checks the type of the values
  array.depth = array.values;
  array.object = masked.attr("astype")(numpy().attr("float32")).attr("filled")(numpy().attr("nan"));
  read_buffer(array);
}

}  // namespace

std::string Array::shape_text() const {
  std::string text;
  for (int i = 0; i < dimensions; ++i) text += (i ? " x " : "") + std::to_string(shape[std::size_t(i)]);
  return dimensions ? text : "none";
}

void Array::set_dimensions(int count) {
  if (count > int(shape.size()))
    fail(name, " has ", count, " axes; at most 4 can be used: frames, height, width, channels");
  dimensions = count;
}

void Array::fail_values(const std::string& format) const {
  fail(name, " has values of type ",
       nb::hasattr(object, "dtype") ? str_text(nb::getattr(object, "dtype")) : format,
       "; frames have uint8, uint16 or float32",
       library == Library::numpy ? ", as " + name + ".astype('float32')" : std::string());
}

Array read_array(nb::handle object, const std::string& name) {
  if (object.is_none()) fail(name, " is None");
  return with_name(name, [&] {
    const TypeInfo& info = info_of(object);
    Array array{.name = name, .object = nb::borrow(object), .library = info.library};
    if (info.is_masked) {
      read_masked(array);
    } else if (info.api) {
      dlpack::read(array, *info.api);
    } else if (info.has_dlpack) {
      dlpack::read(array);
    } else {
      if (!PyObject_CheckBuffer(array.object.ptr())) {
        if (!nb::hasattr(object, "__array_interface__") && !nb::hasattr(object, "__array__"))
          fail(name, " is of type ", type_text(object),
               nb::isinstance<nb::str>(object) || nb::hasattr(object, "__fspath__")
                   ? "; read_frame makes an array of a file"
                   : "; arrays must support DLPack or the buffer protocol, as in NumPy, PyTorch, CuPy and "
                     "JAX");
        array.object = numpy().attr("asarray")(object);
      }
      read_buffer(array);
    }
    if (!array.depth) array.depth = array.values;
    if (info.library == Library::torch && array.values == Values::f32) {
      if (nb::cast<bool>(array.object.attr("requires_grad")))
        fail(name, " requires a gradient, which results do not have; give its detach()");
      // Some views, such as torch.imag of a conjugate, negate values only when Torch reads them.
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
    nb::object object =
        array.library == Library::numpy ? numpy().attr("asarray")(array.object) : array.object;
    object = object.attr(torch ? "permute" : "transpose")(nb::cast(order));
    const auto last = [&](const nb::slice& slice) { object = object[nb::make_tuple(nb::ellipsis(), slice)]; };
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
    copy.depth = array.depth;
    return copy;
  });
}

}  // namespace parafield::python
