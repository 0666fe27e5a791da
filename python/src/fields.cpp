// SPDX-License-Identifier: MIT
#include "fields.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "pictures.hpp"

namespace parafield::python {
namespace {

using Shape = std::vector<std::size_t>;
using Strides = std::vector<std::int64_t>;

/// Shape and strides of a plane of a field: N x H x W of a stack, otherwise H x W. `steps` is the distance
/// from frame to frame in planes.
std::pair<Shape, Strides> plane_layout(const Planes& field, int steps) {
  Shape shape = {std::size_t(field.size.height), std::size_t(field.size.width)};
  Strides strides = {field.size.width, 1};
  if (field.stacked) {
    shape.insert(shape.begin(), std::size_t(field.count));
    strides.insert(strides.begin(), field.pixels() * steps);
  }
  return {shape, strides};
}

nb::object plane(const Planes& field, const void* data, nb::dlpack::dtype type, int steps = 1) {
  const auto [shape, strides] = plane_layout(field, steps);
  return array_in(field.storage, data, type, shape, strides);
}

/// The float planes of a field: N x 2 x H x W, or N x H x W of one component.
template <class Task>
const nb::object& values_of(Field<Task>& field) {
  if (!field.all_values) {
    auto [shape, strides] = plane_layout(field, field.components);
    if (field.components > 1) {
      shape.insert(shape.end() - 2, std::size_t(field.components));
      strides.insert(strides.end() - 2, field.pixels());
    }
    field.all_values = array_in(field.storage, field.values, nb::dtype<float>(), shape, strides);
  }
  return field.all_values;
}

/// u or v. For a library without strides it is a view of `uv`, which that library makes itself.
nb::object component(Field<Flow>& field, int i) {
  if (field.storage->library != Library::other)
    return plane(field, field.values + i * field.pixels(), nb::dtype<float>(), field.components);
  if (field.stacked) return values_of(field)[nb::make_tuple(nb::slice(nb::none(), nb::none(), nb::none()), i)];
  return values_of(field)[nb::int_(i)];
}

template <class Task>
const nb::object& confidence_of(Field<Task>& field) {
  if (!field.all_confidence)
    field.all_confidence = field.confidence ? plane(field, field.confidence, nb::dtype<float>()) : nb::none();
  return field.all_confidence;
}

template <class Task>
const nb::object& valid_of(Field<Task>& field) {
  if (!field.all_valid) field.all_valid = plane(field, field.valid, nb::dtype<bool>());
  return field.all_valid;
}

const nb::object& moving_of(Field<Detection>& field) {
  if (!field.all_moving) field.all_moving = plane(field, field.moving, nb::dtype<bool>());
  return field.all_moving;
}

std::string device_text(const Planes& field) {
  const Memory memory = field.storage->memory;
  return memory.on_host() ? "cpu" : "cuda:" + std::to_string(memory.device);
}

template <class Task>
nb::tuple shape_of(const Field<Task>& field) {
  if (field.stacked) return nb::make_tuple(field.count, field.size.height, field.size.width);
  return nb::make_tuple(field.size.height, field.size.width);
}

/// What numpy.asarray gives: H x W x 2, H x W, or bool H x W.
template <class Task>
nb::object main_array(Field<Task>& field) {
  if (!field.storage->memory.on_host())
    fail("the ", TaskPlanes<Task>::result, " is on ", device_text(field),
         "; its cpu() is a copy in host memory");
  if constexpr (std::is_same_v<Task, Detection>) return plane(field, field.moving, nb::dtype<bool>());
  auto [shape, strides] = plane_layout(field, field.components);
  if (field.components > 1) {
    shape.push_back(std::size_t(field.components));
    strides.push_back(field.pixels());
  }
  // A storage of NumPy with the same memory, whatever the library of the field.
  const auto storage = std::make_shared<Storage>();
  storage->data = field.storage->data;
  storage->bytes = field.storage->bytes;
  storage->block = field.storage;
  return array_in(storage, field.values, nb::dtype<float>(), shape, strides);
}

template <class Task>
nb::object as_numpy(Field<Task>& field, nb::handle type, nb::handle copy) {
  const nb::object array = main_array(field);
  const nb::object converted =
      type.is_none() ? array : nb::object(array.attr("astype")(type, nb::arg("copy") = false));
  if (copy.is_none()) return converted;
  if (nb::cast<bool>(copy)) return converted.is(array) ? nb::object(array.attr("copy")()) : converted;
  if (!converted.is(array)) fail("the values of another type are a copy, which copy=False forbids");
  return array;
}

template <class Task>
Field<Task> frame_of(const Field<Task>& field, nb::handle index) {
  if (!field.stacked) fail("a ", TaskPlanes<Task>::result, " of one frame has no index; its planes have");
  Py_ssize_t i = 0;
  if (!nb::try_cast(index, i)) fail("the index of a frame cannot be ", repr_text(index));
  if (i < 0) i += field.count;
  if (i < 0 || i >= field.count) throw nb::index_error("index of a frame out of range");
  Field<Task> one;
  static_cast<Planes&>(one) = field;
  one.stacked = false;
  one.count = 1;
  const std::ptrdiff_t skipped = field.pixels() * i;
  if (one.values) one.values += skipped * field.components;
  if (one.confidence) one.confidence += skipped;
  if (one.moving) one.moving += skipped;
  one.valid += skipped;
  return one;
}

template <class Task>
std::string text_of(const Field<Task>& field) {
  std::string text = std::string("<parafield.") + TaskPlanes<Task>::result + " ";
  if (field.stacked) text += std::to_string(field.count) + " x ";
  return text + std::to_string(field.size.height) + " x " + std::to_string(field.size.width) + " on " +
         device_text(field) + ">";
}

/// Copies the planes of a field that has the same frames.
template <class Task>
void copy_planes(const Field<Task>& from, Field<Task>& to) {
  const std::size_t pixels = std::size_t(from.pixels()) * std::size_t(from.count);
  if (from.values) std::memcpy(to.values, from.values, pixels * 4 * from.components);
  if (from.confidence) std::memcpy(to.confidence, from.confidence, pixels * 4);
  if (from.moving) std::memcpy(to.moving, from.moving, pixels);
  std::memcpy(to.valid, from.valid, pixels);
}

template <class Task>
Field<Task> copied(const Field<Task>& field) {
  if (!field.storage->memory.on_host()) {
    // A device's array copies itself, in the order of its library's stream.
    Field<Task> copy = field;
    copy.all_values = copy.all_confidence = copy.all_moving = copy.all_valid = {};
    if (!field.storage->array) return on_host(field);
    const auto storage = std::make_shared<Storage>();
    storage->library = field.storage->library;
    storage->memory = field.storage->memory;
    storage->bytes = field.storage->bytes;
    const bool torch = storage->library == Library::torch;
    storage->array = field.storage->array.attr(torch ? "clone" : "copy")();
    const nb::object address = torch ? storage->array.attr("data_ptr")() : storage->array.attr("data").attr("ptr");
    storage->data = reinterpret_cast<char*>(nb::cast<std::uintptr_t>(address));
    const std::ptrdiff_t moved = storage->data - field.storage->data;
    const auto move = [&]<class T>(T*& pointer) {
      if (pointer) pointer = reinterpret_cast<T*>(reinterpret_cast<char*>(pointer) + moved);
    };
    move(copy.values);
    move(copy.confidence);
    move(copy.moving);
    move(copy.valid);
    copy.storage = storage;
    return copy;
  }
  Array like;
  like.library = field.storage->library;
  like.object = field.storage->like;
  Field<Task> copy = field_in<Task>(
      make_storage(like, bytes_of_results<Task>(field.size, field.count, field.confidence), false), field.size,
      field.count, field.stacked, field.confidence);
  copy_planes(field, copy);
  return copy;
}

/// The planes as bytes, for pickle.
template <class Task>
nb::tuple state_of(const Field<Task>& field) {
  const Field<Task> host = on_host(field);
  // A frame of a stack shares the stack's memory, so the planes are packed anew.
  Field<Task> packed = field_in<Task>(
      make_host_storage(bytes_of_results<Task>(field.size, field.count, field.confidence)), field.size,
      field.count, field.stacked, field.confidence);
  copy_planes(host, packed);
  return nb::make_tuple(field.size.width, field.size.height, field.count, field.stacked,
                        field.confidence != nullptr, nb::bytes(packed.storage->data, packed.storage->bytes));
}

template <class Task>
void restore(Field<Task>& field, const nb::tuple& state) {
  Size size;
  int count = 0;
  bool stacked = false, has_confidence = false;
  nb::bytes bytes;
  const bool fits = state.size() == 6 && nb::try_cast(state[0], size.width) &&
                    nb::try_cast(state[1], size.height) && nb::try_cast(state[2], count) &&
                    nb::try_cast(state[3], stacked) && nb::try_cast(state[4], has_confidence) &&
                    nb::try_cast(state[5], bytes) && size.width > 0 && size.height > 0 && count > 0;
  const std::size_t expected = fits ? bytes_of_results<Task>(size, count, has_confidence) : 0;
  if (!fits || bytes.size() != expected) fail("the pickled field is damaged");
  new (&field) Field<Task>(field_in<Task>(make_host_storage(expected), size, count, stacked, has_confidence));
  std::memcpy(field.storage->data, bytes.c_str(), expected);
}

/// A plane of an argument, as a C-ordered NumPy array of one type.
nb::object as_plane(nb::handle object, const std::string& name, const char* type) {
  if (object.is_none()) fail(name, " is None");
  return with_name(name, [&] {
    const nb::module_ numpy = nb::module_::import_("numpy");
    return numpy.attr("ascontiguousarray")(object, nb::arg("dtype") = numpy.attr(type));
  });
}

template <class T>
const T* data_of(const nb::object& array) {
  return reinterpret_cast<const T*>(
      nb::cast<std::uintptr_t>(array.attr("__array_interface__")["data"][0]));
}

Size size_of(const nb::object& plane, const std::string& name, std::size_t axes, const char* expected) {
  const auto shape = nb::cast<Shape>(plane.attr("shape"));
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

/// Gives a field of one frame its validity and its confidence.
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

template <class Task>
Field<Task> empty_field(Size size, bool has_confidence) {
  return field_in<Task>(make_host_storage(bytes_of_results<Task>(size, 1, has_confidence)), size, 1, false,
                        has_confidence);
}

Field<Flow> flow_from_planes(nb::handle u, nb::handle v, nb::handle valid, nb::handle confidence) {
  const nb::object planes[] = {as_plane(u, "u", "float32"), as_plane(v, "v", "float32")};
  const Size size = size_of(planes[0], "u", 2, "H x W");
  check_same(size_of(planes[1], "v", 2, "H x W"), size, "v", "u");
  Field<Flow> field = empty_field<Flow>(size, !confidence.is_none());
  for (int i = 0; i < 2; ++i)
    std::memcpy(field.values + i * field.pixels(), data_of<float>(planes[i]), std::size_t(field.pixels()) * 4);
  fill_rest(field, valid, confidence, "u");
  return field;
}

Field<Stereo> disparity_from_planes(nb::handle d, nb::handle valid, nb::handle confidence) {
  const nb::object plane = as_plane(d, "d", "float32");
  Field<Stereo> field = empty_field<Stereo>(size_of(plane, "d", 2, "H x W"), !confidence.is_none());
  std::memcpy(field.values, data_of<float>(plane), std::size_t(field.pixels()) * 4);
  fill_rest(field, valid, confidence, "d");
  return field;
}

Field<Detection> mask_from_planes(nb::handle moving, nb::handle valid, nb::handle confidence) {
  const nb::object plane = as_plane(moving, "moving", "bool_");
  Field<Detection> field = empty_field<Detection>(size_of(plane, "moving", 2, "H x W"), !confidence.is_none());
  std::memcpy(field.moving, data_of<std::uint8_t>(plane), std::size_t(field.pixels()));
  fill_rest(field, valid, confidence, "moving");
  return field;
}

/// What the results of all tasks have in common.
template <class Task>
nb::class_<Field<Task>> bind_field(nb::module_& module, const char* doc) {
  using F = Field<Task>;
  auto type = nb::class_<F>(module, TaskPlanes<Task>::result, doc);
  const std::string array = "def __array__(self, dtype: typing.Any = None, copy: typing.Any = None) -> numpy.ndarray";
  type.def_prop_ro("valid", [](F& self) { return valid_of(self); }, nb::sig("def valid(self) -> typing.Any"),
                   "bool, H x W (N x H x W of a stack): where the result is to be trusted.")
      .def_prop_ro("confidence", [](F& self) { return confidence_of(self); },
                   nb::sig("def confidence(self) -> typing.Any"),
                   "float32, H x W (N x H x W of a stack): >= 0, grows with the method's certainty. None if the "
                   "field comes from a file.")
      .def_prop_ro("shape", &shape_of<Task>, nb::sig("def shape(self) -> tuple[int, ...]"),
                   "(H, W), or (N, H, W) of a stack.")
      .def_prop_ro("device", [](const F& self) { return device_text(self); },
                   "Where the memory is: \"cpu\" or \"cuda:0\".")
      .def("cpu", [](const F& self) { return on_host(self); },
           "The same result in host memory. A result that is there already is not copied.")
      .def("copy", &copied<Task>, "A copy with memory of its own, in the same place.")
      .def("__array__", &as_numpy<Task>, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
           nb::sig("def __array__(self, dtype: object = None, copy: object = None) -> numpy.typing.NDArray[typing.Any]"))
      .def("__len__",
           [](const F& self) {
             if (!self.stacked) throw nb::type_error("a result of one frame has no length; its planes have");
             return self.count;
           })
      .def("__bool__", [](const F&) { return true; }, "True: push() gives a result or None.")
      .def("__getitem__", &frame_of<Task>, nb::arg("index"),
           nb::sig((std::string("def __getitem__(self, index: int) -> ") + TaskPlanes<Task>::result).c_str()),
           "The result of one frame of a stack.")
      .def("__repr__", &text_of<Task>)
      .def("__getstate__", &state_of<Task>, nb::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
      .def("__setstate__", &restore<Task>, nb::sig("def __setstate__(self, state: tuple[typing.Any, ...]) -> None"))
      .def("_repr_png_", [](F& self) -> nb::object {
        if (self.stacked) return nb::none();
        return png_of(picture_of(on_host(self)));
      }, nb::sig("def _repr_png_(self) -> bytes | None"));
  return type;
}

}  // namespace

template <class Task>
Field<Task> on_host(const Field<Task>& field) {
  Field<Task> host = field;
  if (field.storage->memory.on_host()) return host;
  host.all_values = host.all_confidence = host.all_moving = host.all_valid = {};
  host.storage = copy_to_host(*field.storage);
  const std::ptrdiff_t moved = host.storage->data - field.storage->data;
  const auto move = [&]<class T>(T*& pointer) {
    if (pointer) pointer = reinterpret_cast<T*>(reinterpret_cast<char*>(pointer) + moved);
  };
  move(host.values);
  move(host.confidence);
  move(host.moving);
  move(host.valid);
  return host;
}

template <class Task>
Field<Task> numpy_field(const typename Task::Result& result) {
  Field<Task> field = empty_field<Task>(result.size(), bool(result.confidence));
  typename Task::Result planes = field.result(0);
  detail::for_each_plane(result, planes, [](const auto& from, auto& to) {
    if (from && to) to.take(from);
  });
  if (!result.valid) std::memset(field.valid, 1, std::size_t(field.pixels()));
  return field;
}

template <class Task>
Field<Task> field_of(nb::handle object, const std::string& name) {
  if (nb::isinstance<Field<Task>>(object)) {
    Field<Task>& field = nb::cast<Field<Task>&>(object);
    if (field.stacked) fail(name, " is a stack of ", field.count, " results; give one of them");
    return on_host(field);
  }
  if constexpr (std::is_same_v<Task, Flow>) {
    const nb::object plane = as_plane(object, name, "float32");
    Field<Flow> field = empty_field<Flow>(size_of(plane, name, 3, "H x W x 2"), false);
    const float* const from = data_of<float>(plane);
    const std::ptrdiff_t pixels = field.pixels();
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
      field.values[i] = from[2 * i];
      field.values[pixels + i] = from[2 * i + 1];
    }
    fill_rest(field, nb::none(), nb::none(), name);
    return field;
  } else if constexpr (std::is_same_v<Task, Stereo>) {
    const nb::object plane = as_plane(object, name, "float32");
    Field<Stereo> field = empty_field<Stereo>(size_of(plane, name, 2, "H x W"), false);
    std::memcpy(field.values, data_of<float>(plane), std::size_t(field.pixels()) * 4);
    fill_rest(field, nb::none(), nb::none(), name);
    return field;
  } else {
    const nb::object plane = as_plane(object, name, "bool_");
    Field<Detection> field = empty_field<Detection>(size_of(plane, name, 2, "H x W"), false);
    std::memcpy(field.moving, data_of<std::uint8_t>(plane), std::size_t(field.pixels()));
    fill_rest(field, nb::none(), nb::none(), name);
    return field;
  }
}

template Field<Flow> on_host(const Field<Flow>&);
template Field<Stereo> on_host(const Field<Stereo>&);
template Field<Detection> on_host(const Field<Detection>&);
template Field<Flow> numpy_field<Flow>(const FlowField&);
template Field<Stereo> numpy_field<Stereo>(const DisparityField&);
template Field<Flow> field_of<Flow>(nb::handle, const std::string&);
template Field<Stereo> field_of<Stereo>(nb::handle, const std::string&);
template Field<Detection> field_of<Detection>(nb::handle, const std::string&);

void bind_fields(nb::module_& module) {
  bind_field<Flow>(module,
                   "A flow field, of one pair of frames or of a stack of pairs.\n\n"
                   "frame0(x) matches frame1(x + flow(x)). Arrays are of the library that the frames came from, "
                   "and lie where the frames were. The field owns its memory. numpy.asarray(flow) is H x W x 2, "
                   "as in OpenCV. len(flow) and flow[i] are those of a stack.")
      .def(
          "__init__",
          [](Field<Flow>* self, nb::handle u, nb::handle v, nb::handle valid, nb::handle confidence) {
            new (self) Field<Flow>(flow_from_planes(u, v, valid, confidence));
          },
          nb::arg("u"), nb::arg("v"), nb::arg("valid") = nb::none(), nb::arg("confidence") = nb::none(),
          "A field of NumPy arrays, which are copied: float32, H x W, px. `valid` is true everywhere if it is "
          "not given.")
      .def_prop_ro("u", [](Field<Flow>& self) { return component(self, 0); }, nb::sig("def u(self) -> typing.Any"),
                   "float32, H x W (N x H x W of a stack): px to the right.")
      .def_prop_ro("v", [](Field<Flow>& self) { return component(self, 1); }, nb::sig("def v(self) -> typing.Any"),
                   "float32, H x W (N x H x W of a stack): px down.")
      .def_prop_ro("uv", [](Field<Flow>& self) { return values_of(self); }, nb::sig("def uv(self) -> typing.Any"),
                   "float32, 2 x H x W (N x 2 x H x W of a stack): u and v in one array, without a copy.");
  bind_field<Stereo>(module,
                     "Disparities of the left image, of one pair or of a stack of pairs.\n\n"
                     "x_right = x_left - d. numpy.asarray(disparity) is d.")
      .def(
          "__init__",
          [](Field<Stereo>* self, nb::handle d, nb::handle valid, nb::handle confidence) {
            new (self) Field<Stereo>(disparity_from_planes(d, valid, confidence));
          },
          nb::arg("d"), nb::arg("valid") = nb::none(), nb::arg("confidence") = nb::none(),
          "A field of NumPy arrays, which are copied: float32, H x W, px.")
      .def_prop_ro("d", [](Field<Stereo>& self) { return values_of(self); }, nb::sig("def d(self) -> typing.Any"),
                   "float32, H x W (N x H x W of a stack): px.");
  bind_field<Detection>(module,
                        "A motion mask, of one pair of frames or of a stack of pairs.\n\n"
                        "numpy.asarray(mask) is `moving`.")
      .def(
          "__init__",
          [](Field<Detection>* self, nb::handle moving, nb::handle valid, nb::handle confidence) {
            new (self) Field<Detection>(mask_from_planes(moving, valid, confidence));
          },
          nb::arg("moving"), nb::arg("valid") = nb::none(), nb::arg("confidence") = nb::none(),
          "A mask of NumPy arrays, which are copied: bool, H x W.")
      .def_prop_ro("moving", [](Field<Detection>& self) { return moving_of(self); },
                   nb::sig("def moving(self) -> typing.Any"),
                   "bool, H x W (N x H x W of a stack): where something moves in the newer frame, or left.");
}

}  // namespace parafield::python
