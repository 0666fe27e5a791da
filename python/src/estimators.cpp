// SPDX-License-Identifier: MIT
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>

#include "python_estimator.hpp"

namespace parafield::python {
namespace {

EnergyReport read_energies(nb::handle energies) {
  const auto text = name_text(energies);
  constexpr std::array<std::string_view, 3> names = {"none", "result", "sweeps"};
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) fail("energies cannot be '", text, "': none, result or sweeps");
  return EnergyReport(found - names.begin());
}

/// Sets the boolean options in `options` from the keyword arguments `given`. Returns the other arguments,
/// which are the method's parameters.
template <class Options>
nb::dict without_flags(const nb::kwargs& given, Options& options) {
  std::vector<std::pair<std::string_view, bool*>> flags = {{"throughput", &options.throughput}};
  if constexpr (requires { options.pipelined; }) flags.emplace_back("pipelined", &options.pipelined);
  if constexpr (requires { options.confidence; }) {
    flags.emplace_back("valid", &options.valid);
    flags.emplace_back("confidence", &options.confidence);
  }
  nb::dict parameters;
  for (const auto [name, value] : given) {
    const auto text = name_text(name);
    const auto flag = std::ranges::find(flags, text, &std::pair<std::string_view, bool*>::first);
    if (flag == flags.end())
      parameters[name] = value;
    else if (!nb::try_cast(value, *flag->second))
      fail(text, " cannot be ", repr_text(value), ": True or False");
  }
  return parameters;
}

std::shared_ptr<nb::object> read_progress(nb::handle progress) {
  if (progress.is_none()) return {};
  if (!PyCallable_Check(progress.ptr()))
    fail("progress is of type ", type_text(progress), "; it has to be a function of one number");
  return {new nb::object(nb::borrow(progress)), [](nb::object* object) {
            const nb::gil_scoped_acquire gil;
            delete object;
          }};
}

}  // namespace

OutArray read_out(nb::handle out, Size size) {
  OutArray array;
  if (!nb::try_cast(out, array, false) || array.ndim() != 3 || array.shape(0) != 2 ||
      array.shape(1) != std::size_t(size.height) || array.shape(2) != std::size_t(size.width) ||
      array.dtype().code != std::uint8_t(nb::dlpack::dtype_code::Float) || array.dtype().bits != 32)
    fail("out cannot be ", type_text(out), "; it must be a writable array of 2 x ", size.height, " x ",
         size.width, " float32, in host memory and without gaps");
  return array;
}

