// SPDX-License-Identifier: MIT
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>

#include "cameras.hpp"
#include "python_estimator.hpp"
#include "signatures.hpp"

namespace parafield::python {
namespace {

EnergyReport read_energies(nb::handle energies) {
  const auto text = name_text(energies);
  EnergyReport report{};
  if (!detail::read_value(text, report)) fail("energies cannot be '", text, "': none, result or sweeps");
  return report;
}

/// The boolean options of a task, by name.
template <class Options>
auto flags_of(Options& options) {
  std::vector<std::pair<std::string_view, bool*>> flags;
  if constexpr (requires { options.pipelined; }) flags.emplace_back("pipelined", &options.pipelined);
  flags.emplace_back("throughput", &options.throughput);
  if constexpr (requires { options.confidence; }) {
    flags.emplace_back("valid", &options.valid);
    flags.emplace_back("confidence", &options.confidence);
  }
  return flags;
}

/// Removes the boolean options from the keyword arguments `given` and sets them in `options`. The arguments
/// that remain are the method's parameters.
template <class Options>
void take_flags(nb::dict& given, Options& options) {
  for (const auto& [name, flag] : flags_of(options)) {
    const nb::str key(name.data(), name.size());
    if (!given.contains(key)) continue;
    const nb::object value = given.attr("pop")(key);
    if (!nb::try_cast(value, *flag)) fail(name, " cannot be ", repr_text(value), ": True or False");
  }
}

std::shared_ptr<nb::object> read_progress(nb::handle progress) {
  if (progress.is_none()) return {};
  if (!PyCallable_Check(progress.ptr()))
    fail("progress is of type ", type_text(progress), "; it must be a function of one number");
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
    fail("out cannot be ", type_text(out), "; it must be a writable array of 2 x ", size_text(size),
         " float32, in host memory and without gaps");
  return array;
}

namespace {

template <class Task>
std::string text_of_estimator(const PythonEstimator<Task>& estimator, const char* name) {
  std::string text = "<parafield." + std::string(name) + " ";
  text += str_text(nb::repr(method_object(estimator.method())));
  if (estimator.size() != Size{}) text += ", " + size_text(estimator.size());
  if (const auto device = estimator.device()) text += ", " + to_string(*device);
  return text + ">";
}

template <class Task>
void bind_estimator(nb::module_& module, const char* name, const std::array<const char*, 2>& names,
                    const char* doc) {
  using Self = PythonEstimator<Task>;
  constexpr bool is_flow = std::is_same_v<Task, Flow>;
  const std::string result = TaskPlanes<Task>::result;
  const nb::none none;
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&Self::traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(&Self::clear)},
                                {0, nullptr}};
  auto type = nb::class_<Self>(module, name, nb::type_slots(slots), doc);
  std::string flags;
  typename Task::Options defaults;
  for (const auto& [flag, value] : flags_of(defaults))
    flags += std::string(flag) + ": bool = " + (*value ? "True, " : "False, ");
  if constexpr (Task::learns) flags += detection_arguments;
  type.def(
      "__init__",
      [](Self* self, nb::handle method, nb::handle preset, nb::handle device, nb::handle shape,
         nb::handle axes, nb::handle range, nb::handle channels, nb::handle threads, nb::handle energies,
         nb::handle progress, const nb::kwargs& given) {
        nb::dict parameters = nb::borrow<nb::dict>(given);
        typename Task::Options options;
        take_flags(parameters, options);
        options.energies = read_energies(energies);
        new (self) Self(read_request<Task>(method, preset, device, threads, parameters, options),
                        read_layout(axes, range, channels), read_shape(shape), read_progress(progress));
      },
      nb::arg("method") = none, nb::arg("preset") = none, nb::arg("device") = none, nb::kw_only(),
      nb::arg("shape") = none, nb::arg("axes") = none, nb::arg("range") = none, nb::arg("channels") = none,
      nb::arg("threads") = none, nb::arg("energies") = "none", nb::arg("progress") = none,
      nb::arg("parameters"),
      signature("__init__(self, method, preset, device, *, shape, axes, range, channels, threads, energies: "
                "typing.Literal[\"none\", \"result\", \"sweeps\"] = \"none\", progress: "
                "collections.abc.Callable[[float], object] | None = None, " +
                flags + "**parameters) -> None"));
  const auto call = [names](Self& self, nb::handle frame0, nb::handle frame1, nb::handle start,
                            nb::handle tracks, nb::handle rotation) {
    std::vector<FrameStack> frames = self.read(frame0, frame1, names[0], names[1]);
    const auto& method = self.request().method;
    const int taken = frames_taken(method);
    if (frames.size() == 1) fail(names[1], " is missing");
    if (int(frames.size()) != taken) fail(name_of(method), " takes ", taken, " frames, not ", frames.size());
    const Known<Task> known = read_known<Task>(start, tracks, rotation, frames[0]);
    return self.call(std::move(frames), known);
  };
  const std::string head =
      std::string("__call__(self, ") + names[0] + ", " + names[1] + " = None, *, start = None";
  const char* const call_doc = "The result of the frames: two, or a list of as many as the method takes.";
  if constexpr (is_flow)
    type.def("__call__", call, nb::arg(names[0]).none(), nb::arg(names[1]) = none, nb::kw_only(),
             nb::arg("start") = none, nb::arg("tracks") = none, nb::arg("rotation") = none,
             signature(head + ", tracks = None, rotation: CameraRotation | None = None) -> " + result),
             call_doc);
  else
    type.def(
        "__call__",
        [call](Self& self, nb::handle frame0, nb::handle frame1, nb::handle start) {
          return call(self, frame0, frame1, start, nb::none(), nb::none());
        },
        nb::arg(names[0]).none(), nb::arg(names[1]) = none, nb::kw_only(), nb::arg("start") = none,
        signature(head + ") -> " + result), call_doc);
  if constexpr (Task::streams)
    type.def(
            "push", [](Self& self, nb::handle frame) { return self.push(self.read(frame, "frame")); },
            nb::arg("frame").none(), signature("push(self, frame) -> " + result + " | None"),
            R"(Adds the next frame of a sequence. Each frame is converted once.

Returns None until enough frames have arrived, then the result of the newest frames. A pipelined estimator
returns the result that belongs to the previous call instead, and finish() returns the last one. A GPU can
then work on one frame while the next is uploaded and the previous result is downloaded.)")
        .def("finish", &Self::finish, signature("finish(self) -> " + result + " | None"),
             "Waits for the pending result of a pipelined estimator, and returns it. None if no result is "
             "pending, or if it goes into an `out`.");
  if constexpr (is_flow)
    type.def(
        "push",
        [](Self& self, nb::handle frame, nb::handle out) {
          FrameStack newest = self.read(frame, "frame");
          const OutArray array = read_out(out, newest.first.size());
          return self.push(std::move(newest), array);
        },
        nb::arg("frame").none(), nb::arg("out"), signature("push(self, frame, out) -> bool"),
        R"(Does the same, but writes the flow into `out`, and returns whether there is a result.

`out` is a float32 array of 2 x H x W in host memory, where the frame must be, too. With a pipelined
estimator, `out` is complete when the next call of push() or finish() returns, and the call returns whether
the previous `out` is complete now. Only copies from and to pinned memory (pinned_empty) overlap with the
GPU's work.)");
  if constexpr (Task::learns)
    type.def(
        "save_background",
        [](Self& self, const std::filesystem::path& path) {
          const LearnedBackground learned = self.background();
          const nb::gil_scoped_release released;
          write_background(path, learned);
        },
        nb::arg("path"), signature("save_background(self, path) -> None"),
        "Writes the background that has been learned so far to a file. MotionDetector(background=path) "
        "starts "
        "from it, on any device. The method must learn a background.");
  if constexpr (Task::pairs)
    type.def(
        "push",
        [](Self& self, nb::handle left, nb::handle right) {
          return self.push(self.read(left, "left"), self.read(right, "right"));
        },
        nb::arg("left").none(), nb::arg("right").none(), signature("push(self, left, right) -> " + result),
        "The result of the next pair of a stereo camera's video. It equals the result of a call unless the "
        "method has noise > 0: then frames are averaged with those of the pairs pushed before, where nothing "
        "changes. A call forgets these pairs.");
  type.def("reset", &Self::reset, "Forgets the frames pushed so far, and a cancellation.")
      .def("cancel", &Self::cancel,
           "Makes the running call of another thread and all later calls raise Error, until reset().")
      .def("energies", &Self::energies,
           "The energies of the last result that the argument `energies` asked for. Empty for methods "
           "without an energy.")
      .def_prop_ro(
          "method", [](const Self& self) { return method_object(self.method()); },
          nb::sig("def method(self) -> typing.Any"),
          "The method, an object of its class. If its number of disparities was 0, it has the number that "
          "was found once a pair has arrived.")
      .def_prop_ro(
          "shape", [](const Self& self) { return shape_or_none(self.size()); },
          nb::sig("def shape(self) -> tuple[int, int] | None"),
          "Height and width of the frames; None until they are known.")
      .def_prop_ro(
          "device",
          [](const Self& self) { return self.device() ? nb::cast(to_string(*self.device())) : nb::none(); },
          nb::sig("def device(self) -> str | None"),
          "The device, such as \"cpu\" or \"cuda:0\"; None before the first frames if none was given.")
      .def_prop_ro("blocks", &Self::blocks,
                   "Number of blocks that the image is solved in, one after the other. Belief propagation "
                   "uses more than one if memory is short.")
      .def_prop_ro("frames_state", &Self::frames_state,
                   "What the frames of the last result showed: \"usable\"; \"cut\", different scenes; \"no "
                   "texture\", only noise or nothing at all; \"unknown\" for frames in a device's memory.")
      .def_prop_ro(
          "range",
          [](const Self& self) -> nb::object {
            const std::optional<ValueRange> range = self.range();
            return range ? nb::object(nb::make_tuple(range->black, range->white)) : nb::none();
          },
          nb::sig("def range(self) -> tuple[float, float] | None"),
          "(black, white): the range given, or found in the first frames; None before them.")
      .def_prop_ro("workspace_bytes", &Self::workspace_bytes,
                   "Memory of the device that the estimator holds.")
      .def("__repr__", [name](const Self& self) { return text_of_estimator(self, name); });
}

}  // namespace

void bind_estimators(nb::module_& module) {
  bind_estimator<Flow>(module, "FlowEstimator", {"frame0", "frame1"},
                       R"(Estimates the flow of many frames of one size, and keeps its memory between calls.

Arguments are as in estimate_flow, and:

shape : (height, width)
    Size of the frames, by default that of the first frames. `range`, if not given, is also found in them.
energies : "none", "result" or "sweeps"
    Which energies energies() returns, for methods that minimize one.
progress : function
    Called with the completed fraction of a long solve.
pipelined : bool
    push() returns the previous result while a GPU works on the new frame.
throughput : bool
    For several estimators that share a GPU: together they solve more frames per second, but each takes longer
    for a frame.
valid, confidence : bool
    False leaves the plane out of results, which saves time and memory.

Any number of estimators may work at the same time, in any threads. Calls of one estimator take turns. Each
result owns its memory.)");
  bind_estimator<Stereo>(module, "StereoEstimator", {"left", "right"},
                         R"(Estimates the disparities of many pairs of one size. See FlowEstimator.

Call it with a pair, or push the pairs of a video. With disparities = 0, the default, the number of
disparities is found in the first pair that is not blank. `method` then has this number, and reset() forgets
it.)");
  bind_estimator<Detection>(module, "MotionDetector", {"frame0", "frame1"},
                            R"(Finds moving pixels in many frames of one size. See FlowEstimator.

With pushed frames, the previous mask helps to find the next. Methods that learn a background also take:

background : path
    A file that save_background() wrote, to start from instead of the first frame.
freeze : bool
    True learns nothing more: frames are compared with the background, or with the first frame if there is
    none.

All methods take:

region : array H x W
    Only pixels that are true here are detected. The others are not valid.)");
}

}  // namespace parafield::python
