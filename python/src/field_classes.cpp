// SPDX-License-Identifier: MIT
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "fields.hpp"
#include "pictures.hpp"
#include "signatures.hpp"

namespace parafield::python {
namespace {

using Shape = std::vector<std::size_t>;
using Strides = std::vector<std::int64_t>;

/// Returns the shape and strides of a field's plane: N x H x W for a stack, otherwise H x W. `steps` is the
/// distance between consecutive frames, in planes.
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

/// Returns the float planes of a field: 2 x H x W, or H x W if there is one component. Stacks have a leading
/// axis N.
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

/// Returns u or v. The library `other` may lack strided arrays, so it makes them itself by indexing `uv`.
nb::object component(Field<Flow>& field, int i) {
  if (field.storage->library != Library::other)
    return plane(field, field.values + i * field.pixels(), nb::dtype<float>(), field.components);
  if (field.stacked)
    return values_of(field)[nb::make_tuple(nb::slice(nb::none(), nb::none(), nb::none()), i)];
  return values_of(field)[nb::int_(i)];
}

template <class Task>
const nb::object& confidence_of(Field<Task>& field) {
  if (!field.all_confidence)
    field.all_confidence = field.confidence ? plane(field, field.confidence, nb::dtype<float>()) : nb::none();
  return field.all_confidence;
}

/// Returns the covariance, H x W x 3.
nb::object covariance_of(const Field<Flow>& field) {
  if (!field.covariance) return nb::none();
  if (field.storage->library == Library::other)
    fail("the covariance of frames of this library cannot be had as an array; use NumPy, PyTorch or CuPy");
  auto [shape, strides] = plane_layout(field, field.bars);
  shape.push_back(std::size_t(field.bars));
  strides.push_back(field.pixels());
  return array_in(field.storage, field.covariance, nb::dtype<float>(), shape, strides);
}
nb::object variance_of(const Field<Flow>& field, int i) {
  return plane(field, field.covariance + i * field.pixels(), nb::dtype<float>(), field.bars);
}
nb::object root(const nb::object& value) { return value.attr("__pow__")(0.5); }
/// Returns the square root of the larger eigenvalue of the covariance.
nb::object sigma_of(const Field<Flow>& field) {
  if (!field.covariance) return nb::none();
  const nb::object xx = variance_of(field, 0), xy = variance_of(field, 1), yy = variance_of(field, 2);
  const nb::object half = (xx - yy) * nb::float_(0.5);
  return root((xx + yy) * nb::float_(0.5) + root(half * half + xy * xy));
}
nb::object sigma_of(const Field<Stereo>& field) {
  return field.covariance ? plane(field, field.covariance, nb::dtype<float>()) : nb::none();
}
/// Returns outlier (0) or outlier3 (1), or None.
nb::object outlier_of(const Planes& field, int i) {
  return field.outlier ? plane(field, field.outlier + i * field.pixels(), nb::dtype<float>(), 2) : nb::none();
}
/// Returns the expected error, or None.
template <class Task>
nb::object expected_error_of(const Field<Task>& field) {
  if (!field.covariance || !field.outlier) return nb::none();
  const nb::object outliers = outlier_of(field, 0) * nb::float_(4.0);
  if constexpr (std::is_same_v<Task, Flow>)
    return root(variance_of(field, 0) + variance_of(field, 2)) + outliers;
  else
    return sigma_of(field) + outliers;
}
nb::object cause_of(const Planes& field) {
  return field.cause ? plane(field, field.cause, nb::dtype<std::uint8_t>()) : nb::none();
}

template <class Task>
const nb::object& valid_of(Field<Task>& field) {
  if (!field.all_valid)
    field.all_valid = field.valid ? plane(field, field.valid, nb::dtype<bool>()) : nb::none();
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

/// Returns the result of numpy.asarray: H x W x 2 (flow), H x W (disparity) or bool H x W (mask).
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
  // Refer to the same memory through a NumPy storage, whatever the library of the field.
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
  if (!field.stacked)
    fail("a ", TaskPlanes<Task>::result, " cannot be indexed or unpacked, unless it belongs to a stack. Its ",
         TaskPlanes<Task>::arrays, " can");
  Py_ssize_t i = 0;
  if (!nb::try_cast(index, i)) fail("the index of a frame cannot be ", repr_text(index));
  if (i < 0) i += field.count;
  if (i < 0 || i >= field.count) throw nb::index_error("index of a frame out of range");
  Field<Task> one;
  static_cast<Planes&>(one) = field;
  one.stacked = false;
  one.count = 1;
  const std::ptrdiff_t skipped = field.pixels() * i;
  one.each_array([&](auto*& array, int planes) {
    if (array) array += skipped * planes;
  });
  return one;
}

template <class Task>
std::string text_of(const Field<Task>& field) {
  std::string text = std::string("<parafield.") + TaskPlanes<Task>::result + " ";
  if (field.stacked) text += std::to_string(field.count) + " x ";
  return text + size_text(field.size) + " on " + device_text(field) + ">";
}

/// Returns the state for pickle, with the planes as bytes.
template <class Task>
nb::tuple state_of(const Field<Task>& field) {
  const Field<Task> packed = copied(on_host(field));  // a frame of a stack shares the stack's memory
  return nb::make_tuple(field.size.width, field.size.height, field.count, field.stacked,
                        field.confidence != nullptr, nb::bytes(packed.storage->data, packed.storage->bytes),
                        field.valid != nullptr, field.covariance != nullptr, field.outlier != nullptr,
                        field.cause != nullptr);
}

template <class Task>
void restore(Field<Task>& field, const nb::tuple& state) {
  Size size;
  int count = 0;
  bool stacked = false;
  FieldPlanes has;
  nb::bytes bytes;
  // Older versions have 6 values, when every field had a valid plane, or 7, before there were error bars.
  const std::size_t values = state.size();
  const bool known = values == 6 || ((values == 7 || values == 10) && nb::try_cast(state[6], has.valid));
  const bool fits =
      known &&
      (values < 10 || (nb::try_cast(state[7], has.covariance) && nb::try_cast(state[8], has.outlier) &&
                       nb::try_cast(state[9], has.cause))) &&
      nb::try_cast(state[0], size.width) && nb::try_cast(state[1], size.height) &&
      nb::try_cast(state[2], count) && nb::try_cast(state[3], stacked) &&
      nb::try_cast(state[4], has.confidence) && nb::try_cast(state[5], bytes) && size.width > 0 &&
      size.height > 0 && count > 0;
  const std::size_t expected = fits ? bytes_of_results<Task>(size, count, has) : 0;
  if (!fits || bytes.size() != expected) fail("the pickled field is damaged");
  new (&field) Field<Task>(field_in<Task>(make_host_storage(expected), size, count, stacked, has));
  std::memcpy(field.storage->data, bytes.c_str(), expected);
}

/// Binds the error bars of flow and disparities.
template <class Task>
void bind_bars(nb::class_<Field<Task>>& type, const char* sigma) {
  using F = Field<Task>;
  type.def_prop_ro(
          "sigma", [](const F& self) { return sigma_of(self); }, nb::sig("def sigma(self) -> typing.Any"),
          sigma)
      .def_prop_ro(
          "outlier", [](const F& self) { return outlier_of(self, 0); },
          nb::sig("def outlier(self) -> typing.Any"),
          "float32, H x W (N x H x W for a stack): probability, 0..1, that the error is above 1 px. None "
          "unless it was asked for with outlier=True.")
      .def_prop_ro(
          "outlier3", [](const F& self) { return outlier_of(self, 1); },
          nb::sig("def outlier3(self) -> typing.Any"), "The same for errors above 3 px.")
      .def_prop_ro(
          "expected_error", [](const F& self) { return expected_error_of(self); },
          nb::sig("def expected_error(self) -> typing.Any"),
          "float32, H x W (N x H x W for a stack): about how large the error is, px: the standard deviation, "
          "of "
          "both components together, plus 4 * outlier. It ranks pixels better than `confidence`. None unless "
          "both were asked for.")
      .def_prop_ro(
          "cause", [](const F& self) { return cause_of(self); }, nb::sig("def cause(self) -> typing.Any"),
          "uint8, H x W (N x H x W for a stack): an ErrorCause, the main reason why the error may be large. "
          "None unless it was asked for with cause=True.");
}

/// Binds what the results of all tasks have in common.
template <class Task>
nb::class_<Field<Task>> bind_field(nb::module_& module, const char* doc) {
  using F = Field<Task>;
  auto type = nb::class_<F>(module, TaskPlanes<Task>::result, doc);
  type.def_prop_ro(
          "valid", [](F& self) { return valid_of(self); }, nb::sig("def valid(self) -> typing.Any"),
          "bool, H x W (N x H x W for a stack): where the result is reliable. None if the estimator was told "
          "to leave it out.")
      .def_prop_ro(
          "confidence", [](F& self) { return confidence_of(self); },
          nb::sig("def confidence(self) -> typing.Any"),
          "float32, H x W (N x H x W for a stack): >= 0, larger where the method is more certain. None if "
          "the "
          "field comes from a file, or if the estimator was told to leave it out.")
      .def_prop_ro("shape", &shape_of<Task>, nb::sig("def shape(self) -> tuple[int, ...]"),
                   "(H, W), or (N, H, W) for a stack.")
      .def_prop_ro(
          "device", [](const F& self) { return device_text(self); },
          "The device that holds the arrays: \"cpu\" or \"cuda:0\".")
      .def(
          "cpu", [](const F& self) { return on_host(self); },
          "The same result in host memory. It is not copied if it is there already.")
      .def("copy", &copied<Task>, "A copy with its own memory, on the same device.")
      .def("__array__", &as_numpy<Task>, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
           nb::sig("def __array__(self, dtype: object = None, copy: object = None) -> "
                   "numpy.typing.NDArray[typing.Any]"))
      .def("__len__",
           [](const F& self) {
             if (!self.stacked)
               throw nb::type_error(
                   "only the result of a stack has a length; arrays of a result have one, too");
             return self.count;
           })
      .def(
          "__bool__", [](const F&) { return true; }, "True, because push() returns a result or None.")
      .def("__getitem__", &frame_of<Task>, nb::arg("index"),
           nb::sig((std::string("def __getitem__(self, index: int) -> ") + TaskPlanes<Task>::result).c_str()),
           "The result of one frame of a stack.")
      .def("__repr__", &text_of<Task>)
      .def("__getstate__", &state_of<Task>, nb::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
      .def("__setstate__", &restore<Task>,
           nb::sig("def __setstate__(self, state: tuple[typing.Any, ...]) -> None"))
      .def(
          "_repr_png_",
          [](F& self) -> nb::object {
            if (self.stacked) return nb::none();
            return png_of(picture_of(on_host(self)));
          },
          nb::sig("def _repr_png_(self) -> bytes | None"));
  return type;
}

}  // namespace

void bind_fields(nb::module_& module) {
  nb::enum_<ErrorCause>(module, "ErrorCause", nb::is_arithmetic(),
                        "The main reason why the error of a pixel may be large; `cause` holds the numbers.")
      .value("fine", ErrorCause::fine, "The error is small.")
      .value("texture", ErrorCause::texture, "Little texture, or noise.")
      .value("boundary", ErrorCause::boundary, "The field changes around the pixel.")
      .value("inconsistent", ErrorCause::inconsistent, "The other frame's field does not lead back.")
      .value("hidden", ErrorCause::hidden, "It leads elsewhere: most such pixels are hidden.")
      .value("left_frame", ErrorCause::left_frame, "The match is outside the other frame.");
  auto flow = bind_field<Flow>(
      module,
      "A flow field, of one pair of frames or of a stack of pairs.\n\n"
      "frame0(x) matches frame1(x + flow(x)). Arrays are of the frames' library and on the frames' device. "
      "The "
      "field owns its memory. numpy.asarray(flow) is H x W x 2, as in OpenCV. A stack has len(flow) and "
      "flow[i].");
  define<"__init__(self, u, v, valid = None, confidence = None) -> None">(
      flow,
      [](Field<Flow>* self, nb::handle u, nb::handle v, nb::handle valid, nb::handle confidence) {
        new (self) Field<Flow>(field_from<Flow>({{u, "u"}, {v, "v"}}, valid, confidence));
      },
      "Copies NumPy arrays: float32, H x W, px. By default, all pixels are valid.");
  flow.def_prop_ro(
          "u", [](Field<Flow>& self) { return component(self, 0); }, nb::sig("def u(self) -> typing.Any"),
          "float32, H x W (N x H x W for a stack): px to the right.")
      .def_prop_ro(
          "v", [](Field<Flow>& self) { return component(self, 1); }, nb::sig("def v(self) -> typing.Any"),
          "float32, H x W (N x H x W for a stack): px down.")
      .def_prop_ro(
          "uv", [](Field<Flow>& self) { return values_of(self); }, nb::sig("def uv(self) -> typing.Any"),
          "float32, 2 x H x W (N x 2 x H x W for a stack): u and v in one array, without a copy.");
  flow.def_prop_ro(
      "covariance", [](const Field<Flow>& self) { return covariance_of(self); },
      nb::sig("def covariance(self) -> typing.Any"),
      "float32, H x W x 3 (N x H x W x 3 for a stack): xx, xy and yy of the covariance of each vector's "
      "error, px^2. None unless it was asked for with covariance=True.");
  bind_bars<Flow>(flow,
                  "float32, H x W (N x H x W for a stack): standard deviation of the error along the "
                  "direction in which it is largest, px. None unless covariance=True was asked for.");
  auto disparity = bind_field<Stereo>(module,
                                      "Disparities of the left image, of one pair or of a stack of pairs.\n\n"
                                      "x_right = x_left - d. numpy.asarray(disparity) is d.");
  define<"__init__(self, d, valid = None, confidence = None) -> None">(
      disparity,
      [](Field<Stereo>* self, nb::handle d, nb::handle valid, nb::handle confidence) {
        new (self) Field<Stereo>(field_from<Stereo>({{d, "d"}}, valid, confidence));
      },
      "Copies NumPy arrays: float32, H x W, px. By default, all pixels are valid.");
  disparity.def_prop_ro(
      "d", [](Field<Stereo>& self) { return values_of(self); }, nb::sig("def d(self) -> typing.Any"),
      "float32, H x W (N x H x W for a stack): px.");
  bind_bars<Stereo>(
      disparity,
      "float32, H x W (N x H x W for a stack): standard deviation of the error, px. None unless "
      "it was asked for with sigma=True.");
  auto mask = bind_field<Detection>(
      module,
      "A motion mask, of one pair of frames or of a stack of pairs.\n\nnumpy.asarray(mask) is `moving`.");
  define<"__init__(self, moving, valid = None, confidence = None) -> None">(
      mask,
      [](Field<Detection>* self, nb::handle moving, nb::handle valid, nb::handle confidence) {
        new (self) Field<Detection>(field_from<Detection>({{moving, "moving"}}, valid, confidence));
      },
      "Copies NumPy arrays: bool, H x W. By default, all pixels are valid.");
  mask.def_prop_ro(
      "moving", [](Field<Detection>& self) { return moving_of(self); },
      nb::sig("def moving(self) -> typing.Any"),
      "bool, H x W (N x H x W for a stack): true where something moves in the newer frame, or has left.");
}

}  // namespace parafield::python