namespace {

template <class Task>
std::string text_of(const PythonEstimator<Task>& estimator, const char* name) {
  std::string text = "<parafield." + std::string(name) + " ";
  text += str_text(nb::repr(method_object(estimator.method())));
  if (const auto size = estimator.size())
    text += ", " + std::to_string(size->height) + " x " + std::to_string(size->width);
  if (const auto device = estimator.device()) text += ", " + to_string(*device);
  return text + ">";
}

template <class Task>
nb::class_<PythonEstimator<Task>> bind_estimator(nb::module_& module, const char* name, const char* names[2],
                                                 const char* doc) {
  using Self = PythonEstimator<Task>;
  const std::string result = TaskPlanes<Task>::result;
  const std::string name0 = names[0], name1 = names[1];
  const nb::none none;
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&Self::traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(&Self::clear)},
                                {0, nullptr}};
  auto type = nb::class_<Self>(module, name, nb::type_slots(slots), doc);
  std::string flags =
      Task::streams ? ", pipelined: bool = False, throughput: bool = False" : ", throughput: bool = False";
  if (std::is_same_v<Task, Flow>) flags += ", valid: bool = True, confidence: bool = True";
  type.def(
      "__init__",
      [](Self* self, nb::handle method, nb::handle preset, nb::handle device, nb::handle shape,
         nb::handle axes, nb::handle range, nb::handle channels, nb::handle threads, nb::handle energies,
         nb::handle progress, const nb::kwargs& parameters) {
        typename Task::Options flags;
        const nb::dict rest = without_flags(parameters, flags);
        Request<Task> request = read_request<Task>(method, preset, device, threads, rest);
        request.options.throughput = flags.throughput;
        if constexpr (Task::streams) request.options.pipelined = flags.pipelined;
        if constexpr (std::is_same_v<Task, Flow>) {
          request.options.valid = flags.valid;
          request.options.confidence = flags.confidence;
        }
        request.options.energies = read_energies(energies);
        new (self) Self(std::move(request), read_layout(axes, range, channels), read_shape(shape),
                        read_progress(progress));
      },
      nb::arg("method") = none, nb::arg("preset") = none, nb::arg("device") = none, nb::kw_only(),
      nb::arg("shape") = none, nb::arg("axes") = none, nb::arg("range") = none, nb::arg("channels") = none,
      nb::arg("threads") = none, nb::arg("energies") = "none", nb::arg("progress") = none,
      nb::arg("parameters"),
      nb::sig(
          ("def __init__(self, method: str | object | None = None, preset: str | None = None, device: str "
           "| None = None, *, shape: tuple[int, int] | None = None, axes: typing.Literal[\"hw\", \"hwc\", "
           "\"chw\"] | None = None, range: tuple[float, float] | None = None, channels: "
           "typing.Literal[\"rgb\", \"bgr\"] | None = None, threads: int | None = None, energies: "
           "typing.Literal[\"none\", \"result\", \"sweeps\"] = \"none\", progress: "
           "collections.abc.Callable[[float], object] | None = None" +
           flags + ", **parameters: bool | int | float | str) -> None")
              .c_str()));
  const std::string extra =
      std::is_same_v<Task, Flow> ? ", tracks: typing.Any = None, rotation: CameraRotation | None = None" : "";
  const std::string signature = "def __call__(self, " + name0 + ": typing.Any, " + name1 +
                                ": typing.Any = None, *, start: typing.Any = None" + extra + ") -> " + result;
  const auto call = [name0, name1](Self& self, nb::handle frame0, nb::handle frame1, nb::handle start,
                                   nb::handle tracks, nb::handle rotation) {
    std::vector<FrameStack> frames;
    if (frame1.is_none()) {
      if (!nb::isinstance<nb::list>(frame0) && !nb::isinstance<nb::tuple>(frame0)) fail(name1, " is missing");
      int i = 0;
      for (const nb::handle frame : frame0)
        frames.push_back(self.read(frame, name0 + "[" + std::to_string(i++) + "]"));
    } else {
      frames.push_back(self.read(frame0, name0));
      frames.push_back(self.read(frame1, name1));
    }
    const int taken = frames_taken(self.request().method);
    if (int(frames.size()) != taken)
      fail(std::visit([](const auto& method) { return method.name; }, self.request().method), " takes ",
           taken, " frames, not ", frames.size());
    const Known<Task> known = read_known<Task>(start, tracks, rotation, frames[0]);
    return self.call(std::move(frames), known);
  };
  const char* const call_doc =
      "The result of the frames: two, or as the first argument a list of as many as the method takes.";
  if constexpr (std::is_same_v<Task, Flow>)
    type.def("__call__", call, nb::arg(names[0]).none(), nb::arg(names[1]) = none, nb::kw_only(),
             nb::arg("start") = none, nb::arg("tracks") = none, nb::arg("rotation") = none,
             nb::sig(signature.c_str()), call_doc);
  else
    type.def(
        "__call__",
        [call](Self& self, nb::handle frame0, nb::handle frame1, nb::handle start) {
          return call(self, frame0, frame1, start, nb::none(), nb::none());
        },
        nb::arg(names[0]).none(), nb::arg(names[1]) = none, nb::kw_only(), nb::arg("start") = none,
        nb::sig(signature.c_str()), call_doc);
  if constexpr (Task::streams)
    type.def(
            "push", [](Self& self, nb::handle frame) { return self.push(self.read(frame, "frame")); },
            nb::arg("frame").none(),
            nb::sig(("def push(self, frame: typing.Any) -> " + result + " | None").c_str()),
            "Adds the next frame of a sequence. Returns None until enough frames have arrived, then the "
            "result of "
            "the newest ones. Each frame is converted once.\n\n"
            "A pipelined estimator returns the result of the previous call instead (None if it had none), "
            "and "
            "finish() returns the last one: while a GPU works on the new frame, frames are uploaded and "
            "results "
            "downloaded.")
        .def("finish", &Self::finish, nb::sig(("def finish(self) -> " + result + " | None").c_str()),
             "Waits for the result that a pipelined estimator has not returned yet, and returns it. None if "
             "there "
             "is none, or if it goes into an `out`.");
  if constexpr (std::is_same_v<Task, Flow>)
    type.def(
        "push",
        [](Self& self, nb::handle frame, nb::handle out) {
          FrameStack newest = self.read(frame, "frame");
          const OutArray array = read_out(out, newest.first.size());
          return self.push(std::move(newest), array);
        },
        nb::arg("frame").none(), nb::arg("out"),
        nb::sig("def push(self, frame: typing.Any, out: typing.Any) -> bool"),
        "Does the same, but writes the flow into `out`: a float32 array of 2 x H x W in host memory, where "
        "the "
        "frame must be, too. Returns whether there is a result. With a pipelined estimator, `out` is "
        "complete when "
        "the next call of push() or finish() returns, and the call returns whether the previous `out` is "
        "complete "
        "now. Only pinned memory (pinned_empty) is copied while the GPU works.");
  if constexpr (Task::pairs)
    type.def(
        "push",
        [](Self& self, nb::handle left, nb::handle right) {
          return self.push(self.read(left, "left"), self.read(right, "right"));
        },
        nb::arg("left").none(), nb::arg("right").none(),
        nb::sig(("def push(self, left: typing.Any, right: typing.Any) -> " + result).c_str()),
        "The result of the next pair of a stereo camera's video. It is that of a call, unless the method has "
        "noise > 0: then the frames are averaged with those of the pairs pushed before, where they stay as "
        "they are. A call forgets these.");
  type.def("reset", &Self::reset, "Forgets the frames that were pushed, and a cancellation.")
      .def("cancel", &Self::cancel,
           "Makes the running call of another thread and all later calls raise Error, until reset().")
      .def("energies", &Self::energies,
           "The energies of the last result, as `energies` asked for them. Empty for methods without an "
           "energy.")
      .def_prop_ro(
          "method", [](const Self& self) { return method_object(self.method()); },
          nb::sig("def method(self) -> typing.Any"),
          "The method, a value of its class. After the first frames it has what they showed: the number of "
          "disparities where it was 0.")
      .def_prop_ro(
          "shape",
          [](const Self& self) -> nb::object {
            if (!self.size()) return nb::none();
            return nb::make_tuple(self.size()->height, self.size()->width);
          },
          nb::sig("def shape(self) -> tuple[int, int] | None"),
          "Height and width of the frames; None before the first ones.")
      .def_prop_ro(
          "device",
          [](const Self& self) -> nb::object {
            if (!self.device()) return nb::none();
            return nb::cast(to_string(*self.device()));
          },
          nb::sig("def device(self) -> str | None"),
          "The device, such as \"cpu\" or \"cuda:0\"; None before the first frames if none was given.")
      .def_prop_ro(
          "blocks", &Self::blocks,
          "Number of blocks of the image that are solved in turn. Belief propagation chooses more than one "
          "where memory is short.")
      .def_prop_ro("workspace_bytes", &Self::workspace_bytes,
                   "Memory of the device that the estimator holds.")
      .def("__repr__", [name](const Self& self) { return text_of(self, name); });
  return type;
}

}  // namespace

void bind_estimators(nb::module_& module) {
  const char* frames[] = {"frame0", "frame1"};
  const char* sides[] = {"left", "right"};
  bind_estimator<Flow>(
      module, "FlowEstimator", frames,
      "Flow of many frames of one size.\n\n"
      "It keeps its memory from call to call. Arguments are those of estimate_flow. `shape` is (height, "
      "width); if it is not given, the first frames say it. `range`, if it is not given, is found in the "
      "first frames and kept. `energies` asks methods that minimize an energy for it. `progress` is called "
      "with the completed fraction of a long solve. Results lack the planes for which `valid` or "
      "`confidence` is "
      "False: that saves time and memory. `pipelined` makes push() return the previous result while a GPU "
      "works on "
      "the new frame. `throughput` is for several estimators that share a GPU: each takes longer for a "
      "frame, all "
      "together take less.\n\n"
      "Any number of estimators may work at once, in any threads. Calls of one estimator take turns. Each "
      "result owns its memory.");
  bind_estimator<Stereo>(
      module, "StereoEstimator", sides,
      "Disparities of many pairs of one size. See FlowEstimator. Call it, or push the pairs of a video.\n\n"
      "With disparities = 0, the default, the first pair that is not blank says how many there are; "
      "`method` has the number then, and reset() forgets it.");
  bind_estimator<Detection>(
      module, "MotionDetector", frames,
      "Motion masks of many frames of one size. See FlowEstimator. Pushed frames use the last pair's mask.");
}

}  // namespace parafield::python
